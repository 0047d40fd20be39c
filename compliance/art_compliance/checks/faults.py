"""Faults: whatever goes wrong between provider and client, it is told, in time, and leaves nothing behind."""

from __future__ import annotations

import gc
import io
import logging
import os
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from art_compliance.answered import Answered
from art_compliance.checks.base import check
from art_compliance.checks.streaming import Heard, differences, require_read, wrong_failure
from art_compliance.checks.trial import NotApplicable, Trial
from art_compliance.findings import Finding
from art_compliance.observing import Refused
from art_compliance.pointers import leaves
from art_compliance.provider import Asked, Request, Response, Send
from art_compliance.provider.faults import FAULTS, RETRY_AFTER, STEADY, STUMBLES, Fault
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subjects import TEST_KEY


class Case(NamedTuple):
    """A fault, whether it befalls a streamed answer, and what is to come of it.

    An adapter may rest on the provider's own client: what that one stumbles over need not be read.
    """

    fault: Fault
    streamed: bool
    expects: Literal["whole", "error", "either"]

    def __str__(self) -> str:
        return f"{self.fault.id} ({'streamed' if self.streamed else 'unstreamed'})"


class Seen(NamedTuple):
    """What came of it."""

    case: Case
    heard: Heard


ANSWER: Final = WrittenAnswer(content="This answer was written, and something is wrong with its way here.")
"""What is answered, were nothing wrong."""


def cases(trial: Trial) -> list[Case]:
    """Every fault, for each kind of answer that it may befall and the adapter asks for. Raises NotApplicable."""
    _ = trial.dialect
    if not trial.subject.has_call:
        message = "the adapter has no call"
        raise NotApplicable(message)
    trial.once(good)
    accepted = {name for request in trial.watched.requests for name in _accepted(request)}
    kinds = ("unstreamed", "streamed") if "streaming" in trial.subject.capabilities else ("unstreamed",)
    faults = [fault for fault in FAULTS.values() if "gzip" not in fault.id or "gzip" in accepted]
    return [
        Case(fault, kind == "streamed", "either" if trial.dialect.name in STUMBLES.get(fault.id, ()) else fault.expects)
        for fault in faults
        for kind in kinds
        if kind in fault.on
    ]


def _accepted(request: Request) -> Iterator[str]:
    """The encodings of an answer's body that a request asks for; others must not be sent (RFC 9110, 12.5.3)."""
    return (name.partition(";")[0].strip() for name in request.headers.get("accept-encoding", "").split(","))


def call(trial: Trial, case: Case) -> Heard:
    """What a call gives that this befalls."""
    options = options_for(trial, streamed=case.streamed)
    return trial.subject.call(trial.scenario.prompt, options, lambda asked: case.fault.make(ANSWER, asked))


def options_for(trial: Trial, *, streamed: bool) -> dict[str, Any]:
    """The scenario's options, streaming asked for or not."""
    return {**trial.scenario.call_options(), **({"stream": True} if streamed else {})}


def good(trial: Trial) -> Answered:
    """The answer to which nothing happened. Raises NotApplicable."""
    return _read_well(trial, streamed=False)


def good_stream(trial: Trial) -> Answered:
    """The same, streamed. Raises NotApplicable."""
    return _read_well(trial, streamed=True)


def _read_well(trial: Trial, *, streamed: bool) -> Answered:
    options = options_for(trial, streamed=streamed)
    return require_read(trial.subject.call(trial.scenario.prompt, options, lambda asked: asked.answer(ANSWER)))


class Run(NamedTuple):
    """Every fault that ends of itself, put upon the adapter once, and what was written into logs meanwhile."""

    seen: list[Seen]
    logs: str


def _run(trial: Trial) -> Run:
    with _listening() as logs:
        seen = [Seen(case, call(trial, case)) for case in cases(trial) if not case.fault.hangs]
    return Run(seen, logs.getvalue())


@contextmanager
def _listening() -> Generator[io.StringIO]:
    """Everything that is logged, at every level, and whatever is printed."""
    root, written = logging.getLogger(), io.StringIO()
    handler, before = logging.StreamHandler(written), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with redirect_stdout(written), redirect_stderr(written):
            yield written
    finally:
        root.setLevel(before)
        root.removeHandler(handler)


class Waited(NamedTuple):
    """A call that waits, and the one time limit of it that is short."""

    case: Case
    limit: str

    def __str__(self) -> str:
        return f"{self.case}, with the time limit {self.limit}"


LIMIT: Final = 0.4
"""Seconds of the one limit that is short; the others are long."""

GRACE: Final = 0.25
"""Seconds that a call may take beyond its time limit."""

_LONG_LIMIT: Final = 60.0
_PATIENCE: Final = 4.0
"""Seconds until a call that keeps no time limit is left alone."""

_ENDS: Final[Mapping[str, tuple[str, ...]]] = {
    "hang-before-head": ("first_byte", "whole_call"),
    "hang-after-head": ("between_bytes", "whole_call"),
    "hang-mid-body": ("between_bytes", "whole_call"),
    "trickle": ("whole_call",),
    "steady": ("first_byte", "between_bytes"),
}
"""The limits that end a call that waits so. A steady answer takes longer in all, and none of them ends it."""


def wait(trial: Trial) -> list[tuple[Waited, Heard]]:
    """Every fault that hangs, and a steady answer: all at once, told apart by their prompts."""
    known = cases(trial)
    steady = [Case(STEADY, streamed, "whole") for streamed in sorted({case.streamed for case in known})]
    waited = [Waited(case, limit) for case in (*known, *steady) for limit in _ENDS.get(case.fault.id, ())]
    return _wait_for(trial, waited)


def _wait_for(trial: Trial, waited: list[Waited]) -> list[tuple[Waited, Heard]]:
    by_name = {str(one): one for one in waited}

    def answer(asked: Asked) -> Response:
        (found,) = (one for name, one in by_name.items() if name in str(asked.payload))
        return found.case.fault.make(ANSWER, asked)

    heard = trial.subject.call_together(
        [([{"role": "user", "content": name}], _limited(trial, one)) for name, one in by_name.items()],
        answer,
        seconds=_PATIENCE,
    )
    return list(zip(waited, heard, strict=True))


def _limited(trial: Trial, waited: Waited) -> dict[str, Any]:
    limits = dict.fromkeys(("connect", "first_byte", "between_bytes", "whole_call"), _LONG_LIMIT)
    return {**options_for(trial, streamed=waited.case.streamed), "timeouts": {**limits, waited.limit: LIMIT}}


@check(
    "faults.end-in-time",
    clause="Each limit of the option `timeouts` ends the calls that it is for, told as an error, and no others.",
    once=True,
)
def end_in_time(trial: Trial) -> Iterator[Finding]:
    """An agent that waits for ever is a broken one."""
    wrong: list[Waited] = []
    for waited, heard in trial.once(wait):
        if isinstance(heard, Refused):
            message = f"the option timeouts is refused ({heard.code}): nobody knows how long it waits"
            raise NotApplicable(message)
        wrong += [waited] if any(_wrong_wait(trial, waited, heard)) else []
    for waited, heard in _wait_for(trial, wrong):  # on a busy machine everybody is late; once more, and fewer at once
        for fault in _wrong_wait(trial, waited, heard):
            yield Finding(check="faults.end-in-time", message=f"{waited} = {LIMIT} s: {fault}")


def _wrong_wait(trial: Trial, waited: Waited, heard: Heard) -> Iterator[str]:
    """Who asks again of its own accord waits for each try; the limit of the whole call bounds them all."""
    case = waited.case
    if case.expects == "whole" and isinstance(heard, Answered):
        yield from differences(heard, trial.once(good_stream if case.streamed else good))
        return
    yield from wrong_failure(trial, heard)
    if isinstance(heard, Answered) and waited.limit == "whole_call" and heard.at and heard.at[-1] > LIMIT + GRACE:
        yield f"it took {heard.at[-1]:.2f} s"


@check(
    "faults.are-told-as-errors",
    clause="What is no good answer is told by ERROR and END, after what did arrive; never by an exception.",
    once=True,
)
def are_told_as_errors(trial: Trial) -> Iterator[Finding]:
    """The caller tells a fault from an answer by the events alone."""
    for case, heard in trial.once(_run).seen:
        if case.expects == "error" or (case.expects == "either" and not _is_good(heard)):
            for fault in (*wrong_failure(trial, heard), *_wrong_error(case, heard)):
                yield Finding(check="faults.are-told-as-errors", message=f"{case}: {fault}")


def _is_good(heard: Heard) -> bool:
    return isinstance(heard, Answered) and heard.error is None


def _wrong_error(case: Case, heard: Heard) -> Iterator[str]:
    """What an error of a status does not tell: the status, the provider's words, how long to wait."""
    error, status = (heard.error or {}) if isinstance(heard, Answered) else {}, case.fault.status
    if status is None:
        return
    if error.get("status") != status:
        yield f"the error's status is {error.get('status')!r}"
    words = f"written error {status}"
    if case.fault.id == f"status-{status}" and words not in str(error.get("provider_message") or error.get("message")):
        yield f"the provider's words {words!r} are not told"
    if status == 429 and error.get("retry_after") != RETRY_AFTER:
        yield f"retry_after is {error.get('retry_after')!r}; the answer says {RETRY_AFTER} s"


@check(
    "faults.benign-ones-change-nothing",
    clause="What is odd and still a good answer is read whole: comments, unknown events, any line ends, any pace.",
    once=True,
)
def benign_ones_change_nothing(trial: Trial) -> Iterator[Finding]:
    """Proxies and providers add such things without asking."""
    seen = [one for one in trial.once(_run).seen if one.case.expects != "error"]
    for case, heard in seen:
        faults: list[str] = []
        if not isinstance(heard, Answered):
            faults = [str(heard)] if case.expects == "whole" else []
        elif case.expects == "whole" or heard.error is None:
            whole = trial.once(good_stream if case.streamed else good)
            faults = [f"it differs in {one}" for one in differences(heard, whole)]
        yield from (Finding(check="faults.benign-ones-change-nothing", message=f"{case}: {one}") for one in faults)


@check(
    "faults.leave-nothing-behind",
    clause="Faults leave no socket, file, thread or task behind.",
    once=True,
)
def leave_nothing_behind(trial: Trial) -> Iterator[Finding]:
    """What leaks once a fault stops a service after a day of them."""
    short = [case for case in cases(trial) if not case.fault.hangs and case.fault.id not in _LONG]
    trial.once(_run)  # pools and threads that are kept on purpose are there now
    before = _count_open(trial)
    for case in short:
        call(trial, case)
    ends = time.monotonic() + 1
    while (left := _grown(trial, before)) and time.monotonic() < ends:
        gc.collect()
        time.sleep(0.02)
    for what, count in left.items():
        message = f"after {len(short)} faults there are {count} more {what}"
        yield Finding(check="faults.leave-nothing-behind", message=message)


_LONG: Final = frozenset({"long-page", "long-page-502", "long-body", "slow", "byte-by-byte"})
_TOLERATED: Final = 3
"""A pool may have grown by chance."""


def _count_open(trial: Trial) -> dict[str, int]:
    counted = {"threads": threading.active_count(), "tasks": trial.subject.caller.count_tasks()}
    with suppress(OSError):  # a system that does not tell
        counted["open sockets and files"] = len(os.listdir("/dev/fd"))  # noqa: PTH208 - a count, no paths
    return counted


def _grown(trial: Trial, before: dict[str, int]) -> dict[str, int]:
    now = _count_open(trial)
    grown = {name: now[name] - count for name, count in before.items()}
    return {name: count for name, count in grown.items() if count > _TOLERATED}


@check(
    "faults.show-no-key",
    clause="Whatever goes wrong, the API key stands in no event, no exception and no log.",
    once=True,
)
def show_no_key(trial: Trial) -> Iterator[Finding]:
    """Faults are what logs are full of."""
    run = trial.once(_run)
    for case, heard in (*run.seen, *_with_the_key(trial), *trial.once(wait)):
        told: Any = heard.events if isinstance(heard, Answered) else str(heard)
        if any(TEST_KEY in str(leaf) for _, leaf in leaves(told)):
            yield Finding(check="faults.show-no-key", message=f"{case}: what is told shows the key")
    for line in run.logs.splitlines():
        if TEST_KEY in line:
            hidden = line.replace(TEST_KEY, "[the key]")
            yield Finding(check="faults.show-no-key", message=f"a log shows the key: {hidden[:200]}")
            return


def _with_the_key(trial: Trial) -> Iterator[tuple[str, Heard]]:
    """Streams that fail with words in which the provider repeats the key."""
    if "streaming" not in trial.subject.capabilities:
        return
    words, options = f"Incorrect API key provided: {TEST_KEY}", options_for(trial, streamed=True)
    dialect = trial.dialect
    event = Response(200, content_type=dialect.stream_type, steps=(Send(dialect.write_stream_error(401, words)),))
    for what, response in (
        ("status 401 that repeats the key (streamed)", Response(401, dialect.write_error(401, words))),
        ("an error event that repeats the key", event),
    ):
        yield what, trial.subject.call(trial.scenario.prompt, options, partial(_answer_with, response))


def _answer_with(response: Response, _: Asked) -> Response:
    return response
