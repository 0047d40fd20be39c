"""Response: whatever is not an answer becomes an ERROR event, never an exception and never an empty answer."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from art_compliance.checks.answerers import giving
from art_compliance.checks.base import check
from art_compliance.checks.limits import RETRY_AFTER
from art_compliance.checks.replies import error_of, missing_words, wrong_failure, wrong_status_error
from art_compliance.checks.streamed import in_other_ways, options_for, whole_and_streamed
from art_compliance.checks.trial import Trial
from art_compliance.checks.ways import ways_of
from art_compliance.checks.wordings import begun, words_for
from art_compliance.dialects.base import ErrorForm
from art_compliance.findings import Problem
from art_compliance.pointers import leaves, look_up
from art_compliance.provider import Asked, Request, Response, answering_with
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.observations import Crashed
from art_sdk import FunctionCall, ToolCall
from art_sdk.json_data import is_object

Headers = tuple[tuple[str, str], ...]

_STATUSES: Final = (400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 520, 524, 529)
"""520 and 524 are Cloudflare's, which stands in front of several providers."""

_FINAL: Final = frozenset({400, 401, 402, 403, 404, 413, 422})
"""Statuses that stay the same however often the adapter tries again."""

_BUSY: Final = 503


@check(
    "response.error-answer-is-an-error",
    clause="An error answer becomes ERROR with LLM_PROVIDER_ERROR, its status and the provider's words, then END.",
    finding_class="contract",
    requires=("dialect", "call"),
    once=True,
)
def error_answer_becomes_an_error(trial: Trial) -> Iterator[Problem]:
    """The caller decides by the status whether to try again, and reads the words. What they mention is no status."""
    coded: dict[int, bool] = {}
    for status in _STATUSES:
        words, before = words_for(status), trial.subject.request_count
        body = trial.dialect.answers.write_error(status, words)
        named = trial.dialect.answers.error_headers(status, words)
        headers = (*named, *((("retry-after", f"{RETRY_AFTER:g}"),) if status == 429 else ()))
        response = Response(status, body, headers=headers)
        reply = trial.call_with(response)
        faults = list(wrong_failure(trial, reply))
        if isinstance(reply, Answered):
            error = reply.error or {}
            faults += wrong_status_error(error, status, words=begun(status), retry_after=RETRY_AFTER)
            faults += _wrong_advice(error, status)
            faults += _foreign_id(error, body, named)
            if not trial.subject.is_translated and (codes := _codes_in(body, named)):
                coded[status] = "provider_code" in error
                faults += _wrong_code(error, codes)
        if status in _FINAL and (count := trial.subject.request_count - before) != 1:
            faults.append(Problem(f"the adapter sent {count} requests; trying again cannot help"))
        faults = faults or list(_wrong_otherwise(trial, response))
        yield from (fault.after(f"answered {status}: ") for fault in faults)
    yield from _missing_codes(coded)
    yield from _misspelt(trial)
    yield from _cut_short(trial)
    if not trial.asks_for_stream:
        yield from _page_after_an_answer(trial)
    for form in trial.dialect.answers.error_forms:
        yield from _misread(trial, form)


def _wrong_otherwise(trial: Trial, response: Response) -> Iterator[Problem]:
    """What is wrong with the ERROR where the same answer is given to a streamed call, or to `call_sync`."""
    for way, reply in in_other_ways(trial, response):
        if not (error := error_of(reply)):
            continue  # other checks find that
        wrong = wrong_status_error(error, response.status, words=begun(response.status), retry_after=RETRY_AFTER)
        yield from (fault.after(way) for fault in (*wrong, *_wrong_advice(error, response.status)))


def _misspelt(trial: Trial) -> Iterator[Problem]:
    """What is missing of an error in other letters than ASCII, which JSON has as UTF-8."""
    words = f"{begun(400)}: le mod\u00e8le n\u2019existe pas; \u8f93\u5165\u592a\u957f"
    answers = trial.dialect.answers
    body = json.dumps(json.loads(answers.write_error(400, words)), ensure_ascii=False).encode()
    reply = trial.call_with(Response(400, body, headers=answers.error_headers(400, words)))
    if isinstance(reply, Answered) and reply.error is not None:
        yield from (fault.after("answered 400 in UTF-8: ") for fault in missing_words(reply.error, words))


def _misread(trial: Trial, form: ErrorForm) -> Iterator[Problem]:
    """What is wrong with the reply to an error in another form."""
    words = f"written error {form.status}"
    for streamed in whole_and_streamed(can_stream="streaming" in trial.subject.capabilities):
        if form.when_streaming and not streamed:
            continue
        response = Response(form.status, form.write(form.status, words))
        reply = trial.subject.call(trial.scenario.prompt, options_for(trial, streamed=streamed), giving(response))
        faults = list(wrong_failure(trial, reply))
        if isinstance(reply, Answered):
            faults += wrong_status_error(reply.error or {}, form.status, words=words, retry_after=RETRY_AFTER)
        yield from (fault.after(f"answered {form.status} with {form.words}: ") for fault in faults)


def _wrong_advice(error: dict[str, Any], status: int) -> Iterator[Problem]:
    helps = status not in _FINAL
    if error.get("is_retryable") is not helps:
        advice = "trying again may help" if helps else "trying again cannot help"
        yield Problem(f"is_retryable is {show(error.get('is_retryable'))}; {advice}")


def _codes_in(body: bytes, headers: Headers) -> list[str]:
    """What an error answer says of the kind of error that it is: in its body, or, as Amazon's, in a header."""
    said = json.loads(body)
    fault = said["error"] if is_object(said.get("error")) else said
    in_body = [str(fault[name]) for name in _CODES if fault.get(name) is not None]
    return in_body + [value.partition(":")[0] for _, value in headers]


def _wrong_code(error: dict[str, Any], codes: list[str]) -> Iterator[Problem]:
    """That an ERROR has another code than the answer."""
    if "provider_code" in error and str(error["provider_code"]) not in codes:
        yield Problem(f"provider_code is {show(error['provider_code'])}; the answer says {' and '.join(codes)}")


def _foreign_id(error: dict[str, Any], body: bytes, headers: Headers) -> Iterator[Problem]:
    """An id that the answer does not have is that of an earlier one: whoever looks it up finds another call."""
    found, said = error.get("request_id"), body.decode(errors="replace")
    if isinstance(found, str) and not any(found in text for text in (said, *dict(headers).values())):
        yield Problem(f"request_id is {show(found)}, which is not in the answer")


def _page_after_an_answer(trial: Trial) -> Iterator[Problem]:
    """What is wrong with the reply to a gateway's page, which has no id, after a good answer that has one."""
    trial.call_with(Response(200, trial.dialect.answers.write(_TEXT)))
    error = error_of(trial.call_with(Response(502, _PAGE, "text/html")))
    yield from (fault.after("answered 502 with a page: ") for fault in _foreign_id(error, _PAGE, ()))


def _cut_short(trial: Trial) -> Iterator[Problem]:
    """What is wrong with the reply to an error in many words, such as one that quotes the request."""
    usual = _refused_with(trial, begun(400))
    found = _refused_with(trial, begun(400) + ", which a schema of 20,000 characters explains" * 400)
    faults = list(missing_words(found, begun(400)))
    for name in ("status", "provider_code", "is_retryable"):
        if found.get(name) != usual.get(name):
            text = f"{name} is {show(found.get(name))}; of the same error in few words, {show(usual.get(name))}"
            faults.append(Problem(text))
    yield from (fault.after("answered 400 with a message of some 20 kB: ") for fault in faults)


def _refused_with(trial: Trial, words: str) -> dict[str, Any]:
    answers = trial.dialect.answers
    return error_of(
        trial.call_with(Response(400, answers.write_error(400, words), headers=answers.error_headers(400, words)))
    )


def _missing_codes(coded: dict[int, bool]) -> Iterator[Problem]:
    """That the ERRORs of some answers have no code, and those of others have one; where none has, that is a note.

    A library may have no place for it. Its users then tell a used-up quota from a busy minute by the words alone.
    """
    without = [status for status, has_code in coded.items() if not has_code]
    if not without:
        return
    if len(without) < len(coded):
        yield Problem(
            f"answered {without[0]}: the ERROR has no provider_code, although those of other answers have one"
        )
    else:
        yield Problem("no ERROR has a provider_code, although the answers name one", severity="note")


_CODES: Final = ("code", "type", "status")
"""The fields in which providers say what kind of error it is."""


@check(
    "response.broken-answer-is-an-error",
    clause="A body that the provider would never send becomes ERROR, never an exception or an empty answer.",
    finding_class="contract",
    requires=("dialect", "call"),
    once=True,
)
def broken_answer_is_an_error(trial: Trial) -> Iterator[Problem]:
    """Proxies answer with HTML pages, and broken connections with half an answer. Long pages are among the faults."""
    for what, response in _broken(trial):
        reply = trial.call_with(response)
        read_by_others = what == _NOT_UTF8 or what.startswith("/")
        for fault in wrong_failure(trial, reply):
            yield (fault.of_class("contract") if read_by_others else fault).after(f"{what}: ")
        if isinstance(reply, Crashed) and reply.timed_out:
            return  # the others would hang, too


def _broken(trial: Trial) -> Iterator[tuple[str, Response]]:
    """Bodies that are not answers; where the request asks for a whole answer, parts of one as well."""
    yield "an empty body", Response(200, b"")
    yield "a page", Response(200, _PAGE, "text/html")
    for shown in (b"null", b"[]", b"{}", b'"text"', b"7", b"[" * 100_000):
        yield f"the body {shown[:10].decode()}", Response(200, shown)
    if trial.asks_for_stream:
        return
    text, call = (trial.dialect.answers.write(answer) for answer in (_TEXT, _CALL))
    yield "half of an answer", Response(200, text[: len(text) // 2])
    yield _NOT_UTF8, Response(200, text.replace(b"written", b"wr\xff\xfeitten"))
    for body in (text, call) if "tools" in trial.subject.capabilities else (text,):
        yield from _spoiled(json.loads(body), trial.dialect.answers.essential)


_NOT_UTF8: Final = "text that is not UTF-8"
"""Some of the providers' own clients replace such bytes by U+FFFD (google-genai, and all that use fetch): no loss."""

_PAGE: Final = b"<!DOCTYPE html><title>502</title><h1>Bad gateway</h1>"
_TEXT: Final = WrittenAnswer(content="This answer was written.")
_CALL: Final = WrittenAnswer(
    tool_calls=(ToolCall("call_w", FunctionCall("look", '{"at": 1}')),),
    finish="tool_calls",
)


def _spoiled(body: Any, essential: tuple[str, ...]) -> Iterator[tuple[str, Response]]:
    """The answer with each of its essential fields missing, null, or of another type, named by the field's pointer.

    No provider sends such a thing, and the clients of OpenAI and Anthropic give it as it is (`construct` of their
    models): a client that does so loses nothing.
    """
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
    "response.key-is-never-shown",
    clause="No event has the API key, or a secret part of it, whatever the provider says in its error.",
    finding_class="contract",
    requires=("dialect", "call", "own_settings"),
    once=True,
)
def key_is_never_shown(trial: Trial) -> Iterator[Problem]:
    """Some providers repeat the key in their error text, and events go into logs."""
    words = f"Incorrect API key provided: {trial.subject.keys.own}"
    answers = {
        "with an error": Response(401, trial.dialect.answers.write_error(401, words)),
        "200 and an error": Response(200, trial.dialect.answers.write_error(401, words)),
        "with a text": Response(200, trial.dialect.answers.write(_TEXT)),
    }
    for what, response in answers.items():
        reply = trial.call_with(response)
        for pointer, leaf in leaves(reply.events if isinstance(reply, Answered) else str(reply)):
            if trial.subject.keys.own in str(leaf):
                event = f"event {pointer.removesuffix('/shown')}" if pointer else "the exception"
                yield Problem(f"answered {what}, {event} shows the key")
    if trial.subject.bridged is None and trial.subject.keys.own in str(trial.subject.attempt("shown")):
        yield Problem("the adapter's repr shows the key")
    if (key := trial.dialect.service.access.key_of_parts) is not None:
        yield from _parts_shown(trial, key)


def _parts_shown(trial: Trial, key: str) -> Iterator[Problem]:
    """Secret parts of a key that are shown where the provider repeats them; an adapter need not know of parts."""
    _, *secrets = key.split(":")

    def repeat(asked: Asked) -> Response:
        sent = asked.request.headers.values()
        parts = [one for one in secrets if any(one in value for value in sent)]
        parts = [] if secrets[0] in parts else parts  # it signs the others, unless the key is taken for one of one part
        return Response(403, asked.dialect.answers.write_error(403, f"The request was signed with {', '.join(parts)}"))

    with suppress(CannotDo), trial.subject.opening_with({"api_key": key}) as call:
        reply = call("call", trial.scenario.prompt, trial.options, repeat)
        shown = {str(leaf) for _, leaf in leaves(reply.events if isinstance(reply, Answered) else str(reply))}
        for number, part in enumerate(secrets, 2):
            if any(part in text for text in shown):
                yield Problem(
                    f"of a key of {len(secrets) + 1} parts, part {number} is shown where the provider repeats it"
                )


@check(
    "response.key-goes-in-a-header",
    clause="The API key is sent in a header, and never in a URL or a body.",
    finding_class="contract",
    requires=("call", "own_settings"),
    once=True,
)
def key_goes_in_a_header(trial: Trial) -> Iterator[Problem]:
    """Proxies and servers log URLs and bodies."""
    wrong = [*_misplaced(trial, trial.watched.requests)]
    yield from map(Problem, wrong)
    if wrong:
        return
    for way in ways_of(trial)[1:]:
        before = trial.subject.request_count
        asked = trial.scenario.prompt, options_for(trial, streamed=way.streamed)
        trial.subject.call_by(way.method, *asked, answering_with(_TEXT))
        wrong = [*_misplaced(trial, trial.subject.seen_since(before))]
        yield from (Problem(f"{way}: {text}") for text in wrong)
        if wrong:
            return


def _misplaced(trial: Trial, requests: Iterable[Request]) -> Iterator[str]:
    """How the key is not where it belongs in a request."""
    key = trial.subject.keys.own
    for request in requests:
        if not any(key in value for value in request.headers.values()):
            yield "no header of the request has the key"
        if key in request.target or key.encode() in request.body:
            yield "the key is in the request's URL or body"
