"""What is wrong with a turn of a dialogue, in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from art_compliance.checks import Trial
from art_compliance.checks.properties import dialogues as conversing
from art_compliance.checks.properties.dialogues import Dialogue, _misread, _wanted_back
from art_compliance.dialects import DIALECTS, DecodeFailed
from art_compliance.provider import WRITTEN_TEXT, Asked, Request
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed
from art_compliance.subject.opening import open_subject
from art_sdk import AnthropicAdapter, FunctionCall, OpenAIAdapter, ToolCall

ANTHROPIC = DIALECTS["anthropic-messages"]
CALLS = tuple(ToolCall(f"c{number}", FunctionCall("look", '{"at": 1}')) for number in (1, 2))


def read(content: Any = None, *calls: dict[str, Any], **error: Any) -> Answered:
    failed = [{"type": "ERROR", "error": error}] if error else []
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return Answered((*failed, {"type": "END", "finish": "stop", "message": message}))


def call(call_id: str, name: str = "look", arguments: Any = '{"at":1}') -> dict[str, Any]:
    return {"id": call_id, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("heard", "said", "wrong"),
    [
        (read("a"), WrittenAnswer(content="a"), []),
        (read(""), WrittenAnswer(content=None), []),
        (read("b"), WrittenAnswer(content="a"), ["its text was read as 'b'"]),
        (read("a"), WrittenAnswer(content="b"), ["its text was read as 'a'"]),
        (read(None), WrittenAnswer(content="b"), ["its text was read as 'None'"]),
        (read(None, call("c1"), call("c2")), WrittenAnswer(tool_calls=CALLS), []),
        (read(None, call("c1")), WrittenAnswer(tool_calls=CALLS), ["its calls were read as"]),
        (read(None, call("c2"), call("c1")), WrittenAnswer(tool_calls=CALLS), ["its calls were read as"]),
        (read(None, call("c1"), call("c2", "x")), WrittenAnswer(tool_calls=CALLS), ["its calls were read as"]),
        (read(None, call("c1", arguments="{}"), call("c2")), WrittenAnswer(tool_calls=CALLS), ["the arguments of c1"]),
        (read(None, call("c1"), call("c2", arguments="{")), WrittenAnswer(tool_calls=CALLS), ["the arguments of c2"]),
        (read(None, call("c1"), call("c2", arguments=7)), WrittenAnswer(tool_calls=CALLS), ["the arguments of c2"]),
    ],
)
def test_of_an_answer_was_read_otherwise(heard: Answered, said: WrittenAnswer, wrong: list[str]):
    seen = list(_misread(heard, said))
    assert [one[: len(told)] for one, told in zip(seen, wrong, strict=True)] == wrong


@pytest.mark.parametrize(
    ("signs", "wants", "told"),
    [(True, True, ["c2ln", "Hm."]), (True, False, ["c2ln"]), (False, True, ["Hm."]), (False, False, [])],
)
def test_what_of_reasoning_goes_back_depends_on_the_dialect(signs: bool, wants: bool, told: list[str]):  # noqa: FBT001
    dialect = msgspec.structs.replace(ANTHROPIC, signs_thinking=signs, wants_thinking=wants)
    assert _wanted_back(dialect, WrittenAnswer(content="a", thinking="Hm.", signature="c2ln")) == told
    assert _wanted_back(dialect, WrittenAnswer(content="a")) == []


@pytest.fixture
def dialogue():
    with open_subject(AnthropicAdapter, name="anthropic") as subject:
        yield Dialogue(Trial(subject, GREETING_SCENARIO, 1))


def test_the_calls_of_the_last_turn_wait(dialogue: Dialogue):
    turn = {"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2")]}
    assert dialogue.pending == []
    dialogue.prompt += [turn]
    assert dialogue.pending == ["c1", "c2"]
    dialogue.prompt += [{"role": "user", "content": "a", "tool_calls": [call("c3")]}]
    assert dialogue.pending == []
    dialogue.prompt += [{"role": "assistant", "content": "b", "tool_calls": None}]
    assert dialogue.pending == []


def test_calls_are_answered_in_turn_and_where_there_are_none_the_user_speaks(dialogue: Dialogue):
    dialogue.prompt = [{"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2"), call("c3")]}]
    dialogue.go_on([{"content": "x"}, {"content": "y"}], is_reversed=True)
    told = [(one["tool_call_id"], one["content"]) for one in dialogue.prompt[1:]]
    assert told == [("c3", "x"), ("c2", "y"), ("c1", "x")]
    dialogue.go_on(user="Well?")
    assert dialogue.prompt[-1] == {"role": "user", "content": "Well?"}


@pytest.mark.parametrize(
    ("heard", "wrong"),
    [
        (Crashed("no"), "it is not asked: no"),
        (read(code="LLM_PROVIDER_ERROR", message="no", other=1), "the request is refused: {"),
        (read(code="X", message="no", status=None), 'the answer is not read: {"code": "X", "message": "no"}'),
        (read(code="A", message="no"), 'the answer is not read: {"code": "A", "message": "no"}'),
        (read(code="X", message="ü" * 700), f'the answer is not read: {{"code": "X", "message": "{"ü" * 500}'),
    ],
)
def test_of_a_turn_is_wrong(dialogue: Dialogue, heard: Any, wrong: str):
    (told,) = dialogue._faults(heard, WrittenAnswer(content="a"))
    assert told.startswith(wrong)
    assert "other" not in told


def test_a_turn_is_asked_for_whole_or_streamed_and_what_is_returned_is_appended(dialogue: Dialogue):
    said = WrittenAnswer(content="Well.", thinking="Hm.")
    for streamed in ({}, {"is_streamed": True}, {"is_streamed": False}):
        assert dialogue.ask(said, **streamed) == []
        assert dialogue.asked is not None
        assert dialogue.asked.payload.get("stream", False) is streamed.get("is_streamed", False)
        dialogue.go_on()
    assert [one["role"] for one in dialogue.prompt] == ["user"] + ["assistant", "user"] * 3
    assert dialogue.last is not None
    before, answered = dialogue.last
    assert ([one["role"] for one in before], answered.thinking) == (["user"] + ["assistant", "user"] * 2, "Hm.")
    assert dialogue._wanted_back[1::2] == ["Hm."] * 3
    shown = dialogue.example()
    assert (shown.prompt, shown.answer["content"], shown.payload["messages"]) == (
        before,
        "Well.",
        dialogue.asked.payload["messages"],
    )


def test_what_is_wrong_with_a_turn_is_not_appended(dialogue: Dialogue, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dialogue._trial.subject, "call", lambda *_: Crashed("no"))
    assert dialogue.ask(WrittenAnswer(content="Well.")) == ["it is not asked: no"]
    assert (len(dialogue.prompt), dialogue.last, dialogue._wanted_back) == (1, None, [])
    shown = dialogue.example()
    assert (shown.prompt, shown.payload, shown.answer) == (dialogue.prompt, None, None)


def asked(payload: Any) -> Asked:
    return Asked(ANTHROPIC, Request("POST", "/v1/messages", {}, b""), payload)


GREETING = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}


def test_what_of_the_dialogue_is_not_in_the_request(dialogue: Dialogue, monkeypatch: pytest.MonkeyPatch):
    assert list(dialogue._lost()) == ["no request has come"]
    dialogue.asked = asked(GREETING)
    assert list(dialogue._lost()) == []
    dialogue._wanted_back = ["c2ln" * 40, "hello"]
    assert list(dialogue._lost()) == [f"{('c2ln' * 15)!r}… (160 characters) is not sent back with what it came with"]
    dialogue._wanted_back = []
    dialogue.asked = asked({**GREETING, "messages": [{"role": "user", "content": "other"}]})
    assert len(list(dialogue._lost())) == 1

    def fail(*_: Any) -> Any:
        raise DecodeFailed("it is no request", "/messages")

    monkeypatch.setattr(Trial, "decode", fail)
    assert [one.partition(":")[0] for one in dialogue._lost()] == ["the request cannot be decoded"]


def test_an_answer_is_fitted_to_what_is_declared():
    class Poor(AnthropicAdapter):
        capabilities = frozenset({"tools"})

    said = WrittenAnswer(tool_calls=CALLS, thinking="Hm.", thinking_tokens=3, finish="tool_calls")
    with open_subject(Poor, name="poor") as poor, open_subject(AnthropicAdapter, name="anthropic") as whole:
        one, other = Dialogue(Trial(poor, GREETING_SCENARIO, 1)), Dialogue(Trial(whole, GREETING_SCENARIO, 1))
        less, more = one._fit(said), other._fit(said)
        text = one._fit(WrittenAnswer(content=None))
    assert ([call.id for call in less.tool_calls], less.thinking, less.signature) == (["c1_0"], "", None)
    assert (less.thinking_tokens, less.finish) == (None, "tool_calls")
    assert ([call.id for call in more.tool_calls], more.thinking) == (["c1_0", "c2_0"], "Hm.")
    assert more.signature
    assert (bool(text.content), text.finish) == (True, "stop")


class Scripted:
    """A dialogue that goes as it is told: what is asked of it, and what is wrong with which turn."""

    def __init__(self, wrong: dict[int, list[str]]) -> None:
        self.wrong, self.asked, self.gone_on = wrong, list[Any](), list[Any]()

    def ask(self, answer: WrittenAnswer, *, is_streamed: bool) -> list[str]:
        self.asked.append((answer.content, is_streamed))
        return self.wrong.get(len(self.asked), [])

    def go_on(self, results: Any, *, user: str, is_reversed: bool) -> None:
        self.gone_on.append((results, user, is_reversed))

    def example(self) -> Any:
        return len(self.asked)


def held(monkeypatch: pytest.MonkeyPatch, turns: Any, answer: WrittenAnswer | None, **wrong: list[str]) -> Any:
    scripted = Scripted({int(turn[4:]): told for turn, told in wrong.items()})
    monkeypatch.setattr(conversing, "Dialogue", lambda _: scripted)
    trial: Any = SimpleNamespace(scenario=SimpleNamespace(answer=answer), turns=turns)
    return scripted, [(one.message, one.example) for one in conversing.conversations_go_on.run(trial)]


def turn(content: str, **more: Any) -> dict[str, Any]:
    return {"answer": {"content": content}, **more}


def test_a_generated_dialogue_is_held_turn_by_turn(monkeypatch: pytest.MonkeyPatch):
    turns = [turn("a", is_streamed=True, user="Well?"), turn("b", results=[{"content": "x"}], is_reversed=True)]
    scripted, found = held(monkeypatch, turns, None)
    assert (found, scripted.asked) == ([], [("a", True), ("b", False)])
    assert scripted.gone_on == [(({"content": "done"},), "Well?", False), ([{"content": "x"}], "Go on.", True)]


@pytest.mark.parametrize("turns", [[], [turn("x")]])
@pytest.mark.parametrize("answer", [WrittenAnswer(content="own"), None])
def test_a_scenarios_answer_is_gone_on_with_once(monkeypatch: pytest.MonkeyPatch, turns: Any, answer: Any):
    scripted, found = held(monkeypatch, turns, answer)
    first = WRITTEN_TEXT if answer is None else "own"
    assert (found, scripted.asked) == ([], [(first, False), (WRITTEN_TEXT, False)])


def test_a_dialogue_ends_with_the_first_turn_that_is_wrong(monkeypatch: pytest.MonkeyPatch):
    scripted, found = held(monkeypatch, [turn("a"), turn("b"), turn("c")], None, turn2=["no", "never"])
    assert found == [("turn 2: no", 2), ("turn 2: never", 2)]
    assert (len(scripted.asked), len(scripted.gone_on)) == (2, 1)


@pytest.mark.parametrize(("declared", "roles"), [(("system",), ["system", "user"]), ((), ["user"])])
def test_a_dialogue_begins_with_what_is_declared(declared: tuple[str, ...], roles: list[str]):
    class Declaring(AnthropicAdapter):
        capabilities = frozenset(declared)

    prompt = [{"role": "system", "content": "s"}, *GREETING_SCENARIO.prompt]
    options = {"tools": [{"name": "f", "inputSchema": {"type": "object"}}]}
    scenario = msgspec.structs.replace(GREETING_SCENARIO, prompt=prompt, options=options)
    with open_subject(Declaring, name="one") as subject:
        begun = Dialogue(Trial(subject, scenario, 1))
    assert [one["role"] for one in begun.prompt] == roles
    assert "tools" not in begun.example().options


def test_reasoning_that_the_dialect_cannot_say_is_left_out_of_a_dialogue():
    class Reasoning(OpenAIAdapter):
        capabilities = frozenset({"reasoning"})

    said = WrittenAnswer(content="a", thinking="Hm.", thinking_tokens=3)
    with open_subject(Reasoning, name="one") as subject:
        fitted = Dialogue(Trial(subject, GREETING_SCENARIO, 1))._fit(said)
    assert fitted == WrittenAnswer(content="a")
