"""Writes what a run leaves: `report.json`, and beside it everything that is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from art_compliance.findings import HarnessError
from art_compliance.publishing.page.rendering import render_page
from art_compliance.run.report import Report, write_reports


def publish(reports: Sequence[Report], folder: Path) -> Path:
    """Writes the files of a run into the folder, and returns the path of `report.json`. Raises HarnessError."""
    path = write_reports(reports, folder)
    for name, text in {"index.html": render_page(reports)}.items():
        _write(folder / name, text)
    return path


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HarnessError(f"cannot write {path}: {error.strerror}") from error
