"""What is found in a request that is not the canonical one: of a reference adapter, and of any other."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.miniatures.base import change_payload
from art_sdk import OpenAIAdapter
from trials import findings_of, reason_of, spoiled, suite_scenario, translating

CANONICAL, SAMPLING = "payload.is-canonical", suite_scenario("sampling")


class Derived(OpenAIAdapter):
    pass


WARMER: dict[str, Any] = {"temperature": 1.75}
OF_ITS_OWN: dict[str, Any] = {"model": "own", "max_completion_tokens": 9}


def found(make: Any) -> list[tuple[str, str | None]]:
    return [(one.severity, one.pointer) for one in findings_of(CANONICAL, make, SAMPLING)]


@pytest.mark.parametrize(("fields", "notes"), [({}, []), (WARMER, [("note", "/temperature")]), (OF_ITS_OWN, [])])
def test_of_any_other_adapter_what_differs_in_meaning_is_a_note(fields: dict[str, Any], notes: Any):
    assert found(translating(lambda payload, *_: {**payload, **fields}, Derived)) == notes


@pytest.mark.parametrize(
    ("fields", "rejects"),
    [({}, []), (WARMER, [("reject", "/temperature")]), (OF_ITS_OWN, [("reject", "/model")])],
)
def test_a_reference_adapters_request_is_equal_to_the_canonical_one(fields: dict[str, Any], rejects: Any):
    assert found(spoiled(lambda adapter: change_payload(adapter, lambda payload: {**payload, **fields}))) == rejects


def test_what_cannot_be_compared_is_not():
    foreign = translating(lambda *_: {"messages": 7})
    assert "cannot be decoded" in reason_of(CANONICAL, foreign, SAMPLING)
    assert "no canonical payload" in reason_of(CANONICAL, OpenAIAdapter)
