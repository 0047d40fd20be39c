"""Other forms in which a provider may give the same answer: split, joined or in another order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any, TypeVar

from msgspec import Struct

from art_compliance.dialects.aws_events import is_messages, read_messages
from art_sdk.adapters.capabilities import Capability

T = TypeVar("T")

Events = tuple[bytes, ...]


def no_texts(_: str) -> tuple[str, ...]:
    """None: it does not matter how a text goes back."""
    return ()


def as_it_is(text: str) -> tuple[str, ...]:
    """The text in one piece."""
    return (text,)


class Variation(Struct, frozen=True, kw_only=True):
    """One such form: text, calls and finish are the same. An answer that it does not apply to stays as it is."""

    words: str
    """The form, after "given with"."""
    whole: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Rewrites the body of an unstreamed answer; None: it differs only in streams."""
    events: Callable[[Events], Events] | None = None
    """Rewrites the events of a stream; None: a stream differs as the body does, if at all."""
    goes_back: tuple[str, ...] = ()
    """Texts of the answer that the provider wants back with the next request."""
    may_go_back: tuple[str, ...] = ()
    """Texts of the answer that may go back with its message, and need not."""
    goes_back_in: tuple[str, ...] = ()
    """Fields of the answer that the provider wants back with the next request, even if they are empty."""
    text_goes_back: Callable[[str], tuple[str, ...]] = no_texts
    """The texts as which the answer's own text goes back, behind the others: whole, or in the parts that it has."""
    lacks: tuple[str, ...] = ()
    """Fields that the answer does not have, and the next request must not have, either."""
    before_calls: bool = False
    """Whether each of what goes back stands before a call of its own."""
    thoughts: tuple[str, ...] = ()
    """Texts of the answer that are its reasoning."""
    needs: frozenset[Capability] = frozenset({"reasoning"})
    """The capabilities of the adapters that are judged by a form with something that goes back."""
    counts: bool = False
    """Whether it says the counts in another place: all of them must be read there, those of the cache, too."""
    may_fail: bool = False
    """Whether it is against the published types: an adapter may say that it cannot read it, but not misread it."""
    some_servers: bool = False
    """Whether only some servers of the format use it: an adapter that names a provider of its own knows that one."""
    empties: bool = False
    """Whether it has an empty text for arguments that are an empty object: a reader may leave them so."""


class FailureForm(Struct, frozen=True, kw_only=True):
    """One form in which an answer with status 200 says that it failed."""

    words: str
    """The form, after "an answer with"."""
    whole: Callable[[dict[str, Any], int, str], dict[str, Any]] | None = None
    """Makes the body of an unstreamed answer one that failed, with this status and message; None: none says it so."""
    events: Callable[[Events, int, str], Events]
    """Writes what follows these events of a stream that then fails so."""
    some_servers: bool = False
    """As for `Variation`."""
    says_words: bool = True
    """Whether a stream's ERROR must have the message: clients of the provider's own lose it in some forms."""


class SeveralAnswers(Struct, frozen=True, kw_only=True):
    """How the provider gives two answers to one request."""

    fields: dict[str, Any]
    """The fields of a request that ask for two."""
    whole: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
    """The body of both, from the bodies of the first and of the second."""
    events: Callable[[Events, Events], Events]
    """The events of both, which come in turns, from those of the first and of the second."""


def before_calls(items: Iterable[T], added: T, is_call: Callable[[T], bool]) -> list[T]:
    """The items with one more before the first call; before all of them where there is none."""
    found = list(items)
    at = next((at for at, item in enumerate(found) if is_call(item)), 0)
    return [*found[:at], added, *found[at:]]


def in_turns(some: Iterable[T], others: Iterable[T]) -> list[T]:
    """One of each, as long as there are any."""
    return [one for pair in zip_longest(some, others) for one in pair if one is not None]


def read_data(event: bytes) -> dict[str, Any] | None:
    """The JSON object of an event: a server-sent one, a line of JSON, or a message; None for comments and end marks."""
    if is_messages(event):
        named = {message.name: json.loads(message.payload) for message in read_messages(event)}
        return named or None
    for line in event.splitlines():
        if line.startswith((b"data: {", b"{")):
            data: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
            return data
    return None


def in_halves(text: str) -> tuple[str, str]:
    """A text as two."""
    half = len(text) // 2
    return text[:half], text[half:]
