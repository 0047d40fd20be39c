"""What an adapter declares: its capabilities, its losses and its repairs."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, TypeVar

from msgspec import Struct

from art_compliance.findings import HarnessError
from art_compliance.subject.factories import with_article
from art_sdk import CAPABILITIES, LOSSES, REPAIRS, Capability, Loss, Repair

T = TypeVar("T", bound=str)


class Declarations(Struct, frozen=True, kw_only=True):
    """An adapter's declarations. An adapter that declares nothing is tested for every capability and may lose nothing.

    The names are those of `art_sdk.CAPABILITIES`, `LOSSES` and `REPAIRS`.
    """

    capabilities: frozenset[Capability]
    losses: frozenset[Loss]
    repairs: frozenset[Repair]


def read_declarations(adapter: Any, name: str) -> Declarations:
    """The declarations of an adapter, called `name` in errors. Raises HarnessError for an unknown declaration."""
    return Declarations(
        capabilities=_read(adapter, name, "capabilities", CAPABILITIES, default=CAPABILITIES),
        losses=_read(adapter, name, "losses", LOSSES, default=frozenset()),
        repairs=_read(adapter, name, "repairs", REPAIRS, default=frozenset()),
    )


def _read(adapter: Any, name: str, attribute: str, known: frozenset[T], *, default: frozenset[T]) -> frozenset[T]:
    declared: Any = getattr(adapter, attribute, None)
    if declared is None:
        return default
    if not _is_collection(declared):
        raise HarnessError(f"{name}: {attribute} must be a set of names, not {with_article(declared)}")
    names = frozenset[Any](declared)
    unknown = sorted(map(str, names - known))
    if unknown:
        raise HarnessError(
            f"{name}: unknown {attribute} {_with_hints(unknown, known)}; known: {', '.join(sorted(known))}"
        )
    return known & names


def _with_hints(unknown: Iterable[str], known: Iterable[str]) -> str:
    """The unknown names, each with the known one that it looks like."""
    names = list(known)
    near = {one: get_close_matches(one.lower().replace("-", "_"), names, n=1) for one in unknown}
    return ", ".join(f"{one} (did you mean {hint[0]}?)" if hint else one for one, hint in near.items())


def _is_collection(value: object) -> bool:
    """A string is iterable, but it is one name."""
    return isinstance(value, Iterable) and not isinstance(value, str)
