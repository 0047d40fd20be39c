"""What is no good reading of an end that nobody knows; and of which answers the next turn is tried."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from art_compliance.checks import NotApplicable
from art_compliance.checks.response import calling as ways
from art_compliance.checks.response import reading as response
from art_compliance.dialects import DIALECTS, DecodeFailed
from art_compliance.provider import WRITTEN_TEXT
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Sent

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


def test_a_next_turn_that_cannot_be_decoded_is_told():
    def fail(_: Any) -> NoReturn:
        raise DecodeFailed("/messages", "it is no list")

    trial: Any = SimpleNamespace(
        answered=SimpleNamespace(message={"role": "assistant", "content": "a"}),
        written=WrittenAnswer(content="a"),
        subject=SimpleNamespace(capabilities=()),
        scenario=SimpleNamespace(prompt=[{"role": "user", "content": "q"}]),
        observe=lambda _: Sent({}, None),
        decode=fail,
    )
    (found,) = response.answer_can_be_appended.run(trial)
    assert (found.message, found.pointer) == ("appended, it cannot be decoded: /messages: it is no list", "/messages")


def read(text: str = "b", calls: Any = (), finish: str = "stop", error: Any = None) -> Any:
    message = {"role": "assistant", "content": text, "tool_calls": list(calls)}
    failed = [{"type": "ERROR", "error": error}] if error else []
    return Answered((*failed, {"type": "END", "finish": finish, "message": message}))


OTHERS = [read("a"), read("c"), read("b", [{"id": "c"}]), read("b", finish="length"), read("b", finish="tool_calls")]


@pytest.mark.parametrize("heard", [read(), *OTHERS, read(error={"message": "no"})])
def test_unknown_fields_change_nothing_of_an_answer(heard: Any):
    asked: list[Any] = []
    trial: Any = SimpleNamespace(
        answered=read(),
        dialect=DIALECTS["openai-chat"],
        written=WrittenAnswer(content="b"),
        call_with=lambda response: (asked.append(response), heard)[1],
    )
    told = [one.message for one in response.unknown_fields_are_ignored.run(trial)]
    wanted = "another answer is read" if heard in OTHERS else "it is not read: " if heard.error else None
    assert [one.startswith(f"with unknown fields {wanted}") for one in told] == ([] if wanted is None else [True])
    assert asked[0].body.count(b"x_new_field") > 3
    assert asked[0].status == 200


def asked_for(content: str, tokens: str) -> list[str]:
    token = {"type": "TOKEN", "token_type": "LLM_RESPONSE", "text": tokens}
    events = ({**IDS, **token}, {**IDS, "type": "METADATA", "metadata": {}}, {**IDS, **read(content).events[-1]})
    trial: Any = SimpleNamespace(
        dialect=None,
        subject=SimpleNamespace(has_call=True),
        arrived=Sent({}, None),
        watched=SimpleNamespace(heard=Answered(events)),
        scenario=SimpleNamespace(call_options=lambda: {"thread_id": "th"}),
    )
    return [one.message for one in response.every_prompt_is_answered.run(trial)]


IDS = {"thread_id": "th", "trace_id": "tr", "session_id": None}


@pytest.mark.parametrize(
    ("content", "tokens"),
    [(WRITTEN_TEXT, "a"), (WRITTEN_TEXT, "z"), ("a", WRITTEN_TEXT), ("z", WRITTEN_TEXT), ("a", "a")],
)
def test_every_answer_is_read_whole_in_tokens_and_message(content: str, tokens: str):
    assert asked_for(WRITTEN_TEXT, WRITTEN_TEXT) == []
    assert asked_for(content, tokens) == [f"the text {WRITTEN_TEXT!r} became {content!r}, and {tokens!r} in the tokens"]


@pytest.mark.parametrize(
    ("signs", "wants", "sent", "lost"),
    [
        (True, False, ["c2ln"], []),
        (True, False, ["Hm."], ["c2ln"]),
        (True, False, ["c2ln and more"], ["c2ln"]),
        (False, True, ["Hm."], []),
        (False, True, ["c2ln"], ["Hm."]),
        (True, True, [], ["c2ln", "Hm."]),
    ],
)
def test_what_goes_back_stands_in_the_next_request(signs: bool, wants: bool, sent: list[str], lost: list[str]):  # noqa: FBT001
    trial: Any = SimpleNamespace(
        written=WrittenAnswer(content="a", thinking="Hm.", signature="c2ln"),
        answered=read("a"),
        subject=SimpleNamespace(capabilities=("reasoning",)),
        dialect=SimpleNamespace(name="one", signs_thinking=signs, wants_thinking=wants),
        scenario=SimpleNamespace(prompt=[{"role": "user", "content": "q"}]),
        observe_sent=lambda _: Sent({"messages": sent}, None),
    )
    found = [(one.message, one.path) for one in response.signatures_go_back.run(trial)]
    assert found == [(f"{text!r} is not sent back with the message that it came with", "$[1]") for text in lost]


@pytest.mark.parametrize(
    ("way", "told"),
    [("call_sync", ["the text of the tokens: x", "the finish: y"]), ("complete", ["the finish: y"])],
)
def test_who_folds_an_answer_tells_no_tokens(monkeypatch: pytest.MonkeyPatch, way: str, told: list[str]):
    monkeypatch.setattr(ways, "differences", lambda *_: iter(("the text of the tokens: x", "the finish: y")))
    assert list(ways._relevant(way, read(), read())) == told
    assert list(ways._relevant(f"{way}_sync", read(), read()))[-1:] == ["the finish: y"]
