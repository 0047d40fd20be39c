"""A field of another type in an answer is an ERROR event, whole and streamed, for every built-in adapter.

What no reader asks may be anything.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from art_sdk import BUILT_IN, EndEvent, ErrorEvent
from built_in import Data, adapter_of, answer_of, read
from row_tables import table

VALUES: dict[type, Any] = {str: "x", int: 5, bool: True, list: [5], dict: {"x": 1}}

UNREAD = {
    *("/choices/0/index", "/choices/0/message/tool_calls/0/index", "/choices/0/message/tool_calls/0/type"),
    *("/role", "/message/role", "/message/type", "/message/content", "/message/stop_reason"),
    "/message/usage/output_tokens",  # message_delta has the count again
    "/candidates/0/content/role",
    *("/messageStart/role", "/output/message/role", "/usage/totalTokens", "/metadata/usage/totalTokens"),
    *("/metadata/metrics", "/metadata/metrics/latencyMs"),
    *("/delta/message/role", "/delta/message/tool_calls/type", "/message/tool_calls/0/type"),
}
"""Places that no reader asks, or whose value comes again."""

ALSO: dict[str, type] = {
    "content": dict,  # recorded at Cloudflare: the object that the text would be
    "arguments": dict,
    "refusal": str,
    "finish_reason": int,
    "finishReason": int,
    "reasoning_details": str,
}
"""By a field's name, the type that is read there, too."""


def places(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Every place of an object that is read, as a JSON pointer, and what stands there."""
    if at not in UNREAD:
        yield at, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        yield from places(child, f"{at}/{name}") if not at.endswith("/reasoning_details/0") else ()


def put(data: Any, pointer: str, value: Any) -> Any:
    """A copy of the data with another value at the place."""
    if not pointer:
        return value
    *way, last = [int(step) if step.isdecimal() else step for step in pointer[1:].split("/")]
    whole = inner = copy.deepcopy(data)
    for step in way:
        inner = inner[step]
    inner[last] = value
    return whole


def wrong(answer: list[Data]) -> Iterator[tuple[str, list[Any]]]:
    """The answer with a value of another type at one place, for each place and type."""
    for at, one in enumerate(answer):
        for pointer, good in places(one):
            taken = {type(good), ALSO.get(pointer.rpartition("/")[2])}
            for value in (value for kind, value in VALUES.items() if kind not in taken):
                yield f"{at}{pointer} is {value!r}", [*answer[:at], put(one, pointer, value), *answer[at + 1 :]]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@table("name", BUILT_IN)
def test_a_field_of_another_type_is_an_error(name: str, *, streamed: bool) -> None:
    adapter = adapter_of(name)
    answer = answer_of(adapter, streamed=streamed)
    assert not any(isinstance(event, ErrorEvent) for event in read(adapter, answer, streamed=streamed))
    ends = {where: read(adapter, bad, streamed=streamed)[-2:] for where, bad in wrong(answer)}
    assert len(ends) >= 30
    assert [where for where, last in ends.items() if [type(one) for one in last] != [ErrorEvent, EndEvent]] == []
