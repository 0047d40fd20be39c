"""`art judge`, `exam` and `wire`: payloads judged one by one, the judges' own exam, and the schemas they judge by."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from art_compliance.commands.console import FAILS, describe_findings, say
from art_compliance.findings import HarnessError
from art_compliance.judging import exam, judge
from art_compliance.judging.wire import schema_names


def judge_command(
    file: Annotated[str, typer.Argument(help="A request's body as JSON; - is standard input.")] = "-",
    dialect: Annotated[str, typer.Option(help="The wire format of the request.")] = "",
    model: Annotated[str | None, typer.Option(help="The model, where the body does not name it.")] = None,
    url: Annotated[str | None, typer.Option(help="Where the request goes: services differ in what they take.")] = None,
) -> None:
    """Say what the provider would find wrong with a request. 0: nothing; 1: it would refuse it; 2: bad input."""
    findings = judge(_known(dialect), _read(file), model=model, url=url)
    for line in describe_findings(findings):
        say(line)
    raise typer.Exit(FAILS if any(finding.severity == "reject" for finding in findings) else 0)


def exam_command(
    folder: Annotated[Path, typer.Argument(help="Recorded traffic: <provider>/<name>.json.")],
    write: Annotated[Path | None, typer.Option(help="Keep the list of grades there; its exceptions stay.")] = None,
) -> None:
    """Put recorded traffic through the judges. 1: what a provider accepted is refused, or cannot be decoded."""
    before = exam.load_grades(write) if write is not None and write.is_file() else None
    grades = tuple(map(exam.grade, exam.load_recordings(folder)))
    told = exam.GradeList(exceptions=before.exceptions if before else {}, grades=grades)
    for line in exam.summarize(grades):
        say(line)
    for fault in told.faults:
        why = "; ".join(
            f"{one.dialect}: {', '.join(one.by) or 'not decoded'}" for one in fault.judged if not one.is_clean
        )
        say(f"false refusal of {fault.id}: {why}")
    if write is not None:
        exam.write_grades(write, told)
    raise typer.Exit(FAILS if told.faults else 0)


def rebuild_command(
    name: Annotated[str | None, typer.Argument(help="A dialect; all when not given.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; 1 where something has changed.")] = False,
) -> None:
    """Make the schemas anew from the installed SDKs of the extra `judges`, and print what changed."""
    from art_compliance.judging.wire import rebuild, sources  # noqa: PLC0415 - the SDKs' models take a second to import

    changed = False
    for one in [name] if name else sources.SOURCES:
        made = rebuild.rebuild(one)
        lines = list(rebuild.changes(rebuild.before(one), made))
        changed = changed or bool(lines)
        say(f"{one}: {len(lines)} changed" if lines else f"{one}: unchanged")
        for line in lines:
            say(f"    {line}")
        if lines and not check:
            rebuild.write(one, made)
    raise typer.Exit(int(check and changed))


def _known(dialect: str) -> str:
    if dialect not in schema_names():
        asked = f"there is no dialect {dialect!r} to judge by" if dialect else "say the wire format with --dialect"
        message = f"{asked}; known: {', '.join(schema_names())}"
        raise HarnessError(message)
    return dialect


def _read(file: str) -> Any:
    """The JSON in a file or on standard input. Raises HarnessError, naming it."""
    where = "standard input" if file == "-" else file
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return json.loads(raw)
    except OSError as error:
        message = f"cannot read {where}: {error.strerror}"
        raise HarnessError(message) from error
    except (ValueError, RecursionError) as error:
        message = f"{where} is not JSON: {error}"
        raise HarnessError(message) from error
