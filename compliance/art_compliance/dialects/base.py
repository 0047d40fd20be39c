"""Dialect: one wire format as a frozen value. It shares no code with an adapter.

To add one: a folder here whose `__init__` fills in this form, a line in `dialects/__init__.py`, its schemas' sources
in `judging/wire/sources.py` (`art wire rebuild` writes the schemas), and `fixtures/rules/<name>.toml` with examples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from art_compliance.dialects.decoding import Decode
from art_compliance.dialects.order import StreamOrder
from art_compliance.dialects.recorded import ReadRecorded, TokenCounts
from art_compliance.dialects.ruling import JudgedRequest, RuleCheck
from art_compliance.dialects.urls import host_of, is_one_of, path_of
from art_compliance.dialects.variations import FailureForm, SeveralAnswers, Variation
from art_compliance.dialects.writing import WriteStream
from art_compliance.scenarios import WrittenAnswer
from art_sdk import Loss


class Denial(Struct, frozen=True):
    """An error answer of the provider's: its status, and the provider's own text."""

    status: int
    text: str


class Access(Struct, frozen=True, kw_only=True):
    """How a request shows its key, and how the provider answers one that does not."""

    find_key: Callable[[Mapping[str, str], str], str | None]
    """Finds the key in a request's headers (lower-case names) and target (path and query), or returns None."""
    advice: str
    """Where the key belongs, as advice to people."""
    no_key: Denial
    """The answer to a request without a key."""
    wrong_key: Denial
    """The answer to a key that the provider does not know."""
    verify: Callable[[str, str, Mapping[str, str], bytes], Denial | None] | None = None
    """Verifies what signs a request: its method, target, headers and body. None: a key signs nothing."""
    headers: Mapping[str, Denial] = {}
    """Other headers that every request needs (lower-case names), each with the answer to a request without it."""
    known_values: Mapping[str, tuple[str, ...]] = {}
    """The values of headers (lower-case names) that the provider knows."""
    version_header: str | None = None
    """The header (in lower case) that names the version of the provider's API: a date."""
    key_of_parts: str | None = None
    """A key of several parts, with colons between, that adapters may take, too: a name, what signs requests, and what
    is sent with them. All but the name is secret."""


class Service(Struct, frozen=True, kw_only=True):
    """Where the format is spoken."""

    hosts: tuple[str, ...]
    """Hosts of the provider whose published types and rules these are; none if nobody knows its servers."""
    kin: tuple[str, ...] = ()
    """Hosts of others that follow the same rules."""
    path: str
    """A regular expression that finds the end of a request URL's path."""
    base_path: str
    """What comes before that path at the provider."""
    endings: tuple[str, ...]
    """What comes after `base_path` at the provider, as people write it: `{model}` where the URL names the model."""
    access: Access
    """Keys and other headers."""
    own_headers: Mapping[str, str] = {}
    """Headers that the provider knows and that callers give, which an adapter may use itself."""
    other_base_paths: tuple[str, ...] = ()
    """What may stand there, too: another version that has the same requests."""
    foreign_base_path: str | None = None
    """The base path of servers that name their version in another way; None: adapters need not take one."""
    like: str | None = None
    """Another format, whose allowances of `fixtures/wire/allowances.toml` count for this one, too."""
    shape: str | None = None
    """The name of this format in recordings, whichever provider speaks it. Relatives of another format have none."""

    def takes(self, url: str) -> bool:
        """Whether requests of the format go to the path of this URL; a path alone will do."""
        return re.search(self.path, path_of(url)) is not None

    def covers(self, url: str | None) -> bool:
        """Whether the rules apply to the service that the URL names; they do where it names none."""
        return self.covers_host(host_of(url))

    def covers_host(self, host: str | None) -> bool:
        """Whether the rules apply to a host; they do where none is named."""
        return host is None or not self.hosts or is_one_of(host, (*self.hosts, *self.kin))


class WiderSchema(Struct, frozen=True):
    """A second wire schema that takes more fields: its name after the dialect's, and a note on what it alone takes."""

    name: str
    note: str


class Signature(Struct, frozen=True, kw_only=True):
    """A signature of reasoning that came back with a request."""

    pointer: str
    """The JSON pointer of the signature."""
    value: object
    """The value at that pointer."""
    thinking: str | None = None
    """The text that it signs. None: the format does not tie it to a text."""
    provider_text: str
    """What the provider says if it was changed."""
    source: str
    """Where that text is quoted."""


def _no_signatures(payload: dict[str, Any]) -> Iterator[Signature]:
    del payload
    return iter(())


class Rewritten(Struct, frozen=True, kw_only=True):
    """A tool of a request whose schema the provider changes before the model sees it."""

    pointer: str
    """The JSON pointer of the tool."""
    message: str
    """What is changed, and how to prevent it."""
    source: str
    """Where the provider says so."""


def _nothing_rewritten(payload: dict[str, Any]) -> Iterator[Rewritten]:
    del payload
    return iter(())


class Requests(Struct, frozen=True, kw_only=True):
    """What is sent."""

    decode: Decode
    """Decodes a request into the standard format."""
    read: Callable[[object, str | None, str | None], JudgedRequest]
    """Reads a body, with its model and URL where known, for the rules' functions."""
    rules: tuple[RuleCheck, ...]
    """The rules' functions."""
    lacks: frozenset[Loss] = frozenset()
    """Losses that an adapter declares, if it does not refuse what the format has no place for. A failed result is not
    refused: no agent could go on."""
    own_fields: Mapping[str, Any] = {}
    """Fields that the format has besides what is in a prompt and its options, with values that every model takes."""
    stream_fields: Mapping[str, Any] = {}
    """Own fields that only requests for streams have, beside those with which an adapter asks for one."""
    reasoning_fields: tuple[Mapping[str, Any], ...] = ()
    """Own fields that say whether there is reasoning, and how much, each with a value of its own; the first switches it
    on."""
    generation: Mapping[str, tuple[Any, ...]] = {}
    """Fields for which the standard format has no slot and which change what is generated, or by which model, by their
    path without indexes. The values are those that change nothing: the documented defaults."""
    version_field: str | None = None
    """The field of the body that names the version of the API where no header does."""
    not_json: Denial
    """The answer to a body that is not JSON."""
    history: str
    """The JSON pointer of the list that grows with the conversation."""
    marks: tuple[str, ...] = ()
    """Fields of a turn or its parts that may come and go as the conversation grows, such as cache marks."""
    has_thinking: bool = False
    """Whether the text of earlier reasoning goes back with the next request."""
    has_signature: bool = True
    """Whether the signature of earlier reasoning goes back with the next request."""
    kept_names: frozenset[str] = frozenset()
    """The names in the decoder's extensions, where only they distinguish its form from an adapter's own."""
    text_names: frozenset[str] = frozenset()
    """Fields of a message with calls that may have its text, if it has no content and nothing of its own for them."""
    defaults: Mapping[str, tuple[Any, ...]] = {}
    """Documented defaults of options: an adapter may write them out."""
    find_signatures: Callable[[dict[str, Any]], Iterator[Signature]] = _no_signatures
    """The signatures in a body that the provider would verify."""
    find_rewritten: Callable[[dict[str, Any]], Iterator[Rewritten]] = _nothing_rewritten
    """The tools in a body whose schemas the provider would change."""
    wider_schema: WiderSchema | None = None
    """A schema that takes more, by which a refusal becomes a note."""


class Reasoning(Struct, frozen=True, kw_only=True):
    """What an answer shows of its reasoning. Tokens are counted in any case."""

    text: bool = False
    """Whether the text is shown."""
    signature: bool = False
    """Whether it comes with a signature."""


def no_reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """What most services show of their reasoning: nothing."""
    del payload, model
    return None


class Models(Struct, frozen=True, kw_only=True):
    """The provider's list of models."""

    names: tuple[str, ...]
    """The models in it."""
    describe: Callable[[str], dict[str, Any]]
    """Writes the entry of a model."""
    gather: Callable[[tuple[dict[str, Any], ...]], dict[str, Any]]
    """Writes the list of these entries."""
    path: str = "/models"
    """Where the list is, after the path of the base URL."""
    others: tuple[str, ...] = ()
    """Names of models of other kinds: older, smaller, dated, tuned, of other makers. Libraries treat some apart."""


class ErrorForm(Struct, frozen=True, kw_only=True):
    """Another form in which the provider answers with an error."""

    words: str
    """The form, after "answered", the status and "with"."""
    write: Callable[[int, str], bytes]
    """Writes the body of an error answer with this status and message."""
    when_streaming: bool = False
    """Whether only requests that ask for a stream are answered so."""
    status: int = 503
    """The status that it comes with."""


def _no_headers(status: int, message: str) -> tuple[tuple[str, str], ...]:
    del status, message
    return ()


def no_other_answer(payload: dict[str, Any], target: str) -> bytes | None:
    """What most formats answer at other paths than their own: nothing."""
    del payload, target
    return None


class Answers(Struct, frozen=True, kw_only=True):
    """What comes back."""

    write: Callable[[WrittenAnswer], bytes]
    """Writes the body of an unstreamed answer. Raises CannotWrite."""
    write_error: Callable[[int, str], bytes]
    """Writes the body of an error answer with this status and message."""
    error_forms: tuple[ErrorForm, ...] = ()
    """Other forms of error answers."""
    error_headers: Callable[[int, str], tuple[tuple[str, str], ...]] = _no_headers
    """The headers of an error answer with this status and message, besides its content type."""
    models: Models
    """The list of models, as the provider's own client reads it."""
    write_other: Callable[[dict[str, Any], str], bytes | None] = no_other_answer
    """Writes the answer to a good request with this body if its target is one of the service's other paths."""
    essential: tuple[str, ...]
    """JSON pointers of fields without which an unstreamed answer cannot be read."""
    read: ReadRecorded
    """Reads a recorded answer, or one event of a streamed one."""
    counts: TokenCounts
    """Where an answer counts its tokens."""
    reasoning: Callable[[dict[str, Any], str], Reasoning | None] = no_reasoning
    """What the answer to this request body and model shows of its reasoning, or None without reasoning."""
    call_id_prefix: str = ""
    """How the provider's ids of tool calls begin."""
    variations: tuple[Variation, ...] = ()
    """Other forms in which the provider may give the same answer, whole or streamed."""
    failures: tuple[FailureForm, ...] = ()
    """Other forms than its usual error in which an answer with status 200, whole or streamed, says that it failed."""
    several: SeveralAnswers | None = None
    """How two answers come to one request. None: no request asks for that."""
    bad_ends: tuple[str, ...]
    """Published values of `finish_fields` after which an answer is not a good whole one."""
    blocked_ends: tuple[str, ...] = ()
    """Published values of `finish_fields` in an answer that has nothing, as the prompt was blocked."""
    good_ends: tuple[str, ...] = ()
    """Published values of `finish_fields`, besides the usual one, after which an answer is a good whole one."""
    optional_usage: tuple[str, ...] = ()
    """The fields of an answer, or of a stream's event, that count tokens and may be missing."""
    unions: frozenset[str] = frozenset()
    """The fields of an answer, or of a stream's event, whose objects have one member each, and never a second."""
    doubles: bool = False
    """Whether every number in a call's arguments is a double, which has no form: 1.0 and 1 are the same."""


class Streams(Struct, frozen=True, kw_only=True):
    """What comes back piece by piece."""

    write: WriteStream
    """Writes the events of a streamed answer."""
    write_error: Callable[[int, str], bytes]
    """Writes the event that ends a stream with an error, after its status 200."""
    is_requested: Callable[[object, str], bool]
    """Whether a request with this body and target asks for a stream."""
    is_array: Callable[[str], bool] | None = None
    """Whether the target of a request asks for the stream as one JSON array."""
    content_type: str = "text/event-stream"
    """The content type of a stream that is not an array."""
    order: StreamOrder
    """Judges the order of events."""
    unknown_event: bytes
    """An event that readers must skip."""
    text_fields: tuple[str, ...]
    """The fields that carry pieces of the answer's text."""
    finish_fields: tuple[str, ...]
    """The fields that say why an answer ended, streamed or not."""
    finish_events: tuple[str, ...] = ()
    """The types of the events that end an answer, where other events have such fields, too."""
    write_body: Callable[[dict[str, Any]], tuple[bytes, ...]] | None = None
    """Writes the events of a stream that says what the body of an unstreamed answer says."""
    interleave_calls: Callable[[tuple[bytes, ...]], tuple[bytes, ...]] | None = None
    """Rewrites a stream so that the pieces of its calls alternate. None: the format cannot express that."""
    client_failures: frozenset[str] = frozenset()
    """Benign faults (by id) that the provider's own client fails on."""


class Dialect(Struct, frozen=True, kw_only=True):
    """One wire format, whole. Its wire schemas and the words of its rules are files in `fixtures`, under its name."""

    name: str
    service: Service
    requests: Requests
    answers: Answers
    streams: Streams
