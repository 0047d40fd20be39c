"""Response: what is no answer is told as an error, whole and in order, and never taken for an empty answer."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.answered import Answered
from art_compliance.checks.base import check
from art_compliance.checks.trial import Trial
from art_compliance.findings import Finding
from art_compliance.pointers import escape, look_up
from art_compliance.provider.server import Response
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subjects import TEST_KEY, Crashed, Refused
from art_sdk import FunctionCall, ToolCall
from art_sdk.json_data import is_array, is_object

_STATUSES: Final = (400, 401, 403, 404, 429, 500, 503, 529)
_PROVIDER_ERROR: Final = "LLM_PROVIDER_ERROR"


@check(
    "response.error-answer-is-told",
    clause="An error answer becomes ERROR with LLM_PROVIDER_ERROR, its status and the provider's words, then END.",
    once=True,
)
def error_answer_is_told(trial: Trial) -> Iterator[Finding]:
    """The caller decides by the status whether to try again, and reads the words."""
    name = "response.error-answer-is-told"
    for status in _STATUSES:
        words = f"written error {status}"
        body = trial.dialect.write_error(status, words)
        heard = trial.call_with(Response(status, body, headers=(("retry-after", "0"),)))
        for wrong in _wrong_error(heard, status, words):
            yield Finding(check=name, message=f"answered {status}: {wrong}")


def _wrong_error(heard: Answered | Refused | Crashed, status: int, words: str) -> Iterator[str]:
    if not isinstance(heard, Answered):
        yield str(heard)
        return
    if not heard.is_failure:
        yield f"the events are {', '.join(heard.kinds) or 'none'} with the finish {heard.finish!r}"
    error = heard.error or {}
    if error.get("code") != _PROVIDER_ERROR:
        yield f"the error's code is {error.get('code')!r}, not {_PROVIDER_ERROR}"
    if error.get("status") != status:
        yield f"the error's status is {error.get('status')!r}"
    if words not in str(error.get("provider_message") or error.get("message")):
        yield f"the provider's words {words!r} are not told"


@check(
    "response.broken-answer-is-an-error",
    clause="A body that is not what the provider sends gives ERROR, never an exception and never an empty answer.",
    once=True,
)
def broken_answer_is_an_error(trial: Trial) -> Iterator[Finding]:
    """Proxies answer with pages, and connections with halves."""
    name = "response.broken-answer-is-an-error"
    for what, response in _broken(trial):
        heard = trial.call_with(response)
        if not isinstance(heard, Answered):
            yield Finding(check=name, message=f"{what}: {heard}")
        elif not heard.is_failure:
            told = f"{', '.join(heard.kinds) or 'no events'} with the finish {heard.finish!r}"
            yield Finding(check=name, message=f"{what}: expected ERROR and END, got {told}")


def _broken(trial: Trial) -> Iterator[tuple[str, Response]]:
    text, call = (trial.dialect.write_response(answer) for answer in (_TEXT, _CALL))
    yield "an empty body", Response(200, b"")
    yield "a page", Response(200, _PAGE, "text/html")
    yield "a page of 10 MB", Response(200, _PAGE * (10_000_000 // len(_PAGE)), "text/html")
    for shown in (b"null", b"[]", b"{}", b'"text"', b"7", b"[" * 100_000):
        yield f"the body {shown[:10].decode()}", Response(200, shown)
    yield "half of an answer", Response(200, text[: len(text) // 2])
    yield "text that is not UTF-8", Response(200, text.replace(b"written", b"wr\xff\xfeitten"))
    for body in (text, call):
        yield from _spoiled(json.loads(body), trial.dialect.essential)


_PAGE: Final = b"<!DOCTYPE html><title>502</title><h1>Bad gateway</h1>"
_TEXT: Final = WrittenAnswer(content="This answer was written.")
_CALL: Final = WrittenAnswer(
    tool_calls=(ToolCall("call_w", FunctionCall("look", '{"at": 1}')),),
    finish="tool_calls",
)


def _spoiled(body: Any, essential: tuple[str, ...]) -> Iterator[tuple[str, Response]]:
    """The answer without each field that it cannot do without, and with something else in its place."""
    for pointer in essential:
        parent, _, step = pointer.rpartition("/")
        holder = look_up(body, parent)
        if not is_object(holder) or step not in holder:
            continue
        for what, value in (("missing", ...), ("null", None), ("a number", 7), ("a flag", True)):
            spoiled = copy.deepcopy(body)
            target = look_up(spoiled, parent)
            if value is ...:
                del target[step]
            else:
                target[step] = value
            yield f"{pointer} {what}", Response(200, json.dumps(spoiled).encode())


@check(
    "response.key-is-shown-nowhere",
    clause="The API key stands in no event, whatever the provider says in its error.",
    once=True,
)
def key_is_shown_nowhere(trial: Trial) -> Iterator[Finding]:
    """Some providers repeat the key in their words, and events go into logs."""
    words = f"Incorrect API key provided: {TEST_KEY}"
    for status in (200, 401):
        heard = trial.call_with(Response(status, trial.dialect.write_error(401, words)))
        for pointer in _shown(heard.events if isinstance(heard, Answered) else str(heard)):
            text = f"answered {status} with words that repeat the key, the events show it at {pointer or '/'}"
            yield Finding(check="response.key-is-shown-nowhere", message=text)


def _shown(value: Any, pointer: str = "") -> Iterator[str]:
    if isinstance(value, (str, bytes)) and TEST_KEY in (value if isinstance(value, str) else value.decode("latin-1")):
        yield pointer
    elif is_object(value):
        for key, item in value.items():
            yield from _shown(item, f"{pointer}/{escape(key)}")
    elif is_array(value):
        for at, item in enumerate(value):
            yield from _shown(item, f"{pointer}/{at}")
