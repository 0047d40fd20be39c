"""Whole dialogues: Hypothesis says what is asked and answered, a strict provider judges every turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from art_compliance.checks.properties.dialogues import Dialogue, conversations_go_on
from art_compliance.checks.replies import differences
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import Trial
from art_compliance.generating.requests import Request, as_scenario
from art_compliance.miniatures import MINIATURES
from art_compliance.provider import Asked, Response, Send
from art_compliance.provider.faults import FAULTS
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.scenarios import WrittenAnswer
from art_compliance.strategies import answers, chunkings, fault_schedules, results, texts
from art_compliance.subject.opening import open_subject
from art_compliance.subject.subject import Subject
from art_sdk import AnthropicAdapter, GeminiAdapter, OpenAIAdapter

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

ADAPTERS = {"anthropic": AnthropicAdapter, "gemini": GeminiAdapter, "openai": OpenAIAdapter}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_weather",
        "description": "The weather at a place.",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
    {"name": "get_time", "description": "The time.", "inputSchema": {"type": "object", "properties": {}}},
]
OPENING = Request([{"role": "user", "content": "hello"}], {"thread_id": "t", "tools": TOOLS})
SHORT = texts().map(lambda text: text[:200] + "a")
CALM = settings(
    max_examples=6,
    stateful_step_count=20,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(params=ADAPTERS, scope="module")
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with open_subject(ADAPTERS[request.param], name=request.param) as opened:
        yield opened


def dialogue(subject: Subject, request: Request = OPENING) -> Dialogue:
    return Dialogue(Trial(subject, as_scenario("generated-dialogues", request), 0))


def machine(subject: Subject) -> Callable[[], RuleBasedStateMachine]:
    class Agent(RuleBasedStateMachine):
        """What was returned is appended; calls are answered, or the user speaks; the next turn must go on."""

        def __init__(self) -> None:
            super().__init__()
            self.dialogue = dialogue(subject)
            self.is_asked = True

        @precondition(lambda self: self.is_asked)
        @rule(answer=answers(given=TOOLS, ordinary=True), is_streamed=st.booleans())
        def the_model_answers(self, answer: dict[str, Any], *, is_streamed: bool) -> None:
            said = msgspec.convert(answer, WrittenAnswer)
            wrong = self.dialogue.ask(said, is_streamed=is_streamed)
            assert not wrong, wrong  # the words, whether pytest rewrites assertions or not
            self.is_asked = False

        @precondition(lambda self: not self.is_asked and self.dialogue.pending)
        @rule(given=st.lists(results(), min_size=1, max_size=3), is_reversed=st.booleans())
        def its_calls_are_answered(self, given: list[dict[str, Any]], *, is_reversed: bool) -> None:
            self.dialogue.go_on(given, is_reversed=is_reversed)
            self.is_asked = True

        @precondition(lambda self: not self.is_asked and not self.dialogue.pending)
        @rule(user=SHORT)
        def the_user_speaks(self, user: str) -> None:
            self.dialogue.go_on(user=user)
            self.is_asked = True

    return Agent


def test_an_agent_goes_on_whatever_is_said(subject: Subject):
    run_state_machine_as_test(machine(subject), settings=CALM)


LATER = {
    "loses-the-second-result": "has no result at the end of the prompt",
    "forgets-signatures-later": "is not sent back with the message that it came with",
    "reuses-ids-in-streams": "calls were read as",
}


@pytest.mark.parametrize("name", LATER)
def test_an_agent_that_is_wrong_later_on_stops(name: str):
    wrong = next(one for one in MINIATURES if one.id == name)
    with (
        open_subject(wrong.of(AnthropicAdapter), name=name) as subject,
        pytest.raises(AssertionError, match=LATER[name]),
    ):
        run_state_machine_as_test(machine(subject), settings=settings(CALM, max_examples=30))


CALLS = {
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}},
        {"id": "call_2", "type": "function", "function": {"name": "get_time", "arguments": "{}"}},
    ],
    "finish": "tool_calls",
}


def test_a_dialogue_grows_by_the_message_and_by_its_results_in_the_chosen_order(subject: Subject):
    talk = dialogue(subject)
    assert talk.ask(msgspec.convert(CALLS, WrittenAnswer)) == []
    ids = talk.pending
    assert len(ids) == 2
    talk.go_on([{"content": "one"}, {"content": "two", "status": "error"}], is_reversed=True)
    answered = [(one.get("tool_call_id"), one["content"], one.get("status")) for one in talk.prompt[2:]]
    assert answered == [(ids[1], "two", "error"), (ids[0], "one", None)]
    assert talk.ask(WrittenAnswer(content="24 degrees")) == []
    assert talk.pending == []
    talk.go_on(user="thanks")
    assert talk.prompt[-2:] == [{**talk.prompt[-2], "content": "24 degrees"}, {"role": "user", "content": "thanks"}]


class LosesResults(OpenAIAdapter):
    """The last of the results is not sent."""

    def translate(self, prompt: Any, options: Any) -> Any:
        payload = super().translate(prompt, options)
        messages = payload["messages"]
        return {**payload, "messages": messages[:-1] if messages[-1]["role"] == "tool" else messages}


def test_a_refusal_of_the_strict_provider_is_quoted():
    with open_subject(LosesResults, name="lost") as subject:
        talk = dialogue(subject)
        for answer in (WrittenAnswer(content="hi"), msgspec.convert(CALLS, WrittenAnswer)):
            assert talk.ask(answer) == []
            talk.go_on()
        (fault,) = talk.ask(WrittenAnswer(content="done"))
    assert fault.finding_class == "refused"
    assert fault.message.startswith("the request is refused: ")
    assert '"status": 400' in fault.message
    assert "call_2" in fault.message
    example = talk.example()
    assert [call["id"] for call in example.answer["tool_calls"]] == ["call_1_2", "call_2_2"]
    assert example.payload["messages"][-1]["role"] == "tool"


def test_a_scenario_of_ones_own_is_a_dialogue_of_two_turns(subject: Subject):
    scenario = as_scenario("generated-dialogues", Request(*OPENING[:2], [{"answer": CALLS}]))
    assert conversations_go_on(Trial(subject, scenario, 0)).findings == ()


def test_what_cannot_be_called_has_no_dialogues():
    class Translator:
        def __init__(self, **settings: Any) -> None:
            self.own = OpenAIAdapter(**settings)

        dialect = OpenAIAdapter.dialect

        def translate(self, prompt: Any, options: Any) -> Any:
            return self.own.translate(prompt, options)

    with open_subject(Translator, name="translator") as subject, pytest.raises(NotApplicable, match="has no call"):
        conversations_go_on(Trial(subject, GREETING_SCENARIO, 0))


def test_a_stream_may_be_cut_anywhere(subject: Subject):
    written = WrittenAnswer(content="Grüße, 世界 \U0001f469\u200d\U0001f52c: done.\r\n", output_tokens=9)
    prompt, options = [{"role": "user", "content": "hi"}], {"thread_id": "t", "stream": True}
    seen: list[tuple[bytes, str]] = []

    def note(asked: Asked) -> Response:
        pieces, kind = asked.stream(written)
        seen.append((b"".join(pieces), kind))
        return asked.answer(written)

    whole: Any = subject.call(prompt, options, note)
    assert whole.text == written.content
    ((body, kind),) = seen

    @settings(CALM, max_examples=15)
    @given(st.data())
    def is_the_same(data: st.DataObject) -> None:
        pieces = data.draw(chunkings(body))
        cut = Response(200, content_type=kind, steps=tuple(Send(piece) for piece in pieces if piece))
        answered: Any = subject.call(prompt, options, lambda _: cut)
        assert list(differences(answered, whole)) == []

    is_the_same()


LOUD = [name for name, fault in FAULTS.items() if fault.expects == "error" and not fault.hangs and "long" not in name]


def test_whatever_went_wrong_the_next_good_answer_is_read(subject: Subject):
    written = WrittenAnswer(content="All is well again, as it should be.")
    prompt = [{"role": "user", "content": "hi"}]

    @settings(CALM, max_examples=10)
    @given(fault_schedules(LOUD, calls=3), st.booleans())
    def recovers(schedule: tuple[str | None, ...], is_streamed: bool) -> None:  # noqa: FBT001 - drawn
        options = {"thread_id": "t", "stream": is_streamed}
        kind = "streamed" if is_streamed else "unstreamed"
        for name in (*schedule, None):
            fault = FAULTS[name] if name is not None and kind in FAULTS[name].on else None
            make = fault.make if fault else lambda said, asked: asked.answer(said)
            answered: Any = subject.call(prompt, options, lambda asked, make=make: make(written, asked))
            assert answered.kinds[-1] == "END"
            assert (answered.error is None) is (fault is None), (name, json.dumps(answered.events, default=str))
        assert answered.text == written.content

    recovers()
