"""What is found in a request that is not the canonical one: of a reference adapter, and of any other."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.checks.payload import with_model_of
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


@pytest.mark.parametrize("fields", [{}, {"model": "own"}])
def test_the_model_is_the_adapters_own(fields: dict[str, Any]):
    assert found(translating(lambda payload, *_: {**payload, **fields}, Derived)) == []


@pytest.mark.parametrize(
    ("payload", "kept", "wanted"),
    [
        ({"model": "own"}, {"model": "m", "n": 1}, {"model": "own", "n": 1}),
        ({}, {"model": "m"}, {"model": "m"}),
        ({"model": "own"}, {"n": 1}, {"n": 1}),
    ],
)
def test_of_a_service_the_model_is_compared_with_itself(payload: Any, kept: dict[str, Any], wanted: Any):
    assert with_model_of(payload, kept) == wanted


def test_of_any_other_adapter_what_another_check_reports_is_left_to_it():
    warmer = translating(lambda payload, *_: {**payload, **WARMER}, Derived)
    assert "translation.options-survive" in reason_of(CANONICAL, warmer, SAMPLING)


def anonymous(payload: Any, *_: Any) -> Any:
    messages = [{key: one[key] for key in one if key != "name"} for one in payload["messages"]]
    return {**payload, "messages": messages}


class Nameless(Derived):
    losses = frozenset({*OpenAIAdapter.losses, "message_name"})


def test_a_declared_loss_is_no_note():
    assert findings_of(CANONICAL, translating(anonymous, Nameless), suite_scenario("user-name")) == ()


@pytest.mark.parametrize(
    ("fields", "rejects"),
    [({}, []), (WARMER, [("reject", "/temperature")]), (OF_ITS_OWN, [("reject", "/model")])],
)
def test_a_reference_adapters_request_is_equal_to_the_canonical_one(fields: dict[str, Any], rejects: Any):
    assert found(spoiled(lambda adapter: change_payload(adapter, lambda payload: {**payload, **fields}))) == rejects


def test_what_cannot_be_compared_is_not():
    foreign = translating(lambda *_: {"messages": 7})
    assert "request-matches-its-dialect" in reason_of(CANONICAL, foreign, SAMPLING)
    assert "no canonical payload" in reason_of(CANONICAL, OpenAIAdapter)
