"""What is published works: a wheel, built through the sdist, in a fresh environment beside a stranger's project."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("wheel")  # built once, not once a worker

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


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "PYTEST_"))}
    environment |= {"PIP_CONSTRAINT": str(CONSTRAINTS), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def their_project(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("theirs")
    venv.create(folder / "env", with_pip=True)
    binaries = folder / "env" / "bin"
    run(binaries / "python", "-m", "pip", "install", "--quiet", f"{wheel}[compliance]", cwd=folder)
    project = folder / "project"
    (project / "compliance").mkdir(parents=True)
    (project / "compliance" / "__init__.py").write_text("OURS = True\n")
    (project / "compliance" / "adapter.py").write_text(THEIR_ADAPTER)
    (project / "test_theirs.py").write_text(THEIR_TESTS)
    return binaries, project


def test_the_wheel_holds_both_packages_and_the_data_and_no_tests(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"art_sdk", "art_compliance"}
    assert "art_compliance/_data/fixtures/scenarios/simple-chat/one-question.json" in names
    assert "art_sdk/py.typed" in names
    assert "art_compliance/py.typed" in names
    assert not [name for name in names if "/tests/" in name]
    assert not [name for name in names if name.startswith("art_compliance/_data") and name.endswith(".py")]


def test_an_adapter_is_certified_from_the_wheel_by_the_command(their_project: tuple[Path, Path]):
    binaries, project = their_project
    told = run(binaries / "art", "certify", "compliance.adapter:TheirAdapter", cwd=project)
    assert "certified by suite" in told.stdout
    assert (project / "art-report" / "report.json").is_file()


def test_an_adapter_is_certified_from_the_wheel_by_pytest(their_project: tuple[Path, Path]):
    binaries, project = their_project
    told = run(binaries / "python", "-m", "pytest", "-q", "test_theirs.py", cwd=project)
    assert "certified by suite" in told.stdout
    few = ("--art-scenario", "one-question", "-k", "art")
    told = run(binaries / "pytest", "-q", "--art-adapter", "compliance.adapter:TheirAdapter", *few, cwd=project)
    assert "compliance.adapter:TheirAdapter  (white box, openai-chat)" in told.stdout


def test_the_sdk_alone_needs_no_suite(wheel: Path, tmp_path: Path):
    venv.create(tmp_path / "env", with_pip=True)
    binaries = tmp_path / "env" / "bin"
    run(binaries / "python", "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    run(binaries / "python", "-c", "import art_sdk; art_sdk.GeminiAdapter(api_key='x')", cwd=tmp_path)
    refused = subprocess.run([binaries / "art"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "install the suite with: pip install 'art-adapter-sdk[compliance]'" in refused.stderr
