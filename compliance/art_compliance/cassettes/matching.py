"""Whether a request is the recorded one, by its meaning and not by its bytes; and if not, what has changed.

The normal form of a request is its decoded form, with call ids numbered in order of appearance. Requests that the
dialect cannot decode are compared as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from art_compliance.cassettes.bodies import json_of
from art_compliance.cassettes.exchange import Exchange
from art_compliance.comparison.normal_form import normal_form
from art_compliance.dialects import DecodeFailed, Dialect
from art_compliance.dialects.urls import path_of
from art_compliance.pointers import escape
from art_compliance.quoting import quote_difference, show, show_both
from art_sdk.json_data import is_array, is_object

Twins = Iterator[tuple[int, int]]


class ScrubbedRequest(Struct, frozen=True):
    """A scrubbed request, recorded or live."""

    method: str
    uri: str
    body: bytes

    @classmethod
    def of(cls, exchange: Exchange) -> ScrubbedRequest:
        """The request of a recorded call."""
        return cls(exchange.method, exchange.uri, exchange.request_body)

    @property
    def raw(self) -> Any:
        """The body as JSON, or as text if it is not JSON."""
        value = json_of(self.body)
        return self.body.decode("utf-8", "replace") if value is None else value


class Tape(Struct):
    """What happened while a cassette was played: each different request once, and the interactions never played."""

    requests: list[ScrubbedRequest] = field(default_factory=list[ScrubbedRequest])
    unplayed: list[int] = field(default_factory=list[int])


def is_same(dialect: Dialect, one: ScrubbedRequest, other: ScrubbedRequest) -> bool:
    """Whether two requests mean the same, whatever their host and whatever precedes the dialect's path."""
    return identity(dialect, one) == identity(dialect, other)


def identity(dialect: Dialect, request: ScrubbedRequest) -> Hashable:
    """A key that requests share if they mean the same."""
    return request.method, dialect.service.takes(request.uri), _hashable(meaning(dialect, request))


def _hashable(value: Any) -> Hashable:
    """JSON data that is equal where the values are."""
    if is_object(value):
        return frozenset((name, _hashable(child)) for name, child in value.items())
    return tuple(map(_hashable, value)) if is_array(value) else value


def twins(dialect_of: Callable[[ScrubbedRequest], Dialect | None], requests: Iterable[ScrubbedRequest]) -> Twins:
    """The pairs of requests that mean the same, by number: the first of its kind, and one that repeats it."""
    first: dict[Hashable, int] = {}
    for at, request in enumerate(requests):
        dialect = dialect_of(request)
        if dialect is not None and (known := first.setdefault((dialect.name, identity(dialect, request)), at)) != at:
            yield known, at


def meaning(dialect: Dialect, request: ScrubbedRequest) -> Any:
    """The request's normal form as JSON data; its path and raw body if it cannot be decoded."""
    raw = request.raw
    try:
        decoded = dialect.requests.decode(raw, url=request.uri)
    except DecodeFailed:
        return {"path": path_of(request.uri), "body": raw}
    ids: dict[str, str] = {}
    turns = [_turn(msgspec.to_builtins(entry), ids) for entry in normal_form(decoded.prompt)]
    tools = [msgspec.to_builtins(tool) for tool in decoded.tools]
    return msgspec.to_builtins({"prompt": turns, "tools": tools, "options": decoded.options, "opaque": decoded.opaque})


def _turn(entry: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    """A turn without its place, and with numbered ids. An orphan result's name is the id of the call it answers."""
    for call in entry["calls"]:
        call["id"] = _numbered(call["id"], ids)
        del call["path"]
        if call["result"] is not None:
            del call["result"]["path"]
    if entry["role"] == "result":
        entry["name"] = _numbered(entry["name"], ids)
    del entry["path"]
    return entry


def _numbered(name: str, ids: dict[str, str]) -> str:
    return ids.setdefault(name, f"call {len(ids) + 1}")


class Change(Struct, frozen=True):
    """One place in which two JSON values differ."""

    pointer: str
    recorded: str
    now: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: recorded {self.recorded}, now {self.now}"


ABSENT: Final = "nothing"
_MANY: Final = 5


def changes(recorded: Any, now: Any, pointer: str = "") -> Iterator[Change]:
    """Every place where the second value differs from the first."""
    if is_object(recorded) and is_object(now):
        for name in [*recorded, *(name for name in now if name not in recorded)]:
            here = f"{pointer}/{escape(str(name))}"
            yield from _item(name in recorded, recorded.get(name), name in now, now.get(name), here)
    elif is_array(recorded) and is_array(now):
        for at in range(max(len(recorded), len(now))):
            old, new = at < len(recorded), at < len(now)
            yield from _item(old, recorded[at] if old else None, new, now[at] if new else None, f"{pointer}/{at}")
    elif recorded != now or type(recorded) is not type(now):
        yield Change(pointer, *_parted(recorded, now))


def _item(old: bool, recorded: Any, new: bool, now: Any, pointer: str) -> Iterator[Change]:  # noqa: FBT001 - two sides
    if old and new:
        yield from changes(recorded, now, pointer)
    else:
        yield Change(pointer, show(recorded) if old else ABSENT, show(now) if new else ABSENT)


def _parted(recorded: Any, now: Any) -> tuple[str, str]:
    """Both values; long texts are shown from shortly before they differ."""
    if not (isinstance(recorded, str) and isinstance(now, str)):
        return show_both(recorded, now)
    return quote_difference(recorded, now)[1:]


def describe_mismatch(dialect: Dialect, recorded: ScrubbedRequest, now: ScrubbedRequest) -> str:
    """What changed, in normal form and raw: the first few places of each."""
    lines: list[str] = []
    if recorded.method != now.method:
        lines.append(f"method: recorded {recorded.method}, now {now.method}")
    if dialect.service.takes(recorded.uri) != dialect.service.takes(now.uri):
        lines.append(f"path: recorded {path_of(recorded.uri)}, now {path_of(now.uri)}")
    pairs = {
        "in normal form": (meaning(dialect, recorded), meaning(dialect, now)),
        "raw": (recorded.raw, now.raw),
    }
    for what, (old, new) in pairs.items():
        found = list(islice(changes(old, new), _MANY + 1))
        shown = [str(change) for change in found[:_MANY]] + (["and more"] if len(found) > _MANY else [])
        lines += [f"{what}: {'; '.join(shown)}"] if shown else []
    return "\n    ".join(lines)
