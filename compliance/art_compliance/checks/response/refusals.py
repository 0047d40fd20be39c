"""Response: any refusal, with any status and any body, becomes an ERROR that has its own facts and no others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final

from art_compliance.checks.answerers import ID_HEADERS, giving
from art_compliance.checks.base import check
from art_compliance.checks.facts import changes, facts_of, misshapen
from art_compliance.checks.limits import REFUSALS, RETRY_AFTER_TOO_LONG
from art_compliance.checks.replies import wrong_failure
from art_compliance.checks.streamed import options_for, whole_and_streamed
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.provider import Response
from art_compliance.quoting import show
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Reply

FINAL: Final = (405, 406, 410, 411, 412, 415, 418, 421, 423, 424, 426, 428, 431, 451, 498, 499)
STATUSES: Final = (*FINAL, 409, 425, 501, 505, 506, 507, 508, 511, 521, 522, 523, 525, 526, 527, 530, 598, 599)
"""Statuses that are not among those of `response.error-answer-is-an-error`: of RFC 9110, of proxies, and of nobody.

The first are those that nobody tries again: an adapter that tries the others again takes seconds for each.
"""

_WORDS: Final = "written refusal: no rate, no timeout and no server error 429 is the reason; try again without `quota`"
"""They mention other errors: an adapter must not go by them."""
_STATUS: Final = b"STATUS"
"""In a body, the status that it comes with: one that said another could be read either way."""

_BODIES: Final[Mapping[str, tuple[bytes, str]]] = {
    "no body": (b"", "application/json"),
    "a page": (b"<!DOCTYPE html><title>Failed</title><h1>Failed</h1>", "text/html"),
    "a text": (b"upstream connect error or disconnect/reset before headers", "text/plain"),
    "bytes that are not UTF-8": (b'{"error": {"message": "d\xe9j\xe0 vu"}}', "application/json"),
    "half of an object": (b'{"error": {"message": "it was cu', "application/json"),
    **{
        f"the body {body}": (body.encode(), "application/json")
        for body in (
            "null",
            "[]",
            "{}",
            "7",
            '"a word"',
            '{"error": null}',
            '{"error": "a word"}',
            '{"error": ["a word"]}',
            '{"error": {"message": null, "type": null, "code": null}}',
            '{"error": {"message": {"text": "a word"}, "code": 1305}}',
            '{"error": {"message": "a word", "code": 1305, "type": ["a", "list"]}}',
            '[{"error": {"code": STATUS, "message": "a word", "status": "UNKNOWN"}}]',
            '{"detail": [{"loc": ["body", "model"], "msg": "a word", "type": "missing"}]}',
            '{"detail": {"error": "a word"}}',
            '{"message": "a word", "code": "1305"}',
            '{"object": "error", "message": "a word", "type": "BadRequestError", "param": null, "code": STATUS}',
            '{"type": "error", "error": {"type": "an_error"}}',
            '{"errors": [{"code": 7003, "message": "a word"}], "success": false, "result": null}',
        )
    },
}
"""Bodies of errors, by the words for them: of proxies, of servers in Python (FastAPI's `detail` is a list of objects
where a field is wrong, or whatever was raised: https://fastapi.tiangolo.com/tutorial/handling-errors), of vLLM up to
0.9, of Cloudflare (`errors`), of Google, and such as leave out or spoil a field of the usual form."""


@check(
    "response.any-refusal-is-an-error",
    clause="A refusal with any status and body becomes ERROR with that status, the same streamed and whole.",
    finding_class="contract",
    requires=("dialect", "call"),
    once=True,
)
def any_refusal_is_an_error(trial: Trial) -> Iterator[Problem]:
    """Servers and proxies between adapter and model answer with statuses and bodies of their own."""
    dice = Random(f"{trial.seed} refusals")
    own = [(one, "the provider's error", _of_provider(trial, one)) for one in dice.sample(STATUSES, REFUSALS)]
    delay = ("retry-after", f"{RETRY_AFTER_TOO_LONG:g}")
    own.append((503, "the provider's error and a delay", _of_provider(trial, 503, delay)))
    drawn = ((dice.choice(FINAL), *one) for one in _BODIES.items())
    foreign = [
        (status, words, Response(status, body.replace(_STATUS, b"%d" % status), kind, headers=_IDS))
        for status, words, (body, kind) in drawn
    ]
    for status, words, response in (*own, *foreign):
        replies = [
            trial.subject.call(trial.scenario.prompt, options_for(trial, streamed=streamed), giving(response))
            for streamed in whole_and_streamed(can_stream="streaming" in trial.subject.capabilities)
        ]
        faults = [fault for reply in replies[:1] for fault in _wrong(trial, reply, status, response)]
        if not faults:
            faults = [fault for reply in replies[1:] for fault in _differing(reply, replies[0], response)]
        yield from (fault.after(f"answered {status} with {words}: ") for fault in faults)
        if any(isinstance(reply, Crashed) and reply.timed_out for reply in replies):
            return  # the others would hang, too
    for status in _REDIRECTS:
        reply = trial.call_with(Response(status))
        yield from (
            fault.after(f"answered {status} without a place to go to: ") for fault in wrong_failure(trial, reply)
        )


_IDS: Final = tuple((name, "of-this-refusal") for name in ID_HEADERS)
_REDIRECTS: Final = (302, 304)


def _of_provider(trial: Trial, status: int, *more: tuple[str, str]) -> Response:
    answers = trial.dialect.answers
    headers = (*answers.error_headers(status, _WORDS), *_IDS, *more)
    return Response(status, answers.write_error(status, _WORDS), headers=headers)


def _wrong(trial: Trial, reply: Reply, status: int, response: Response) -> Iterator[Problem]:
    """What is wrong with the reply to a refusal."""
    yield from wrong_failure(trial, reply)
    if not isinstance(reply, Answered) or trial.subject.speaks is not None:
        return  # a gateway has statuses and codes of its own
    yield from misshapen(reply)
    error = reply.error or {}
    if error.get("status") != status:
        yield Problem(f"the error's status is {show(error.get('status'))}")
    if error.get("retry_after") is not None and "retry-after" not in dict(response.headers):
        yield Problem(f"retry_after is {show(error['retry_after'])}; nothing says how long to wait")
    yield from _made_up(error, response)


def _made_up(error: Mapping[str, Any], response: Response) -> Iterator[Problem]:
    """What the ERROR says and the refusal does not."""
    said = {str(leaf) for _, leaf in leaves(_as_json(response.body))} | {value for _, value in response.headers}
    said |= {value.partition(":")[0] for value in said}
    code, request_id = error.get("provider_code"), error.get("request_id")
    if code is not None and str(code) not in {*said, str(response.status)}:
        yield Problem(f"provider_code is {show(code)}, which is not in the answer")
    if request_id is not None and request_id not in said:
        yield Problem(f"request_id is {show(request_id)}; the answer has another id")


def _as_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _differing(streamed: Reply, whole: Reply, response: Response) -> Iterator[Problem]:
    """How the reply is another where a stream was asked for. Of its words, only the provider's count."""
    one, other = (facts_of(reply, own_ids=False) for reply in (streamed, whole))
    said = [_words_in(facts.get(_MESSAGE), response) for facts in (one, other)]
    for change in changes(one, other, but=(*_OWN_FACTS, *([_MESSAGE] if said[0] == said[1] else []))):
        yield change.after("streamed and whole, the ERROR differs in ")


_MESSAGE: Final = "the error's provider_message"


def _words_in(message: Any, response: Response) -> list[str]:
    """The provider's words that a message has, whatever a library writes around them: texts of the body, or all."""
    body = _as_json(response.body)
    words = [leaf for _, leaf in leaves(body) if isinstance(leaf, str)] if body is not None else []
    return [one for one in words or [response.body.decode(errors="replace")] if one and one in str(message or "")]


_OWN_FACTS: Final = ("the ids of the events",)
"""Without a given trace_id, each call has one of its own."""
