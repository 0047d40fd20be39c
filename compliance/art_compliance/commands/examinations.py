"""`art certify --endpoint`: examines a server, prints what is wrong with its answers, and writes the report."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from msgspec import Struct

from art_compliance.commands.certify_options import CertifyOptions
from art_compliance.commands.console import FAILS, INTERRUPTED, say, say_lines, width_of_terminal
from art_compliance.commands.endpoints import read_server
from art_compliance.commands.progress import State, showing
from art_compliance.examining.examination import Examined, Server, Stopped, examine, requests_to
from art_compliance.examining.requests import Asked
from art_compliance.findings import Finding
from art_compliance.publishing.files import publish
from art_compliance.run.baseline import is_red_after_writing
from art_compliance.run.beforehand import require_writable
from art_compliance.run.ending import first_failure, interrupted, is_interrupted
from art_compliance.run.examining import report_of
from art_compliance.run.lines import counted
from art_compliance.run.report import Report
from art_compliance.run.rerun import Rerun
from art_compliance.run.selection import Selection
from art_compliance.run.settings import Settings
from art_compliance.run.summary import describe_verdict, summarize
from art_compliance.run.writing import write_json

NAME: Final = "endpoint.json"
_NOTES_SHOWN: Final = 3


def examine_endpoint(url: str, options: CertifyOptions, settings: Settings) -> int:
    """Asks the server every request, prints what is wrong, writes the report, and returns the exit code."""
    server = read_server(url, options)
    scenarios = Selection(extra=options.scenarios_from)
    baseline = options.baseline_options(settings)
    known = baseline.read(scenarios)
    require_writable(options.report)
    every = requests_to(server, scenarios.chosen(), options.scenario or ())
    began, started = time.monotonic(), datetime.now(UTC)
    examined, stopped = _examine(server, every, options)
    report = report_of(
        server,
        examined,
        rerun=_rerun(server, options),
        started=started,
        seconds=time.monotonic() - began,
        is_whole=not (options.scenario or options.fail_fast),
        stopped=stopped,
        baseline=known,
    )
    _show(report, examined, options)
    write_json(options.report / NAME, [_Line.of(one) for one in examined])
    path = publish([report], options.report)
    if not options.quiet:
        say(f"report: {path}")
    if is_interrupted(report):
        return INTERRUPTED
    if options.baseline_write:
        say(baseline.write(known, [report]))
        return FAILS if is_red_after_writing(report) else 0
    return FAILS if report.is_red else 0


class _Answered(NamedTuple):
    examined: list[Examined]
    stopped: str | None


def _examine(server: Server, every: Sequence[Asked], options: CertifyOptions) -> _Answered:
    """What came of the requests, and why not all of them were sent."""
    found: list[Examined] = []
    began, failed = time.monotonic(), 0
    try:
        with showing(is_quiet=options.quiet) as show:
            for one in examine(server, every, seconds=options.time_limit):
                found.append(one)
                failed += one.is_wrong
                share = len(found) / len(every)
                show(server.url, State(f"{one.name}, {one.kind}", failed, share, time.monotonic() - began))
                if options.fail_fast and failed:
                    return _Answered(found, first_failure(len(every) - len(found)))
    except Stopped as error:
        return _Answered(found, str(error))
    except KeyboardInterrupt:
        if not found:
            raise
        return _Answered(found, interrupted(len(every) - len(found)))
    return _Answered(found, None)


class _Line(Struct, frozen=True):
    """A request in `endpoint.json`."""

    name: str
    kind: str
    status: int | None
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, one: Examined) -> _Line:
        return cls(one.name, one.kind, one.status, one.findings)


def _rerun(server: Server, options: CertifyOptions) -> Rerun:
    words = ["--endpoint", server.url, "--speaks", server.speaks]
    given: dict[str, Sequence[object]] = {
        "--model": [server.model],
        "--key-from": [options.key_from],
        "--scenarios-from": [options.scenarios_from],
        "--without": options.without or (),
        "--header": options.header or (),
    }
    for option, values in given.items():
        words += [word for value in values if value for word in (option, str(value))]
    name = f"{server.url}#speaks={server.speaks}"
    return Rerun(adapter=name, seed=options.seed or 0, endpoint=tuple(words))


def _show(report: Report, examined: Sequence[Examined], options: CertifyOptions) -> None:
    if options.quiet:
        say(f"{report.adapter.name}: {describe_verdict(report).text}")
        return
    for line in (*_notes(examined), *_counts(examined)):
        say(line)
    say_lines(summarize(report, verbose=options.verbose, width=width_of_terminal()))


def _notes(examined: Sequence[Examined]) -> Iterator[str]:
    """What a server may do, and its provider does not."""
    found = [(one, it) for one in examined for it in one.findings if it.severity == "note"]
    for law, count in Counter(it.check for _, it in found).items():
        yield f"note {law}: {counted(count, 'finding')}"
        for one, it in [pair for pair in found if pair[1].check == law][:_NOTES_SHOWN]:
            yield f"  {one.name}, {one.kind}: {it.message}{f' ({it.pointer})' if it.pointer else ''}"


def _counts(examined: Sequence[Examined]) -> Iterator[str]:
    for kind in dict.fromkeys(one.kind for one in examined):
        own = [one for one in examined if one.kind == kind]
        wrong = sum(one.is_wrong for one in own)
        yield f"{kind:<15}{len(own) - wrong:>5} right{wrong:>6} wrong"
