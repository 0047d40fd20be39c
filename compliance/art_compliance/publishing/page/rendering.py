"""Renders the page. Nothing in it is loaded from elsewhere, and only its own script runs, whatever the texts are."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from art_compliance.publishing.page.columns import class_totals, column_of, levels_of
from art_compliance.publishing.page.json_lines import Limits
from art_compliance.publishing.page.marking import Marker
from art_compliance.publishing.page.rows import Detail, Gathered, Row, gather, row_of
from art_compliance.publishing.page.templates import templates_in
from art_compliance.run.report import Report

if TYPE_CHECKING:
    from jinja2 import Environment

LARGEST: Final = 1_500_000
"""Bytes that the page of ten adapters may have. With more to say, it says less of each failure."""

_FURTHER: Final = 100_000
"""Bytes for each further adapter: its cells alone take half of them."""

OF_A_SUBJECT: Final = 250_000
"""Bytes for each subject of a board: enough for what a cell opens on. Compressed, as servers send it, a tenth."""

_DETAILS: Final = (
    Detail(causes=12, scenarios=8, findings=4, examples=4, json=Limits(), wire=2000, program=8000),
    Detail(causes=4, scenarios=2, findings=1, examples=1, json=Limits(6, 160, 50), wire=500, program=4000),
    Detail(causes=2, scenarios=1, findings=1, examples=1, json=Limits(6, 120, 30), wire=300, program=3500),
    Detail(causes=1, scenarios=1, findings=1, examples=1, json=Limits(4, 80, 16), wire=200, program=3000),
    Detail(causes=1, scenarios=1, findings=1, examples=1, json=Limits(4, 80, 12), wire=120, program=0),
    Detail(causes=2, scenarios=1, findings=1, examples=0, json=Limits(4, 120, 30), wire=0, program=0),
    Detail(causes=1, scenarios=1, findings=1, examples=0, json=Limits(4, 80, 20), wire=0, program=0),
    Detail(causes=0, scenarios=0, findings=0, examples=0, json=Limits(4, 80, 20), wire=0, program=0),
)
"""From the most that is said of each failure to the least."""

_OF_AN_EXAMPLE: Final = 1500
"""Bytes that an example takes at least, usually: where there are many, most details need not be tried."""

_FOLDER: Final = Path(__file__).parent

_ABOUT: Final = {
    "preflight": "the adapter translates 'hello', and reads an answer",
    "translation": "every piece of the prompt is in the request: once, whole, in order",
    "wire": "the provider's published types and documented rules allow the request",
    "payload": "the request means the same as the canonical one",
    "response": "answers and errors are read correctly",
    "stream": "a streamed answer is read whole, however its bytes are cut",
    "agent": "an agent plans, calls tools and answers through the adapter",
    "faults": "every fault of provider or network becomes the right error, in time",
    "load": "concurrent calls do not mix, and nothing leaks",
    "properties": "the laws hold for generated prompts, answers and dialogues",
    "replay": "recorded calls are sent and read as they were recorded",
    "live": "the real provider accepts the request today",
    "endpoint": "a server's answers, streams and errors have the form of the provider's",
}


class _Stage(NamedTuple):
    name: str
    about: str
    rows: list[Row]


def render_page(reports: Sequence[Report]) -> str:
    """The page of these reports, in at most `LARGEST` bytes of UTF-8."""
    return render("template.html.jinja", reports)


def render(
    template: str,
    reports: Sequence[Report],
    changed: Mapping[tuple[str, str], str] | None = None,
    *,
    largest: int | None = None,
    **more: Any,
) -> str:
    """A page of these reports after that template, in at most `largest` bytes of UTF-8, or `LARGEST` for ten adapters.

    `changed` says of checks on adapters, each by its name, what changed there; `more` is what the template wants else.
    """
    page, gathered, marker = "", gather(reports), Marker()
    most = largest or LARGEST + max(0, len(reports) - 10) * _FURTHER
    facts = {"changed": changed or {}, "changed_checks": {check for check, _ in changed or ()}, **more}
    for detail in _fitting(gathered, most):
        rows = [row_of(one, reports, detail, marker) for one in gathered]
        page = _render(template, reports, rows, {**facts, "left_out": list(_left_out(detail))})
        if len(page.encode()) <= most:
            break
    return page


def _left_out(detail: Detail) -> Iterator[str]:
    """What a page with this detail does not say, so that it stays small."""
    full = _DETAILS[0]
    if detail.causes < full.causes:
        first = "first" if detail.causes == 1 else f"first {detail.causes}"
        yield f"causes beyond the {first} of a cell" if detail.causes else "what was found"
    if detail.json != full.json:
        yield "much of long prompts and payloads" if detail.examples else "prompts and payloads"
    if detail.wire < full.wire:
        yield f"bytes after the first {detail.wire}" if detail.wire else "what went over the wire"
    if detail.program < full.program:
        yield (
            f"programs of more than {detail.program:,} characters"
            if detail.program
            else "how to see it without the suite"
        )


def _fitting(gathered: Sequence[Gathered], most: int) -> Iterator[Detail]:
    """The details with which the page may be small enough, and the least of all."""
    for detail in _DETAILS:
        sides = sum(min(len(causes), detail.examples) for one in gathered for causes in one.causes)
        if sides * _OF_AN_EXAMPLE < most or detail is _DETAILS[-1]:
            yield detail


def _render(template: str, reports: Sequence[Report], rows: Sequence[Row], facts: Mapping[str, Any]) -> str:
    levels = levels_of(reports)
    style = f"{_read('style.css')}:root{{--adapters:{len(reports)}}}\n"
    script = _read("script.js")
    return (
        _templates()
        .get_template(template)
        .render(
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
            **facts,
        )
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
def _templates() -> Environment:
    return templates_in(_FOLDER)
