"""What is asked of an adapter under load, what each call is answered, and which answers are wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from art_compliance.checks import load
from art_compliance.checks.load import _answer, _ask, _echo, _echo_most, _measuring, _wrong
from art_compliance.checks.trial import Trial
from art_compliance.dialects import DIALECTS
from art_compliance.provider import Asked, Drop, Pause, Request, Send
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Refused
from art_compliance.subject.opening import open_subject
from art_sdk import OpenAIAdapter

OPENAI = DIALECTS["openai-chat"]
HEADERS: dict[str, str] = {}


class Unstreamed(OpenAIAdapter):
    capabilities = frozenset(OpenAIAdapter.capabilities - {"streaming"})


def asked(text: str, *, stream: bool) -> Asked:
    payload = {"model": "m", "messages": [{"role": "user", "content": text}], "stream": stream}
    return Asked(OPENAI, Request("POST", "/v1/chat/completions", HEADERS, b""), payload)


@pytest.mark.parametrize(("number", "streamed"), [(0, False), (1, True), (3, True), (4, False), (5, True)])
def test_three_of_four_calls_are_streamed_and_each_has_its_own_ids(number: int, streamed: bool):  # noqa: FBT001
    with open_subject(OpenAIAdapter, name="openai") as subject, open_subject(Unstreamed, name="unstreamed") as whole:
        prompt, options = _ask(Trial(subject, GREETING_SCENARIO, 1), number)
        assert prompt == [{"role": "user", "content": f"question number {number}."}]
        assert options == {
            **GREETING_SCENARIO.call_options(),
            **{name: f"{name.removesuffix('_id')}-{number}" for name in ("thread_id", "trace_id", "session_id")},
            **({"stream": True} if streamed else {}),
        }
        assert "stream" not in _ask(Trial(whole, GREETING_SCENARIO, 1), number)[1]


@pytest.mark.parametrize("stream", [False, True])
def test_each_is_answered_by_its_number(stream: bool):  # noqa: FBT001
    for text, number in (("question number 17.", 17), ("question number 9.", 9), ("something else", -1)):
        answer = _echo(asked(text, stream=stream))
        said = answer.body if answer.steps is None else b"".join(step.data for step in answer.steps)
        assert (answer.status, f"number {number}" in said.decode() or stream) == (200, True)
        assert (answer.steps is not None) is stream


@pytest.mark.parametrize(
    ("text", "fails"),
    [("question number 9.", True), ("question number 19.", True)]
    + [(f"question number {number}.", False) for number in (0, 1, 8, 10, 90)]
    + [("something else", False)],
)
def test_one_in_ten_is_made_to_fail(text: str, fails: bool):  # noqa: FBT001
    whole, streamed = _echo_most(asked(text, stream=False)), _echo_most(asked(text, stream=True))
    assert (whole.status, b"written error 400" in whole.body) == ((400, True) if fails else (200, False))
    assert streamed.status == 200
    assert streamed.content_type == OPENAI.streams.content_type
    kinds = list(map(type, streamed.steps or ()))
    assert (kinds == [Send, Pause, Drop]) is fails
    assert fails or set(kinds) == {Send}


def test_a_call_that_is_cut_off_has_begun_and_been_read_by_then():
    begun, pause, _ = _echo_most(asked("question number 9.", stream=True)).steps or ()
    assert begun.data.startswith(b"data: ")
    assert pause.seconds == 0.05


IDS = {"thread_id": "thread-3", "trace_id": "trace-3", "session_id": "session-3"}
OTHER = {**IDS, "session_id": "session-4"}


def heard(text: str, *, told: str | None = None, finish: str = "stop", ids: Any = IDS, error: Any = None) -> Answered:
    token = {"type": "TOKEN", "token_type": "LLM_RESPONSE", "text": text if told is None else told}
    end = {"type": "END", "finish": finish, "message": {"role": "assistant", "content": text}}
    failed = [{"type": "ERROR", "error": error, **ids}] if error else []
    return Answered(({**token, **IDS}, *failed, {**end, **ids}))


GOOD = _answer(3)
WRONG: dict[str, tuple[int, Any, str | None]] = {
    "its own": (3, heard(GOOD), None),
    "refused": (3, Refused("NO", "why"), "it was refused: NO: why"),
    "crashed": (3, Crashed("no"), "no"),
    "another's": (3, heard(_answer(4)), f"it was answered {_answer(4)!r}, and {_answer(4)!r} in the tokens"),
    "another's at the end": (
        3,
        heard(_answer(4), told=GOOD),
        f"it was answered {_answer(4)!r}, and {GOOD!r} in the tokens",
    ),
    "nothing at the end": (3, heard("", told=GOOD), f"it was answered '', and {GOOD!r} in the tokens"),
    "another's in the tokens": (3, heard(GOOD, told="x"), f"it was answered {GOOD!r}, and 'x' in the tokens"),
    "an error": (3, heard(GOOD, error={"message": "late"}), "an ERROR event: late"),
    "another's ids": (3, heard(GOOD, ids=OTHER), "its events have the ids [\"('thread-3', 'trace-3', 'session-4')\"]"),
    "failed as it was to": (9, heard("", finish="error", error={"message": "no"}), None),
    "read to a good end": (9, heard("a"), "it was to fail, and ended by 'stop': 'a'"),
}


@pytest.mark.parametrize("what", WRONG)
def test_of_what_a_call_heard_is_wrong(what: str):
    number, one, told = WRONG[what]
    assert _wrong(number, one) == told


def test_python_counts_what_is_allocated_only_while_that_is_measured(monkeypatch: pytest.MonkeyPatch):
    state, done = {"on": False}, []
    monkeypatch.setattr("tracemalloc.is_tracing", lambda: state["on"])
    monkeypatch.setattr("tracemalloc.start", lambda: done.append("start"))
    monkeypatch.setattr("tracemalloc.stop", lambda: done.append("stop"))
    with _measuring():
        assert done == ["start"]
    assert done == ["start", "stop"]
    state["on"] = True
    with _measuring():
        pass
    assert done == ["start", "stop"]


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ([0, 300 * 120], []),
        ([1000, 1000 + 301 * 120, 0, 300 * 120], []),
        ([1 << 20, (1 << 20) + 300 * 120], []),
        ([0, 301 * 120, 0, 301 * 120], ["each call leaves 301 bytes behind; it was called 120 times"]),
        ([0, 900 * 120, 0, 400 * 120], ["each call leaves 400 bytes behind; it was called 120 times"]),
        ([0, 400 * 120, 0, 900 * 120], ["each call leaves 400 bytes behind; it was called 120 times"]),
    ],
)
def test_memory_is_flat_where_a_call_leaves_next_to_nothing(monkeypatch, counts: list[int], told: list[str]):
    traced, called = iter(counts), []
    monkeypatch.setattr(load, "_traced", lambda _: next(traced))
    monkeypatch.setattr(load, "_call_many", lambda _, count: called.append(count))
    trial: Any = SimpleNamespace(dialect=OPENAI, subject=SimpleNamespace(has_call=True))
    found = [one.message for one in load.memory_stays_flat.run(trial)]
    assert [one.partition(", one")[0] for one in found] == told
    assert called == [30, 30] + [120] * (len(counts) // 2)
    assert list(traced) == []


def test_as_many_calls_are_made_as_are_measured():
    asked: list[Any] = []
    subject = SimpleNamespace(capabilities=(), call=lambda prompt, *_: asked.append(prompt[0]["content"]))
    trial: Any = SimpleNamespace(subject=subject, scenario=GREETING_SCENARIO)
    load._call_many(trial, 3)
    assert asked == ["question number 0.", "question number 1.", "question number 2."]


@pytest.mark.parametrize(("wrong", "told"), [(0, 0), (1, 1), (5, 5), (6, 6), (200, 6)])
def test_some_wrong_answers_are_shown_and_all_are_counted(wrong: int, told: int):
    def call_together(asked: list[Any], _: Any, *, seconds: float) -> list[Any]:
        assert (len(asked), seconds) == (200, 20.0)
        return [Crashed("no")] * wrong + [good(number) for number in range(wrong, len(asked))]

    def good(number: int) -> Answered:
        ids = {name: f"{name.removesuffix('_id')}-{number}" for name in IDS}
        finish, error = ("error", {"message": "no"}) if number % 10 == 9 else ("stop", None)
        events = heard(_answer(number), ids=ids, finish=finish, error=error).events
        return Answered(tuple({**event, **ids} for event in events))

    subject = SimpleNamespace(capabilities=(), has_call=True, call_together=call_together)
    trial: Any = SimpleNamespace(dialect=OPENAI, subject=subject, scenario=GREETING_SCENARIO)
    found = [one.message for one in load.calls_at_once_do_not_mix.run(trial)]
    assert len(found) == told
    assert found[:1] == ["call 0: no"][:told]
    assert told < 6 or found[-1] == f"{wrong} of 200 calls at once are not answered as they should be"
