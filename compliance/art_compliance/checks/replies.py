"""What a call gave: whether it is an answer, how two answers differ, and whether a failure is reported well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from art_compliance.checks.answer_laws import wrong_ids
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import same_json
from art_compliance.dialects.recorded import arguments_of
from art_compliance.findings import FindingClass, Problem
from art_compliance.quoting import show, show_both
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Refused, Reply, Sent

PROVIDER_ERROR: Final = "LLM_PROVIDER_ERROR"


def why_unread(reply: Reply) -> str | None:
    """Why the call gave no answer, or None where it gave one."""
    if not isinstance(reply, Answered):
        return str(reply)
    if reply.error is not None:
        return f"call gave an ERROR event: {reply.error.get('message')}"
    return next(reply.wrong_shapes(), None)


def unread(reply: Reply) -> Iterator[Problem]:
    """That the call gave no answer. The caller knows that, so it is not a loss."""
    reason = why_unread(reply)
    if reason is not None:
        yield Problem(reason, finding_class="contract")


def error_of(reply: Reply) -> dict[str, Any]:
    """The data of its ERROR event; empty if it has none, or is no answer."""
    return (reply.error or {}) if isinstance(reply, Answered) else {}


def names_of(calls: Iterable[dict[str, Any]]) -> list[Any]:
    """The names of calls as an answer gives them; None where it gives none."""
    functions: list[dict[str, Any]] = [call.get("function") or {} for call in calls]
    return [function.get("name") for function in functions]


def require_asked(trial: Trial, reply: Reply) -> None:
    """Raises NotApplicable where the call fails before it sends anything, as without the scenario's own answer.

    The checks of translation report that.
    """
    if not isinstance(trial.arrived, Sent) and fails_alike(reply, trial.watched.reply):
        raise NotApplicable("the call sends nothing: see translation.is-total and translation.outcome-is-right")


def fails_alike(one: Reply, other: Reply) -> bool:
    """Whether two calls failed for the same reason: at the same place, with the same code, or in the same words."""
    reason = _failure(one)
    return reason is not None and reason == _failure(other)


def _failure(reply: Reply) -> tuple[str, str] | None:
    match reply:
        case Refused():
            return "refused", reply.code
        case Crashed() if reply.where:
            return reply.error.partition(":")[0], reply.where
        case _:
            reason = why_unread(reply)
            return None if reason is None else ("unread", reason)


def makes_ids(trial: Trial) -> bool:
    """Whether the adapter makes the ids of the answer's calls: its provider gives none, or it declares their loss."""
    answer = trial.scenario.answer
    return "call_ids" in trial.subject.losses or (answer is not None and answer.without_ids)


def differences(one: Answered, other: Answered, *, own_ids: bool = False) -> Iterator[Problem]:
    """How two answers differ that should be equal, token counts included; if one is an error, in that alone.

    With `own_ids`, the ids of calls are the adapter's own, new in every call: they are compared by place.
    """
    if (one.error is None) != (other.error is None):
        message = (one.error or other.error or {}).get("message")
        yield Problem(f"an ERROR event: {show(message)}", finding_class="contract")
        return
    contents: tuple[tuple[str, Any, Any], ...] = (
        ("the message", _plain(one, own_ids=own_ids), _plain(other, own_ids=own_ids)),
        ("the text of the tokens", one.token_text, other.token_text),
        ("the thinking of the tokens", one.thinking_text, other.thinking_text),
        ("the calls of TOOL_CALL", *_calls_of(one, other, own_ids=own_ids)),
    )
    metadata = (
        ("the finish", one.finish, other.finish),
        ("stop_reason", one.metadata.get("stop_reason"), other.metadata.get("stop_reason")),
        *((name, one.metadata.get(name) or None, other.metadata.get(name) or None) for name in _COUNTS),
    )
    yield from _unequal(contents, "loss")
    yield from _unequal(metadata, "contract")


def _calls_of(one: Answered, other: Answered, *, own_ids: bool) -> tuple[list[Any], list[Any]]:
    return plain_calls(one.event_calls, own_ids=own_ids), plain_calls(other.event_calls, own_ids=own_ids)


def _unequal(pairs: Iterable[tuple[str, Any, Any]], finding_class: FindingClass) -> Iterator[Problem]:
    for what, first, second in pairs:
        if not same_json(first, second):
            one, other = show_both(first, second)
            yield Problem(f"{what}: {one}, and {other}", finding_class=finding_class)


_COUNTS: Final = ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens")
"""Counts of which 0 and none say the same."""


def plain_calls(calls: Iterable[dict[str, Any]], *, own_ids: bool = False) -> list[Any]:
    """The calls with their arguments parsed: whitespace in them is free. Ids of the adapter's own become numbers."""
    plain, known = list(map(_plain_call, calls)), dict[str, int]()
    if not own_ids:
        return plain
    return [{**call, "id": known.setdefault(repr(call.get("id")), len(known))} for call in plain]


def _plain(answered: Answered, *, own_ids: bool) -> dict[str, Any]:
    """The message without empty fields, and with plain calls."""
    fields = {name: value for name, value in answered.message.items() if value not in (None, [], ())}
    calls = plain_calls(answered.calls, own_ids=own_ids)
    return fields | ({"tool_calls": calls} if calls else {})


def _plain_call(call: Any) -> Any:
    function: Any = call.get("function") or {}
    arguments = function.get("arguments") or ""
    if not isinstance(arguments, str):
        return call
    return {**call, "function": {**function, "arguments": arguments_of(arguments)}}


def wrong_failure(trial: Trial, reply: Reply, arrived: str | None = None) -> Iterator[Problem]:
    """What is wrong with how a failed call ends. `arrived` is the text that came before the failure, where known.

    What had arrived at a gateway need not have left it: where it resets its connection, the client loses what waits.
    """
    if not isinstance(reply, Answered):
        text = f"call raised {reply.code}; yield ERROR and END instead" if isinstance(reply, Refused) else str(reply)
        yield Problem(text, finding_class="contract")
        return
    *before, error, end = (*reply.kinds, "", "")[: max(2, len(reply.kinds))]
    if (error, end, reply.finish) != ("ERROR", "END", "error") or not set(before) <= {"TOKEN", "TOOL_CALL"}:
        kinds = ", ".join(reply.kinds) or "no events"
        text = f"expected tokens and calls, then ERROR and END; got {kinds}; finish {show(reply.finish)}"
        yield Problem(text, finding_class="loss" if _looks_whole(reply) else "contract")
        return
    if (reply.error or {}).get("code") != PROVIDER_ERROR:
        text = f"the error's code is {show((reply.error or {}).get('code'))}, not {PROVIDER_ERROR}"
        yield Problem(text, finding_class="contract")
    yield from wrong_ids(trial, reply)
    if arrived is not None and trial.subject.speaks is None and reply.token_text != arrived:
        tokens, text = show_both(reply.token_text, arrived)
        yield Problem(f"the tokens are {tokens}; the text that arrived is {text}", finding_class="loss")
    if (reply.text or "") != reply.token_text:
        end, tokens = show_both(reply.text or "", reply.token_text)
        yield Problem(f"END has the text {end}; the tokens before it are {tokens}", finding_class="loss")
    elif not same_json(reply.calls, reply.event_calls):
        end, calls = show_both(reply.calls, reply.event_calls)
        yield Problem(f"END has the calls {end}; those before it are {calls}", finding_class="loss")


def _looks_whole(reply: Answered) -> bool:
    """Whether the caller takes what came of a failed call for an answer."""
    return reply.error is None and reply.finish not in (None, "error")


def wrong_status_error(
    error: dict[str, Any], status: int, *, words: str | None, retry_after: float
) -> Iterator[Problem]:
    """What is missing from the ERROR of an error answer: its status, the provider's words, and Retry-After of a 429."""
    if error.get("status") != status:
        yield Problem(f"the error's status is {show(error.get('status'))}", finding_class="contract")
    if words is not None:
        yield from missing_words(error, words)
    if status == 429 and error.get("retry_after") != retry_after:
        text = f"retry_after is {show(error.get('retry_after'))}; the answer says {retry_after:g} s"
        yield Problem(text, finding_class="contract")


def missing_words(error: dict[str, Any], words: str) -> Iterator[Problem]:
    """That an ERROR does not have the provider's words."""
    if words not in str(error.get("provider_message") or error.get("message")):
        yield Problem(f"the provider's words {show(words)} are missing", finding_class="contract")
