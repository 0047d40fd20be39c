"""`art judge`, `exam` and `wire`: judges single requests, tests the judges, and rebuilds their schemas."""

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
    file: Annotated[str, typer.Argument(help="The body of a request as JSON; - reads standard input.")] = "-",
    dialect: Annotated[str, typer.Option(help="The wire format of the request.")] = "",
    model: Annotated[str | None, typer.Option(help="The model, if the body does not name it.")] = None,
    url: Annotated[str | None, typer.Option(help="The URL: services of one format may differ.")] = None,
    api_version: Annotated[str | None, typer.Option(help="The API's version, as in anthropic-version.")] = None,
) -> None:
    """Show what is wrong with a request. Exits with 1 if the provider would reject it, with 2 if it cannot be read."""
    findings = judge(_known(dialect), _read(file), model=model, url=url, version=api_version)
    for line in describe_findings(findings):
        say(line)
    raise typer.Exit(FAILS if any(finding.severity == "reject" for finding in findings) else 0)


def exam_command(
    folder: Annotated[Path, typer.Argument(help="A folder of recorded traffic: <provider>/<name>.json.")],
    write: Annotated[Path | None, typer.Option(help="Write the grades to this file.")] = None,
) -> None:
    """Test the judges with recorded traffic. Exits with 1 if they reject or cannot decode an accepted request."""
    before = exam.load_grades(write) if write is not None and write.is_file() else None
    grades = tuple(map(exam.grade, exam.load_recordings(folder)))
    graded = exam.GradeList(exceptions=before.exceptions if before else {}, grades=grades)
    for line in exam.summarize(grades):
        say(line)
    for fault in graded.faults:
        why = "; ".join(
            f"{one.dialect}: {', '.join(one.by) or 'not decoded'}" for one in fault.judged if not one.is_clean
        )
        say(f"false refusal of {fault.id}: {why}")
    if write is not None:
        exam.write_grades(write, graded)
    raise typer.Exit(FAILS if graded.faults else 0)


def rebuild_command(
    name: Annotated[str | None, typer.Argument(help="A dialect. Rebuilds all if not given.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if something changed.")] = False,
) -> None:
    """Rebuild the schemas from the installed SDKs of the extra `judges`, and print what changed."""
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
        problem = f"there is no judge for the dialect {dialect!r}" if dialect else "name the wire format with --dialect"
        raise HarnessError(f"{problem}; known: {', '.join(schema_names())}")
    return dialect


def _read(file: str) -> Any:
    """The JSON from a file or from standard input. Raises HarnessError."""
    where = "standard input" if file == "-" else file
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return json.loads(raw)
    except OSError as error:
        raise HarnessError(f"cannot read {where}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{where} is not JSON: {error}") from error
