"""The page of laws: every check, what it holds an adapter to, and the miniatures that break it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import groupby
from typing import Final

from art_compliance.checks import CHECKS
from art_compliance.checks.base import Check
from art_compliance.miniatures import MINIATURES

CLASSES: Final = {
    "loss": "loss or corruption",
    "refused": "refused by the provider",
    "contract": "contract of this suite",
}

INTRO: Final = """\
# Laws

Each check proves one law, on every scenario that it applies to. Its class is what its findings mean: see
[classes and levels](guide.md#classes-and-levels). It must catch the miniatures that are named: adapters that are wrong
on purpose. There is no check that none of them fails.
"""


def page() -> str:
    """The page: the checks by stage, in the order in which the stages run."""
    broken_by = _miniatures()
    stages = groupby(CHECKS.values(), key=lambda check: check.stage.name)
    return "\n".join([INTRO, *(_stage(name, list(checks), broken_by) for name, checks in stages)])


def _stage(name: str, checks: list[Check], broken_by: Mapping[str, list[str]]) -> str:
    return "\n".join([f"## {name}\n", *(_entry(check, broken_by[check.id]) for check in checks)])


def _entry(check: Check, broken_by: list[str]) -> str:
    names = ", ".join(f"`{name}`" for name in broken_by)
    return f"### `{check.id}`\n\n{check.clause}\n\n*{CLASSES[check.finding_class].capitalize()}. Caught: {names}.*\n"


def _miniatures() -> Mapping[str, list[str]]:
    """The miniatures' names, by the checks that must catch them."""
    found: dict[str, list[str]] = defaultdict(list)
    for miniature in MINIATURES:
        for check in miniature.fails:
            found[check].append(miniature.id)
    return found
