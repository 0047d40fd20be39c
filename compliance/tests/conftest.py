"""What more than one test file needs: a provider on the loopback, and the calls that others recorded."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import pytest

from art_compliance.cassettes.corpus import Found, Package, cache_folder, load_packages, read_package
from art_compliance.cassettes.package_index import Unreachable
from art_compliance.provider import LoopbackProvider

# A run in this process unloads what it was the first to import, so what every run needs is imported before.
for needed in ("cassettes.recording", "pytest_plugin.run", "pytest_plugin.summary", "run.runner", "strategies"):
    importlib.import_module(f"art_compliance.{needed}")

os.environ.pop("GITHUB_STEP_SUMMARY", None)  # the adapters of tests are nobody's to read about

PACKAGES = {package.name: package for package in load_packages()}


@cache
def read_once(name: str) -> tuple[Found, ...] | str:
    """The calls of a package, or why they are not to be had. Where we cannot download it, pip may: it is slower."""
    package = PACKAGES[name]
    try:
        return read_package(package)
    except Unreachable:
        download_with_pip(package, cache_folder() / package.sha256[:16])
    try:
        return read_package(package, indexes=())
    except Unreachable as error:
        return str(error)


def download_with_pip(package: Package, folder: Path) -> None:
    """pip verifies the digest before it builds anything. Nothing is in the folder if it fails."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as draft:  # another worker may download the same
        wanted = Path(draft) / "wanted.txt"
        wanted.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-binary", package.name, "--dest", draft, "--require-hashes", "--requirement", str(wanted)]
        subprocess.run(command, capture_output=True, timeout=300, check=False)
        for file in Path(draft).glob("*.tar.gz"):
            file.replace(folder / file.name)


LARGE = frozenset(
    {"chatlas", "crewai", "langsmith", "magentic", "mirascope", "opentelemetry-instrumentation-langchain"}
)
"""What takes long to read, and is mostly like the others."""


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.thorough if name in LARGE else ()) for name in PACKAGES])
def packaged(request: pytest.FixtureRequest) -> tuple[Found, ...]:
    """Every recorded call of a package. Skips where the index cannot be asked, with what it said."""
    found = read_once(request.param)
    if isinstance(found, str):
        pytest.skip(f"the corpus is not to be had: {found}")
    return found


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    """A provider on the loopback that answers every request."""
    with LoopbackProvider() as server:
        yield server


@pytest.fixture
def run(pytester: pytest.Pytester):
    """Run pytest in this process. A run that stops with code 2 is not a Ctrl-C that should stop these tests, too."""
    return lambda *arguments: pytester.runpytest_inprocess(
        "-q", "-p", "no:cacheprovider", "--art-in-process", *arguments, no_reraise_ctrlc=True
    )


@pytest.fixture
def run_apart(pytester: pytest.Pytester):
    """As `run`, with the adapter in its own process, as it usually is."""
    return lambda *arguments: pytester.runpytest_inprocess(
        "-q", "-p", "no:cacheprovider", *arguments, no_reraise_ctrlc=True
    )


@pytest.fixture
def resting() -> Iterator[Callable[[], None]]:
    """Starts a thread that waits until the test ends."""
    over = Event()
    yield lambda: Thread(target=over.wait, daemon=True).start()
    over.set()
