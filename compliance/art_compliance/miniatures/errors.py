"""Adapters that read good answers well, but not what an error answer says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from art_compliance.miniatures.base import change_events, miniature
from art_compliance.miniatures.streams import each_event


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


@miniature("response.retry-after-is-read", around=("openai", "bedrock"))
def reads_milliseconds_or_nothing(adapter: Any) -> None:
    """A retry-after-ms that is no number hides the Retry-After beside it."""

    def change(_: Any, head: Any) -> dict[str, Any]:
        given = head.headers.get("retry-after-ms", "0")
        return {} if given.replace(".", "").isdigit() else {"retry_after": None}

    change_errors(adapter, change)


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
