"""Examines a server: asks every request, and judges what comes back by the format's own types and order of events."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from difflib import get_close_matches
from itertools import islice
from typing import Final, NamedTuple

import httpx2
from msgspec import Struct

from art_compliance.dialects import DIALECTS, Dialect
from art_compliance.examining.answers import wrong_answer, wrong_error, wrong_stream
from art_compliance.examining.asking import Gone, Got, NoAnswer, TooLate, ask
from art_compliance.examining.laws import ANSWERED, ERROR, REFUSED, STREAM_ANSWERED, STREAM_ERROR, STREAMED, WHOLE
from art_compliance.examining.requests import Asked, Kind, bad_requests, good_requests
from art_compliance.findings import Finding, HarnessError, Problem
from art_compliance.quoting import shorten
from art_compliance.scenarios import Scenario
from art_compliance.subject.access import TEST_KEY
from art_compliance.subject.gateways.reading import reference
from art_sdk import ARTError, BaseAdapter

MOST_HANGING: Final = 3
"""Requests that may be without an answer in time, or find nobody there: after these, no more is asked."""


class Server(Struct, frozen=True, kw_only=True):
    """A server at a URL that speaks a format. An answer may take `seconds`, and `at_once` requests are under way."""

    url: str
    speaks: str
    key: str = TEST_KEY
    model: str | None = None
    without: frozenset[str] = frozenset()
    headers: Mapping[str, str] = {}
    seconds: float = 60.0
    at_once: int = 1


class Examined(Struct, frozen=True):
    """A request, its answer if one came, the laws that it was judged by, and what is wrong."""

    asked: Asked
    got: Got | None
    laws: tuple[str, ...]
    findings: tuple[Finding, ...]
    hung: bool = False
    gone: bool = False

    @property
    def name(self) -> str:
        """The name of the request."""
        return self.asked.name

    @property
    def kind(self) -> Kind:
        """The kind of the request."""
        return self.asked.kind

    @property
    def status(self) -> int | None:
        """The status of the answer."""
        return None if self.got is None else self.got.status

    @property
    def is_wrong(self) -> bool:
        """Whether something counts against the server."""
        return any(one.severity == "reject" for one in self.findings)


class Stopped(Exception):
    """Not every request was asked; the text says why."""


def requests_to(server: Server, scenarios: Sequence[Scenario], named: Sequence[str] = ()) -> list[Asked]:
    """Every request that the server is to be asked, or those with one of the names.

    Raises HarnessError for a server whose URL its clients would not take, and for a name that no request has.
    """
    adapter = _client_of(server)
    every = [*good_requests(adapter, scenarios, server.without), *bad_requests(adapter)]
    names = dict.fromkeys(one.name for one in every)
    for name in named:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise HarnessError(f"no request in {server.speaks} is named {name!r}{hint}")
    return [one for one in every if not named or one.name in named]


def examine(server: Server, every: Sequence[Asked], *, seconds: float = float("inf")) -> Iterator[Examined]:
    """What came of each request, in their order.

    Raises HarnessError for a server that cannot be asked the first of them, and Stopped after `seconds`, or after
    `MOST_HANGING` requests to which no answer came in time, or that found nobody there.
    """
    ends, hung, gone = time.monotonic() + seconds, 0, 0
    with httpx2.Client() as client:
        for number, examined in enumerate(_answers(server, client, every)):
            if number == 0:
                _require_answer(server, examined)
            yield examined
            hung += examined.hung
            if hung == MOST_HANGING:
                raise Stopped(f"{hung} requests had no answer within {server.seconds:g} s; the rest was not sent")
            gone += examined.gone
            if gone == MOST_HANGING:
                raise Stopped(f"the server is gone: {examined.findings[0].message}; the rest was not sent")
            if time.monotonic() > ends and number + 1 < len(every):
                raise Stopped(f"the time limit of {seconds:g} s passed after {number + 1:,} of {len(every):,} requests")


def _answers(server: Server, client: httpx2.Client, every: Sequence[Asked]) -> Iterator[Examined]:
    """What came of each request. The first is under way alone: no other is sent to a server that is not there."""
    if not every:
        return
    yield _examine(server, client, every[0])
    left, waiting = iter(every[1:]), deque[Future[Examined]]()
    with ThreadPoolExecutor(server.at_once) as pool:
        while True:
            waiting.extend(
                pool.submit(_examine, server, client, one) for one in islice(left, server.at_once - len(waiting))
            )
            if not waiting:
                return
            yield waiting.popleft().result()


def _require_answer(server: Server, first: Examined) -> None:
    if first.got is None:
        raise HarnessError(f"{server.url}: {first.findings[0].message}")


def _client_of(server: Server) -> BaseAdapter:
    kind = reference(server.speaks)
    try:
        model = server.model or kind.default_model or "any-model"
        return kind(api_key=server.key, base_url=server.url, model=model, headers=server.headers)
    except ARTError as error:
        raise HarnessError(f"{server.url}: {error.message}") from error


def _examine(server: Server, client: httpx2.Client, one: Asked) -> Examined:
    try:
        got = ask(client, one.request, server.seconds)
    except NoAnswer as error:
        law = _LAWS[one.kind].answered if one.is_good else REFUSED
        finding = Problem(str(error)).found_by(law, "contract")
        return Examined(one, None, (law,), (finding,), hung=isinstance(error, TooLate), gone=isinstance(error, Gone))
    judged = _judge(DIALECTS[server.speaks], one, got)
    found = tuple(problem.found_by(law, "contract") for law, problems in judged.items() for problem in problems)
    return Examined(one, got, tuple(judged), found)


class _Laws(NamedTuple):
    """The laws of good requests of one kind: whole and streamed requests of a scenario have results of their own."""

    answered: str
    of_its_format: str
    error: str
    wrong: Callable[[Dialect, Got], Iterator[Problem]]


_LAWS: Final[Mapping[Kind, _Laws]] = {
    "whole": _Laws(ANSWERED, WHOLE, ERROR, wrong_answer),
    "streamed": _Laws(STREAM_ANSWERED, STREAMED, STREAM_ERROR, wrong_stream),
}

_Judged = Mapping[str, Sequence[Problem]]
"""The problems by the laws that were looked at."""


def _judge(dialect: Dialect, asked: Asked, got: Got) -> _Judged:
    if not asked.is_good:
        return _judge_bad(dialect, asked, got)
    if got.status != _OK:
        return _judge_refusal(dialect, asked, got)
    laws = _LAWS[asked.kind]
    return {laws.answered: (), laws.of_its_format: list(laws.wrong(dialect, got))}


def _judge_bad(dialect: Dialect, asked: Asked, got: Got) -> _Judged:
    if got.status < _BAD:
        is_lenient = asked.kind == "against a rule"
        text = f"it is answered {got.status}; {'the provider rejects it' if is_lenient else 'it cannot be read'}"
        return {REFUSED: [Problem(text, severity="note" if is_lenient else "reject")]}
    if got.status >= _BROKEN:
        return {REFUSED: [Problem(f"it is answered {got.status}, as if the server had failed; expected 400")]}
    return {REFUSED: (), ERROR: list(wrong_error(dialect, got))}


def _judge_refusal(dialect: Dialect, asked: Asked, got: Got) -> _Judged:
    """Of a good request: a note where providers differ, if it says so in the format."""
    is_allowed = asked.may_be_refused and _BAD <= got.status < _BROKEN
    text = f"a good request is answered {got.status}: {shorten(got.body[:2000].decode('utf-8', 'replace'))}"
    refusal = Problem(text, severity="note" if is_allowed else "reject")
    laws = _LAWS[asked.kind]
    return {laws.answered: [refusal], **({laws.error: list(wrong_error(dialect, got))} if is_allowed else {})}


_OK: Final = 200
_BAD: Final = 400
_BROKEN: Final = 500
