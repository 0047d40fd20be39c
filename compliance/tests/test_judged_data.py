"""Good and wrong payloads of each dialect, as data: every good one is accepted, every wrong one caught at its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_compliance import judge
from art_compliance.dialects import DIALECTS
from art_compliance.resources import data_folder
from request_paths import HOMES
from row_tables import table

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

FOLDER = data_folder("fixtures") / "judges"


def cases(kind: str) -> list[Any]:
    """The payloads are wrong for the provider itself; a relative may take one or the other."""
    return [
        pytest.param(dialect, case, id=f"{dialect}-{case['id']}")
        for dialect in HOMES
        for case in json.loads((FOLDER / dialect / f"{kind}.json").read_text(encoding="utf-8"))
    ]


def test_every_dialect_has_its_payloads():
    assert {path.name for path in FOLDER.iterdir()} == set(DIALECTS)


@pytest.mark.parametrize("dialect", HOMES)
def test_there_are_enough_and_each_says_what_it_is_for(dialect):
    good = json.loads((FOLDER / dialect / "good.json").read_text(encoding="utf-8"))
    wrong = json.loads((FOLDER / dialect / "wrong.json").read_text(encoding="utf-8"))
    assert (len(good) >= 12, len(wrong) >= 35) == (True, True)
    assert all(case.keys() == {"id", "purpose", "payload"} for case in good)
    assert all(case.keys() == {"id", "purpose", "payload", "pointer", "source"} for case in wrong)
    assert len({case["id"] for case in (*good, *wrong)}) == len(good) + len(wrong)


@pytest.mark.parametrize("url", ["home", "unknown"])
@table(("dialect", "case"), cases("good"))
def test_a_good_payload_is_accepted(dialect, case, url):
    found = judge(dialect, case["payload"], url=HOMES[dialect] if url == "home" else None)
    assert [finding for finding in found if finding.severity == "reject"] == []


@table(("dialect", "case"), cases("wrong"))
def test_a_wrong_payload_is_caught_where_it_is_wrong(dialect, case):
    judged = judge(dialect, case["payload"], url=HOMES[dialect])
    found = [finding for finding in judged if finding.severity == "reject"]
    assert case["pointer"] in [finding.pointer for finding in found]
    of_the_schema = [finding for finding in found if finding.check == "wire.request-matches-the-schema"]
    assert len(of_the_schema) <= 4  # not a dump of everything that it might have been
    assert all(finding.message and finding.source for finding in found)
