"""Adapters that read good answers well, but not what an error answer says."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.dialects.framing import change_data
from art_compliance.miniatures.base import Events, change_events, miniature
from art_compliance.miniatures.forms import reread
from art_compliance.miniatures.streams import change_streams, each_event, refeed, with_error


@miniature("response.error-answer-is-an-error", around=("gemini", "openai-compatible"))
def reads_errors_in_objects_alone(adapter: Any) -> None:
    """An error in a list has no words."""
    own = adapter.read_error

    def read_error(head: Any, body: bytes) -> Any:
        return own(head, b"" if body.startswith(b"[") else body)

    adapter.read_error = read_error


@miniature("response.error-answer-is-an-error", around=("openai", "bedrock"))
def takes_proxies_errors_for_final(adapter: Any) -> None:
    """An error of a proxy, 520 or 524, may not be tried again."""
    change_errors(adapter, lambda error, _: {"is_retryable": False} if error.status in {520, 524} else {})


@miniature("response.error-answer-is-an-error", around=("openai", "cohere"))
def asks_again_without_money(adapter: Any) -> None:
    """An answer that says that money is missing may be tried again."""
    change_errors(adapter, lambda error, _: {"is_retryable": True} if error.status == 402 else {})


@miniature("response.error-answer-is-an-error", around=("openai", "gemini"))
def gives_up_on_streams(adapter: Any) -> None:
    """An error answer may not be tried again where a stream was asked for."""
    change_streams(adapter, each_event(lambda event: with_error(event, is_retryable=False)))


@miniature("response.retry-after-is-read", around=("openai", "anthropic"))
def tells_streams_no_delay(adapter: Any) -> None:
    """Retry-After is not read where a stream was asked for."""
    change_streams(adapter, each_event(lambda event: with_error(event, retry_after=None)))


@miniature("response.error-answer-is-an-error", around=("openai-compatible", "cohere", "bedrock"))
def reads_advice_from_words(adapter: Any) -> None:
    """An error that mentions a rate, also of frames, may be tried again."""
    change_errors(adapter, lambda error, _: {"is_retryable": True} if _says(error, "rate") else {})


@miniature("response.error-answer-is-an-error", around=("anthropic", "gemini", "ollama-chat"))
def reads_statuses_from_words(adapter: Any) -> None:
    """An error that mentions 400 or 404 may not be tried again."""
    change_errors(adapter, lambda error, _: {"is_retryable": False} if _says(error, "400", "404") else {})


@miniature("faults.errors-in-answers-agree", around=("openai", "anthropic", "gemini"))
def believes_the_words_of_streams(adapter: Any) -> None:
    """An error in a stream that mentions a timeout may be tried again."""
    change_events(adapter, each_event(_helped_by_words))


def _helped_by_words(event: dict[str, Any]) -> dict[str, Any]:
    error: dict[str, Any] = event.get("error") or {}
    says_it = error.get("status") == 200 and "timeout" in (error.get("provider_message") or "")
    return {**event, "error": {**error, "is_retryable": True}} if says_it else event


def _says(error: Any, *words: str) -> bool:
    return any(one in (error.provider_message or "") for one in words)


@miniature("response.error-answer-is-an-error", around=("bedrock", "openai", "gemini"))
def has_codes_below_500_alone(adapter: Any) -> None:
    """The error of a provider that failed has no field for the provider's code."""
    own = adapter.read_error

    def read_error(head: Any, body: bytes) -> Any:
        error = own(head, body)
        if error.status >= 500:
            del error.provider_code
            error.details.pop("provider_code", None)
        return error

    adapter.read_error = read_error


@miniature("response.retry-after-is-read", around=("openai", "bedrock"))
def takes_dates_for_local_time(adapter: Any) -> None:
    """A date in Retry-After is taken for one of the local time zone."""

    def change(_: Any, head: Any) -> dict[str, Any]:
        written = head.headers.get("retry-after", "")
        if "GMT" not in written:
            return {}
        there = parsedate_to_datetime(written).replace(tzinfo=None)
        return {"retry_after": max(0.0, (there - datetime.now()).total_seconds())}  # noqa: DTZ005 - the fault itself

    change_errors(adapter, change)


@miniature("response.retry-after-is-read", around=("groq", "openai"))
def waits_for_the_quota_of_a_day(adapter: Any) -> None:
    """The time until a quota is whole again hides the Retry-After beside it."""
    change_errors(adapter, lambda _, head: {"retry_after": 179.56} if _QUOTA in head.headers else {})


_QUOTA = "x-ratelimit-reset-requests"


@miniature("response.retry-after-is-read", around=("openai", "bedrock"))
def reads_milliseconds_or_nothing(adapter: Any) -> None:
    """A retry-after-ms that is no number hides the Retry-After beside it."""

    def change(_: Any, head: Any) -> dict[str, Any]:
        given = head.headers.get("retry-after-ms", "0")
        return {} if given.replace(".", "").isdigit() else {"retry_after": None}

    change_errors(adapter, change)


@miniature(
    "response.failures-in-any-form-are-errors",
    "stream.failures-in-any-form-are-errors",
    around=("openrouter", "openai-compatible"),
)
def takes_failures_for_ends(adapter: Any) -> None:
    """An error beside choices, or in one of them, is passed over: their finish reason ends the answer as any does."""
    reread(adapter, _forgiven)
    refeed(adapter, lambda chunk: change_data(chunk, _forgiven))


def _forgiven(body: Any) -> Any:
    choices = body.get("choices") or ()
    for choice in choices:
        if choice.get("error") or (body.get("error") and choice.get("finish_reason") == "error"):
            choice |= {"error": None, "finish_reason": "stop"}
    return {**body, "error": None} if choices else body


@miniature("response.error-answer-is-an-error", around=("groq",))
def makes_answers_of_refused_calls(adapter: Any) -> None:
    """An error that quotes a call which the provider refused is an answer with that call."""
    own = adapter.read_response

    def read_response(head: Any, body: bytes, info: Any) -> Any:
        answer = _answer_with_refused_call(body)
        return own(head, body, info) if answer is None else own(replace(head, status=_GOOD), answer, info)

    adapter.read_response = read_response


def _answer_with_refused_call(body: bytes) -> bytes | None:
    try:
        refused = json.loads(json.loads(body)["error"]["failed_generation"])
    except (ValueError, LookupError, TypeError):
        return None
    function = {"name": refused["name"], "arguments": json.dumps(refused["arguments"])}
    message = {"role": "assistant", "tool_calls": [{"id": "call_refused", "type": "function", "function": function}]}
    return json.dumps({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}).encode()


@miniature("stream.failures-in-any-form-are-errors", around=("openai-responses",))
def passes_over_failed_responses(adapter: Any) -> None:
    """The event response.failed is not known: its words are lost."""
    refeed(adapter, lambda chunk: chunk.replace(b"response.failed", b"response.unknown"))


@miniature("stream.failures-in-any-form-are-errors", around=("bedrock",))
def passes_over_throttling(adapter: Any) -> None:
    """An exception that says that there are too many requests ends a stream as any end does."""
    change_events(adapter, _unthrottled)


def _unthrottled(events: Events) -> Events:
    *others, end = events
    errors: list[dict[str, Any]] = [event["error"] for event in others if event["type"] == "ERROR"]
    if all(error.get("provider_code") != "ThrottlingException" for error in errors):
        return events
    return [*(event for event in others if event["type"] != "ERROR"), {**end, "finish": "stop"}]


@miniature("response.error-answer-is-an-error", around=("xai", "gemini", "openai-responses"))
def cuts_long_errors(adapter: Any) -> None:
    """Of an error, the first 4,096 bytes are read: a longer one is no JSON any more."""
    own = adapter.read_error

    def read_error(head: Any, body: bytes) -> Any:
        return own(head, body[:4096])

    adapter.read_error = read_error


@miniature("response.error-answer-is-an-error", around=("cohere", "openai"))
def names_the_last_answer_in_errors(adapter: Any) -> None:
    """An error without an id has that of the last answer that had one."""
    own, last = adapter.call, [""]

    async def call(prompt: Any, options: Any) -> Any:
        async for event in own(prompt, options):
            if event.type == "METADATA":
                last[0] = event.metadata.request_id or last[0]
            if event.type == "ERROR" and last[0] and not event.error.request_id:
                event.error.request_id = event.error.details["request_id"] = last[0]
            yield event

    adapter.call = call


@miniature("stream.failures-in-any-form-are-errors", around=("anthropic",))
def passes_over_overload(adapter: Any) -> None:
    """A stream ends as any does where its provider says that it is overloaded; other errors are errors."""
    change_streams(adapter, _without_overload)


def _without_overload(events: Events) -> Events:
    *others, end = events
    left = [event for event in others if "overloaded" not in str(event.get("error"))]
    return events if left == others else [*left, {**end, "finish": "stop"}]


@miniature("stream.failures-in-any-form-are-errors", around=("anthropic", "cohere"))
def passes_over_errors_at_first(adapter: Any) -> None:
    """A stream that fails before its first token is an answer without a text."""
    change_streams(adapter, _empty_if_failed)


def _empty_if_failed(events: Events) -> Events:
    if events[0]["type"] != "ERROR" or events[0]["error"].get("status") != _GOOD:
        return events
    return [{**events[-1], "message": {"role": "assistant", "content": ""}, "finish": "stop"}]


_GOOD: Final = 200


@miniature("faults.become-errors", around=("openai", "gemini"))
def gives_up_without_an_answer(adapter: Any) -> None:
    """Where no answer came, trying again is said not to help."""
    change_events(adapter, each_event(_final_without_status))


def _final_without_status(event: dict[str, Any]) -> dict[str, Any]:
    error: dict[str, Any] = event.get("error") or {}
    return {**event, "error": {**error, "is_retryable": False}} if error and not error.get("status") else event


def change_errors(adapter: Any, change: Callable[[Any, Any], dict[str, Any]]) -> None:
    """The adapter gives error answers other facts: `change` is given the error and the head of the answer."""
    own = adapter.read_error

    def read_error(head: Any, body: bytes) -> Any:
        error = own(head, body)
        for name, value in change(error, head).items():
            setattr(error, name, value)
            error.details[name] = value
        return error

    adapter.read_error = read_error


@miniature("faults.show-no-key", "response.key-is-never-shown", around=("openai", "anthropic"))
def notes_what_it_sent(adapter: Any) -> None:
    """The error of a refusal has a note with the headers of its request."""
    own = adapter.read_error

    def read_error(head: Any, body: bytes) -> Any:
        error = own(head, body)
        sent = {name: str(value) for name, value in adapter.auth_headers().items()}
        error.add_note(f"{_LONG_STORY} {sent}")
        return error

    adapter.read_error = read_error


_LONG_STORY: Final = "The request was made as the settings say, and had these headers:" * 20


@miniature("response.error-answer-is-an-error", around=("openai", "cohere"))
def reads_errors_as_latin_1(adapter: Any) -> None:
    """The words of an error are read as Latin-1."""
    own = adapter.read_error

    def read_error(head: Any, body: bytes) -> Any:
        return own(head, body.decode("latin-1").encode())

    adapter.read_error = read_error
