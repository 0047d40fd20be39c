"""Writes a board: its page, and a line of its history."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from art_compliance.publishing.board.changes import Changes, compare
from art_compliance.publishing.board.history import Run, add_run, read_history, run_of
from art_compliance.publishing.page.rendering import LARGEST, OF_A_SUBJECT, render
from art_compliance.run.report import Report
from art_compliance.run.writing import writing


def render_board(reports: Sequence[Report], changes: Changes | None = None) -> str:
    """The page of these subjects; without `changes`, it is the first run."""
    largest = max(LARGEST, len(reports) * OF_A_SUBJECT)
    return render("board.html.jinja", reports, changes.cells if changes else None, largest=largest, changes=changes)


def write_board(reports: Sequence[Report], folder: Path, history: Path | None = None) -> Changes | None:
    """Writes `index.html` into the folder, adds a line to the history, and returns what changed since the run before.

    The same reports again are no other run: they add no line. The history is `history.jsonl` in the folder if not
    given. None is returned for the first run. Raises HarnessError.
    """
    file = history or folder / "history.jsonl"
    runs, run = read_history(file), run_of(reports)
    is_again = runs[-1:] == [run]
    before = _last(runs[:-1] if is_again else runs)
    changes = None if before is None else compare(before, run)
    page = folder / "index.html"
    with writing(page):
        page.write_text(render_board(reports, changes), encoding="utf-8")
    if not is_again:
        add_run(file, run)
    return changes


def _last(runs: Sequence[Run]) -> Run | None:
    return runs[-1] if runs else None
