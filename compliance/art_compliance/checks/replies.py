"""What a call gave: whether it is an answer, how two answers differ, and whether a failure is reported well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.answer_laws import wrong_ids
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import same_json
from art_compliance.dialects.recorded import arguments_of
from art_compliance.quoting import show
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Refused, Reply

PROVIDER_ERROR: Final = "LLM_PROVIDER_ERROR"


def why_unread(reply: Reply) -> str | None:
    """Why the call gave no answer, or None where it gave one."""
    if not isinstance(reply, Answered):
        return str(reply)
    return None if reply.error is None else f"call gave an ERROR event: {reply.error.get('message')}"


def differences(one: Answered, other: Answered) -> Iterator[str]:
    """How two answers differ that should be equal, token counts included."""
    for what, first, second in (
        ("the message", _plain(one.message), _plain(other.message)),
        ("the text of the tokens", one.token_text, other.token_text),
        ("the thinking of the tokens", one.thinking_text, other.thinking_text),
        ("the calls of TOOL_CALL", *(list(map(_plain_call, answer.event_calls)) for answer in (one, other))),
        ("the finish", one.finish, other.finish),
        *((name, one.metadata.get(name), other.metadata.get(name)) for name in _COUNTS),
    ):
        if not same_json(first, second):
            yield f"{what}: {show(first)}, and {show(second)}"


_COUNTS: Final = ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens", "stop_reason")


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """The message without empty fields, and with the arguments of its calls parsed: whitespace in them is free."""
    calls: list[Any] = message.get("tool_calls") or []
    fields = {name: value for name, value in message.items() if value not in (None, [], ())}
    return fields | ({"tool_calls": list(map(_plain_call, calls))} if calls else {})


def _plain_call(call: Any) -> Any:
    function: Any = call.get("function") or {}
    arguments = function.get("arguments") or ""
    if not isinstance(arguments, str):
        return call
    return {**call, "function": {**function, "arguments": arguments_of(arguments)}}


def wrong_failure(trial: Trial, reply: Reply, arrived: str | None = None) -> Iterator[str]:
    """What is wrong with how a failed call ends. `arrived` is the text that came before the failure, where known."""
    if not isinstance(reply, Answered):
        yield f"call raised {reply.code}; yield ERROR and END instead" if isinstance(reply, Refused) else str(reply)
        return
    *before, error, end = (*reply.kinds, "", "")[: max(2, len(reply.kinds))]
    if (error, end, reply.finish) != ("ERROR", "END", "error") or not set(before) <= {"TOKEN", "TOOL_CALL"}:
        kinds = ", ".join(reply.kinds) or "no events"
        yield f"expected tokens and calls, then ERROR and END; got {kinds}; finish {reply.finish!r}"
        return
    if (reply.error or {}).get("code") != PROVIDER_ERROR:
        yield f"the error's code is {(reply.error or {}).get('code')!r}, not {PROVIDER_ERROR}"
    yield from wrong_ids(trial, reply)
    if arrived is not None and reply.token_text != arrived:
        yield f"the tokens are {show(reply.token_text)}; the text that arrived is {show(arrived)}"
    if (reply.text or "") != reply.token_text or not same_json(reply.calls, reply.event_calls):
        yield f"END has {show(reply.message)}; the tokens and calls before it are {show(reply.token_text)}"


def wrong_status_error(error: dict[str, Any], status: int, *, words: str | None, retry_after: float) -> Iterator[str]:
    """What is missing from the ERROR of an error answer: its status, the provider's words, and Retry-After of a 429."""
    if error.get("status") != status:
        yield f"the error's status is {error.get('status')!r}"
    if words is not None:
        yield from missing_words(error, words)
    if status == 429 and error.get("retry_after") != retry_after:
        yield f"retry_after is {error.get('retry_after')!r}; the answer says {retry_after:g} s"


def missing_words(error: dict[str, Any], words: str) -> Iterator[str]:
    """That an ERROR does not have the provider's words."""
    if words not in str(error.get("provider_message") or error.get("message")):
        yield f"the provider's words {words!r} are missing"
