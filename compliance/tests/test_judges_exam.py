"""An exam of the judges, as data: legal oddities that must pass, and faults that must be refused.

A file of `data/exam` has a good request of one format and its URL. Each row changes a copy of it by JSON pointers
(`-` appends, `{"$gone": true}` removes), and says what the provider makes of that and why: the evidence of an accepted
row, the rule (or `schema` and the place) that refuses a refused one. Where nothing that was found says what the
provider answers, the row is noted: the judge says so in a note of the rule, whose evidence says what was looked up.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from art_compliance import judge
from art_compliance.findings import Finding
from row_tables import table

FOLDER = Path(__file__).parent / "data" / "exam"
PAPERS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
ROWS = [pytest.param(name, row, id=f"{name}-{row['name']}") for name, paper in PAPERS.items() for row in paper["rows"]]
GONE = {"$gone": True}


def changed(request: Any, changes: dict[str, Any]) -> Any:
    """A copy of the request with the changes."""
    made = copy.deepcopy(request)
    for pointer, value in changes.items():
        *above, last = pointer.split("/")[1:]
        place = made
        for step in above:
            place = place[int(step) if isinstance(place, list) else step]
        if isinstance(place, list) and last == "-":
            place.append(value)
        elif value == GONE:
            del place[int(last) if isinstance(place, list) else last]
        else:
            place[int(last) if isinstance(place, list) else last] = value
    return made


def judge_of(finding: Finding) -> str:
    """The rule, or the place that does not match the schema."""
    by_rule = finding.check == "wire.no-rule-is-broken"
    return finding.message.partition(": ")[0] if by_rule else f"schema {finding.pointer}"


def judged(name: str, row: dict[str, Any], severity: str) -> list[str]:
    """What refuses a row's request, or has a note on it."""
    paper = PAPERS[name]
    found = judge(name, changed(paper["request"], row["change"]), url=row.get("url", paper["url"]))
    return [judge_of(finding) for finding in found if finding.severity == severity]


@pytest.mark.parametrize("name", PAPERS)
def test_the_request_that_the_rows_change_is_accepted(name):
    assert judged(name, {"change": {}}, "reject") == []


@table(("name", "row"), ROWS)
def test_a_row_is_judged_as_the_provider_judges_it(name, row):
    if row["verdict"] == "refused":
        assert row["why"] in judged(name, row, "reject")
    else:
        assert judged(name, row, "reject") == []
        assert row["verdict"] == "accepted" or row["why"] in judged(name, row, "note")


def test_every_format_has_as_many_oddities_as_faults_and_few_noted_rows():
    for name, paper in PAPERS.items():
        verdicts = Counter(row["verdict"] for row in paper["rows"])
        assert verdicts.keys() <= {"accepted", "refused", "noted"}
        assert min(verdicts["accepted"], verdicts["refused"] + verdicts["noted"]) >= 15, name
        assert verdicts["noted"] <= 6, name
        assert all(row["why"] and row["change"] for row in paper["rows"])
        assert len({row["name"] for row in paper["rows"]}) == len(paper["rows"])
    assert (len(PAPERS), len(ROWS)) == (7, 271)
