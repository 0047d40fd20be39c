"""The mutants of a module: every single change that cosmic-ray's operators can make, except meaningless ones.

Left out are changes of annotations, which are never evaluated; of the keywords of classes, such as `frozen=True`, which
forbid what no code does; and of the stars in `*names`, `**names` and `(*, name)`, which cosmic-ray mistakes for
arithmetic and turns into invalid Python.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct

Place = tuple[int, int]

_trees: Any = import_module("cosmic_ray.ast")
_mutating: Any = import_module("cosmic_ray.mutating")
_plugins: Any = import_module("cosmic_ray.plugins")


class Mutant(Struct, frozen=True):
    """One change: `occurrence` counts the operator's places in the module from 0, `digest` is the source's."""

    module: str
    digest: str
    operator: str
    occurrence: int
    line: int

    @property
    def id(self) -> str:
        """Stays the same from run to run as long as the module does not change."""
        return f"{self.module}:{self.line} {self.operator.partition('/')[2]} {self.occurrence} {self.digest}"


def mutants_of(tree: Path, module: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    source = (tree / module).read_text(encoding="utf-8")
    digest = hashlib.sha256(source.encode()).hexdigest()[:8]
    parsed = ast.parse(source)
    meaningless, arithmetic = list(_meaningless(parsed)), list(_arithmetic(parsed))
    nodes = list(_trees.ast_nodes(_trees.get_ast(source)))
    for name in sorted(_plugins.operator_names()):
        if _plugins.get_operator(name).arguments():
            continue
        operator = _plugins.get_operator(name)()
        places: list[Place] = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, place in enumerate(places):
            is_star = "ReplaceBinaryOperator" in name and not _lies_in(place, arithmetic)
            if not is_star and not _lies_in(place, meaningless):
                yield Mutant(module, digest, name, occurrence, place[0])


def mutate(source: str, mutant: Mutant) -> str:
    """The source with the one change."""
    changed = _mutating.mutate_code(source, _plugins.get_operator(mutant.operator)(), mutant.occurrence)
    if changed is None:
        raise ValueError(f"{mutant.id} changes nothing: it was listed for another source")
    return str(changed)


def describe(source: str, changed: str) -> str:
    """The changed lines, before and after."""
    lines = difflib.unified_diff(source.splitlines(), changed.splitlines(), n=0, lineterm="")
    return "\n".join(f"    {line}" for line in lines if line[:3] not in {"---", "+++"} and line[:2] != "@@")


def _lies_in(place: Place, spans: list[tuple[Place, Place]]) -> bool:
    return any(start <= place < end for start, end in spans)


def _arithmetic(tree: ast.Module) -> Iterator[tuple[Place, Place]]:
    """The places of binary operators: between their two operands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            left, right = node.left, node.right
            yield (left.end_lineno or 0, left.end_col_offset or 0), (right.lineno, right.col_offset)


def _meaningless(tree: ast.Module) -> Iterator[tuple[Place, Place]]:
    """The spans of annotations, of blocks that only type checkers read, and of the keywords of classes."""
    for node in ast.walk(tree):
        found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.ClassDef):
            found += [keyword.value for keyword in node.keywords]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            found.append(node)
        for one in filter(None, found):
            yield (one.lineno, one.col_offset), (one.end_lineno or one.lineno, one.end_col_offset or 0)
