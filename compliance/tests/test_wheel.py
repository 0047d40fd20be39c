"""The published wheel works: built through the sdist, installed into a fresh environment, used in a project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ROOT / "constraints.txt"

THEIR_ADAPTER = """
from art_sdk import OpenAIAdapter

class TheirAdapter(OpenAIAdapter):
    provider_name = "theirs"
"""

THEIR_TESTS = """
import compliance
import pytest
from art_compliance.suite import *
from compliance.adapter import TheirAdapter

@pytest.fixture(scope="session")
def art_adapter():
    return TheirAdapter

def test_our_own_package_is_ours():
    assert compliance.OURS
"""

FEW = ("--art-scenario", "one-question")
OF_EVERY_STAGE = (
    "preflight.greeting-translates",
    "translation.is-total",
    "wire.request-matches-the-schema",
    "wire.no-rule-is-broken",
    "payload.is-canonical",
    "response.answer-is-read",
    "stream.answer-is-read",
    "faults.end-in-time",
    "load.every-loop-and-thread-works",
    "properties.other-processes-agree",
)
"""A check of each stage that needs data of its own or another process. Replay has no cassettes of this adapter."""

FEW_SCENARIOS = ("greeting", "one-question", "answer-text", "streamed", "generated-conversations")


def run(*command: object, cwd: Path) -> str:
    """Run a command that must succeed. Gives its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PIP_CONSTRAINT": str(CONSTRAINTS), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Environment(NamedTuple):
    """A virtual environment without pip, into which the pip of these tests installs."""

    folder: Path

    def path(self, command: str) -> Path:
        return self.folder / "bin" / command

    def install(self, requirement: str) -> None:
        pip = (sys.executable, "-m", "pip", "--python", self.path("python"), "install", "--quiet", "--no-compile")
        run(*pip, requirement, cwd=self.folder)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder)
    return Environment(folder)


@pytest.fixture(scope="module")
def sdk_alone(wheel: Path, environment: Environment) -> Environment:
    environment.install(str(wheel))
    return environment


@pytest.fixture(scope="module")
def with_suite(wheel: Path, environment: Environment) -> Environment:
    environment.install(f"{wheel}[compliance]")
    return environment


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "compliance").mkdir()
    (folder / "compliance" / "__init__.py").write_text("OURS = True\n")
    (folder / "compliance" / "adapter.py").write_text(THEIR_ADAPTER)
    (folder / "tests").mkdir()
    (folder / "tests" / "test_theirs.py").write_text(THEIR_TESTS)
    return folder


def test_the_wheel_contains_both_packages_and_the_data_and_no_tests(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"art_sdk", "art_compliance"}
    assert "art_compliance/_data/fixtures/scenarios/simple-chat/one-question.json" in names
    page = ("template.html.jinja", "style.css", "script.js")
    assert {f"art_compliance/publishing/page/{name}" for name in page} <= {*names}
    assert "art_sdk/py.typed" in names
    assert "art_compliance/py.typed" in names
    assert not [name for name in names if "/tests/" in name]
    assert not [name for name in names if name.startswith("art_compliance/_data") and name.endswith(".py")]


def test_the_sdk_works_without_the_suite(sdk_alone: Environment, tmp_path: Path):
    run(sdk_alone.path("python"), "-c", "import art_sdk; art_sdk.GeminiAdapter(api_key='x')", cwd=tmp_path)
    refused = subprocess.run([sdk_alone.path("art")], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "install the suite with: pip install 'art-adapter-sdk[compliance]'" in refused.stderr


def test_the_command_runs_every_stage_from_the_wheel(with_suite: Environment, project: Path):
    checks = [argument for name in OF_EVERY_STAGE for argument in ("--check", name)]
    checks += [argument for name in FEW_SCENARIOS for argument in ("--scenario", name)]
    judged = ("compliance.adapter:TheirAdapter", "--profile", "quick", "--seed", "7", "--report", "out")
    output = run(with_suite.path("art"), "certify", *judged, *checks, cwd=project)
    assert "compliance.adapter:TheirAdapter  (white box, openai-chat)" in output
    report = json.loads((project / "out" / "report.json").read_text(encoding="utf-8"))["reports"][0]
    assert report["rerun"]["seed"] == 7
    assert {one["check"] for one in report["results"] if one["verdict"] == "pass"} >= {*OF_EVERY_STAGE}


def test_pytest_judges_an_adapter_from_the_wheel(with_suite: Environment, project: Path):
    judged = ("--art-adapter", "compliance.adapter:TheirAdapter", *FEW, "--art-report", "out", "--ignore", "tests")
    assert "a filtered run never certifies" in run(with_suite.path("pytest"), "-q", *judged, cwd=project)
    assert (project / "out" / "report.json").is_file()


def test_an_authors_test_file_runs_the_suite_from_the_wheel(with_suite: Environment, project: Path):
    output = run(with_suite.path("python"), "-m", "pytest", "-q", "tests", *FEW, cwd=project)
    assert "compliance.adapter:TheirAdapter  (white box, openai-chat)" in output
