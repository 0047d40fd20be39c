"""A distribution of somebody else's names its adapter by entry point, and `art certify` finds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "somebody-elses-adapter"
version = "1.0"

[project.entry-points."art_sdk.adapters"]
somebody = "somebody_elses_adapter:SomebodyAdapter"
"""
MODULE = """
from art_sdk import OpenAIAdapter

class SomebodyAdapter(OpenAIAdapter):
    provider_name = "somebody"
"""


ART = ("-c", "from art_compliance.cli import main; main()", "certify", "somebody", "--scenario", "one-question")


def run(*arguments: str, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({} if path is None else {"PYTHONPATH": str(path), "COLUMNS": "100"})
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.once
@pytest.mark.unmeasured
def test_an_installed_adapter_is_certified_by_its_name(tmp_path: Path):
    pytest.importorskip("hatchling", reason="the package is built without a network: install '.[test]'")
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "pyproject.toml").write_text(PYPROJECT)
    (source / "somebody_elses_adapter.py").write_text(MODULE)
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--target", str(target))
    installed = run("-m", "pip", "install", "--quiet", *offline, str(source), cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr

    result = run(*ART, cwd=tmp_path, path=target)
    assert result.returncode == 0, result.stderr
    assert "somebody  (white box, openai-chat)" in result.stdout
    assert run(*ART, cwd=tmp_path).returncode == 2
