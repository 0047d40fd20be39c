"""Faults: an error in an answer is the same however it comes, and no answer sends the key to another host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.answerers import error_stream, giving
from art_compliance.checks.base import check
from art_compliance.checks.faults.applying import can_stream
from art_compliance.checks.replies import missing_words
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.streamed import options_for, whole_and_streamed
from art_compliance.checks.trial import Trial
from art_compliance.checks.wordings import begun, words_for
from art_compliance.findings import Problem
from art_compliance.provider import Request, Response
from art_compliance.provider.server import LoopbackServer
from art_compliance.quoting import show, show_both
from art_compliance.subject.events import Answered


@check(
    "faults.errors-in-answers-agree",
    clause="An error in an answer with status 200 has one code and one advice, streamed or not, whatever it mentions.",
    requires=("dialect", "call"),
    once=True,
)
def errors_in_answers_agree(trial: Trial) -> Iterator[Problem]:
    """Some providers begin to answer before they know that they cannot; callers decide by the same rule for both."""
    if not trial.once(can_stream):
        raise NotApplicable("the adapter does not stream")
    for status in (503, 400):
        whole, streamed = (_error_of(trial, status, begun(status), streamed=streamed) for streamed in (False, True))
        if streamed is not None:
            missing = missing_words(streamed, begun(status))
            yield from (fault.after(f"of a stream that begins with an error {status}, ") for fault in missing)
        if whole is None or streamed is None:
            continue
        for name in _COMPARED:
            one, other = whole.get(name), streamed.get(name)
            if one != other:
                what = f"{name} of an error {status} in an answer with status 200"
                unstreamed, other = show_both(one, other)
                yield Problem(f"{what} is {unstreamed} unstreamed, {other} streamed")
        yield from _by_words(trial, status, streamed)


_COMPARED: Final = ("code", "provider_code", "is_retryable")


def _by_words(trial: Trial, status: int, plain: dict[str, Any]) -> Iterator[Problem]:
    """That the same error of a stream is another for words of other errors. One without a code has words alone."""
    write = trial.dialect.streams.write_error
    if write(503, "") == write(400, ""):
        return
    worded = _error_of(trial, status, words_for(status), streamed=True)
    if worded is not None and worded.get("is_retryable") != plain.get("is_retryable"):
        advice, other = show_both(plain.get("is_retryable"), worded.get("is_retryable"))
        what = f"is_retryable of an error {status} in a stream is {advice}, and {other}"
        yield Problem(f"{what} where the same error says {show(words_for(status))}")


def _error_of(trial: Trial, status: int, words: str, *, streamed: bool) -> dict[str, Any] | None:
    """The ERROR event of such an answer. Other checks report a missing one."""
    dialect = trial.dialect
    answers = dialect.answers
    whole = Response(200, answers.write_error(status, words), headers=answers.error_headers(status, words))
    response = error_stream(dialect, status, words) if streamed else whole
    options = options_for(trial, streamed=streamed)
    reply = trial.subject.call(trial.scenario.prompt, options, giving(response))
    return reply.error if isinstance(reply, Answered) else None


@check(
    "faults.key-stays-at-its-host",
    clause="The API key never follows a redirect to another host or port, streamed or not.",
    requires=("dialect", "call"),
    once=True,
)
def key_stays_at_its_host(trial: Trial) -> Iterator[Problem]:
    """HTTP clients drop `authorization` on the way to another host, but not a provider's own header for its key.

    Another port is another server, often of somebody else. Each status comes whole and streamed, once with each place.
    """
    streams = trial.once(can_stream)
    with LoopbackServer(lambda _: Response(404)) as other:
        places = (("the host", other.url.replace("127.0.0.1", "localhost")), ("a port", other.url))
        for at, status in enumerate(_REDIRECTS):
            for streamed in whole_and_streamed(can_stream=streams):
                place, url = places[(at + streamed) % len(places)]
                redirect = Response(status, headers=(("location", f"{url}/v1/other"),))
                before = other.count
                trial.subject.call(trial.scenario.prompt, options_for(trial, streamed=streamed), giving(redirect))
                if any(_has_key(trial, one) for one in other.seen(before)):
                    kind = " of a stream" if streamed else ""
                    text = f"the key was sent to {place} of another server, to which a {status} answer{kind} redirects"
                    yield Problem(text)


_REDIRECTS: Final = (301, 302, 303, 307, 308)


def _has_key(trial: Trial, request: Request) -> bool:
    key, sent = trial.subject.keys.own, (request.target, *request.headers.values())
    return any(key in text for text in sent) or key.encode() in request.body
