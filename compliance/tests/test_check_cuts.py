"""Where a stream is cut, by which adapter's reading of it is judged."""

from __future__ import annotations

import json
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from art_compliance.checks import NotApplicable
from art_compliance.checks.stream import answers as stream
from art_compliance.provider import Drop
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered

IDS = {"thread_id": "th", "trace_id": "tr"}
FINISHED = b'data: {"finish_reason":"stop"}\n\n'
WRITTEN = WrittenAnswer(content="0123456789abcdefghijklmnopqrstuvwxyz")
TEXTS = tuple(f'{{"text":"{piece}"}}'.encode() for piece in ("0123456789ab", "cdefghijklmn", "opqrstuvwxyz"))
EVENTS = (b"start", *TEXTS, FINISHED, b"[DONE]")


def answered(text: str, *, failed: bool = True, words: str = "no") -> Answered:
    error = {"type": "ERROR", "error": {"code": "LLM_PROVIDER_ERROR", "message": words}}
    token = {"type": "TOKEN", "token_type": "LLM_RESPONSE", "text": text}
    end = {"type": "END", "finish": "error" if failed else "stop", "message": {"role": "assistant", "content": text}}
    told = [token, error, end] if failed else [token, end]
    return Answered(tuple({**IDS, **event} for event in told))


def told_by(events: tuple[bytes, ...]) -> str:
    return "".join(json.loads(part)["text"] for part in TEXTS if part in events)


def hear(
    monkeypatch: pytest.MonkeyPatch, read: Any, *, group: str = "answers", written: WrittenAnswer = WRITTEN
) -> Any:
    heard: list[tuple[int, bytes, tuple[Any, ...]]] = []

    def hear_some(_: Any, events: tuple[bytes, ...], last: bytes, how: tuple[Any, ...]) -> Any:
        heard.append((len(events), last, how))
        return read(events)

    monkeypatch.setattr(stream, "streamed", lambda _: answered(told_by(EVENTS), failed=False))
    monkeypatch.setattr(stream, "_hear_some", hear_some)
    scenario = SimpleNamespace(id="one", group=group, call_options=lambda: {"thread_id": "th"})
    dialect = SimpleNamespace(write_stream_error=lambda status, words: f"{status} {words}".encode())
    given = {"seed": 1, "scenario": scenario, "written": WRITTEN, "dialect": dialect}
    trial: Any = SimpleNamespace(**given, once=lambda look: {stream._events_asked_for: EVENTS}[look])
    return trial, heard


def right(events: tuple[bytes, ...]) -> Answered:
    return answered(told_by(events), failed=FINISHED not in events)


def test_a_stream_is_cut_at_every_place_in_turn_and_at_the_last_in_every_way(monkeypatch: pytest.MonkeyPatch):
    trial, heard = hear(monkeypatch, right)
    assert list(stream.cut_short_is_told.run(trial)) == []
    assert heard == [
        (0, b"", (Drop(),)),
        (1, b"", ()),
        (2, TEXTS[1][: len(TEXTS[1]) // 2], (Drop(),)),
        (3, b"", (Drop(),)),
        (4, b"", ()),
        (5, b"", (Drop(),)),
        (5, b"", ()),
        (5, b"[DO", (Drop(),)),
    ]


def test_of_a_long_stream_some_places_are_cut_one_way_each_in_turn(monkeypatch: pytest.MonkeyPatch):
    trial, heard = hear(monkeypatch, lambda _: answered(""))
    events = (b"start",) * 20
    trial.once = lambda _: events
    trial.written = WrittenAnswer(content="short")
    assert list(stream.cut_short_is_told.run(trial)) == []
    assert len({at for at, _, _ in heard}) == 9
    ways = [(last, bool(how)) for _, last, how in heard]
    in_turn = [(b"", True), (b"", False), (b"st", True)]
    assert ways == [*in_turn, *in_turn, *in_turn[:2], *in_turn]


def test_a_generated_answer_is_cut_at_fewer_places(monkeypatch: pytest.MonkeyPatch):
    trial, heard = hear(monkeypatch, right, group="generated")
    assert list(stream.cut_short_is_told.run(trial)) == []
    assert len({at for at, _, _ in heard}) == 3
    assert {at for at, _, _ in heard} >= {0, 5}


def test_half_an_answer_that_is_taken_for_a_whole_one_is_found(monkeypatch: pytest.MonkeyPatch):
    trial, _ = hear(monkeypatch, lambda events: answered(told_by(events), failed=False))
    found = [one.message for one in stream.cut_short_is_told.run(trial)]
    assert [one.partition(":")[0] for one in found] == [
        "cut off after event 0 of 6",
        "ended in order after event 1 of 6",
        "cut off inside event 3 of 6",
        "cut off after event 3 of 6",
        "ended in order after event 4 of 6",
    ]


def test_after_the_finish_an_error_may_be_told_and_nothing_may_be_lost(monkeypatch: pytest.MonkeyPatch):
    trial, _ = hear(monkeypatch, lambda events: answered(told_by(events)))
    assert list(stream.cut_short_is_told.run(trial)) == []
    lost, _ = hear(monkeypatch, lambda events: right(events) if FINISHED not in events else answered("x", failed=False))
    found = [one.message for one in stream.cut_short_is_told.run(lost)]
    assert len(found) == 6
    assert all("another answer is read: the " in one for one in found)


def test_of_who_asks_several_times_the_last_requests_events_are_taken(monkeypatch: pytest.MonkeyPatch):
    def ask_twice(trial: Any, answerer: Any) -> Answered:
        for payload in ({"n": 1}, {"n": 2}):
            answerer(SimpleNamespace(payload=payload, answer=lambda written: written))
        return trial.reply

    dialect = SimpleNamespace(write_stream=lambda _, payload: (str(payload).encode(),))
    trial: Any = SimpleNamespace(dialect=dialect, written=WRITTEN, reply=answered("", failed=False))
    monkeypatch.setattr(stream, "stream", ask_twice)
    assert stream._events_asked_for(trial) == (b"{'n': 2}",)
    trial.reply = answered("")
    with pytest.raises(NotApplicable, match="the answer is not read"):
        stream._events_asked_for(trial)


@pytest.mark.parametrize(
    ("heard", "told"),
    [
        (answered("0123456789abcdefghijklmn", words="no: written error of a stream"), []),
        (answered("0123456789abcdefghijklmn"), ["the provider's words 'written error of a stream' are not told"]),
        (answered("0123456789ab", words="written error of a stream"), ["the tokens are"]),
        (answered("0123456789abcdefghijklmn", failed=False), ["expected tokens and calls"]),
    ],
)
def test_an_error_inside_a_stream_is_told_after_what_arrived(
    monkeypatch: pytest.MonkeyPatch, heard: Any, told: list[str]
):
    trial, asked = hear(monkeypatch, lambda _: heard)
    found = [one.message for one in stream.error_event_is_told.run(trial)]
    assert [one[: len(wanted)] for one, wanted in zip(found, told, strict=True)] == told
    assert asked == [(3, b"503 written error of a stream", ())]


def test_an_answer_that_is_all_said_by_half_of_it_is_not_judged(monkeypatch: pytest.MonkeyPatch):
    trial, _ = hear(monkeypatch, right)
    trial.once = lambda _: (b"start", FINISHED, b"usage", b"[DONE]")
    with pytest.raises(NotApplicable, match="half of the answer says all of it"):
        list(stream.error_event_is_told.run(trial))


def test_of_an_odd_number_of_characters_the_lesser_half_is_too_little(monkeypatch: pytest.MonkeyPatch):
    tokens = [{"type": "TOKEN", "token_type": "LLM_RESPONSE", "text": text} for text in ("abc", "defg")]
    monkeypatch.setattr(stream, "stream", lambda *_: Answered((*tokens, {"type": "END"}), (0.0, 0.29, 0.3)))
    question = SimpleNamespace(once=lambda look: {stream._sent_before_the_pause: "abcdefg"}[look])
    trial: Any = SimpleNamespace(with_answer=lambda _: question)
    assert len(list(stream.tokens_come_as_they_are_sent.run(trial))) == 1


class Boom(Exception):
    pass


@pytest.mark.parametrize(
    ("gives", "told"),
    [
        (True, []),
        (False, ["when, it went on, and told its events to the end"]),
        (Boom("no"), ["when, it raised Boom: no"]),
    ],
)
def test_who_is_cancelled_ends_as_cancelled(monkeypatch: pytest.MonkeyPatch, gives: Any, told: list[str]):
    def cancel_early(*_: Any, after_token: bool) -> bool:
        assert after_token
        if isinstance(gives, Exception):
            raise gives
        return gives

    monkeypatch.setattr(stream, "_asking", lambda _: ([], {}))
    subject = SimpleNamespace(caller=SimpleNamespace(cancel_early=cancel_early), underway=False)
    found = stream._wrong_cancelling(SimpleNamespace(subject=subject), "when", token=True)  # type: ignore[arg-type]
    assert [one.message for one in found] == told


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ((0.0, 0.1, 0.3), []),
        ((0.0, 0.29, 0.3), []),
        ((0.15, 0.15, 0.3), []),
        ((0.21, 0.29, 0.3), ["the provider paused 0.2 s in mid-answer, after 'first half'; by then '' was told"]),
        ((0.2, 0.2, 0.3), ["the provider paused 0.2 s in mid-answer, after 'first half'; by then '' was told"]),
    ],
)
def test_tokens_come_before_the_pause_that_follows_them(monkeypatch: pytest.MonkeyPatch, at: Any, told: list[str]):
    tokens = [{"type": "TOKEN", "token_type": "LLM_RESPONSE", "text": text} for text in ("first", " half")]
    monkeypatch.setattr(stream, "stream", lambda *_: Answered((*tokens, {"type": "END"}), at))
    question = SimpleNamespace(once=lambda look: {stream._sent_before_the_pause: "first half"}[look])
    trial: Any = SimpleNamespace(with_answer=lambda _: question)
    assert [one.message for one in stream.tokens_come_as_they_are_sent.run(trial)] == told


@pytest.mark.parametrize(
    ("took", "left", "told"),
    [
        (0.1, 0, []),
        (0.25, 0, []),
        (0.26, 0, ["closing took 0.26 s"]),
        (0.1, 3, []),
        (0.1, 99, ["the connection stays open, and the provider goes on answering"]),
        (OSError("no"), 99, ["closing raised OSError: no"]),
    ],
)
def test_closing_comes_back_at_once_and_closes_the_connection(monkeypatch, took: Any, left: int, told: list[str]):
    now, underway = [0.0], [left]

    def sleep(seconds: float) -> None:
        now[0] += seconds
        underway[0] -= underway[0] < 99

    def close_early(*_: Any) -> float:
        if isinstance(took, Exception):
            raise took
        return took

    monkeypatch.setattr(stream, "_asking", lambda _: ([], {}))
    monkeypatch.setattr(stream, "_hang_after_half", lambda _: None)
    monkeypatch.setattr(stream, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))

    class Asked:
        caller = SimpleNamespace(close_early=close_early)

        @property
        def underway(self) -> bool:
            return underway[0] > 0

        def answering(self, _: Any) -> Any:
            return nullcontext()

    trial: Any = SimpleNamespace(subject=Asked())
    found = [one.message for one in stream.closing_ends_the_call.run(trial)]
    assert [one[: len(wanted)] for one, wanted in zip(found, told, strict=True)] == told
    assert now[0] < 0.52
