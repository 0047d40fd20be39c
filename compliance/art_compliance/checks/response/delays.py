"""Response: how long the caller is to wait after an error, in each form in which a provider says so."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from art_compliance.checks.answerers import http_date
from art_compliance.checks.base import check
from art_compliance.checks.limits import (
    DATE_LENIENCE,
    RETRY_AFTER_DATE,
    RETRY_AFTER_LONG,
    RETRY_AFTER_MS,
    RETRY_AFTER_PAST,
    RETRY_AFTER_READ,
)
from art_compliance.checks.replies import error_of, wrong_failure
from art_compliance.checks.streamed import in_other_ways
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Response
from art_compliance.quoting import show
from art_compliance.subject.observations import Reply


@check(
    "response.retry-after-is-read",
    clause="retry_after has the seconds of retry-after-ms or Retry-After, whichever can be read, even if it is a date.",
    finding_class="contract",
    requires=("dialect", "call"),
    once=True,
)
def retry_after_is_read(trial: Trial) -> Iterator[Problem]:
    """RFC 9110 allows both forms; OpenAI's and Anthropic's clients read milliseconds first, and seconds if they cannot.

    A header that cannot be read must not hide the other one: https://github.com/openclaw/openclaw/pull/111353.
    """
    with _in_zone(trial, _FAR_ZONE):
        for name, write, seconds in _DELAYS:
            header = (name, write(seconds))
            misread = list(_misread_delay(trial, seconds, header))
            yield from misread or _misread_otherwise(trial, seconds, header)
    yield from _misread_delay(
        trial, RETRY_AFTER_READ, ("retry-after-ms", _UNREADABLE), ("retry-after", f"{RETRY_AFTER_READ:g}")
    )
    yield from _misread_delay(trial, RETRY_AFTER_READ, ("retry-after", f"{RETRY_AFTER_READ:g}"), *_LIMITS)
    for status in _WITH_DELAYS:
        yield from _misread_delay(trial, RETRY_AFTER_READ, ("retry-after", f"{RETRY_AFTER_READ:g}"), status=status)
    for status in (429, *_WITH_DELAYS):
        yield from _made_up_delay(trial, status=status)
    for value, allowed in _ODD_DELAYS.items():
        for name in ("retry-after", "retry-after-ms"):
            yield from _made_up_delay(trial, (name, value), allowed=allowed)


def _made_up_delay(
    trial: Trial, *headers: tuple[str, str], status: int = 429, allowed: Any = None
) -> Iterator[Problem]:
    """That a delay is read where none is given that can be waited for."""
    reply = _asked_to_wait(trial, *headers, status=status)
    faults = list(wrong_failure(trial, reply))
    if not faults and (found := error_of(reply).get("retry_after")) not in (None, allowed):
        faults.append(Problem(f"retry_after is {show(found)}; nothing says how long to wait"))
    given = "".join(f" and {name}: {value}" for name, value in headers)
    yield from (fault.after(f"with status {status}{given}: ") for fault in faults)


def _misread_delay(trial: Trial, seconds: float, *headers: tuple[str, str], status: int = 429) -> Iterator[Problem]:
    """That these headers are not read as so many seconds."""
    reply = _asked_to_wait(trial, *headers, status=status)
    yield from _misread(reply, seconds, *headers, status=status)


def _misread_otherwise(trial: Trial, seconds: float, header: tuple[str, str]) -> Iterator[Problem]:
    """That this header is not read where a stream is asked for, or by `call_sync`."""
    for way, reply in in_other_ways(trial, _refusal(trial, header)):
        if error_of(reply):  # otherwise other checks find that
            yield from (fault.after(way) for fault in _misread(reply, seconds, header))


def _misread(reply: Reply, seconds: float, *headers: tuple[str, str], status: int = 429) -> Iterator[Problem]:
    found = error_of(reply).get("retry_after")
    spent = DATE_LENIENCE if any("GMT" in value for _, value in headers) else _ROUNDED
    if not (isinstance(found, int | float) and max(seconds - spent, 0) <= found <= max(seconds, 0) + _ROUNDED):
        given = " and ".join(f"{name}: {value}" for name, value in headers)
        what = f"{given}, retry_after" if status == 429 else f"status {status} and {given}, retry_after"
        yield Problem(f"with {what} is {show(found)}; expected {max(seconds, 0):g}")


def _asked_to_wait(trial: Trial, *headers: tuple[str, str], status: int = 429) -> Reply:
    return trial.call_with(_refusal(trial, *headers, status=status))


def _refusal(trial: Trial, *headers: tuple[str, str], status: int = 429) -> Response:
    body = trial.dialect.answers.write_error(status, f"written error {status}")
    return Response(status, body, headers=headers)


@contextmanager
def _in_zone(trial: Trial, zone: str) -> Generator[None]:
    """Has the adapter's process in this time zone."""
    before = trial.subject.attempt("set_time_zone", name=zone)
    try:
        yield
    finally:
        trial.subject.attempt("set_time_zone", name=before if isinstance(before, str) else None)


_DELAYS: Final[tuple[tuple[str, Callable[[float], str], float], ...]] = (
    ("retry-after", lambda seconds: f"{seconds:g}", RETRY_AFTER_READ),
    ("retry-after", lambda seconds: f"{seconds:.0f}", RETRY_AFTER_LONG),
    ("retry-after", http_date, RETRY_AFTER_DATE),
    ("retry-after", http_date, RETRY_AFTER_PAST),
    ("Retry-After-Ms", lambda seconds: f"{seconds * 1000:g}", RETRY_AFTER_MS),
)
"""A header, how it writes seconds, and the seconds: a date that has passed means not to wait."""

_FAR_ZONE: Final = "XXX-05:30"
"""A time zone five and a half hours before UTC, as POSIX writes it: a date in a header is never of the local zone."""

_UNREADABLE: Final = "soon"

_LIMITS: Final = (
    ("x-ratelimit-limit-requests", "14400"),
    ("x-ratelimit-remaining-requests", "14370"),
    ("x-ratelimit-reset-requests", "2m59.56s"),
    ("x-ratelimit-reset-tokens", "7.66s"),
    ("anthropic-ratelimit-requests-reset", "2099-01-01T00:00:00Z"),
)
"""What else comes with a refusal, as console.groq.com/docs/rate-limits and Anthropic's documentation have it: when the
quotas of a day and of a minute are whole again, not when to ask again."""

_ROUNDED: Final = 0.001

_WITH_DELAYS: Final = (503, 529)
"""Statuses, besides 429, that come with a delay: RFC 9110, 10.2.3, and Anthropic's for an overloaded server."""

_ODD_DELAYS: Final[Mapping[str, float | None]] = {_UNREADABLE: None, "": None, "-5": 0, "inf": None, "nan": None}
"""Delays that nobody can wait for, each with what it may be read as besides nothing."""
