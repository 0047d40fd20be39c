"""A field of another type in an answer is an ERROR event, whole and streamed, for every built-in adapter.

What no reader asks may be anything.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pkgutil import resolve_name
from typing import Any

import pytest

from art_sdk import BUILT_IN, BaseAdapter, CallInfo, EndEvent, ErrorEvent, ResponseHead, StreamEvent
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from streamed import KEY, SSE, sse

Data = dict[str, Any]

INFO = CallInfo(thread_id="t", trace_id="r", model="m")
SETTINGS = {
    "azure": {"base_url": "https://r.openai.azure.com/openai/v1", "model": "d"},
    "openai-compatible": {"base_url": "http://gpu/v1", "model": "m"},
}
VALUES: dict[type, Any] = {str: "x", int: 5, bool: True, list: [5], dict: {"x": 1}}

CALL = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
SAID = {"content": "hi", "refusal": None, "tool_calls": [CALL]}
BLOCKS = [{"type": "text", "text": "hi"}, {"type": "tool_use", "id": "c", "name": "f", "input": {}}]
MESSAGE = {"type": "message", "id": "m", "role": "assistant", "content": BLOCKS, "stop_reason": "tool_use"}
MESSAGE |= {"usage": {"input_tokens": 1, "output_tokens": 2}}
EVENTS: list[Data] = [
    {"type": "message_start", "message": MESSAGE | {"content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": BLOCKS[1]},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]
PARTS = [{"text": "hi"}, {"functionCall": {"id": "c", "name": "f", "args": {}}}]
GEMINI: Data = {
    "candidates": [{"content": {"role": "model", "parts": PARTS}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2},
    "responseId": "g",
}

UNREAD = {
    *("/choices/0/index", "/choices/0/message/tool_calls/0/index", "/choices/0/message/tool_calls/0/type"),
    *("/role", "/message/role", "/message/type", "/message/content", "/message/stop_reason"),
    "/message/usage/output_tokens",  # message_delta has the count again
    "/candidates/0/content/role",
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


def adapter_of(name: str) -> BaseAdapter:
    adapter: BaseAdapter = resolve_name(BUILT_IN[name])(api_key=KEY, **SETTINGS.get(name, {}))
    return adapter


def answer_of(adapter: BaseAdapter, *, streamed: bool) -> list[Data]:
    """A good answer of the adapter's provider: the objects of its stream, or the one of its body."""
    if not isinstance(adapter, ChatCompletionsAdapter):
        whole = GEMINI if adapter.provider_name == "gemini" else MESSAGE
        return EVENTS if streamed and whole is MESSAGE else [whole]
    own: Data = dict.fromkeys((*adapter.provider.reasoning, *adapter.provider.kept), "hm")
    own |= {"reasoning_details": [{"type": "reasoning.text"}]} if "reasoning_details" in own else {}
    choice = {"index": 0, "delta" if streamed else "message": SAID | own, "finish_reason": "tool_calls"}
    return [{"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}]


def read(adapter: BaseAdapter, answer: list[Any], *, streamed: bool) -> list[StreamEvent]:
    if not streamed:
        return list(adapter.read_response(ResponseHead(200, {}), json.dumps(answer[0]).encode(), INFO))
    reader = adapter.stream_reader(ResponseHead(200, SSE), INFO)
    body = sse([one if isinstance(one, dict) else json.dumps(one) for one in answer])
    return [
        *reader.feed(body + sse(["[DONE]"] if isinstance(adapter, ChatCompletionsAdapter) else [])),
        *reader.close(),
    ]


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
@pytest.mark.parametrize("name", BUILT_IN)
def test_a_field_of_another_type_is_an_error(name: str, *, streamed: bool) -> None:
    adapter = adapter_of(name)
    answer = answer_of(adapter, streamed=streamed)
    assert not any(isinstance(event, ErrorEvent) for event in read(adapter, answer, streamed=streamed))
    ends = {where: read(adapter, bad, streamed=streamed)[-2:] for where, bad in wrong(answer)}
    assert len(ends) >= 30
    assert [where for where, last in ends.items() if [type(one) for one in last] != [ErrorEvent, EndEvent]] == []
