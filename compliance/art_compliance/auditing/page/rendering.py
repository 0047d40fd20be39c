"""Renders the page of an audit. Nothing in it is loaded from elsewhere, and no script runs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from art_compliance.auditing.counting import UNKNOWN
from art_compliance.auditing.page.plots import HEIGHT, WIDTH, bars_of, labels_of, points_of
from art_compliance.auditing.report import AuditReport
from art_compliance.auditing.summary import answers_of, percent, where
from art_compliance.publishing.page.rendering import content_policy
from art_compliance.publishing.page.templates import templates_in
from art_compliance.run.writing import writing

if TYPE_CHECKING:
    from jinja2 import Template

NAME: Final = "index.html"

_ROWS: Final = 50
"""The most rows of a table: the others are in the report."""

_FOLDER: Final = Path(__file__).parent


def render_audit(report: AuditReport) -> str:
    """The page of an audit."""
    style = (_FOLDER / "style.css").read_text(encoding="utf-8")
    days = [day for day in report.by["day"] if day.name != UNKNOWN]
    most = max((rule.requests for rule in report.rules), default=1)
    return _template().render(
        report=report,
        total=report.total,
        answers=list(answers_of(report)),
        bars=bars_of(days),
        points=points_of(days),
        labels=labels_of(days),
        busiest=max((day.requests for day in days), default=0),
        worst=max((day.share for day in days), default=0.0),
        width=WIDTH,
        height=HEIGHT,
        most=most,
        rules=report.rules[:_ROWS],
        tables=[(name, rows[:_ROWS], len(rows) - _ROWS) for name, rows in report.by.items() if rows],
        rows=_ROWS,
        percent=percent,
        where=where,
        style=style,
        policy=content_policy(style=style, script=""),
    )


def write_page(report: AuditReport, folder: Path) -> None:
    """Writes the page into the folder. Raises HarnessError."""
    path = folder / NAME
    with writing(path):
        path.write_text(render_audit(report), encoding="utf-8")


@cache
def _template() -> Template:
    return templates_in(_FOLDER).get_template("template.html.jinja")
