"""The cost of an import, and of our pytest plugin when it is unused, in CPU time of whole processes."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.conftest import Cell, Note
from benchmarks.measure import compare_children, run_child

ROUNDS = 11
NOT_AT_START = ("chevron", "httpx2", "jsonschema", "pytest", "yaml")
IMPORTS = {
    "bare Python": "pass",
    "import httpx2": "import httpx2",
    "import msgspec": "import msgspec",
    "import art_sdk": "import art_sdk",
    "one adapter and its transport": "import art_sdk, httpx2; art_sdk.OpenAIAdapter(api_key='key')",
    "one adapter and an open client": (
        "import art_sdk, httpx2; art_sdk.OpenAIAdapter(api_key='key', http_client=httpx2.Client())"
    ),
}


def test_an_import_of_the_sdk_leaves_the_heavy_modules_out():
    code = "import art_sdk, json, sys; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)  # noqa: S603 - our own code
    assert not set(NOT_AT_START) & set(json.loads(run.stdout))


def test_imports(note: Note):
    """All of them take turns, each in its own process."""
    runs = [{what: run_child(["-c", code]) for what, code in IMPORTS.items()} for _ in range(ROUNDS + 1)][1:]
    least = {what: min(run[what] for run in runs) for what in IMPORTS}
    bare = least.pop("bare Python")
    own = least["import httpx2"] - bare
    for what, seconds in least.items():
        note(f"{what}, over bare Python", f"{(seconds - bare) * 1000:.0f} ms", Cell("import", what, "CPU, ms"))
        note(f"{what}, to httpx2's own import", f"{(seconds - bare) / own:.2f}", Cell("import", what, "to httpx2's"))


def test_pytest_with_the_plugin_unused(note: Note, tmp_path: Path):
    (tmp_path / "test_one.py").write_text("def test_nothing(): pass\n")
    run = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", "."]
    without = partial(run_child, [*run, "-p", "no:art_compliance"], cwd=str(tmp_path))
    unused = partial(run_child, run, cwd=str(tmp_path))
    pair = compare_children(without, unused, rounds=ROUNDS)
    note("pytest's start, our plugin unused", f"{pair.ratio:.3f}")
    note("pytest's start, our plugin unused, adds", f"{(pair.ours - pair.floor) * 1000:.1f} ms")
