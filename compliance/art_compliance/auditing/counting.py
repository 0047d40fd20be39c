"""Judges the requests of a part and counts what comes of them."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from art_compliance.auditing.answers import tokens_of
from art_compliance.auditing.clock import day_of, seconds_of
from art_compliance.auditing.settings import Settings
from art_compliance.auditing.shapes import dialect_by_shape
from art_compliance.auditing.tally import Counts, Example, Place, Tally
from art_compliance.auditing.wording import name_of, pointer_of, rule_of, text_of
from art_compliance.dialects.urls import model_of
from art_compliance.findings import Finding
from art_compliance.traffic.found import Answer, Found, Item, Unread
from art_compliance.traffic.judged import dialect_at, findings_of
from art_sdk.json_data import is_object

UNKNOWN = "(unknown)"
"""The name of requests that do not name their model, day or client."""

_REFUSED = (400, 422)


class Clock(Struct):
    """The times of a part's requests in the order of the file; `back` counts those before the one that came before."""

    first: float | None = None
    last: float | None = None
    back: int = 0
    largest: float = 0.0

    def tick(self, seconds: float) -> None:
        """The next request's time."""
        if self.first is None:
            self.first = seconds
        elif self.last is not None and seconds < self.last:
            self.back += 1
            self.largest = max(self.largest, self.last - seconds)
        self.last = seconds


class Counting:
    """Counts the requests of one part."""

    def __init__(self, settings: Settings, file: int, start: int) -> None:
        """`start` is the byte or row where the part begins."""
        self._settings = settings
        self._file = file
        self._start = start
        self.tally = Tally()
        self.clock = Clock()

    def place(self, line: int, item: str = "") -> Place:
        """A place in the part."""
        return Place(self._file, self._start, line, item)

    def count(self, item: Item, place: Place) -> None:
        """Counts what is at the place."""
        if isinstance(item, Found):
            try:
                self._count(item, place)
            except Exception as error:  # noqa: BLE001 - a fault of ours: one request of millions must not end the run
                self.tally.cannot_read(place, f"the judge failed with {type(error).__name__}: please report it")
        elif isinstance(item, Unread):
            self.tally.cannot_read(place, reason_of(item))
        else:
            self.tally.skipped += 1

    def _count(self, found: Found, place: Place) -> None:
        given = self._settings.given
        url = found.url or given.url
        model = given.model or _model(found, url)
        dialect = (None if url is None else _dialect_at(url)) or found.dialect or given.dialect
        if dialect is None:
            if url is not None and found.is_recorded:  # a browser's requests go to anybody
                self.tally.skipped += 1
                return
            dialect = dialect_by_shape(found.body, model)
            if dialect is None:
                self.tally.cannot_read(place, "unknown wire format: name it with --dialect")
                return
            self.tally.guessed += 1
        findings = findings_of(found, dialect, given if model is None else replace(given, model=model))
        one = self._counts(found, findings, dialect=dialect, model=model)
        self._add(one, found, dialect=dialect, model=model)
        self._count_rules(findings, dialect, one, place)

    def _counts(self, found: Found, findings: list[Finding], *, dialect: str, model: str | None) -> Counts:
        is_rejected = any(finding.severity == "reject" for finding in findings)
        one = Counts(requests=1, rejected=int(is_rejected), noted=int(bool(findings) and not is_rejected))
        answer = found.answer
        if answer is None or answer.status is None:
            return one
        one.answered = 1
        if answer.status < 300:
            one.accepted = 1
            one.doubted = one.rejected
            self._count_tokens(one, answer, dialect=dialect, url=found.url or self._settings.given.url, model=model)
        elif answer.status in _REFUSED:
            one.refused = 1
            one.agreed = one.rejected
        return one

    def _count_tokens(self, one: Counts, answer: Answer, *, dialect: str, url: str | None, model: str | None) -> None:
        if answer.body is None and answer.tokens is None:
            return
        tokens = answer.tokens or tokens_of(dialect, url, answer.body)
        if tokens is None:
            self.tally.unread_answers += 1
            return
        one.input_tokens, one.output_tokens = tokens
        prices = self._settings.prices
        if prices is None:
            return
        price = prices.of(model or "")
        if price is None:
            self.tally.unpriced += 1
        else:
            one.cost = Decimal(price.input * one.input_tokens + price.output * one.output_tokens)

    def _add(self, one: Counts, found: Found, *, dialect: str, model: str | None) -> None:
        seconds = seconds_of(found.time)
        if seconds is not None:
            self.clock.tick(seconds)
        tally, groups = self.tally, self.tally.groups
        tally.total.add(one)
        groups["dialect"][dialect].add(one)
        groups["model"][name_of(model) if model else UNKNOWN].add(one)
        groups["day"][day_of(seconds) or UNKNOWN].add(one)
        groups["client"][name_of(found.client) if found.client else UNKNOWN].add(one)
        if one.answered and found.answer is not None:
            groups["status"][str(found.answer.status)].add(one)

    def _count_rules(self, findings: list[Finding], dialect: str, one: Counts, place: Place) -> None:
        """Counts each rule once per request, with the worst that it says of it; the first finding is its example."""
        show_text = self._settings.show_text
        worst: dict[str, Finding] = {}
        for finding in findings:
            rule = rule_of(finding, dialect)
            if rule is not None and (rule not in worst or _RANKS[finding.severity] > _RANKS[worst[rule].severity]):
                worst[rule] = finding
        for rule, finding in worst.items():
            counts = self.tally.rules[f"{dialect}\t{rule}"]
            counts.requests += 1
            setattr(counts, finding.severity, getattr(counts, finding.severity) + 1)
            if finding.severity == "reject":
                counts.accepted += one.accepted
                counts.refused += one.refused
            pointer = pointer_of(finding, dialect, show_text=show_text)
            counts.keep(Example(place, pointer, text_of(finding) if show_text else ""))


_RANKS = {"note": 0, "ignored": 1, "reject": 2}


def _model(found: Found, url: str | None) -> str | None:
    """The model that the body names, or the URL, or else the recording."""
    named = found.body.get("model") if is_object(found.body) else None
    return named if isinstance(named, str) else model_of(url) or found.model


@lru_cache(maxsize=4096)
def _dialect_at(url: str) -> str | None:
    return dialect_at(url)


def reason_of(unread: Unread) -> str:
    """Why something is not read, without its place, and without what it quotes of the file."""
    why = unread.why.removeprefix(unread.where).removeprefix(": ").removeprefix(" is ")
    return name_of(_DETAIL.split(why, maxsplit=1)[0].rstrip(": "))


_DETAIL: Final = re.compile(r": line \d+ column|[\"'`]|\binteractions\[")
