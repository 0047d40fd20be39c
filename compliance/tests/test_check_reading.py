"""What the checks of whole answers find: what is read, what is appended to the prompt, and what goes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from art_compliance.miniatures.base import change_events
from art_compliance.provider import WRITTEN_TEXT
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_sdk import AnthropicAdapter, FunctionCall, GeminiAdapter, OpenAIAdapter, ToolCall
from trials import (
    Event,
    Script,
    answer_events,
    assert_each_has,
    call_of,
    failure_events,
    findings_of,
    messages_of,
    reason_of,
    scenario,
    scripted,
    spoiled,
    suite_scenario,
    translating,
)

CALLS = tuple(ToolCall(f"c{number}", FunctionCall("look", "{}")) for number in (1, 2))
SAID = WrittenAnswer(content="said")


@pytest.mark.parametrize(
    ("script", "fragments"),
    [
        (answer_events(), []),
        (failure_events(message="too late"), ["too late"]),
        (OSError("no line"), ["OSError: no line"]),
    ],
)
def test_an_answer_that_is_not_read_is_found(script: Script, fragments: list[str]):
    reading = scripted(script, answer_events())
    assert_each_has(messages_of("response.answer-is-read", reading, scenario(SAID)), fragments)


APPENDED = "response.answer-can-be-appended"


@pytest.mark.parametrize(
    ("written", "capabilities", "why"),
    [
        (WrittenAnswer(tool_calls=CALLS, finish="tool_calls"), ["tools"], "not declared: parallel_tools"),
        (
            WrittenAnswer(tool_calls=CALLS, finish="tool_calls"),
            ["tools", "parallel_tools"],
            "the answer is empty",
        ),
        (WrittenAnswer(tool_calls=CALLS[:1], finish="tool_calls"), ["tools"], "the answer is empty"),
        (WrittenAnswer(content="a", thinking="Hm."), ["tools"], "not declared: reasoning"),
        (WrittenAnswer(content="a", thinking="Hm."), ["reasoning"], "the answer is empty"),
    ],
)
def test_an_answer_is_appended_where_its_parts_are_declared(written: Any, capabilities: list[str], why: str):
    silent = scripted(answer_events(""), capabilities=capabilities)
    assert why in reason_of(APPENDED, silent, scenario(written))


def longer(payload: Any, prompt: Any, change: Any) -> Any:
    """The payload, changed where the prompt is longer than the scenario's one message."""
    return payload if len(prompt) == 1 else change(payload)


def test_a_next_turn_that_cannot_be_decoded_is_found():
    broken = translating(lambda payload, prompt, _: longer(payload, prompt, lambda one: {**one, "messages": 7}))
    (found,) = findings_of(APPENDED, broken, scenario(SAID))
    assert (found.pointer, "cannot be decoded" in found.message) == ("/messages", True)


def test_a_next_turn_that_loses_the_answer_is_found():
    forgetful = translating(
        lambda payload, prompt, _: longer(payload, prompt, lambda one: {**one, "messages": one["messages"][:1]})
    )
    assert {one.path for one in findings_of(APPENDED, forgetful, scenario(SAID))} == {"$[1]", "$[2]"}


class Refuses(OpenAIAdapter):
    """It takes one message alone."""

    def translate(self, prompt: Any, options: Any) -> Any:
        if len(prompt) > 1:
            raise OSError("too long")
        return super().translate(prompt, options)


@pytest.mark.parametrize(("arguments", "is_cut"), [("{}", False), ("", False), ('{"a', True), ("[1]", True)])
def test_a_next_turn_may_be_refused_only_where_a_call_was_cut(arguments: str, is_cut: bool):  # noqa: FBT001
    written = WrittenAnswer(tool_calls=(ToolCall("c1", FunctionCall("look", arguments)),), finish="tool_calls")
    found = findings_of(APPENDED, Refuses, scenario(written))
    assert [one.path for one in found] == ([] if is_cut else ["$[1]"])


@pytest.mark.parametrize(
    ("written", "turns"),
    [
        (SAID, [("assistant", None), ("user", None)]),
        (
            WrittenAnswer(tool_calls=CALLS, finish="tool_calls"),
            [("assistant", None), ("tool_result", "c1"), ("tool_result", "c2")],
        ),
    ],
)
def test_after_an_answer_its_calls_are_answered_or_the_user_speaks(written: WrittenAnswer, turns: Any):
    prompts: list[Any] = []
    noting = translating(lambda payload, prompt, _: (prompts.append(prompt), payload)[1])
    assert findings_of(APPENDED, noting, scenario(written)) == ()
    seen = [(one["role"], one.get("tool_call_id")) for one in prompts[-1][1:]]
    assert seen == turns


class NotesBodies(OpenAIAdapter):
    """It keeps the bodies that it reads."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        BODIES.clear()

    def read_response(self, head: Any, body: bytes, info: Any) -> Any:
        BODIES.append(json.loads(body))
        return super().read_response(head, body, info)


BODIES: list[Any] = []
UNKNOWN = "response.unknown-fields-are-ignored"


def test_every_object_of_an_answer_gets_an_unknown_field_but_not_the_arguments_of_a_call():
    arguments = '{"at": {"x": 1}}'
    written = WrittenAnswer(tool_calls=(ToolCall("c1", FunctionCall("look", arguments)),), finish="tool_calls")
    assert findings_of(UNKNOWN, NotesBodies, scenario(written)) == ()
    plain, changed = BODIES[-2:]
    assert "x_new_field" not in json.dumps(plain)
    call = changed["choices"][0]["message"]["tool_calls"][0]
    for one in (changed, changed["choices"][0], changed["usage"], call, call["function"]):
        assert one["x_new_field"]
    assert json.loads(call["function"]["arguments"]) == {"at": {"x": 1}}


@pytest.mark.parametrize(
    ("other", "fragments"),
    [
        (answer_events("b"), []),
        (answer_events("b", tokens="other"), []),
        (answer_events("a"), ["read differently"]),
        (answer_events("c"), ["read differently"]),
        (answer_events("b", calls=[call_of()]), ["read differently"]),
        (answer_events("b", finish="length"), ["read differently"]),
        (answer_events("b", finish="tool_calls"), ["read differently"]),
        (failure_events("b", message="odd field"), ["odd field"]),
        (OSError("odd field"), ["odd field"]),
    ],
)
def test_an_answer_that_changes_with_unknown_fields_is_found(other: Script, fragments: list[str]):
    adapter = scripted(answer_events("b"), other, dialect="openai-chat")
    assert_each_has(messages_of(UNKNOWN, adapter, scenario(WrittenAnswer(content="b"))), fragments)


def reads(text: str, tokens: str) -> Any:
    """An adapter that calls its provider, and gives these texts whatever was answered."""

    def change(events: list[Event]) -> list[Event]:
        said = [{**one, "text": tokens} if one["type"] == "TOKEN" else one for one in events]
        return [*said[:-1], {**said[-1], "message": {"role": "assistant", "content": text}}]

    return spoiled(lambda adapter: change_events(adapter, change))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [(WRITTEN_TEXT, "a"), (WRITTEN_TEXT, "z"), ("a", WRITTEN_TEXT), ("A", WRITTEN_TEXT), ("a", "a")],
)
def test_every_prompts_answer_is_read_whole_in_tokens_and_message(text: str, tokens: str):
    name = "response.every-prompt-is-answered"
    assert messages_of(name, reads(WRITTEN_TEXT, WRITTEN_TEXT)) == []
    (message,) = messages_of(name, reads(text, tokens))
    assert (show(text) in message, show(tokens) in message) == (True, True)


def strict_about(is_right: Callable[[Event], bool]) -> Any:
    """An adapter that gives an error in place of an answer whose message is not right."""

    def change(events: list[Event]) -> list[Event]:
        return events if is_right(events[-1]["message"]) else failure_events(message="not what was asked for")

    return spoiled(lambda adapter: change_events(adapter, change))


@pytest.mark.parametrize(
    ("asked", "is_right"),
    [
        ("response-schema", lambda message: message["content"].startswith("{")),
        ("choice-required", lambda message: message.get("tool_calls")),
    ],
)
def test_an_adapter_may_refuse_a_text_where_json_or_a_call_was_asked_for(asked: str, is_right: Callable[[Event], bool]):
    name = "response.every-prompt-is-answered"
    assert messages_of(name, strict_about(is_right), suite_scenario(asked)) == []
    (message,) = messages_of(name, strict_about(lambda _: False), suite_scenario(asked))
    assert "not what was asked for" in message
    assert messages_of(name, strict_about(is_right))


def test_a_prompt_that_is_not_sent_has_no_answer_to_judge():
    assert reason_of("response.every-prompt-is-answered", scripted(answer_events()))


def sends_back(*texts: str, dialect: str) -> Any:
    """An adapter whose requests hold these texts, whatever it is given."""
    return scripted(answer_events("a"), dialect=dialect, translate=lambda *_: {"messages": list(texts)})


@pytest.mark.parametrize(
    ("dialect", "sent", "lost"),
    [
        ("gemini-generate", ["c2ln"], []),
        ("gemini-generate", ["Hm."], ['"c2ln"']),
        ("gemini-generate", ["c2ln and more"], ['"c2ln"']),
        ("deepseek-chat", ["Hm."], []),
        ("deepseek-chat", ["c2ln"], ['"Hm."']),
        ("anthropic-messages", [], ['"c2ln"', '"Hm."']),
        ("anthropic-messages", ["Hm.", "c2ln"], []),
    ],
)
def test_what_the_provider_wants_back_stands_in_the_next_request(dialect: str, sent: list[str], lost: list[str]):
    written = WrittenAnswer(content="a", thinking="Hm.", signature="c2ln")
    found = findings_of("response.signatures-go-back", sends_back(*sent, dialect=dialect), scenario(written))
    assert_each_has([one.message for one in found], lost)
    assert {one.path for one in found} <= {"$[1]"}


def test_without_a_signature_nothing_goes_back():
    name, thought = "response.signatures-go-back", WrittenAnswer(content="a", thinking="Hm.", signature="c2ln")
    assert "nothing that the provider wants back" in reason_of(name, AnthropicAdapter, scenario(SAID))
    plain = scripted(answer_events("a"), capabilities=["tools"])
    assert "reasoning" in reason_of(name, plain, scenario(thought))


def marked(context: str, tokens: str = "said", thinking: str = "") -> list[Event]:
    """The events of an answer, its tokens' types beginning with the context."""
    events = answer_events(tokens=tokens, thinking=thinking)
    return [{**one, "token_type": context + one["token_type"]} if one["type"] == "TOKEN" else one for one in events]


THOUGHT, FINAL = "AGENT_THOUGHT_", "FINAL_SYNTHESIS_"


@pytest.mark.parametrize("stage", ["response", "stream"])
@pytest.mark.parametrize(
    ("thought", "final", "fragments"),
    [
        (marked(THOUGHT), marked(FINAL), []),
        (marked(""), marked(FINAL), ["AGENT_THOUGHT, tokens have the type LLM_RESPONSE"]),
        (marked(THOUGHT), marked(THOUGHT), ["FINAL_SYNTHESIS, tokens have the type AGENT_THOUGHT"]),
        (marked(THOUGHT, "sai"), marked(FINAL), ["AGENT_THOUGHT, the text of the tokens is different"]),
        (marked(THOUGHT), marked(FINAL, thinking="Hm."), ["FINAL_SYNTHESIS, the text of the tokens is different"]),
    ],
)
def test_tokens_are_marked_with_the_context_of_their_call(
    stage: str, thought: list[Event], final: list[Event], fragments: list[str]
):
    events = {None: marked(""), "AGENT_THOUGHT": thought, "FINAL_SYNTHESIS": final}
    adapter = scripted(lambda _, options: events[options.get("call_context")])
    assert_each_has(messages_of(f"{stage}.context-marks-the-tokens", adapter, scenario(SAID)), fragments)


def test_the_reference_adapter_reads_what_is_appended():
    assert findings_of(APPENDED, OpenAIAdapter, suite_scenario("answer-parallel-calls")) == ()


def without_made_ids(payload: Any, *_: Any) -> Any:
    """Sends calls and results without ids, but for those of the scenario."""
    for content in payload["contents"]:
        for part in content["parts"]:
            for kind in ("functionCall", "functionResponse"):
                if not part.get(kind, {}).get("id", "call_").startswith("call_"):
                    del part[kind]["id"]
    return payload


@pytest.mark.parametrize(("gives_ids", "found"), [(False, []), (True, ["calls are sent without ids"])])
def test_ids_that_the_provider_did_not_give_need_not_go_back(gives_ids: bool, found: list[str]):  # noqa: FBT001
    asked = suite_scenario("answer-calls-without-ids")
    if gives_ids:
        calls = [structs.replace(call, id=f"own_{call.id}") for call in asked.answer.tool_calls]
        asked = structs.replace(asked, answer=structs.replace(asked.answer, without_ids=False, tool_calls=tuple(calls)))
    assert_each_has(messages_of(APPENDED, translating(without_made_ids, GeminiAdapter), asked), found)
