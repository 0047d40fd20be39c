"""What was found at a server as a report, like that of an adapter: a result for each law and each name of a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from msgspec import structs

from art_compliance.examining.examination import Examined, Server
from art_compliance.findings import Finding, WireExchange
from art_compliance.run.baseline import Baseline, use_of_examination
from art_compliance.run.exchanges import exchange_of
from art_compliance.run.report import ENDPOINT, Adapter, Report, make_report
from art_compliance.run.requirement_sets import Counting, set_in_force
from art_compliance.run.rerun import Rerun
from art_compliance.run.results import Result
from art_compliance.subject.gateways.reading import reference

_MOST: Final = 3
"""Exchanges that the findings of one law show."""


def report_of(
    server: Server,
    examined: Sequence[Examined],
    *,
    rerun: Rerun,
    started: datetime,
    seconds: float,
    is_whole: bool,
    stopped: str | None = None,
    baseline: Baseline | None = None,
) -> Report:
    """The report of an examination, of every request if it `is_whole`. It has no levels, and never certifies."""
    known = None if baseline is None else baseline.of(rerun.adapter)
    results = tuple(_results(server, examined, known))
    able = reference(server.speaks).capabilities - server.without
    report = make_report(
        Adapter(
            name=rerun.adapter,
            kind=ENDPOINT,
            dialect=server.speaks,
            capabilities=tuple(sorted(able)),
            losses=(),
            repairs=(),
        ),
        results,
        rerun=rerun,
        counting=Counting(requirements=set_in_force()),
        is_filtered=True,
        started=started,
        seconds=seconds,
        stopped=stopped,
        baseline=None if known is None else use_of_examination(known, results, is_whole=is_whole and not stopped),
    )
    return structs.replace(report, levels={})


def _results(server: Server, examined: Sequence[Examined], known: Baseline | None) -> Iterator[Result]:
    """A result for each law and request. No law is for two requests of one name: whole and streamed have their own."""
    found: dict[tuple[str, str], list[Finding]] = {}
    purposes: dict[str, str] = {}
    shown: dict[str, int] = {}
    for one in examined:
        purposes[one.name] = one.asked.purpose
        for law in one.laws:
            own = [finding for finding in one.findings if finding.check == law]
            if own and one.is_wrong and shown.setdefault(law, 0) < _MOST:
                shown[law] += 1
                own[0] = structs.replace(own[0], exchange=_exchange(server, one))
            found.setdefault((law, one.name), []).extend(_worded(one, own))
    for (law, name), findings in found.items():
        yield _result(law, name, purposes[name], findings, known)


def _worded(one: Examined, findings: Sequence[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield structs.replace(finding, message=f"{one.kind}: {finding.message}")


def _result(law: str, name: str, purpose: str, findings: list[Finding], known: Baseline | None) -> Result:
    counted, expected, said = (findings, [], []) if known is None else known.sort(name, findings)
    if any(one.severity == "reject" for one in counted):
        notes = [structs.replace(one, severity="note", message=f"known: {one.message}") for one in expected]
        return Result(
            check=law,
            scenario=name,
            purpose=purpose,
            level="core",
            verdict="fail",
            findings=(*counted, *notes),
            known=tuple(said),
        )
    return Result(
        check=law,
        scenario=name,
        purpose=purpose,
        level="core",
        verdict="known" if expected else "pass",
        findings=tuple(findings),
        known=tuple(said),
    )


def _exchange(server: Server, one: Examined) -> WireExchange:
    request, got = one.asked.request, one.got
    answer = (None, "", b"") if got is None else (got.status, got.content_type, got.body)
    parts = urlsplit(request.url)
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    asked = (request.method, target, dict(request.headers), request.body)
    return exchange_of(asked, answer, (server.key,))
