"""What a terminal shows of an audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from art_compliance.auditing.report import AuditReport, Figures, RuleFigures, Where
from art_compliance.quoting import shorten
from art_compliance.run.lines import Line, counted

_ROWS: Final = 10
_WIDEST: Final = 60
_SHOWN: Final = 5


def summarize_audit(report: AuditReport) -> Iterator[Line]:
    """How many requests would be rejected, by rule, model, day and client, and what could not be read."""
    total = report.total
    yield Line(f"{counted(total.requests, 'request')} judged: {total.rejected:,} rejected ({percent(total.share)})")
    yield from (Line(f"  {text}") for text in answers_of(report))
    yield from _rules(report)
    for name in ("model", "day", "client"):
        rows = report.by[name]
        if len(rows) > 1:
            yield from _table(name, rows)
    yield from _unread(report)
    if not report.is_whole:
        yield Line("not everything was read: run the same command again to continue", "bad")


def answers_of(report: AuditReport) -> Iterator[str]:
    """What came back, what it cost, and what is to be known of the figures, a sentence each."""
    total = report.total
    if total.answered:
        yield f"{total.answered:,} answered: {total.accepted:,} accepted, {total.refused:,} refused with 400 or 422"
    if total.refused:
        share = percent(total.agreed / total.refused)
        yield f"{total.agreed:,} of the {total.refused:,} refused are rejected here ({share})"
    if total.doubted:
        yield f"{total.doubted:,} of the {total.accepted:,} accepted are rejected here: see `accepted` of each rule"
    if total.input_tokens or total.output_tokens:
        cost = "" if total.cost is None else f", {total.cost:,.2f} {report.currency}"
        yield f"{total.input_tokens:,} tokens in, {total.output_tokens:,} out{cost}"
    if report.unpriced:
        yield f"no price: {counted(report.unpriced, 'answer')} of models that the file does not have"
    if report.guessed:
        yield f"{counted(report.guessed, 'request')} without a known URL: the wire format was guessed from the fields"
    if report.skipped:
        yield f"{counted(report.skipped, 'recorded request')} to other addresses not judged"
    if report.unread_answers:
        yield f"{report.unread_answers:,} answers have no JSON to read tokens from"
    if report.clock.back:
        yield f"the clock goes back {counted(report.clock.back, 'time')}, by up to {report.clock.largest:,.0f} s"


def _rules(report: AuditReport) -> Iterator[Line]:
    """The rules that reject; those that only note are in the report."""
    rules = [rule for rule in report.rules if rule.reject]
    for rule in rules[:_ROWS]:
        yield from _rule(rule)
    if len(rules) > _ROWS:
        yield Line(f"  {len(rules) - _ROWS} more rules in report.json")


def _rule(rule: RuleFigures) -> Iterator[Line]:
    answered = f"; {rule.refused:,} were refused, {rule.accepted:,} accepted" if rule.refused or rule.accepted else ""
    yield Line(f"  {rule.reject:>9,}  {rule.rule}  ({rule.dialect}{answered})", "bad")
    if rule.first:
        yield Line(f"             {where(rule.first[0])}")


def where(place: Where) -> str:
    """A place in one line."""
    parts = (f":{place.line}" if place.line else "", f": {place.item}" if place.item else "")
    return f"{place.file}{''.join(parts)}{f'  {place.pointer}' if place.pointer else ''}"


def _table(name: str, rows: Sequence[Figures]) -> Iterator[Line]:
    shown = rows[:_ROWS] if name != "day" else rows[-_ROWS:]
    width = min(max(len(row.name) for row in shown), _WIDEST)
    yield Line(f"by {name}")
    for row in shown:
        yield Line(f"  {shorten(row.name, _WIDEST):<{width}}  {row.requests:>11,}  {percent(row.share):>7} rejected")
    if len(rows) > len(shown):
        yield Line(f"  {len(rows) - len(shown)} more in report.json")


def _unread(report: AuditReport) -> Iterator[Line]:
    for bad in report.unreadable[:_SHOWN]:
        places = "; ".join(map(where, bad.first[:3]))
        more = f" and {bad.count - 3:,} more" if bad.count > 3 else ""
        yield Line(f"{bad.count:,} cannot be judged: {bad.why}: {places}{more}", "bad")
    if len(report.unreadable) > _SHOWN:
        yield Line(f"and for {len(report.unreadable) - _SHOWN} other reasons", "bad")
    yield from (Line(problem, "bad") for problem in report.problems)


def percent(share: float) -> str:
    """A share as people read it: two digits below one percent."""
    return f"{share:.2%}" if 0 < share < 0.01 else f"{share:.1%}"
