"""Renders the page. Nothing in it is loaded from elsewhere, and only its own script runs, whatever the texts are."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from art_compliance.publishing.page.columns import class_totals, column_of, levels_of
from art_compliance.publishing.page.json_lines import Limits
from art_compliance.publishing.page.rows import Detail, Gathered, Row, gather, row_of
from art_compliance.quoting import escape
from art_compliance.run.report import Report

LARGEST: Final = 1_500_000
"""Bytes that the page may have. With more to say, it says less of each failure."""

_DETAILS: Final = (
    Detail(causes=12, scenarios=8, findings=4, examples=4, json=Limits()),
    Detail(causes=8, scenarios=4, findings=2, examples=2, json=Limits(8, 240, 80)),
    Detail(causes=4, scenarios=2, findings=1, examples=1, json=Limits(6, 160, 50)),
    Detail(causes=2, scenarios=1, findings=1, examples=0, json=Limits(4, 120, 30)),
    Detail(causes=1, scenarios=1, findings=1, examples=0, json=Limits(4, 80, 20)),
    Detail(causes=0, scenarios=0, findings=0, examples=0, json=Limits(4, 80, 20)),
)
"""From the most that is said of each failure to the least."""

_OF_AN_EXAMPLE: Final = 3000
"""Bytes that an example takes at least, usually: where there are many, most details need not be tried."""

_FOLDER: Final = Path(__file__).parent

_ABOUT: Final = {
    "preflight": "the adapter translates 'hello', and reads an answer",
    "translation": "every piece of the prompt is in the request: once, whole, in order",
    "wire": "the provider's published types and documented rules allow the request",
    "payload": "the request says what the canonical one says",
    "response": "answers and errors are read as they were given",
    "stream": "a streamed answer is the whole answer, however its bytes are cut",
    "agent": "an agent plans, calls tools and answers over the adapter",
    "faults": "every fault of provider or network becomes the right error, in time",
    "load": "calls at once do not mix, and nothing stays behind",
    "properties": "the laws hold for generated prompts, answers and dialogues",
    "replay": "recorded calls are sent and read as they were recorded",
    "live": "the real provider accepts the request today",
}


class _Stage(NamedTuple):
    name: str
    about: str
    rows: list[Row]


def render_page(reports: Sequence[Report]) -> str:
    """The page of these reports, in at most `LARGEST` bytes of UTF-8."""
    page, gathered = "", gather(reports)
    for detail in _fitting(gathered):
        page = _render(reports, [row_of(one, reports, detail) for one in gathered])
        if len(page.encode()) <= LARGEST:
            break
    return page


def _fitting(gathered: Sequence[Gathered]) -> Iterator[Detail]:
    """The details with which the page may be small enough, and the least of all."""
    for detail in _DETAILS:
        sides = sum(min(len(one.causes), detail.examples) for one in gathered)
        if sides * _OF_AN_EXAMPLE < LARGEST or detail is _DETAILS[-1]:
            yield detail


def _render(reports: Sequence[Report], rows: Sequence[Row]) -> str:
    levels = levels_of(reports)
    style = f"{_read('style.css')}:root{{--adapters:{len(reports)}}}\n"
    script = _read("script.js")
    return _template().render(
        columns=[column_of(report, levels) for report in reports],
        levels=levels,
        classes=list(class_totals(reports)),
        stages=list(_stages(rows)),
        checks=len(rows),
        first=reports[0],
        digests=sorted({report.fixtures_digest for report in reports}),
        style=style,
        script=script,
        policy=content_policy(style=style, script=script),
    )


def _stages(rows: Sequence[Row]) -> Iterator[_Stage]:
    for name, of_stage in groupby(rows, lambda row: row.id.partition(".")[0]):
        yield _Stage(name, _ABOUT.get(name, ""), list(of_stage))


def content_policy(*, style: str, script: str) -> str:
    """The page's content security policy: this style sheet and this script, pictures in the page, and nothing else."""
    allowed = f"script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    return environment.get_template("template.html.jinja")


def _finalize(value: Any) -> Any:
    """A text with escape sequences for what a reader cannot see, or what changes the order of the others."""
    return escape(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
