"""Adapters that leave a setting, which they were made with, out of some calls."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from art_compliance.miniatures.base import Options, Prompt, Translate, made_with, miniature, retranslate
from art_compliance.miniatures.isolation import readdress
from art_compliance.subject.events import event_data
from art_sdk import Timeouts
from art_sdk.json_data import is_object

_CHECK: Final = "load.settings-hold-for-every-call"


def _own_headers(adapter: Any) -> dict[str, str]:
    """The caller's headers, which the adapter was made with."""
    return dict(adapter._headers)  # noqa: SLF001 - a miniature spoils what it is made of


@miniature(_CHECK, around=("openai-compatible", "anthropic"))
def leaves_headers_out_of_streams(adapter: Any) -> None:
    """A request for a stream lacks the caller's headers."""

    def change(request: dict[str, Any], options: Any) -> dict[str, Any]:
        own = _own_headers(adapter) if options.stream else {}
        return {**request, "headers": {name: one for name, one in request["headers"].items() if name not in own}}

    readdress(adapter, change)


@miniature(_CHECK, around=("anthropic",))
def has_its_own_beta_for_tools(adapter: Any) -> None:
    """A streamed request with tools asks for a beta of Anthropic's, in place of the one that the caller asks for."""

    def change(request: dict[str, Any], options: Any) -> dict[str, Any]:
        beta = {"anthropic-beta": "fine-grained-tool-streaming-2025-05-14"}
        return {**request, "headers": {**request["headers"], **(beta if options.stream and options.tools else {})}}

    readdress(adapter, change)


@miniature(_CHECK, around=("anthropic",))
def asks_for_schemas_alone(adapter: Any) -> None:
    """A request with a response schema asks for a beta of Anthropic's, in place of the one that the caller asks for."""

    def change(request: dict[str, Any], options: Any) -> dict[str, Any]:
        beta = {"anthropic-beta": "structured-outputs-2025-11-13"}
        return {**request, "headers": {**request["headers"], **(beta if options.response_schema else {})}}

    readdress(adapter, change)


@miniature(_CHECK, around=("openai", "gemini"))
def shares_headers(adapter: Any) -> None:
    """The headers of every adapter are in one dict, which all of them send."""
    _SHARED.update(_own_headers(adapter))
    readdress(adapter, lambda request, _: {**request, "headers": {**request["headers"], **_SHARED}})


_SHARED: Final[dict[str, str]] = {}


@miniature(_CHECK, around=("openai", "gemini"))
def keeps_its_key_in_the_callers_headers(adapter: Any) -> None:
    """The key is put into the mapping of headers that the caller gave, if it has none yet."""
    given = made_with().get("headers")
    if given is not None:
        _share_key(adapter, given)


@miniature(_CHECK, around=("openai", "anthropic"))
def keeps_one_key_for_each_mapping(adapter: Any) -> None:
    """The headers with the key are made once for each mapping that a caller gives."""
    given = made_with().get("headers")
    if given is not None:
        _share_key(adapter, _OF_MAPPINGS.setdefault(id(given), (given, {}))[1])


_OF_MAPPINGS: Final[dict[int, tuple[object, dict[str, str]]]] = {}
"""With each mapping, which so lives on and keeps its id, the headers that are sent with it."""


def _share_key(adapter: Any, known: dict[str, str]) -> None:
    """The headers that carry the key are those of the adapter that was the first to write its own there."""
    keys = {name: known.setdefault(name, value) for name, value in adapter.auth_headers().items()}
    readdress(adapter, lambda request, _: {**request, "headers": {**request["headers"], **keys}})


@miniature(_CHECK, around=("openai", "cohere"))
def fills_in_the_callers_time_limits(_: Any) -> None:
    """The limits that a caller leaves out are written into the mapping that it gave."""
    given = made_with().get("timeouts")
    if is_object(given):
        for name in Timeouts.__struct_fields__:
            given.setdefault(name, 600.0)


@miniature(_CHECK, around=("deepseek", "anthropic", "bedrock"))
def asks_again_after_tokens(adapter: Any) -> None:
    """With retries, a stream that was cut off is asked for again, and its tokens come twice."""
    own, retries = adapter.call, adapter._exchange.retries  # noqa: SLF001 - as above

    async def call(prompt: Any, options: Any) -> Any:
        for left in range(retries, -1, -1):
            async for event in own(prompt, options):
                said = event_data(event)
                if left and said["type"] == "ERROR" and said["error"].get("is_retryable"):
                    break
                yield event
            else:
                return

    adapter.call = call


@miniature(_CHECK, around=("openai", "cohere"))
def asks_again_by_call_alone(adapter: Any) -> None:
    """A synchronous call never asks again, whatever the number of retries."""
    exchange = adapter._exchange  # noqa: SLF001 - as above
    own = adapter.call_sync

    def call_sync(prompt: Any, options: Any) -> Any:
        adapter._exchange = exchange._replace(retries=0)  # noqa: SLF001 - as above
        try:
            yield from own(prompt, options)
        finally:
            adapter._exchange = exchange  # noqa: SLF001 - as above

    adapter.call_sync = call_sync


@miniature(_CHECK, around=("openai", "gemini"))
def takes_no_retries_for_its_default(adapter: Any) -> None:
    """Where no retries are wanted, there are as many as by default."""
    exchange = adapter._exchange  # noqa: SLF001 - as above
    adapter._exchange = exchange._replace(retries=exchange.retries or 1)  # noqa: SLF001 - as above


@miniature(_CHECK, around=("openai", "gemini"))
def counts_its_first_request_among_the_retries(adapter: Any) -> None:
    """With two retries, a call is made twice in all."""
    exchange = adapter._exchange  # noqa: SLF001 - as above
    adapter._exchange = exchange._replace(retries=max(exchange.retries - 1, 0))  # noqa: SLF001 - as above


@miniature(_CHECK, around=("openai", "anthropic"))
def streams_with_its_default_model(adapter: Any) -> None:
    """A stream is asked for from the model that is usual, not from the one that the adapter was made with."""
    usual: str = adapter.default_model

    def translate(own: Translate, prompt: Prompt, options: Options) -> Any:
        payload = own(prompt, options)
        return {**payload, "model": usual} if options.get("stream") and not options.get("model") else payload

    retranslate(adapter, translate)


@miniature(_CHECK, around=("openai", "ollama-chat"))
def streams_without_its_time_limits(adapter: Any) -> None:
    """The time limits that the adapter was made with are forgotten where a stream is asked for."""
    own = adapter.prepare

    def prepare(prompt: Any, options: Any) -> Any:
        prepared = own(prompt, options)
        return replace(prepared, timeouts=prepared.timeouts or Timeouts()) if prepared.stream else prepared

    adapter.prepare = prepare
