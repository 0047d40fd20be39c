"""Adapters that are right in a first call, and wrong after a failure, in one way of calling or with a rare error."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from art_compliance.miniatures.base import as_data, miniature
from art_compliance.miniatures.errors import change_errors
from art_sdk import EndEvent, ErrorEvent, LLMProviderError, TokenEvent, ToolCallEvent, parse_options
from art_sdk.json_data import is_object


def _retell(adapter: Any, change: Callable[[Any], Any], method: str = "call") -> None:
    """Each event becomes another, as it comes."""
    own = getattr(adapter, method)

    async def call(prompt: Any, options: Any) -> Any:
        async for event in own(prompt, options):
            yield change(event)

    def call_sync(prompt: Any, options: Any) -> Any:
        yield from map(change, own(prompt, options))

    setattr(adapter, method, call_sync if method == "call_sync" else call)


@miniature("load.earlier-calls-change-nothing", around=("anthropic", "gemini"))
def keeps_calls_of_a_failed_stream(adapter: Any) -> None:
    """The list of calls is cleared at the end of a good answer alone."""
    calls: list[Any] = []

    def change(event: Any) -> Any:
        if isinstance(event, ToolCallEvent):
            calls.append(event.call)
        if isinstance(event, EndEvent) and event.finish != "error" and event.message is not None:
            message = replace(event.message, tool_calls=tuple(calls))
            calls.clear()
            return replace(event, message=message)
        return event

    _retell(adapter, change)


@miniature("load.earlier-calls-change-nothing", around=("openai", "gemini"))
def keeps_the_words_of_an_earlier_error(adapter: Any) -> None:
    """An error without words has those of the error before."""
    known: dict[str, Any] = {}

    def change(error: Any, _: Any) -> dict[str, Any]:
        found = {name: getattr(error, name) or known.get(name) for name in ("provider_code", "provider_message")}
        known.update(found)
        return found

    change_errors(adapter, change)


@miniature("load.earlier-calls-change-nothing", around=("openai", "anthropic"))
def asks_another_model_after_a_404(adapter: Any) -> None:
    """After a model was unknown, every call goes to another one."""
    own, missing = adapter.call, [False]

    async def call(prompt: Any, options: Any) -> Any:
        asked = as_data(options)
        async for event in own(prompt, parse_options({**asked, "model": "the-small-one"} if missing[0] else asked)):
            missing[0] |= isinstance(event, ErrorEvent) and getattr(event.error, "status", None) == 404
            yield event

    adapter.call = call


@miniature("response.any-refusal-is-an-error", around=("openai", "openai-compatible", "gemini"))
def takes_every_code_for_text(adapter: Any) -> None:
    """A code that is a number, or null, raises an AttributeError."""
    own = adapter.read_error

    def read_error(head: Any, body: bytes) -> Any:
        try:
            said: Any = json.loads(body)
        except ValueError:
            said = None
        if is_object(said) and is_object(said.get("error")) and "code" in said["error"]:
            is_quota = "quota" in said["error"]["code"].lower() if head.status != 503 else False
            head = replace(head, status=429) if is_quota else head
        return own(head, body)

    adapter.read_error = read_error


@miniature("response.any-refusal-is-an-error", around=("openai", "bedrock"))
def knows_few_statuses(adapter: Any) -> None:
    """A status that is not listed is reported as 500."""
    listed = {400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 520, 524, 529}
    change_errors(adapter, lambda error, _: {} if error.status in listed else {"status": 500})


@miniature("response.any-refusal-is-an-error", around=("openai", "anthropic"))
def invents_a_request_id(adapter: Any) -> None:
    """The request_id of an error is a constant."""
    change_errors(adapter, lambda _error, _head: {"request_id": "req-unknown"})


@miniature("response.retry-after-is-read", around=("openai", "bedrock"))
def waits_after_429_alone(adapter: Any) -> None:
    """Retry-After is read with status 429 only."""
    change_errors(adapter, lambda error, _: {} if error.status == 429 else {"retry_after": None})


@miniature("response.retry-after-is-read", around=("openai",))
def tells_call_sync_no_delay(adapter: Any) -> None:
    """Retry-After is not read by `call_sync`."""

    def change(event: Any) -> Any:
        if isinstance(event, ErrorEvent) and isinstance(event.error, LLMProviderError):
            event.error.retry_after = None
        return event

    _retell(adapter, change, "call_sync")


@miniature("response.retry-after-is-read", around=("openai", "anthropic"))
def waits_without_end(adapter: Any) -> None:
    """Retry-After is whatever `float` makes of it: less than nothing, or without end."""

    def change(_: Any, head: Any) -> dict[str, Any]:
        try:
            return {"retry_after": float(head.headers["retry-after"])}
        except (KeyError, ValueError):
            return {}

    change_errors(adapter, change)


@miniature("response.retry-after-is-read", around=("openai", "gemini"))
def waits_half_a_minute_unasked(adapter: Any) -> None:
    """An overloaded provider that says nothing of a delay is said to want one."""
    change_errors(adapter, lambda error, _: {"retry_after": error.retry_after or 30.0} if error.status == 529 else {})


def _raises(adapter: Any, name: str) -> None:
    """Errors of the network of this kind go through to the caller."""

    def change(event: Any) -> Any:
        if isinstance(event, ErrorEvent) and name in event.error.message:
            raise OSError(event.error.message)
        return event

    _retell(adapter, change)


@miniature("faults.no-connection-is-an-error", around=("openai", "anthropic"))
def raises_without_a_connection(adapter: Any) -> None:
    """That nobody listens is an exception of its own, which is not caught."""
    _raises(adapter, "ConnectError")


@miniature("faults.become-errors", around=("openai", "gemini"))
def raises_what_is_not_http(adapter: Any) -> None:
    """What does not speak HTTP raises an exception."""
    _raises(adapter, "RemoteProtocolError")


@miniature("faults.errors-in-answers-agree", around=("openai", "anthropic"))
def has_words_after_a_token_alone(adapter: Any) -> None:
    """An error event with which a stream begins loses its words."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> Any:
        has_begun = False
        async for event in own(prompt, options):
            has_begun |= isinstance(event, TokenEvent)
            if isinstance(event, ErrorEvent) and not has_begun and parse_options(as_data(options)).stream:
                error: Any = event.error
                error.provider_message, error.message = None, "the stream ended early"
            yield event

    adapter.call = call


@miniature("response.call-methods-fail-alike", around=("openai", "anthropic"))
def forgets_the_delay_in_complete(adapter: Any) -> None:
    """`complete` raises an error of its own, with the status alone."""
    own = adapter.complete

    async def complete(prompt: Any, options: Any) -> Any:
        try:
            return await own(prompt, options)
        except LLMProviderError as error:
            raise LLMProviderError(error.message, provider=error.provider, status=error.status) from error

    adapter.complete = complete


@miniature("response.call-methods-fail-alike", around=("openai", "gemini"))
def raises_in_call_sync(adapter: Any) -> None:
    """`call_sync` raises the error of a body that it cannot read."""

    def change(event: Any) -> Any:
        if isinstance(event, ErrorEvent) and "cannot be read" in event.error.message:
            raise event.error
        return event

    _retell(adapter, change, "call_sync")


@miniature("response.call-methods-send-the-same", around=("openai", "anthropic", "gemini"))
def asks_without_tools_in_complete(adapter: Any) -> None:
    """`complete` sends no tools."""
    own = adapter.complete

    async def complete(prompt: Any, options: Any) -> Any:
        dropped = ("tools", "tool_choice", "parallel_tool_calls")
        kept = {name: value for name, value in as_data(options).items() if name not in dropped}
        return await own(prompt, parse_options(kept))

    adapter.complete = complete


@miniature("response.call-methods-send-the-same", around=("openai", "anthropic"))
def sends_no_key_by_call_sync(adapter: Any) -> None:
    """The client of synchronous calls has no key."""
    own, request = adapter.call_sync, adapter.request

    def keyless(*arguments: Any) -> Any:
        made = request(*arguments)
        return replace(made, headers={n: v for n, v in made.headers.items() if n not in ("authorization", "x-api-key")})

    def call_sync(prompt: Any, options: Any) -> Any:
        adapter.request = keyless
        try:
            yield from own(prompt, options)
        finally:
            adapter.request = request

    adapter.call_sync = call_sync


@miniature("load.calls-at-once-do-not-mix", around=("openai", "gemini"))
def keeps_its_last_error(adapter: Any) -> None:
    """An error is kept in the adapter until its event is yielded: another call's error may come in between."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> Any:
        async for event in own(prompt, options):
            if isinstance(event, ErrorEvent):
                adapter.last_error = event.error
                await asyncio.sleep(0.5)
                yield replace(event, error=adapter.last_error)
            else:
                yield event

    adapter.call = call


@miniature("response.events-do-not-change", around=("openai", "anthropic"))
def takes_a_failed_question_back(adapter: Any) -> None:
    """After a provider that is not available, the last message is taken out of the caller's list."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> Any:
        async for event in own(prompt, options):
            if isinstance(event, ErrorEvent) and getattr(event.error, "status", None) == 503:
                prompt.pop()
            yield event

    adapter.call = call
