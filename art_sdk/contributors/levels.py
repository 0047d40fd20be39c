"""The levels of a system prompt: the agent's configuration, this agent, one thread, one call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from art_sdk.contributors.contributor import SystemPromptContributor
from art_sdk.contributors.system_prompt import LevelName
from art_sdk.errors import InvalidConfig

Placement = Literal["append", "prepend"]


@dataclass(frozen=True)
class Level:
    """The contributors of one level, and whether they come after or before those of the levels below it."""

    contributors: Sequence[SystemPromptContributor]
    placement: Placement = "append"


class Placed(NamedTuple):
    """A contributor in its place, with its level."""

    level: LevelName
    contributor: SystemPromptContributor


LevelSource = Sequence[SystemPromptContributor] | Level
"""The contributors of a level; as a bare sequence they are appended."""


def place(base: Sequence[SystemPromptContributor], upper: Sequence[tuple[LevelName, LevelSource]]) -> list[Placed]:
    """All contributors in the order of the prompt: by level, in a level by priority, then in the order given.

    A contributor replaces one of the same id from a wider level, but none of `base`: nothing drops those. Raises
    InvalidConfig for an id that `base` has, too, or that a level has twice.
    """
    placed = _sorted("base", base)
    fixed = {one.id for one in base}
    for name, level in upper:
        given = level if isinstance(level, Level) else Level(level)
        ids = {one.id for one in given.contributors}
        if shared := sorted(ids & fixed):
            raise InvalidConfig(f"the level {name!r} must not replace contributors of the base: {', '.join(shared)}")
        kept = [one for one in placed if one.contributor.id not in ids]
        own = _sorted(name, given.contributors)
        placed = own + kept if given.placement == "prepend" else kept + own
    return placed


def _sorted(name: LevelName, contributors: Sequence[SystemPromptContributor]) -> list[Placed]:
    twice = sorted(id_ for id_, many in Counter(one.id for one in contributors).items() if many > 1)
    if twice:
        raise InvalidConfig(f"the level {name!r} has contributors with the same id: {', '.join(twice)}")
    return [Placed(name, one) for one in sorted(contributors, key=lambda one: one.priority)]
