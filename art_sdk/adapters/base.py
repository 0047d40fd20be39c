"""BaseAdapter: what every adapter is. Write `translate`; everything else has a default or is a small step.

    prompt + options ─ translate ─► payload ─ request ─► HttpRequest ─ transport ─► bytes ─ a reader ─► events

Its two halves are `limits`, which checks what goes out, and `reading`, which reads what comes back; `call`
and `call_sync` share both. Verbs: `translate` is pure, `parse_` raises, `read_` turns a provider's fault into events.
"""

from __future__ import annotations

import abc
import os
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import msgspec

from art_sdk.adapters.answers import CallInfo
from art_sdk.adapters.capabilities import Loss, Repair
from art_sdk.adapters.failures import FailureReader
from art_sdk.adapters.limits import ProviderLimits
from art_sdk.adapters.reading import AnswerReader, Prepared
from art_sdk.adapters.settings import (
    require_headers,
    require_key,
    require_model,
    require_retries,
    require_timeouts,
    require_url,
)
from art_sdk.http.exchange import Exchange
from art_sdk.http.time_limits import Timeouts
from art_sdk.http.transport import HttpRequest, Transport
from art_sdk.messages import ArtStandardPrompt
from art_sdk.options import CallOptions
from art_sdk.stream import Completion, StreamEvent, fold
from art_sdk.validation import parse_prompt, parse_prompt_to_encode

if TYPE_CHECKING:
    import httpx2

Payload = dict[str, Any]
"""A request body as JSON data."""

_encode: Final = msgspec.json.Encoder().encode

_ACCEPTS_A_STREAM: Final = {"accept": "text/event-stream"}


class BaseAdapter(ProviderLimits, AnswerReader, abc.ABC):
    """One provider's adapter, and the factory that the conformance suite takes.

    `base_url` replaces `default_base_url`, version path included; `model` is the default of calls
    that name none; `headers` go with every request; `http_client` is an httpx2 client of either kind.
    `retries` is how often a call is tried again if that may help and no part of an answer came yet:
    after the provider's `Retry-After`, or after 0.5 s, 1 s, 2 s, up to 8 s.
    Raises InvalidConfig for an unusable key, URL, model, header, number of retries or time limit.
    """

    default_model: ClassVar[str]
    default_base_url: ClassVar[str]
    protocol_headers: ClassVar[Mapping[str, str]] = {"content-type": "application/json", "accept": "application/json"}
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
        provider = self.provider_name
        self._api_key = require_key(api_key, provider)
        self.base_url = require_url(base_url or self.default_base_url, provider)
        self.model = require_model(model or self.default_model, provider)
        self._headers = require_headers(headers or {}, provider)
        limits = require_timeouts(timeouts or Timeouts(), provider)
        self._transport = Transport(provider, timeouts=limits, http_client=http_client)
        self._exchange = Exchange(self._transport, require_retries(retries, provider))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={self.model!r}, base_url={self.base_url!r})"

    @abc.abstractmethod
    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        """The provider's request body for the prompt. Pure: no I/O, no clock, arguments unchanged.

        Raises PromptTranslationFailed for whatever the provider cannot take; nothing is lost silently.
        """

    def endpoint(self, options: CallOptions) -> str:
        """The path under `base_url`, with a leading slash."""
        raise NotImplementedError(f"{type(self).__name__} must define endpoint")

    def auth_headers(self) -> dict[str, str]:
        """The headers that carry the key. Keys never go into a URL."""
        return {"authorization": f"Bearer {self._api_key}"}

    def provider_fields(self, options: CallOptions) -> dict[str, Any]:
        """The provider-only fields that the caller gave for this dialect."""
        return options.provider.get(self.dialect, {})

    def merge_provider_fields(self, payload: Payload, options: CallOptions) -> Payload:
        """Adds the caller's provider-only fields to the payload. They never replace what it has already."""
        if "stream" in self.provider_fields(options):  # else the reader would not fit the answer
            self.refuse(f"options.provider[{self.dialect!r}]['stream'] is not allowed; set the option stream instead")
        clash = _merge(payload, self.provider_fields(options), "")
        if clash:
            self.refuse(f"options.provider[{self.dialect!r}]{clash} would replace a field that the adapter writes")
        return payload

    def request(self, payload: Payload, options: CallOptions) -> HttpRequest:
        """The HTTP request that carries the payload."""
        accept = _ACCEPTS_A_STREAM if options.stream else {}
        headers = {**self.protocol_headers, **accept, **self._headers, **self.auth_headers()}
        return HttpRequest("POST", self.base_url + self.endpoint(options), headers, _encode(payload))

    def prepare(self, prompt: object, options: object) -> Prepared:
        """Everything before the I/O. `prompt` and `options` are typed values, or JSON data.

        Raises PromptValidationFailed, InvalidConfig or PromptTranslationFailed.
        """
        parsed = self.parse_options(options)
        typed = parse_prompt_to_encode(prompt)
        try:
            request = self.request(self.translate(typed, parsed), parsed)
        except UnicodeEncodeError:
            parse_prompt(prompt)  # raises an error that says where the unsendable text is
            raise
        return Prepared(request, self._call_info(typed, parsed), parsed.timeouts, parsed.stream, self)

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

    @property
    def _failures(self) -> FailureReader:
        return FailureReader(self.provider_name, self._api_key, self.request_id_header)  # a key may be renewed

    def _call_info(self, prompt: ArtStandardPrompt, options: CallOptions) -> CallInfo:
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
    """Adds the fields, objects into objects. Returns the path of the first one that exists already."""
    for name, value in fields.items():
        here = into.get(name)
        if isinstance(here, dict) and isinstance(value, dict):
            into[name] = inner = dict(cast("dict[str, Any]", here))  # it may be the caller's own, such as a schema
            clash = _merge(inner, cast("dict[str, Any]", value), f"{path}[{name!r}]")
            if clash:
                return clash
        elif name in into:
            return f"{path}[{name!r}]"
        else:
            into[name] = value
    return None
