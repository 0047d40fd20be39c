"""Blocks of Anthropic's answers that go back with the next turn: kept in extensions, each at its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anthropic_blocks import result_block, text_block, use_block
from art_sdk import (
    AnthropicAdapter,
    CallInfo,
    Completion,
    ResponseHead,
    ToolResultMessage,
    UserMessage,
    fold,
    parse_options,
)
from refused import place_of
from short_messages import ASSISTANT, USER, Messages, Refusal

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

THINKING = {"type": "thinking", "thinking": "h", "signature": "="}
REDACTED = {"type": "redacted_thinking", "data": "+"}
SEARCH = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"q": "x"}}


def _kept(*places: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    return {"anthropic-messages": {"blocks": [{"at": at, "block": block} for at, block in places]}}


@pytest.mark.parametrize(
    ("content", "ids", "places", "kinds"),
    [
        ("a", (), [(0, THINKING)], ["thinking", "text"]),
        (None, ("c",), [(0, THINKING), (1, REDACTED)], ["thinking", "redacted_thinking", "tool_use"]),
        ("a", ("c", "d"), [(0, THINKING), (2, REDACTED)], ["thinking", "text", "redacted_thinking", *["tool_use"] * 2]),
        ("a", (), [(0, SEARCH)], ["server_tool_use", "text"]),
        (None, ("c", "d"), [(1, THINKING)], ["tool_use", "thinking", "tool_use"]),
        ("a", (), [], ["text"]),
    ],
)
def test_extensions_go_back_to_their_places(
    anthropic: AnthropicAdapter,
    call: Messages,
    result: Messages,
    content: str | None,
    ids: tuple[str, ...],
    places: Any,
    kinds: list[str],
    translate: Messages,
) -> None:
    message = call(*ids, content=content) | {"extensions": _kept(*places) | {"openai-chat": {"odd": 1}}}
    blocks = translate(anthropic, [USER, message, *map(result, ids), USER])["messages"][1]["content"]
    assert [block["type"] for block in blocks] == kinds
    assert [block for block in blocks if block["type"] not in {"text", "tool_use"}] == [block for _, block in places]


def test_extensions_of_another_dialect_are_ignored(anthropic: AnthropicAdapter, translate: Messages) -> None:
    foreign = ASSISTANT | {"extensions": {"gemini-generate": {"text": "="}, "x": {"blocks": 5}}}
    assert translate(anthropic, [USER, foreign]) == translate(anthropic, [USER, ASSISTANT])


@pytest.mark.parametrize(
    "extension",
    [
        {},
        {"blocks": None},
        {"blocks": {}},
        {"blocks": [5]},
        {"blocks": [{"block": THINKING}]},
        {"blocks": [{"at": 0}]},
        {"blocks": [{"at": -1, "block": THINKING}]},
        {"blocks": [{"at": "0", "block": THINKING}]},
        {"blocks": [{"at": 0, "block": "x"}]},
        {"blocks": [{"at": 0, "block": THINKING, "odd": 1}]},
        {"blocks": [], "odd": 1},
        *[
            _kept((0, block))["anthropic-messages"]
            for block in ({}, {"type": 5}, text_block("y"), use_block("a"), result_block("a"))
        ],
        *[_kept(*((at, THINKING) for at in places))["anthropic-messages"] for places in ((2,), (0, 3), (1, 0), (0, 0))],
    ],
)
def test_extensions_of_another_form_are_refused(anthropic: AnthropicAdapter, extension: Any, refusal: Refusal) -> None:
    error = refusal(anthropic, [USER, ASSISTANT | {"extensions": {"anthropic-messages": extension}}, USER])
    assert place_of(error) == {"index": 1}
    assert "extensions for anthropic-messages" in error.message


@pytest.mark.parametrize("block", [THINKING, REDACTED])
@pytest.mark.parametrize(("content", "at"), [(None, 0), ("a", 1)])
def test_a_message_that_ends_in_thinking_is_refused(
    anthropic: AnthropicAdapter, block: Any, content: str | None, at: int, refusal: Refusal
) -> None:
    error = refusal(
        anthropic, [USER, {"role": "assistant", "content": content, "extensions": _kept((at, block))}, USER]
    )
    assert place_of(error) == {"index": 1, "rule": "anthropic.thinking-not-last"}
    assert "ends with thinking" in error.message


def _body(*blocks: Any, stop: Any = "end_turn", **more: Any) -> bytes:
    body = {"id": "b", "type": "message", "role": "assistant", "content": list(blocks), "stop_reason": stop}
    return json.dumps(body | more).encode()


def _read(adapter: AnthropicAdapter, head: ResponseHead, body: bytes, info: CallInfo) -> Completion:
    return fold(adapter.read_response(head, body, info))


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=5,
)


OBJECTS = st.dictionaries(WORDS, VALUES, max_size=2)


THOUGHTS = st.lists(
    st.builds(lambda thinking, signature: THINKING | {"thinking": thinking, "signature": signature}, WORDS, WORDS)
    | st.builds(lambda data: REDACTED | {"data": data}, WORDS)
    | st.builds(lambda given: SEARCH | {"input": given}, OBJECTS),
    max_size=2,
)


@st.composite
def answers(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The blocks of an answer that ends in text or calls, with blocks that are kept anywhere before the end."""
    written = [text_block(text) for text in draw(st.lists(WORDS.filter(str.strip), max_size=1))]
    names = draw(st.lists(st.from_regex(r"[a-zA-Z0-9_-]{1,8}", fullmatch=True), max_size=3, unique=True))
    written += [use_block(f"toolu_{name}", name) | {"input": draw(OBJECTS)} for name in names]
    return [block for one in written or [text_block("x")] for block in (*draw(THOUGHTS), one)]


@given(blocks=answers())
def test_an_answer_that_is_appended_goes_back_as_it_came(blocks: list[dict[str, Any]]) -> None:
    adapter = AnthropicAdapter(api_key="k")
    prepared = adapter.prepare([USER], {"thread_id": "t"})
    message = _read(adapter, ResponseHead(200, {}), _body(*blocks), prepared.info).message
    results = [ToolResultMessage("ok", one.id) for one in message.tool_calls]
    prompt = (UserMessage("u"), message, *results, UserMessage("v"))
    again = adapter.translate(prompt, parse_options({"thread_id": "t"}))["messages"]
    assert json.dumps(again[1]) == json.dumps({"role": "assistant", "content": blocks})
    assert [block["tool_use_id"] for turn in again[2:-1] for block in turn["content"]] == [
        one.tool_call_id for one in results
    ]


@pytest.mark.parametrize(
    ("blocks", "kinds"),
    [
        ([THINKING, text_block("\n"), REDACTED, use_block("a")], ["thinking", "redacted_thinking", "tool_use"]),
        (
            [text_block(" "), THINKING, text_block("a"), REDACTED, use_block("a")],
            ["thinking", "text", "redacted_thinking", "tool_use"],
        ),
        (
            [THINKING, text_block("a"), SEARCH, text_block("b"), REDACTED, use_block("a")],
            ["thinking", "text", "server_tool_use", "redacted_thinking", "tool_use"],
        ),
        ([use_block("a"), THINKING, text_block("b"), use_block("c")], ["text", "tool_use", "thinking", "tool_use"]),
    ],
)
def test_kept_blocks_stay_between_the_same_calls_however_the_text_is_divided(
    anthropic: AnthropicAdapter,
    result: Messages,
    head: Any,
    blocks: Any,
    kinds: list[str],
    translate: Messages,
    info: Any,
) -> None:
    message = _read(anthropic, head(), _body(*blocks), info()).message
    results = [result(one.id) for one in message.tool_calls]
    content = translate(anthropic, [USER, message, *results])["messages"][1]["content"]
    assert [block["type"] for block in content] == kinds
