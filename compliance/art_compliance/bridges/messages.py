"""The messages between the suite and a bridge: one JSON object per line, in UTF-8.

The suite sends verbs, and numbers them: `id`. The bridge repeats the number in each of its answers. Several verbs may
be under way at the same time.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from art_sdk import CAPABILITIES, LOSSES, REPAIRS

Number = Annotated[int, Meta(ge=1)]
"""What the suite numbers verbs with, beginning with 1."""


class Verb(Struct, frozen=True, kw_only=True, tag_field="verb", forbid_unknown_fields=True):
    """What the suite sends."""

    id: Number


class Start(Verb, frozen=True, tag="start"):
    """Make an adapter. The answer is `started`, or `error`.

    It calls the provider at `base_url`, version path included, with `api_key`; without a `model`, with its own
    default. `base_url` is null only if the suite calls the real provider, and the adapter knows its URL. A bridge may
    get several of these, for adapters that live at the same time.
    """

    api_key: str
    base_url: str | None
    model: str | None


class Call(Verb, frozen=True, tag="call"):
    """Call the provider. The answers are `event`s, and then `done`, `cancelled` or `error`.

    `adapter` is the number of the `start` that made the adapter. `prompt` is an ArtStandardPrompt.
    """

    adapter: Number
    prompt: list[dict[str, Any]]
    options: dict[str, Any]


class Translate(Verb, frozen=True, tag="translate"):
    """Make the request's body, and send nothing. The answer is `payload`, or `error`."""

    adapter: Number
    prompt: list[dict[str, Any]]
    options: dict[str, Any]


class Cancel(Verb, frozen=True, tag="cancel"):
    """End the call of this number, and close its connection. The call ends with `cancelled`.

    A call that has just ended needs no answer to this.
    """


class Stop(Verb, frozen=True, tag="stop"):
    """Close an adapter: `adapter` is the number of its `start`. The answer is `stopped`, or `error`.

    The bridge itself ends when its standard input ends.
    """

    adapter: Number


class Answer(Struct, frozen=True, kw_only=True, tag_field="is", forbid_unknown_fields=True):
    """What the bridge sends: `id` is the number of the verb."""

    id: Number


class Started(Answer, frozen=True, tag="started"):
    """The adapter is made: what it is called, what it has, and what it declares.

    Without `capabilities`, all of them are tested. `provider_name` is for adapters to a service that speaks another
    provider's wire format.
    """

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    version: Annotated[str, Meta(max_length=200)]
    call: bool
    translate: bool
    dialect: str | None = None
    capabilities: list[Annotated[str, Meta(extra_json_schema={"enum": sorted(CAPABILITIES)})]] | None = None
    losses: list[Annotated[str, Meta(extra_json_schema={"enum": sorted(LOSSES)})]] = []
    repairs: list[Annotated[str, Meta(extra_json_schema={"enum": sorted(REPAIRS)})]] = []
    provider_name: str | None = None


class Event(Answer, frozen=True, tag="event"):
    """One event of a call, as soon as it is there."""

    event: dict[str, Any]


class Done(Answer, frozen=True, tag="done"):
    """The call has ended; its events are all there."""


class Cancelled(Answer, frozen=True, tag="cancelled"):
    """The call has ended because it was cancelled."""


class Payload(Answer, frozen=True, tag="payload"):
    """The request's body."""

    payload: Any


class Error(Answer, frozen=True, tag="error"):
    """The verb failed. `code` is that of the adapter's error, such as PROMPT_TRANSLATION_FAILED for a refusal."""

    message: str
    code: str | None = None
    status: int | None = None


class Stopped(Answer, frozen=True, tag="stopped"):
    """The adapter is closed."""


ToBridge = Start | Call | Translate | Cancel | Stop
FromBridge = Started | Event | Done | Cancelled | Payload | Error | Stopped

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(FromBridge)


class NoMessage(Exception):
    """A line is not a message of a bridge; the text says why."""


def write_line(verb: ToBridge) -> bytes:
    """The verb as a line. Lone surrogates are escaped, which msgspec does not do."""
    try:
        return _ENCODER.encode(verb) + b"\n"
    except (TypeError, ValueError, OverflowError):
        return json.dumps(msgspec.to_builtins(verb)).encode() + b"\n"


def read_line(line: bytes) -> FromBridge:
    """The answer in a line. Raises NoMessage."""
    try:
        answer: FromBridge = _DECODER.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        if b"\\ud" not in line.lower():
            raise NoMessage(str(error)) from error
        return _read_with_surrogates(line)
    return answer


def _read_with_surrogates(line: bytes) -> FromBridge:
    """The answer in a line that may have lone surrogates, which msgspec does not read. Raises NoMessage."""
    try:
        answer: FromBridge = msgspec.convert(json.loads(line), FromBridge)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise NoMessage(str(error)) from error
    return answer
