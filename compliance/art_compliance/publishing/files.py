"""Writes what a run leaves: `report.json`, and next to it everything that is made of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from art_compliance.publishing.badge import badge_json, badge_svg
from art_compliance.publishing.certificate import Certificates, as_json, certificate_of
from art_compliance.publishing.job_summary import job_summary
from art_compliance.publishing.junit import junit_xml
from art_compliance.publishing.page.rendering import render_page
from art_compliance.publishing.standing import says_all, standing_of_all
from art_compliance.run.report import Report, write_reports
from art_compliance.run.writing import writing

JOB_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The variable that names the file for a job's summary (GitHub's documentation of workflow commands)."""


_NAMES: Final = ("index.html", "summary.md", "junit.xml", "badge.svg", "badge.json", "certificate.json")


def publish(reports: Sequence[Report], folder: Path, *, is_cut: bool = False) -> Path:
    """Writes the files of a run into the folder, and returns the path of `report.json`. Raises HarnessError.

    Certificate and badge are of whole runs: after another run, or one that `is_cut` short, those of an earlier one are
    removed.
    """
    path = write_reports(reports, folder)
    for name, text in _files(reports, is_cut=is_cut).items():
        if text is None:
            with suppress(OSError):
                (folder / name).unlink()
        else:
            _write(folder / name, text)
    if reports and (place := os.environ.get(JOB_SUMMARY)):
        _write(Path(place), job_summary(reports), mode="a")
    return path


def _files(reports: Sequence[Report], *, is_cut: bool) -> dict[str, str | None]:
    """The text of each file; None for one that this run does not have."""
    if not reports:
        return dict.fromkeys(_NAMES)
    is_whole = not is_cut and all(map(says_all, reports))
    standing = standing_of_all(reports)
    certified = tuple(certificate_of(report) for report in reports if report.is_certified and not is_cut)
    texts = (
        render_page(reports),
        job_summary(reports),
        junit_xml(reports),
        badge_svg(standing) if is_whole else None,
        badge_json(standing) if is_whole else None,
        as_json(Certificates(certificates=certified)) if certified else None,
    )
    return dict(zip(_NAMES, texts, strict=True))


def _write(path: Path, text: str, *, mode: str = "w") -> None:
    with writing(path), path.open(mode, encoding="utf-8") as file:
        file.write(text)
