"""What an adapter writes decodes to what it was given, and what a dialect writes is read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from any_json import JSON, WORDS
from art_compliance.dialects import DIALECTS, decode
from art_compliance.scenarios import WrittenAnswer
from art_sdk import (
    AnthropicAdapter,
    AssistantMessage,
    CallInfo,
    CallOptions,
    EndEvent,
    FunctionCall,
    GeminiAdapter,
    ImagePart,
    OpenAIAdapter,
    ResponseHead,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolResultMessage,
    ToolSchema,
    UserMessage,
)

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

THINKING = {"type": "thinking", "thinking": "h", "signature": "="}


def kept(*places: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    return {"anthropic-messages": {"blocks": [{"at": at, "block": block} for at, block in places]}}


OBJECT = st.dictionaries(WORDS, JSON, max_size=2)


PLAIN = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5).filter(str.strip)


SAID = st.one_of(
    PLAIN.map(UserMessage),
    st.lists(PLAIN.map(TextPart), min_size=2, max_size=3).map(lambda parts: UserMessage(tuple(parts))),
    st.tuples(st.sampled_from([ImagePart("image/png", data="AAEC"), ImagePart("image/*", url="https://x/y")])).map(
        UserMessage
    ),
)


KEPT = st.lists(
    st.sampled_from([THINKING, {"type": "redacted_thinking", "data": "+"}, {"type": "newer", "x": [None]}]), max_size=2
)


@st.composite
def answered(draw: st.DrawFn, number: int) -> list[Any]:
    """An assistant's message that ends in text or calls, and the results of its calls."""
    text, many = draw(st.tuples(st.none() | PLAIN, st.integers(0, 2)).filter(any))
    places: list[tuple[int, dict[str, Any]]] = []
    for at in range(many + (text is not None)):
        places += [(at + len(places) + n, block) for n, block in enumerate(draw(KEPT))]
    calls = tuple(
        ToolCall(f"c{number}_{n}", FunctionCall("look", json.dumps(draw(OBJECT), ensure_ascii=False)))
        for n in range(many)
    )
    results = [
        ToolResultMessage(draw(WORDS), call.id, None, draw(st.sampled_from(["success", "error"]))) for call in calls
    ]
    return [AssistantMessage(text, calls, extensions=kept(*places) if places else None), *results]


@st.composite
def prompts(draw: st.DrawFn) -> tuple[Any, ...]:
    begin = [*draw(st.lists(PLAIN.map(SystemMessage), max_size=2)), draw(SAID)]
    rest = [draw(st.lists(SAID, max_size=1)) + draw(answered(number)) for number in range(draw(st.integers(0, 3)))]
    return (*begin, *(message for turn in rest for message in turn), draw(SAID))


OPTIONS = st.fixed_dictionaries(
    {
        "tools": st.lists(
            st.builds(lambda text, rest: ToolSchema("look", text, rest | {"type": "object"}), WORDS, OBJECT),
            min_size=1,
            max_size=1,
        ),
        "model": st.sampled_from(["claude-haiku-4-5", "m"]),
        "max_tokens": st.integers(1, 10**20),
    },
    optional={
        "tool_choice": st.sampled_from(["auto", "required", "look"]),
        "parallel_tool_calls": st.booleans(),
        "stop": st.lists(PLAIN, min_size=1).map(tuple),
        "response_schema": OBJECT,
        "temperature": st.floats(0, 1),
    },
)


@given(prompt=prompts(), options=OPTIONS)
def test_what_the_adapter_for_anthropic_writes_decodes_to_what_was_given(
    prompt: tuple[Any, ...], options: dict[str, Any]
):
    choice = {"tool_choice": "auto"} if "parallel_tool_calls" in options else {}  # the switch is part of a choice
    wanted = choice | options
    adapter = AnthropicAdapter(api_key="no-key")
    payload = adapter.translate(prompt, CallOptions(thread_id="t", **wanted))
    decoded = decode("anthropic-messages", json.loads(json.dumps(payload)))
    assert decoded.prompt == prompt
    assert list(decoded.tools) == wanted["tools"]
    assert decoded.options == {name: value for name, value in wanted.items() if name != "tools"}
    assert decoded.opaque == {}


@pytest.mark.parametrize(
    "message",
    [
        AssistantMessage("Hello ✓"),
        AssistantMessage(
            None, (ToolCall("a", FunctionCall("look", '{"at":1}')), ToolCall("b", FunctionCall("look", "{}")))
        ),
        AssistantMessage("both", (ToolCall("a", FunctionCall("look", '{"at":1}')),)),
    ],
)
@pytest.mark.parametrize("make", [AnthropicAdapter, OpenAIAdapter, GeminiAdapter])
def test_a_written_answer_is_read_back_whole(make: Any, message: AssistantMessage):
    adapter = make(api_key="no-key")
    finish = "tool_calls" if message.tool_calls else "stop"
    answer = WrittenAnswer(content=message.content, tool_calls=message.tool_calls, finish=finish)
    body = DIALECTS[adapter.dialect].answers.write(answer)
    assert json.loads(body)
    info = CallInfo(thread_id="t", trace_id="r", model="m")
    end = list(adapter.read_response(ResponseHead(200, {}), body, info))[-1]
    assert isinstance(end, EndEvent)
    assert end.message == message
    assert end.finish == finish
