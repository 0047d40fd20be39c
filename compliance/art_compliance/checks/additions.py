"""What providers add to their answers one day: fields and finish reasons that nobody knows yet."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from art_compliance.checks.replies import unread
from art_compliance.findings import Problem
from art_compliance.provider import Change
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply
from art_sdk.json_data import is_array, is_object

NEW_REASON: Final = "A_Reason_of_tomorrow"
"""In small and capital letters, since the word is given as it came."""

PLAIN_ANSWER: Final = WrittenAnswer(content="This answer was written.")


def wrong_end(reply: Reply, *, is_translated: bool) -> Iterator[Problem]:
    """What is wrong with how `PLAIN_ANSWER` was read that ended with `NEW_REASON`.

    Where a gateway has translated it to another format, that has words of its own.
    """
    if not isinstance(reply, Answered) or reply.error is not None:
        yield from (fault.after(f"the provider ended with {show(NEW_REASON)}: ") for fault in unread(reply))
        return
    if reply.finish != "other" or reply.text != PLAIN_ANSWER.content:
        is_lost = reply.finish == "stop" or reply.text != PLAIN_ANSWER.content
        end = f"END says {show(reply.finish)}, and its text is {show(reply.text)}"
        text = f"the provider ended with {show(NEW_REASON)}; {end}"
        yield Problem(text, finding_class="loss" if is_lost else "contract")
    raw = reply.metadata.get("raw_stop_reason")
    if raw not in (None, NEW_REASON) and not is_translated:
        text = f"raw_stop_reason is {show(raw)}; it must be the provider's own word, {show(NEW_REASON)}"
        yield Problem(text, finding_class="contract")


def with_new_fields(unions: Collection[str]) -> Change:
    """Adds one more field to every object, except in the arguments of calls and to the objects of these fields."""

    def change(value: Any, field: str = "") -> Any:
        if is_object(value):
            kept = {key: item if key in _ARGUMENTS else change(item, key) for key, item in value.items()}
            return kept if field in unions else {**kept, "x_new_field": {"since": 2027}}
        return [change(item, field) for item in value] if is_array(value) else value

    return change


def with_new_reason(fields: Collection[str]) -> Change:
    """Replaces the reason why an answer ended, which is in these fields, by `NEW_REASON`."""
    return with_reason(fields, NEW_REASON)


def with_reason(fields: Collection[str], reason: str) -> Change:
    """Replaces the reason why an answer ended, which is in these fields."""

    def change(value: Any) -> Any:
        if is_object(value):
            return {name: reason if name in fields and item else change(item) for name, item in value.items()}
        return [change(item) for item in value] if is_array(value) else value

    return change


_ARGUMENTS: Final = frozenset({"args", "input", "arguments"})
