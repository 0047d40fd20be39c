"""Faults: whatever goes wrong between provider and client, it is told, in time, and leaves nothing behind."""

from __future__ import annotations

import gc
import io
import logging
import os
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

from art_compliance.answered import Answered
from art_compliance.checks.base import check
from art_compliance.checks.streaming import Heard, differences, require_read, wrong_failure
from art_compliance.checks.trial import NotApplicable, Trial
from art_compliance.findings import Finding
from art_compliance.pointers import leaves
from art_compliance.provider import Asked, Request, Response
from art_compliance.provider.faults import FAULTS, Fault
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subjects import TEST_KEY


class Case(NamedTuple):
    """A fault, and whether it befalls a streamed answer."""

    fault: Fault
    streamed: bool

    def __str__(self) -> str:
        return f"{self.fault.id} ({'streamed' if self.streamed else 'unstreamed'})"


class Seen(NamedTuple):
    """What came of it."""

    case: Case
    heard: Heard


_ANSWER: Final = WrittenAnswer(content="This answer was written, and something is wrong with its way here.")

LIMIT: Final = 0.4
"""Seconds of every time limit of a call whose answer never comes."""

GRACE: Final = 0.25
"""Seconds that a call may take beyond its time limit."""

_PATIENCE: Final = 4.0
"""Seconds until a call that keeps no time limit is left alone."""


def cases(trial: Trial) -> list[Case]:
    """Every fault, for each kind of answer that it may befall and the adapter asks for. Raises NotApplicable."""
    _ = trial.dialect
    if not trial.subject.has_call:
        message = "the adapter has no call"
        raise NotApplicable(message)
    trial.once(_good)
    accepted = {name for request in trial.watched.requests for name in _accepted(request)}
    kinds = ("unstreamed", "streamed") if "streaming" in trial.subject.capabilities else ("unstreamed",)
    faults = [fault for fault in FAULTS.values() if "gzip" not in fault.id or "gzip" in accepted]
    return [Case(fault, kind == "streamed") for fault in faults for kind in kinds if kind in fault.on]


def _accepted(request: Request) -> Iterator[str]:
    """The encodings of an answer's body that a request asks for; others must not be sent (RFC 9110, 12.5.3)."""
    return (name.partition(";")[0].strip() for name in request.headers.get("accept-encoding", "").split(","))


def _call(trial: Trial, case: Case) -> Heard:
    options = _options(trial, streamed=case.streamed)
    return trial.subject.call(trial.scenario.prompt, options, lambda asked: case.fault.make(_ANSWER, asked))


def _options(trial: Trial, *, streamed: bool) -> dict[str, Any]:
    return {**trial.scenario.call_options(), **({"stream": True} if streamed else {})}


def _good(trial: Trial) -> Answered:
    """The answer to which nothing happened. Raises NotApplicable."""
    return _read_well(trial, streamed=False)


def _good_stream(trial: Trial) -> Answered:
    """The same, streamed. Raises NotApplicable."""
    return _read_well(trial, streamed=True)


def _read_well(trial: Trial, *, streamed: bool) -> Answered:
    options = _options(trial, streamed=streamed)
    return require_read(trial.subject.call(trial.scenario.prompt, options, lambda asked: asked.answer(_ANSWER)))


class Run(NamedTuple):
    """Every fault that ends of itself, put upon the adapter once, and what was written into logs meanwhile."""

    seen: list[Seen]
    logs: str


def _run(trial: Trial) -> Run:
    with _listening() as logs:
        seen = [Seen(case, _call(trial, case)) for case in cases(trial) if not case.fault.hangs]
    return Run(seen, logs.getvalue())


@contextmanager
def _listening() -> Generator[io.StringIO]:
    """Everything that is logged, at every level."""
    root, written = logging.getLogger(), io.StringIO()
    handler, before = logging.StreamHandler(written), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield written
    finally:
        root.setLevel(before)
        root.removeHandler(handler)


@check(
    "faults.are-told-as-errors",
    clause="What is no good answer is told by ERROR and END, after what did arrive; never by an exception.",
    once=True,
)
def are_told_as_errors(trial: Trial) -> Iterator[Finding]:
    """The caller tells a fault from an answer by the events alone."""
    for case, heard in trial.once(_run).seen:
        if case.fault.expects == "error" or (case.fault.expects == "either" and not _is_good(heard)):
            for fault in (*wrong_failure(trial, heard), *_wrong_status(case, heard)):
                yield Finding(check="faults.are-told-as-errors", message=f"{case}: {fault}")


def _is_good(heard: Heard) -> bool:
    return isinstance(heard, Answered) and heard.error is None


def _wrong_status(case: Case, heard: Heard) -> Iterator[str]:
    status = (heard.error or {}).get("status") if isinstance(heard, Answered) else None
    if case.fault.status is not None and status != case.fault.status:
        yield f"the error's status is {status!r}"


@check(
    "faults.benign-ones-change-nothing",
    clause="What is odd and still a good answer is read whole: comments, unknown events, any line ends, any pace.",
    once=True,
)
def benign_ones_change_nothing(trial: Trial) -> Iterator[Finding]:
    """Proxies and providers add such things without asking."""
    seen = [one for one in trial.once(_run).seen if one.case.fault.expects != "error"]
    for case, heard in seen:
        faults: list[str] = []
        if not isinstance(heard, Answered):
            faults = [str(heard)] if case.fault.is_benign else []
        elif case.fault.is_benign or heard.error is None:
            whole = trial.once(_good_stream if case.streamed else _good)
            faults = [f"it differs in {one}" for one in differences(heard, whole)]
        yield from (Finding(check="faults.benign-ones-change-nothing", message=f"{case}: {one}") for one in faults)


@check(
    "faults.end-in-time",
    clause="A provider that says nothing more is left when the call's time limits say so, and told as an error.",
    once=True,
)
def end_in_time(trial: Trial) -> Iterator[Finding]:
    """An agent that waits for ever is a broken one. The limits are those of the call: connect, first_byte and so on."""
    hanging = [case for case in cases(trial) if case.fault.hangs]
    for case, heard in zip(hanging, _hang_together(trial, hanging), strict=True):
        faults = list(wrong_failure(trial, heard))
        if isinstance(heard, Answered) and heard.at and heard.at[-1] > LIMIT + GRACE:
            faults.append(f"it took {heard.at[-1]:.2f} s; the limits are {LIMIT} s")
        yield from (Finding(check="faults.end-in-time", message=f"{case}: {fault}") for fault in faults)


def _hang_together(trial: Trial, hanging: list[Case]) -> list[Heard]:
    """All at once, told apart by their prompts: each waits for nothing but its limit."""
    limits = dict.fromkeys(("connect", "first_byte", "between_bytes", "whole_call"), LIMIT)
    by_name = {str(case): case for case in hanging}

    def answer(asked: Asked) -> Response:
        (case,) = (case for name, case in by_name.items() if name in str(asked.payload))
        return case.fault.make(_ANSWER, asked)

    return trial.subject.call_together(
        [
            (
                [{"role": "user", "content": name}],
                {**_options(trial, streamed=case.streamed), "timeouts": limits},
            )
            for name, case in by_name.items()
        ],
        answer,
        seconds=_PATIENCE,
    )


@check(
    "faults.leave-nothing-behind",
    clause="Faults leave no socket, file or thread behind.",
    once=True,
)
def leave_nothing_behind(trial: Trial) -> Iterator[Finding]:
    """What leaks once a fault stops a service after a day of them."""
    short = [case for case in cases(trial) if not case.fault.hangs and case.fault.id not in _LONG]
    trial.once(_run)  # pools and threads that are kept on purpose are there now
    before = _count_open()
    for case in short:
        _call(trial, case)
    ends = time.monotonic() + 1
    while (left := _grown(before)) and time.monotonic() < ends:
        gc.collect()
        time.sleep(0.02)
    for what, count in left.items():
        message = f"after {len(short)} faults there are {count} more {what}"
        yield Finding(check="faults.leave-nothing-behind", message=message)


_LONG: Final = frozenset({"long-page", "long-page-502", "long-body", "slow", "byte-by-byte"})
_TOLERATED: Final = 3
"""A pool may have grown by chance."""


def _count_open() -> dict[str, int]:
    counted = {"threads": threading.active_count()}
    with suppress(OSError):  # a system that does not tell
        counted["open sockets and files"] = len(os.listdir("/dev/fd"))  # noqa: PTH208 - a count, no paths
    return counted


def _grown(before: dict[str, int]) -> dict[str, int]:
    now = _count_open()
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
    for case, heard in run.seen:
        told: Any = heard.events if isinstance(heard, Answered) else str(heard)
        if any(TEST_KEY in str(leaf) for _, leaf in leaves(told)):
            yield Finding(check="faults.show-no-key", message=f"{case}: what is told shows the key")
    for line in run.logs.splitlines():
        if TEST_KEY in line:
            hidden = line.replace(TEST_KEY, "[the key]")
            yield Finding(check="faults.show-no-key", message=f"a log shows the key: {hidden[:200]}")
            return
