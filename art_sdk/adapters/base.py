"""BaseAdapter: what every adapter is. Write `translate`; everything else has a default or is a small step.

    prompt + options ─ translate ─► payload ─ request ─► HttpRequest ─ transport ─► bytes ─ a reader ─► events

The heart does no I/O: `prepare`, `read_response` and `stream_reader` are shared by `call` and `call_sync`.
Verbs: `translate` is pure, `parse_` raises, `read_` turns a provider's fault into events.
"""

from __future__ import annotations

import abc
import os
import time
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import msgspec

from art_sdk.adapters.answers import Answer, CallInfo, answer_events, failure_events
from art_sdk.adapters.call_ids import keep_call_ids
from art_sdk.adapters.capabilities import Loss, Repair
from art_sdk.adapters.failures import (
    FailedAnswer,
    describe_broken_stream,
    describe_error_in_stream,
    describe_failure,
    describe_unreadable,
    strike_out_of_answer,
    strike_out_of_error,
)
from art_sdk.adapters.limits import Refusals
from art_sdk.adapters.settings import (
    sendable_headers,
    sendable_key,
    sendable_model,
    sendable_url,
    usable_retries,
    usable_timeouts,
)
from art_sdk.adapters.streaming import (
    AnswerStream,
    ErrorInStream,
    FrameReader,
    StoppedEarly,
    StreamReader,
    WholeReader,
    is_event_stream,
)
from art_sdk.errors import LLMProviderError
from art_sdk.http.exchange import Exchange, Prepared
from art_sdk.http.transport import HttpRequest, ResponseHead, Timeouts, Transport
from art_sdk.messages import ArtStandardPrompt
from art_sdk.options import CallOptions, parse_options
from art_sdk.stream import Completion, StreamEvent, fold
from art_sdk.validation import parse_prompt, parse_prompt_to_encode

if TYPE_CHECKING:
    import httpx2

Payload = dict[str, Any]
"""A request body as JSON data."""

_encode: Final = msgspec.json.Encoder().encode

_ASKS_FOR_A_STREAM: Final = {"accept": "text/event-stream"}
_NO_STREAM: Final = ValueError("a stream was asked for, and this is none")


class BaseAdapter(Refusals, abc.ABC):
    """One provider's adapter, and the factory that the conformance suite takes.

    `base_url` replaces `default_base_url`, version path included; `model` is used where a call
    names none; `headers` go with every request; `http_client` is an httpx2 client of either kind.
    `retries` is how often a call is tried again where that may help and nothing of an answer was
    given yet: after the provider's `Retry-After`, or after half a second, a whole one, two.
    Raises InvalidConfig for a key, a URL, a model, headers, retries or time limits that cannot be used.
    """

    default_model: ClassVar[str]
    default_base_url: ClassVar[str]
    protocol_headers: ClassVar[Mapping[str, str]] = {"content-type": "application/json", "accept": "application/json"}
    request_id_header: ClassVar[str] = "x-request-id"
    losses: ClassVar[frozenset[Loss]] = frozenset()
    repairs: ClassVar[frozenset[Repair]] = frozenset()

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None = None,
        model: str | None = None,
        timeouts: Timeouts | None = None,
        retries: int = 0,
        headers: Mapping[str, str] | None = None,
        http_client: httpx2.Client | httpx2.AsyncClient | None = None,
    ) -> None:
        self._api_key = sendable_key(api_key, self.provider_name)
        self.base_url = sendable_url(base_url or self.default_base_url, self.provider_name)
        self.model = sendable_model(model or self.default_model, self.provider_name)
        self._headers = sendable_headers(headers or {}, self.provider_name)
        limits = usable_timeouts(timeouts or Timeouts(), self.provider_name)
        self._transport = Transport(self.provider_name, timeouts=limits, http_client=http_client)
        self._exchange = Exchange(self._transport, self._open_reader, usable_retries(retries, self.provider_name))
        self._last_options: tuple[bytes, CallOptions] | None = None
        self._held: tuple[CallOptions, str] | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={self.model!r}, base_url={self.base_url!r})"

    # What an adapter writes.

    @abc.abstractmethod
    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        """The provider's request body for the prompt. Pure: no I/O, no clock, arguments unchanged.

        Raises PromptTranslationFailed for whatever the provider cannot take; nothing is lost silently.
        """

    def endpoint(self, options: CallOptions) -> str:
        """The path under `base_url`, with a leading slash."""
        raise NotImplementedError

    def auth_headers(self) -> dict[str, str]:
        """The headers that carry the key. Keys never go into a URL."""
        return {"authorization": f"Bearer {self._api_key}"}

    def map_call_ids(self, call_ids: Iterable[str]) -> dict[str, str]:
        """Per call id that must be changed, the id that is sent. A function of the id alone."""
        return keep_call_ids(call_ids)

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        """A good answer's body, read. Raises ValueError for one that is not what the provider sends."""
        raise NotImplementedError

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> AnswerStream:
        """Who reads the frames of a good streamed answer; for an adapter that declares `streaming`."""
        raise NotImplementedError

    # What every adapter has.

    def provider_fields(self, options: CallOptions) -> dict[str, Any]:
        """The provider-only fields that the caller gave for this dialect."""
        return options.provider.get(self.dialect, {})

    def merge_provider_fields(self, payload: Payload, options: CallOptions) -> Payload:
        """The payload with the caller's provider-only fields. They add; they never replace what stands there."""
        if "stream" in self.provider_fields(options):  # the answer would be read as what it is not
            self.refuse(f"options.provider[{self.dialect!r}]['stream'] is for the option stream to say; leave it out")
        clash = _merge(payload, self.provider_fields(options), "")
        if clash:
            self.refuse(f"options.provider[{self.dialect!r}]{clash} would replace a field that the adapter writes")
        return payload

    def request(self, payload: Payload, options: CallOptions) -> HttpRequest:
        """The HTTP request that carries the payload."""
        asks = _ASKS_FOR_A_STREAM if options.stream else {}
        headers = {**self.protocol_headers, **asks, **self._headers, **self.auth_headers()}
        return HttpRequest("POST", self.base_url + self.endpoint(options), headers, _encode(payload))

    def prepare(self, prompt: object, options: object) -> Prepared:
        """Everything before the I/O. `prompt` and `options` are typed values, or JSON data.

        Raises PromptValidationFailed, InvalidConfig or PromptTranslationFailed.
        """
        known = self._parse_options(options)
        typed = parse_prompt_to_encode(prompt)
        try:
            request = self.request(self.translate(typed, known), known)
        except UnicodeEncodeError:
            parse_prompt(prompt)  # says where the text stands that cannot be sent
            raise
        return Prepared(request, self._info(typed, known), known.timeouts, known.stream)

    def read_response(self, head: ResponseHead, body: bytes, info: CallInfo) -> Iterator[StreamEvent]:
        """The events of an unstreamed answer, whatever came. Never raises."""
        if not 200 <= head.status < 300:
            yield from failure_events(self.read_error(head, body), info)
            return
        try:
            answer = self.parse_answer(head, body, info)
        except Exception as error:  # noqa: BLE001 - whatever a parser stumbles over, the answer was not readable
            yield from failure_events(self._unreadable(head, body, error), info)
            return
        yield from answer_events(answer, info)

    def stream_reader(self, head: ResponseHead, info: CallInfo) -> StreamReader:
        """The reader of a streamed answer, whatever came: bytes in, events out. Nothing in it raises.

        An answer that is no event stream is an error, also a whole answer in JSON: who asked for a
        stream and got none is not served as the provider says.
        """
        if not 200 <= head.status < 300:
            return WholeReader(lambda body: self.read_response(head, body, info), info)
        if not is_event_stream(head):
            return WholeReader(lambda body: failure_events(self._unreadable(head, body, _NO_STREAM), info), info)
        return FrameReader(self.answer_stream(head, info), info, lambda data, error: self._broken(head, data, error))

    def read_error(self, head: ResponseHead, body: bytes) -> LLMProviderError:
        """What an answer outside 2xx stands for. Never raises."""
        return describe_failure(self._failed_answer(head, body))

    def _failed_answer(self, head: ResponseHead, body: bytes) -> FailedAnswer:
        head, body, words = strike_out_of_answer(head, body, self._api_key)
        return FailedAnswer(self.provider_name, head, body, words, head.headers.get(self.request_id_header))

    def _unreadable(self, head: ResponseHead, body: bytes, error: Exception) -> LLMProviderError:
        shown = strike_out_of_error(error, self._api_key)
        return describe_unreadable(self._failed_answer(head, body), shown)

    def _broken(self, head: ResponseHead, data: bytes, error: Exception) -> LLMProviderError:
        """What a frame that is no part of an answer, or an end before the end, stands for."""
        answer, shown = self._failed_answer(head, data), strike_out_of_error(error, self._api_key)
        if isinstance(error, ErrorInStream):
            return describe_error_in_stream(answer, shown)
        return describe_broken_stream(answer, shown, is_retryable=isinstance(error, StoppedEarly))

    def call(self, prompt: object, options: object) -> AsyncGenerator[StreamEvent]:
        """The events of one call, streamed ones as their bytes come.

        Raises the caller's faults at once; a provider's fault is an ERROR event. Closing the generator
        (`aclose`) closes the connection of an answer that is not read to its end.
        """
        return self._exchange.events(self.prepare(prompt, options))

    def call_sync(self, prompt: object, options: object) -> Generator[StreamEvent]:
        """As `call`, without an event loop."""
        return self._exchange.events_sync(self.prepare(prompt, options))

    async def complete(self, prompt: object, options: object) -> Completion:
        """The whole answer. Raises what `call` raises, and the error of an ERROR event."""
        return fold([event async for event in self.call(prompt, options)])

    def complete_sync(self, prompt: object, options: object) -> Completion:
        """As `complete`, without an event loop."""
        return fold(self.call_sync(prompt, options))

    def close(self) -> None:
        """Closes the connections of synchronous calls."""
        self._transport.close()

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._transport.aclose()

    def _open_reader(self, head: ResponseHead, info: CallInfo, stream: bool) -> StreamReader:  # noqa: FBT001 - private
        if stream:
            return self.stream_reader(head, info)
        return WholeReader(lambda body: self.read_response(head, body, info), info)

    def _parse_options(self, options: object) -> CallOptions:
        """Options that encode to the same bytes are parsed once: an agent gives the same ones again and again."""
        if not isinstance(options, CallOptions):
            return parse_options(options)
        try:
            written = _encode(options)
        except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
            return parse_options(options)
        last = self._last_options
        if last is not None and last[0] == written:
            return last[1]
        known = parse_options(options)
        self._last_options = (written, known)
        return known

    def _hold_options_once(self, options: CallOptions) -> None:
        """What was parsed here belongs to nobody else, so that it need not be held a second time."""
        held, last = self._held, self._last_options
        if held is not None and held[0] is options and held[1] == self.model:
            return
        self.hold_options(options)
        if last is not None and last[1] is options:
            self._held = (options, self.model)

    def _info(self, prompt: ArtStandardPrompt, options: CallOptions) -> CallInfo:
        return CallInfo(
            thread_id=options.thread_id,
            trace_id=options.trace_id or os.urandom(16).hex(),
            session_id=options.session_id,
            call_context=options.call_context,
            model=options.model or self.model,
            prompt=prompt,
            map_call_ids=self.map_call_ids,
            started=time.perf_counter(),
        )


def _merge(into: dict[str, Any], fields: Mapping[str, Any], path: str) -> str | None:
    """Adds the fields, objects into objects. Gives the path of the first that stands there already."""
    for name, value in fields.items():
        here = into.get(name)
        if isinstance(here, dict) and isinstance(value, dict):
            into[name] = inner = dict(cast("dict[str, Any]", here))  # it may be the caller's own: a schema
            clash = _merge(inner, cast("dict[str, Any]", value), f"{path}[{name!r}]")
            if clash:
                return clash
        elif name in into:
            return f"{path}[{name!r}]"
        else:
            into[name] = value
    return None
