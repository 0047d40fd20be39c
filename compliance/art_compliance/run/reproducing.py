"""`repro/<check>/`: a failure's prompt, payload and exchange, what was expected, and a script that shows it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from art_compliance.checks import CHECKS, Trial
from art_compliance.checks.properties.laws import judge_alone
from art_compliance.findings import Example, Finding, HarnessError, WireExchange
from art_compliance.generating.requests import FAMILIES, Request, as_scenario
from art_compliance.run.report import Report
from art_compliance.run.rerun import Rerun
from art_compliance.run.results import Result
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.scenarios import Scenario, load_scenario, load_scenarios
from art_compliance.subject.factories import Factory, find_factory, name_of
from art_compliance.subject.opening import open_subject


def judge_scenario(
    make: Factory | str, path: Path, *, check: str, seed: int = 0, dialect: str | None = None
) -> list[Finding]:
    """What one check finds on one scenario file, such as the `prompt.json` of a failure.

    Raises HarnessError if the file, the adapter or the check does not exist, and NotApplicable if the check does not
    apply to the scenario.
    """
    if check not in CHECKS:
        raise HarnessError(f"there is no check {check!r}")
    factory = find_factory(make) if isinstance(make, str) else make
    name = make if isinstance(make, str) else name_of(make)
    with open_subject(factory, name=name, dialect=dialect, seed=seed) as subject:
        return judge_alone(CHECKS[check], Trial(subject, load_scenario(path), seed))


def folder_for(root: Path, check: str, adapter: str | None = None) -> Path:
    """The folder for a check's failure; `adapter` is part of it if a report has several adapters."""
    between = [re.sub(r"[^A-Za-z0-9_.-]+", "-", adapter)[:80]] if adapter else []
    return root.joinpath("repro", *between, check)


def remove_repros(root: Path) -> None:
    """Removes what earlier runs wrote under `repro/`, and folders that are empty then. Raises HarnessError.

    Files of others stay, and so does a folder whose script was not written by this suite.
    """
    for script in sorted((root / "repro").glob("**/reproduce.py")):
        try:
            if _MARK not in script.read_text(encoding="utf-8", errors="replace"):
                continue
            for name in _NAMES:
                (script.parent / name).unlink(missing_ok=True)
            for folder in (script.parent, *script.parent.parents):
                if folder == root or any(folder.iterdir()):
                    break
                folder.rmdir()
        except OSError as error:
            raise HarnessError(f"cannot remove {script.parent} of an earlier run: {error.strerror}") from error


_NAMES: Final = ("prompt.json", "payload.json", "exchange.txt", "expectation.txt", "reproduce.py")
_MARK: Final = "run it where the adapter can be imported; it exits with 1 while the check fails."


def write_repros(reports: Sequence[Report], root: Path) -> list[Path]:
    """Writes a folder for the first failure of every check, and returns the folders. Raises HarnessError."""
    written: list[Path] = []
    for report in reports:
        for result, example in _first_examples(report):
            adapter = report.adapter.name if len(reports) > 1 else None
            folder = folder_for(root, result.check, adapter)
            try:
                _write(folder, result, example, report.rerun)
            except OSError as error:
                raise HarnessError(f"cannot write {folder}: {error.strerror}") from error
            written.append(folder)
    return written


def _first_examples(report: Report) -> Iterator[tuple[Result, Example]]:
    seen: set[str] = set()
    for result in report.failures:
        example = next((finding.example for finding in result.findings if finding.example), None)
        if example is not None and result.check not in seen:
            seen.add(result.check)
            yield result, example


def _write(folder: Path, result: Result, example: Example, rerun: Rerun) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "prompt.json": _as_json(_scenario_file(result, example, rerun)),
        "payload.json": _as_json(example.payload),
        "expectation.txt": _expectation(result, rerun),
        "reproduce.py": _script(result, rerun),
    }
    exchanges = [finding.exchange for finding in result.findings if finding.exchange is not None]
    if exchanges:
        files["exchange.txt"] = "\n\n".join(map(_as_http, exchanges)) + "\n"
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def _scenario_file(result: Result, example: Example, rerun: Rerun) -> dict[str, Any]:
    """The scenario as a file that can be moved to an author's own scenarios."""
    fields = msgspec.to_builtins(_scenario_of(result, example, rerun))
    return {name: value for name, value in fields.items() if name not in ("id", "group")}


def _scenario_of(result: Result, example: Example, rerun: Rerun) -> Scenario:
    if result.scenario in FAMILIES:
        turns = [{"answer": example.answer}] if example.answer else ()
        return as_scenario(result.scenario, Request(example.prompt, example.options, turns))
    own = load_scenarios(Path(rerun.scenarios_from)) if rerun.scenarios_from else ()
    known = (GREETING_SCENARIO, *load_scenarios(), *own)
    return next(scenario for scenario in known if scenario.id == result.scenario)


def _as_json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def _as_http(exchange: WireExchange) -> str:
    """An exchange as people read HTTP. Its bodies are cut where they are long."""
    request = [f"{exchange.method} {exchange.url}", *(f"{name}: {value}" for name, value in exchange.headers.items())]
    lines = [*request, "", exchange.body, "", f"({exchange.body_bytes:,} bytes)"]
    if exchange.status is not None:
        lines += ["", str(exchange.status), f"content-type: {exchange.content_type}", "", exchange.answer]
    return "\n".join(lines)


def _expectation(result: Result, rerun: Rerun) -> str:
    lines = [CHECKS[result.check].clause, "", *(finding.message for finding in result.findings)]
    return "\n".join((*lines, "", rerun.command(result.check, result.scenario), ""))


def _script(result: Result, rerun: Rerun) -> str:
    stage = CHECKS[result.check].stage
    if stage.replays_cassettes or stage.name == "live":  # such a check needs more than the prompt
        command = shlex.split(rerun.command(result.check, result.scenario))
        return f'''"""{result.check}: {_MARK}"""
import subprocess
import sys
sys.exit(subprocess.run({command!r}, check=False).returncode)
'''
    return f'''"""{result.check}: {_MARK}"""
import sys
from pathlib import Path
from art_compliance import judge_scenario
sys.path.insert(0, "")
prompt = Path(__file__).with_name("prompt.json")
found = judge_scenario({rerun.adapter!r}, prompt, check={result.check!r}, seed={rerun.seed}, dialect={rerun.dialect!r})
print(*(finding.message for finding in found), sep="\\n")
sys.exit(bool(found))
'''
