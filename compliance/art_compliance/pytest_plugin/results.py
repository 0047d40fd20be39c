"""What each test leaves for the summary: its result, and which run it belongs to, also from another process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from art_compliance.run.report import Adapter, Result
from art_compliance.run.rerun import Rerun

if TYPE_CHECKING:
    import pytest

_RESULT: Final = "art_result"
_RUN: Final = "art_run"


class RunFacts(NamedTuple):
    """Which adapter a result belongs to, how to run its checks again, and `Report.in_process`."""

    adapter: Adapter
    rerun: Rerun
    in_process: str | None


def attach(item: pytest.Item, result: Result, facts: RunFacts) -> None:
    """Keeps the result in the test's report, which pytest-xdist carries from a worker to the controller."""
    item.user_properties.append((_RESULT, msgspec.json.encode(result).decode()))
    item.user_properties.append((_RUN, msgspec.json.encode(facts).decode()))


def results_of(reporter: Any) -> list[Result]:
    """Every result so far."""
    return [result for results in results_by_run(reporter).values() for result in results]


def results_by_run(reporter: Any) -> dict[str, list[Result]]:
    """The results of each run, by its facts as JSON text: two test files may certify two adapters."""
    found: dict[str, list[Result]] = {}
    for run, result in zip(_properties(reporter, _RUN), _properties(reporter, _RESULT), strict=True):
        found.setdefault(run, []).append(msgspec.json.decode(result, type=Result))
    return found


def read_facts(text: str) -> RunFacts:
    """The facts of a run from their JSON text."""
    return msgspec.json.decode(text, type=RunFacts)


def _properties(reporter: Any, name: str) -> Iterator[str]:
    for reports in reporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                yield from (value for key, value in report.user_properties if key == name)
