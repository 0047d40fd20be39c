"""PromptContributors: the contributors of an agent, added, removed and replaced while it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from art_sdk.contributors.building import DEFAULT_OPTIONS, BuildOptions, build_system_prompt
from art_sdk.contributors.configuration import SystemPromptConfig
from art_sdk.contributors.context import DynamicContributorContext
from art_sdk.contributors.contributor import SourceHandler, SystemPromptContributor
from art_sdk.contributors.levels import Level, LevelSource, Placement
from art_sdk.contributors.loading import load_contributors
from art_sdk.contributors.registry import source_handler_registry
from art_sdk.contributors.system_prompt import SystemPrompt
from art_sdk.contributors.validation import parse_system_prompt
from art_sdk.errors import InvalidConfig

KeptLevel = Literal["base", "instance", "thread"]
"""The levels that outlast a call. A thread's is named by its id."""

_EMPTY = Level(())


class PromptContributors:
    """The contributors of an agent, by level. A change holds for the builds that start after it.

    A level's are changed by their owner: nothing that a thread or a call adds changes those of the `base`. Methods
    raise InvalidConfig for an id that the level has already, or does not have, and for a thread without an id.
    """

    def __init__(
        self, base: Sequence[SystemPromptContributor] = (), *, options: BuildOptions = DEFAULT_OPTIONS
    ) -> None:
        self._options = options
        self._base = Level(tuple(base))
        self._instance = _EMPTY
        self._threads: dict[str, Level] = {}

    @classmethod
    def load(
        cls,
        config: str | SystemPromptConfig | Mapping[str, Any],
        *,
        registry: Mapping[str, SourceHandler] = source_handler_registry,
        root: Path | None = None,
    ) -> PromptContributors:
        """Those of a configuration, as the base. Raises InvalidConfig as `load_contributors` does."""
        base = load_contributors(config, registry=registry, root=root)
        typed = config if isinstance(config, str) else parse_system_prompt(config, registry=registry)
        return cls(base, options=BuildOptions.of(typed))

    def contributors(
        self, level: KeptLevel = "instance", *, thread_id: str | None = None
    ) -> tuple[SystemPromptContributor, ...]:
        """Those of a level, in the order in which they were added."""
        return tuple(self._level(level, thread_id).contributors)

    def add(
        self, contributor: SystemPromptContributor, level: KeptLevel = "instance", *, thread_id: str | None = None
    ) -> None:
        """Adds one to a level."""
        known = self._level(level, thread_id)
        if contributor.id in _ids(known):
            raise InvalidConfig(f"the level {level!r} has the contributor {contributor.id!r} already: replace it")
        self._set(level, thread_id, (*known.contributors, contributor))

    def remove(self, id_: str, level: KeptLevel = "instance", *, thread_id: str | None = None) -> None:
        """Removes one from a level."""
        known = self._known(id_, level, thread_id)
        self._set(level, thread_id, [one for one in known.contributors if one.id != id_])

    def replace(
        self, contributor: SystemPromptContributor, level: KeptLevel = "instance", *, thread_id: str | None = None
    ) -> None:
        """Puts one in the place of that with the same id."""
        known = self._known(contributor.id, level, thread_id)
        replaced = [contributor if one.id == contributor.id else one for one in known.contributors]
        self._set(level, thread_id, replaced)

    def place(
        self, placement: Placement, level: Literal["instance", "thread"], *, thread_id: str | None = None
    ) -> None:
        """Puts a level after (`append`) or before (`prepend`) the wider ones."""
        self._store(level, thread_id, Level(self._level(level, thread_id).contributors, placement))

    def forget_thread(self, thread_id: str) -> None:
        """Forgets the contributors of a thread that has ended."""
        self._threads.pop(thread_id, None)

    async def build(self, context: DynamicContributorContext | None = None, *, call: LevelSource = ()) -> SystemPrompt:
        """The prompt of the context's thread and of this call. Raises what `build_system_prompt` raises."""
        thread_id = None if context is None else context.thread_id
        return await build_system_prompt(
            self._base.contributors,
            context,
            instance=self._instance,
            thread=_EMPTY if thread_id is None else self._threads.get(thread_id, _EMPTY),
            call=call,
            options=self._options,
        )

    def _known(self, id_: str, level: KeptLevel, thread_id: str | None) -> Level:
        known = self._level(level, thread_id)
        if id_ not in _ids(known):
            names = ", ".join(_ids(known)) or "none"
            raise InvalidConfig(f"the level {level!r} has no contributor {id_!r}; it has: {names}")
        return known

    def _level(self, level: KeptLevel, thread_id: str | None) -> Level:
        if level != "thread":
            return self._base if level == "base" else self._instance
        if thread_id is None:
            raise InvalidConfig("the level 'thread' needs a thread_id")
        return self._threads.get(thread_id, _EMPTY)

    def _set(self, level: KeptLevel, thread_id: str | None, contributors: Sequence[SystemPromptContributor]) -> None:
        self._store(level, thread_id, Level(tuple(contributors), self._level(level, thread_id).placement))

    def _store(self, level: KeptLevel, thread_id: str | None, changed: Level) -> None:
        if level == "base":
            self._base = changed
        elif level == "instance":
            self._instance = changed
        elif thread_id is not None:
            self._threads[thread_id] = changed

    def __repr__(self) -> str:
        return f"PromptContributors({', '.join(_ids(self._base)) or 'none'}; {len(self._threads):,} threads)"


def _ids(level: Level) -> list[str]:
    return [one.id for one in level.contributors]
