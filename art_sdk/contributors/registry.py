"""The sources of dynamic contributors by name: built in, registered by decorator, or installed with an entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, TypeVar, cast

from art_sdk.contributors.configuration import Stability
from art_sdk.contributors.contributor import USER_INSTRUCTIONS, SourceHandler
from art_sdk.contributors.sources import (
    get_current_date_time,
    get_memory_summary,
    get_tool_listing,
    get_user_instructions,
)
from art_sdk.errors import InvalidConfig

ENTRY_POINT_GROUP: Final = "art_sdk.prompt_sources"
"""The entry point group in which other distributions name their sources."""

StabilityRule = Callable[[Mapping[str, Any]], Stability]
"""How often a text changes, by the options of its source."""

_Handler = TypeVar("_Handler", bound=SourceHandler)


class SourceRegistry(Mapping[str, SourceHandler]):
    """Sources by name. Sources of other distributions are found by their entry point when they are asked for."""

    def __init__(self, sources: Mapping[str, SourceHandler] | None = None, *, group: str | None = None) -> None:
        self._handlers: dict[str, SourceHandler] = dict(sources or {})
        self._stabilities: dict[str, Stability | StabilityRule] = {}
        self._group = group

    def source(self, name: str, *, stability: Stability | StabilityRule = "turn") -> Callable[[_Handler], _Handler]:
        """Registers the decorated function as a source, in place of another of this name.

        `stability` says how often its text changes, perhaps by its options.
        """

        def register(handler: _Handler) -> _Handler:
            self._handlers[name] = handler
            self._stabilities[name] = stability
            return handler

        return register

    def stability_of(self, name: str, options: Mapping[str, Any]) -> Stability:
        """How often the text of a source changes."""
        known = self._stabilities.get(name, "turn")
        return known(options) if callable(known) else known

    def __getitem__(self, name: str) -> SourceHandler:
        """The handler. Raises KeyError for an unknown name, InvalidConfig for an entry point that cannot be loaded."""
        if name in self._handlers:
            return self._handlers[name]
        return _load(self._installed()[name])

    def __contains__(self, name: object) -> bool:
        return name in self._handlers or name in self._installed()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._handlers, *self._installed()]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"SourceRegistry({', '.join(self)})"

    def _installed(self) -> dict[str, EntryPoint]:
        return {} if self._group is None else {point.name: point for point in entry_points(group=self._group)}


def _load(point: EntryPoint) -> SourceHandler:
    try:
        handler: Any = point.load()
    except (Exception, SystemExit) as error:
        raise InvalidConfig(
            f"the source {point.name!r} ({point.value}) cannot be imported: {type(error).__name__}: {error}",
            cause=error,
        ) from error
    if not callable(handler):
        raise InvalidConfig(f"the source {point.name!r} ({point.value}) must be a function")
    return cast("SourceHandler", handler)


source_handler_registry: Final = SourceRegistry(group=ENTRY_POINT_GROUP)
"""The sources that `load_contributors` knows unless it is given others."""

prompt_source: Final = source_handler_registry.source
"""Registers a function as a source: `@prompt_source("weather")`."""


def _stability_of_time(options: Mapping[str, Any]) -> Stability:
    return "session" if options.get("granularity", "date") == "date" else "turn"


prompt_source("dateTime", stability=_stability_of_time)(get_current_date_time)
prompt_source("memorySummary")(get_memory_summary)
prompt_source(USER_INSTRUCTIONS, stability="static")(get_user_instructions)
prompt_source("toolListing", stability="session")(get_tool_listing)


def get_source_handler(source: str) -> SourceHandler | None:
    """The handler of a source, or None for an unknown name. Raises InvalidConfig if it cannot be loaded."""
    return source_handler_registry.get(source)
