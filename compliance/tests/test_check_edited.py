"""What counts when an edited answer goes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from art_compliance.checks.response import edited
from art_compliance.findings import Finding, Severity
from art_sdk import OpenAIAdapter
from trials import messages_of

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

CHECK = edited.edited_answer_is_sent_as_edited.id


@pytest.mark.parametrize(("severity", "least"), [("note", 0), ("reject", 1)])
def test_what_the_provider_rejects_counts_and_a_note_does_not(
    severity: Severity, least: int, monkeypatch: pytest.MonkeyPatch
):
    def judged(*_: Any, **__: Any) -> Iterator[Finding]:
        yield Finding(check="a.rule", finding_class="refused", message="as the rule says", severity=severity)

    monkeypatch.setattr(edited, "judge_rules", judged)
    messages = messages_of(CHECK, OpenAIAdapter)
    assert min(len(messages), 1) == least
    assert all(message.endswith(": as the rule says") for message in messages)
