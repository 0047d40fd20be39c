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
from typing import TYPE_CHECKING, Any, ClassVar, cast

from art_sdk.adapters.answers import CallInfo
from art_sdk.adapters.capabilities import Loss
from art_sdk.adapters.failures import FailureReader
from art_sdk.adapters.history import KnownHistories
from art_sdk.adapters.history_keeper import HistoryKeeper
from art_sdk.adapters.limits import ProviderLimits
from art_sdk.adapters.payload import Payload, encode_payload
from art_sdk.adapters.reading import AnswerReader, Prepared
from art_sdk.adapters.refusals import name_role
from art_sdk.adapters.settings import (
    as_config_error,
    is_given,
    require_client,
    require_given,
    require_headers,
    require_key,
    require_late_system,
    require_model,
    require_retries,
    require_size_limits,
    require_timeouts,
    require_url,
    require_version,
)
from art_sdk.errors import ARTError, PromptTranslationFailed
from art_sdk.http.exchange import Exchange
from art_sdk.http.secret import hide_values
from art_sdk.http.size_limits import SizeLimits
from art_sdk.http.time_limits import Timeouts
from art_sdk.http.transport import HttpRequest, Transport
from art_sdk.messages import ArtStandardPrompt
from art_sdk.options import CallOptions, LateSystem
from art_sdk.stream import Completion, StreamEvent, fold
from art_sdk.validation import is_encodable, parse_prompt

if TYPE_CHECKING:
    import httpx2


class BaseAdapter(ProviderLimits, HistoryKeeper, AnswerReader, abc.ABC):
    """One provider's adapter, and the factory that the conformance suite takes.

    `base_url` replaces `default_base_url`, version path included; `model` is the default of calls
    that name none; `headers` go with every request; `http_client` is an httpx2 client of either kind.
    `timeouts` bound the time of a call, `size_limits` the bytes of its answer.
    `retries` is how many times a failed call is retried, if that may help and no part of the answer has arrived:
    after the provider's `Retry-After`, or after 0.5 s, 1 s, 2 s, up to 8 s.
    `late_system` is the default for calls that do not set this option.
    Raises InvalidConfig for an unusable key, URL, model, header, client, number of retries, time limit, size limit or
    late_system.

    No repr and no local variable of the SDK shows the key or the value of a header; give the key as a `Secret` to
    hide it in your own frames, too. An adapter cannot be pickled: make one in each process. A copy shares the
    connections of its original.
    """

    default_model: ClassVar[str]
    default_base_url: ClassVar[str]
    required: ClassVar[Mapping[str, str]] = {}
    """What to give for `base_url` or `model`, by its name, where the adapter has no default of it."""
    protocol_headers: ClassVar[Mapping[str, str]] = {"content-type": "application/json", "accept": "application/json"}
    losses: ClassVar[frozenset[Loss]] = frozenset()

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None = None,
        model: str | None = None,
        timeouts: Timeouts | None = None,
        size_limits: SizeLimits | None = None,
        retries: int = 0,
        late_system: LateSystem = "refuse",
        headers: Mapping[str, str] | None = None,
        http_client: httpx2.Client | httpx2.AsyncClient | None = None,
    ) -> None:
        url = base_url if is_given(base_url) else self.default_base_url
        name = model if is_given(model) else self.default_model
        try:
            require_given({"base_url": url, "model": name}, self.required, self.provider_name)
            self.late_system = require_late_system(late_system, self.provider_name)
            self._set_up(api_key, url, name, timeouts, size_limits, retries, headers, http_client)
            self.check_settings()
        except Exception as error:  # noqa: BLE001 - such as those of a mapping that cannot be read
            fault = as_config_error(error, self.provider_name)
        else:
            return
        del api_key, base_url, url, headers, http_client  # which a traceback with local variables would show
        raise fault

    def _set_up(
        self,
        api_key: object,
        base_url: object,
        model: object,
        timeouts: object,
        size_limits: object,
        retries: object,
        headers: object,
        http_client: object,
    ) -> None:
        provider = self.provider_name
        self._api_key = require_key(api_key, provider)
        self.base_url = require_version(require_url(base_url, provider), self.default_base_url, provider)
        self.model = require_model(model, provider)
        self._headers = hide_values(require_headers({} if headers is None else headers, provider))
        self._fixed_headers = self._without_key(), self._without_key(accept=self.stream_type)
        limits = require_timeouts(Timeouts() if timeouts is None else timeouts, provider)
        self.size_limits = require_size_limits(SizeLimits() if size_limits is None else size_limits, provider)
        self._histories = KnownHistories(self.most_history_bytes)
        client = require_client(http_client, provider)
        self._transport = Transport(provider, timeouts=limits, size_limits=self.size_limits, http_client=client)
        self._exchange = Exchange(self._transport, require_retries(retries, provider))

    def _without_key(self, **accept: str) -> dict[str, str]:
        """The headers of every request, or of one that asks for a stream: the caller's own come last."""
        written = {**self.protocol_headers, **accept, **self._headers}
        return {name.lower(): value for name, value in written.items()}

    def __repr__(self) -> str:
        known = ((name, getattr(self, name, None)) for name in ("model", "base_url"))  # it may be half made
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in known)})"

    @abc.abstractmethod
    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        """The provider's request body for the prompt. Pure: no I/O, no clock, arguments unchanged.

        Raises PromptTranslationFailed for whatever the provider cannot take; nothing is lost silently.
        """

    def check_settings(self) -> None:
        """Raises InvalidConfig for settings that do not fit together. Called when all of them are set."""

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
        headers = {**self._fixed_headers[options.stream], **hide_values(self.auth_headers())}
        return HttpRequest("POST", self.base_url + self.endpoint(options), headers, encode_payload(payload))

    def prepare(self, prompt: object, options: object) -> Prepared:
        """Everything before the I/O. `prompt` and `options` are typed values, or JSON data.

        Raises PromptValidationFailed, InvalidConfig or PromptTranslationFailed.
        """
        parsed = self._parse_options_once(options)
        read = self._parse_going_on(prompt, parsed)
        typed = read.prompt
        try:
            request = self.request(self._translate_going_on(read, parsed), parsed)
        except PromptTranslationFailed as error:
            name_role(error, typed)
            raise
        except ARTError:
            raise
        except Exception:
            if is_encodable(typed):
                raise  # the adapter's own fault
            typed = parse_prompt(prompt)  # of plain values; raises an error that says which one cannot be sent
            request = self.request(self.translate(typed, parsed), parsed)
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
        """Closes the connections of synchronous calls, and forgets what was sent."""
        self._histories.clear()
        self._transport.close()

    async def aclose(self) -> None:
        """Closes all connections, and forgets what was sent."""
        self._histories.clear()
        await self._transport.aclose()

    @property
    def _failures(self) -> FailureReader:
        return FailureReader(self.provider_name, [self._api_key], self.request_id_header)  # a key may be renewed

    def _call_info(self, prompt: ArtStandardPrompt, options: CallOptions) -> CallInfo:
        return CallInfo(
            thread_id=options.thread_id,
            trace_id=options.trace_id or os.urandom(16).hex(),
            session_id=options.session_id,
            call_context=options.call_context,
            model=options.model or self.model,
            prompt=prompt,
            map_call_ids=self.map_call_ids,
            tools=options.tools,
            map_tool_names=self.map_tool_names,
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
