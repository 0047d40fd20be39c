"""What a miniature is: an adapter made wrong in one named way, and the checks that must fail for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_compliance.subject.events import Answered
from art_compliance.subject.factories import Factory
from art_compliance.subject.typed import takes_types
from art_sdk import parse_options, parse_prompt

Prompt = list[dict[str, Any]]
Options = dict[str, Any]
Translate = Callable[[Prompt, Options], Any]
"""Prompt and options as JSON data to a payload: every adapter's `translate`, whatever values it takes."""

Events = list[dict[str, Any]]
"""A call's events as JSON data."""

Spoil = Callable[[Any], None]
"""Makes a fresh adapter wrong, in place."""

DIFFERENT: Final = ("openai", "anthropic", "gemini")
"""Built-in adapters, one per wire format."""


class Miniature(Struct, frozen=True):
    """One way to be wrong, in a sentence, and the ids of the checks that must fail for it."""

    id: str
    wrong: str
    fails: frozenset[str]
    spoil: Spoil
    around: tuple[str, ...] = DIFFERENT
    """Built-in adapters around which the checks must fail, by their names; more adapters may have the same fault."""

    def of(self, make: Factory) -> Factory:
        """The factory of the wrong adapter."""
        return Spoiled(self, make)

    def __reduce__(self) -> tuple[Callable[[str, str], Miniature], tuple[str, str]]:
        """Another process imports the miniature by its module and name."""
        return _import_miniature, (self.spoil.__module__, self.spoil.__name__)


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def made_with() -> Mapping[str, Any]:
    """The settings that the adapter was made with, while it is made wrong: the caller's own objects."""
    return _MADE_WITH.get(_NOTHING)


_MADE_WITH: Final[ContextVar[Mapping[str, Any]]] = ContextVar("made_with")


class Spoiled(Struct, frozen=True):
    """The factory of an adapter made wrong."""

    miniature: Miniature
    make: Factory

    def __call__(self, **settings: Any) -> Any:
        """A fresh adapter, wrong."""
        adapter = self.make(**settings)
        before = _MADE_WITH.set(settings)
        try:
            self.miniature.spoil(adapter)
        finally:
            _MADE_WITH.reset(before)
        return adapter

    @property
    def __wrapped__(self) -> Factory:
        """The right factory: it names the settings."""
        return self.make

    @property
    def dialect(self) -> Any:
        """The right adapter's."""
        return getattr(self.make, "dialect", None)

    @property
    def default_model(self) -> Any:
        """The right adapter's: one without is given a model."""
        return getattr(self.make, "default_model", None)


def _import_miniature(module: str, name: str) -> Miniature:
    found: Miniature = getattr(import_module(module), name)
    return found


def miniature(*fails: str, around: tuple[str, ...] = DIFFERENT) -> Callable[[Spoil], Miniature]:
    """Declares a miniature: its name is the function's, its docstring says how it is wrong."""

    def declare(spoil: Spoil) -> Miniature:
        name, wrong = spoil.__name__.replace("_", "-"), (spoil.__doc__ or "").strip()
        return Miniature(name, wrong, frozenset(fails), spoil, around)

    return declare


class CannotSpoil(Exception):
    """The fault needs a `translate`, and the adapter has only a `call`."""


def retranslate(adapter: Any, spoiled: Callable[[Translate, Prompt, Options], Any]) -> None:
    """Replaces the adapter's `translate` by `spoiled(translate, prompt, options)`.

    Raises CannotSpoil for a black box.
    """
    if not hasattr(adapter, "translate"):
        raise CannotSpoil("the adapter has no translate")
    own, is_typed = adapter.translate, takes_types(adapter)

    def on_data(prompt: Prompt, options: Options) -> Any:
        return own(parse_prompt(prompt), parse_options(options)) if is_typed else own(prompt, options)

    def translate(prompt: Any, options: Any) -> Any:
        return spoiled(on_data, as_data(prompt), as_data(options))

    adapter.translate = translate


def recall(adapter: Any, change: Callable[[Prompt], Prompt]) -> None:
    """A call sends another prompt than it was given."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        return own(change(as_data(prompt)), options)

    adapter.call = call


def retell(adapter: Any, through: Callable[[Any], Any]) -> None:
    """The adapter's calls give what a generator makes of their events."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        return through(own(prompt, options))

    adapter.call = call


def change_events(adapter: Any, change: Callable[[Events], Events]) -> None:
    """The adapter gives other events than it read."""
    retell(adapter, lambda given: changed_events(given, change))


async def changed_events(given: Any, change: Callable[[Events], Events]) -> Any:
    """A call's events, changed, after all of them have come."""
    for event in change(list(Answered.of([event async for event in given]).events)):
        yield event


def change_prompt(adapter: Any, change: Callable[[Prompt], Prompt]) -> None:
    """The adapter translates another prompt than it was given; a black box is called with it."""
    if not hasattr(adapter, "translate"):
        recall(adapter, change)
        return
    retranslate(adapter, lambda translate, prompt, options: translate(change(prompt), options))


def change_messages(adapter: Any, role: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """The adapter translates other messages of a role than it was given."""
    change_prompt(adapter, lambda prompt: [change(m) if m["role"] == role else m for m in prompt])


def change_options(adapter: Any, change: Callable[[Options], Options]) -> None:
    """The adapter translates with other options than it was given; a black box is called with them."""
    if not hasattr(adapter, "translate"):
        own = adapter.call

        def call(prompt: Any, options: Any) -> Any:
            return own(prompt, change(as_data(options)))

        adapter.call = call
        return
    retranslate(adapter, lambda translate, prompt, options: translate(prompt, change(options)))


def change_payload(adapter: Any, change: Callable[[Any], Any]) -> None:
    """The adapter gives another payload than it made."""
    retranslate(adapter, lambda translate, prompt, options: change(translate(prompt, options)))


def failed(message: str) -> Events:
    """The events of a call that failed before anything came."""
    error = {"code": "LLM_PROVIDER_ERROR", "message": message}
    return [{"type": "ERROR", "error": error}, {"type": "END", "message": None, "finish": "error"}]


def as_data(value: Any) -> Any:
    """Typed values as JSON data; a copy in any case."""
    return msgspec.json.decode(msgspec.json.encode(value))
