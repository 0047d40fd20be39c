"""What is told of a request that is not the canonical one: to a reference adapter, and to any other."""

from __future__ import annotations

import pytest

from art_compliance.checks import NotApplicable, payload
from art_compliance.checks.trial import Trial
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.scenarios import load_scenarios
from art_compliance.subject.opening import open_subject
from art_compliance.subject.subject import Subject
from art_sdk import OpenAIAdapter

SAMPLING = next(one for one in load_scenarios() if one.id == "sampling")


class Derived(OpenAIAdapter):
    pass


class Warmer(OpenAIAdapter):
    def translate(self, prompt, options):
        return {**super().translate(prompt, options), "temperature": 1.75}


class OfItsOwn(OpenAIAdapter):
    def translate(self, prompt, options):
        return {**super().translate(prompt, options), "model": "own", "max_completion_tokens": 9}


class Foreign(OpenAIAdapter):
    def translate(self, prompt, options):
        return {"messages": 7}


def told(make: type) -> list[tuple[str, str | None]]:
    with open_subject(make, name="one", dialect="openai-chat") as subject:
        found = list(payload.is_canonical.run(Trial(subject, SAMPLING, 1)))
    return [(one.severity, one.pointer) for one in found]


def test_any_other_adapter_is_told_what_differs_in_meaning_as_a_note():
    assert told(Derived) == []
    assert told(Warmer) == [("note", "/temperature")]
    assert told(OfItsOwn) == []


def test_a_reference_adapter_is_held_to_the_letter(monkeypatch: pytest.MonkeyPatch):
    assert told(OpenAIAdapter) == []
    monkeypatch.setattr(Subject, "is_reference", True)
    assert told(Warmer) == [("reject", "/temperature")]
    assert told(OfItsOwn) == [("reject", "/model")]


def test_what_cannot_be_compared_is_not():
    with pytest.raises(NotApplicable, match="the request cannot be decoded"):
        told(Foreign)
    with open_subject(OpenAIAdapter, name="one") as subject, pytest.raises(NotApplicable, match="no canonical payload"):
        list(payload.is_canonical.run(Trial(subject, GREETING_SCENARIO, 1)))
