"""What providers add to their answers one day: fields and finish reasons that nobody knows yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.findings import Problem
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_sdk.json_data import is_array, is_object

NEW_REASON: Final = "a_reason_of_tomorrow"
PLAIN_ANSWER: Final = WrittenAnswer(content="This answer was written.")


def wrong_end(answered: Answered) -> Iterator[Problem]:
    """What is wrong with how `PLAIN_ANSWER` was read that ended with `NEW_REASON`."""
    if answered.finish != "other" or answered.text != PLAIN_ANSWER.content:
        yield Problem(
            f"the provider ended with {NEW_REASON!r}; END says {answered.finish!r}, and its text is {answered.text!r}"
        )


def with_new_fields(value: Any) -> Any:
    """The JSON value with one more field in every object, except in the arguments of calls."""
    if is_object(value):
        kept = {key: item if key in _ARGUMENTS else with_new_fields(item) for key, item in value.items()}
        return {**kept, "x_new_field": {"since": 2027}}
    return [with_new_fields(item) for item in value] if is_array(value) else value


_ARGUMENTS: Final = frozenset({"args", "input", "arguments"})
