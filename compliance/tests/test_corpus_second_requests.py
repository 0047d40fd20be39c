"""The second corpus: requests that our judges once got wrong, each judged as its provider judged it.

A request that was answered with 200 is not refused and decodes; one that was answered with 400 is refused where a
request alone can show why. Every exception says what the recording shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from art_compliance import decode, judge
from art_compliance.judging.exam import dialects_of
from recorded_traffic import SECOND_FOLDER, Recorded, recorded_files
from row_tables import table

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # recorded traffic says the same to every Python

ACCEPTED_AND_REFUSED: Final[Mapping[str, str]] = {
    "anthropic/refused-855f6b75": "claude-3-opus, which is gone, took a result for a call that has another id in 2024; "
    "recorded by DataDog/dd-trace-py. Later models refuse it, which anthropic.tool-result-has-use quotes",
}
"""What a provider once took and our judge refuses, with the evidence that the judge is right about today."""

NOT_SHOWN: Final[Mapping[str, str]] = {
    "openai/answered-400-not-refused-cbaceed5": "the answer is made up: 'Test error', of the type test_error",
    "gemini/answered-400-not-refused-2a979e71": "the key was wrong, and the body is good",
    "vertex/answered-400-not-refused-72f9afc0": "the service could not fetch what a URL names",
}
"""What was refused for a reason that the request does not show."""


def cases(*statuses: int) -> list[Any]:
    if not SECOND_FOLDER.is_dir():
        reason = f"no recorded traffic: shared/{SECOND_FOLDER.name} is not beside the checkout"
        return [pytest.param(None, "", marks=pytest.mark.skip(reason=reason), id="absent")]
    found = [one for one in recorded_files(SECOND_FOLDER) if one.status in statuses]
    return [
        pytest.param(one, dialect, id=f"{one.name}-{dialect}")
        for one in found
        for dialect in dialects_of(one.shape, one.url)
    ]


def refusals(one: Recorded, dialect: str) -> list[str]:
    found = judge(dialect, one.request, url=one.url)
    return [f"{finding.pointer}: {finding.message}" for finding in found if finding.severity == "reject"]


@table(("one", "dialect"), cases(200))
def test_an_accepted_request_is_not_refused_and_decodes(one: Recorded, dialect: str):
    assert bool(refusals(one, dialect)) is (one.name in ACCEPTED_AND_REFUSED), refusals(one, dialect)
    assert decode(dialect, one.request, url=one.url).prompt


@pytest.mark.parametrize(("one", "dialect"), cases(400, 422))
def test_a_refused_request_is_refused_where_it_shows_why(one: Recorded, dialect: str):
    assert bool(refusals(one, dialect)) is (one.name not in NOT_SHOWN), refusals(one, dialect)


@pytest.mark.skipif(not SECOND_FOLDER.is_dir(), reason=f"shared/{SECOND_FOLDER.name} is not beside the checkout")
def test_every_exception_is_about_a_recording():
    names = {one.name for one in recorded_files(SECOND_FOLDER)}
    assert {*ACCEPTED_AND_REFUSED, *NOT_SHOWN} <= names
    assert len(names) >= 70
