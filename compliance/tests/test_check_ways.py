"""What is no good reading of an end that nobody knows; and of which answers the next turn is tried."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from art_compliance.checks import NotApplicable, response, ways
from art_compliance.dialects import DIALECTS

WRITTEN = "This answer was written."


@pytest.mark.parametrize(
    ("finish", "text", "is_right"),
    [
        ("other", WRITTEN, True),
        ("stop", WRITTEN, False),
        ("other", "", False),
        ("other", f"{WRITTEN} And more.", False),
        ("unknown", WRITTEN, False),
    ],
)
def test_an_unknown_end_is_told_by_other_with_the_text_whole(finish: str, text: str, is_right: bool):  # noqa: FBT001
    heard = SimpleNamespace(finish=finish, text=text)
    trial: Any = SimpleNamespace(
        dialect=DIALECTS["openai-chat"], call_with=lambda _: heard, require_answered=lambda one: one
    )
    assert (list(ways.unknown_end_is_no_stop.run(trial)) == []) is is_right


@pytest.mark.parametrize(
    ("calls", "thinking", "capabilities", "why"),
    [
        (2, "", {"tools"}, "not declared: parallel_tools"),
        (2, "", {"tools", "parallel_tools"}, "the answer says nothing"),
        (1, "", {"tools"}, "the answer says nothing"),
        (0, "Hm.", {"tools"}, "not declared: reasoning"),
        (0, "Hm.", {"reasoning"}, "the answer says nothing"),
    ],
)
def test_the_next_turn_is_tried_of_answers_that_are_declared(calls: int, thinking: str, capabilities: Any, why: str):
    trial: Any = SimpleNamespace(
        answered=SimpleNamespace(message={"content": ""}),
        written=SimpleNamespace(thinking=thinking, tool_calls=(None,) * calls),
        subject=SimpleNamespace(capabilities=capabilities),
    )
    with pytest.raises(NotApplicable, match=why):
        list(response.answer_can_be_appended.run(trial))
