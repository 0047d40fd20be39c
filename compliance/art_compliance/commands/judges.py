"""`art judge`, `exam` and `wire`: judges single requests, tests the judges, and rebuilds their schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from art_compliance.commands.console import FAILS, reports_errors, say
from art_compliance.commands.judgements import as_json_text, describe_judgements, exit_code
from art_compliance.findings import HarnessError
from art_compliance.judging import exam
from art_compliance.judging.wire import schema_names
from art_compliance.resources import folder_to_write
from art_compliance.traffic import Given, judge_all, read_source
from art_compliance.traffic.found import Unread


def judge_command(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="A body, JSONL, HAR, a cassette or curl commands; a curl command itself; - reads standard input.",
        ),
    ] = None,
    dialect: Annotated[str, typer.Option(help="The wire format of requests without a URL.")] = "",
    model: Annotated[str | None, typer.Option(help="The model, if the body does not name it.")] = None,
    url: Annotated[str | None, typer.Option(help="The URL of requests without one: services may differ.")] = None,
    api_version: Annotated[str | None, typer.Option(help="The API's version, as in anthropic-version.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Show what is wrong with requests. Exits with 1 if one would be rejected, with 2 if something cannot be judged."""
    given = Given(dialect=known_dialect(dialect) if dialect else None, url=url, model=model, version=api_version)
    found = judge_all((item for source in sources or ["-"] for item in read_source(source)), given)
    if not found.requests and len(found.unread) == 1 and not as_json:
        raise HarnessError(_of_one(found.unread[0]))
    for line in [as_json_text(found)] if as_json else describe_judgements(found):
        say(line)
    raise typer.Exit(exit_code(found))


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

    if not check:
        folder_to_write("fixtures")
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


wire: Final = typer.Typer(no_args_is_help=True, help="Work on the schemas that are made from the providers' own types.")
wire.command("rebuild")(reports_errors(rebuild_command))


def known_dialect(dialect: str) -> str:
    """The name if there is a judge for it. Raises HarnessError."""
    if dialect not in schema_names():
        raise HarnessError(f"there is no judge for the dialect {dialect!r}; known: {', '.join(schema_names())}")
    return dialect


def _of_one(unread: Unread) -> str:
    """Why the only request cannot be judged."""
    return unread.why if unread.where in unread.why else f"{unread.where}: {unread.why}"
