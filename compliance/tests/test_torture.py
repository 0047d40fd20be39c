"""The table of faults of `make torture`: its rows are well-formed, and one of each kind holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TORTURE = Path(__file__).parents[1] / "torture"
ROOT = TORTURE.parents[1]
PATHS = (ROOT, ROOT / "compliance", TORTURE, ROOT / "art_sdk" / "tests", ROOT / "compliance" / "tests")
FAST = [
    "endless answers: one event of many lines without end",
    "statuses and bodies: 15 bodies, streamed and whole, with status 200, 204",
    "cut answers: status 401, closed and reset at 6 places",
    "events: an integer of 5,000 digits",
    "loops, threads, processes: asyncio.run twice, then trio",
    "cancellation: closed after the first event, sync",
    "redirects: 301, 302, 307, 308 to another host, key in x-api-key",
    "settings: key with a line end",
    "options: max_tokens of 5,000 digits",
    "prompts: 10^60 paths, sent",
    "JSON texts: doubled keys",
    "blueprints and contexts: sections over [1, 2], 30 deep",
    "prompts: one result, 50,000 times",
    "cassettes: nested merges",
    "scrubbing: 80,000 characters: letters",
    "art serve: bodies: terminal escapes in names",
]

pytestmark = [
    pytest.mark.once,
    pytest.mark.unmeasured,
    pytest.mark.skipif(sys.platform != "linux", reason="time and memory are limited and measured as Linux does it"),
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    own = {
        "PYTHONPATH": os.pathsep.join(map(str, PATHS)),
        "ART_TORTURE_FOLDER": str(tmp_path_factory.mktemp("torture")),
    }
    return os.environ | own


def test_each_row_has_a_name_of_its_own_and_limits(environment: dict[str, str]):
    asked = (
        "import json, table; print(table.COUNT); print(json.dumps([row[:2] + row[3:] for row in table.ROWS.values()]))"
    )
    done = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True)
    count, rows = done.stdout.splitlines()
    listed = json.loads(rows)
    assert len(listed) == int(count)
    assert all(kind and fault and seconds > 0 and megabytes > 0 for kind, fault, seconds, megabytes in listed)
    named = {f"{kind}: {fault}" for kind, fault, *_ in listed}
    assert set(FAST) <= named
    before = json.loads((TORTURE / "before.json").read_text())
    assert before["of"] == "commit 4b4d0b7, before these bounds"
    assert len(named & set(before["rows"])) > 40


@pytest.fixture(scope="module")
def measured(environment: dict[str, str]) -> dict[str, dict[str, object]]:
    """The results of the fast rows: one process imports everything, and each row is a fork of it."""
    asked = f"import json, run, table; print(json.dumps({{name: run.measure(table.ROWS[name]) for name in {FAST!r}}}))"
    done = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", FAST)
def test_a_fast_row_of_each_kind_passes(measured: dict[str, dict[str, object]], name: str):
    assert measured[name]["outcome"] == "held", measured[name]["words"]


def test_a_row_that_does_harm_differs_from_one_that_passes(tmp_path: Path, environment: dict[str, str]):
    (tmp_path / "table.py").write_text(
        "from rows import Failed, Row\n"
        "def harm(): raise Failed('a key travels')\n"
        "def crash(): import os; os.abort()\n"
        "def hang(): import time; time.sleep(60)\n"
        "def fill(): return str(len(bytearray(8 << 30)))\n"
        "ROWS = {work.__name__: Row('k', 'f', work, seconds=2) for work in (harm, crash, hang, fill)}\n"
    )
    asked = (
        "import run, json, table; run.PATIENCE = 1; "
        "print(json.dumps([run.measure(row) for row in table.ROWS.values()]))"
    )
    paths = os.pathsep.join([str(tmp_path), environment["PYTHONPATH"]])
    own = environment | {"PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    done = subprocess.run([sys.executable, "-c", asked], env=own, capture_output=True, text=True, check=True)
    results = json.loads(done.stdout)
    assert [result["outcome"] for result in results] == ["harm"] * 4
    words = [result["words"] for result in results]
    assert words == ["a key travels", "the process died of SIGABRT", "no end within 6 s of CPU or 3 s", "MemoryError: "]
