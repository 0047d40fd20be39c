"""Which faults are put upon whom, and what is wrong with what comes of them."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from art_compliance.checks import NotApplicable
from art_compliance.checks.faults import applying as befalling
from art_compliance.checks.faults import errors as faults
from art_compliance.checks.faults import time_limits as waiting
from art_compliance.checks.faults.applying import Case
from art_compliance.checks.faults.time_limits import Waited
from art_compliance.checks.stream.answers import _half_calls, _lost, _places
from art_compliance.checks.streamed import in_pieces
from art_compliance.checks.trial import Trial
from art_compliance.provider import Request
from art_compliance.provider.faults import FAULTS, RETRY_AFTER, STEADY
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.subject.access import TEST_KEY
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Refused
from art_compliance.subject.opening import open_subject
from art_sdk import OpenAIAdapter

IDS = {"thread_id": GREETING_SCENARIO.call_options()["thread_id"], "trace_id": "t"}


class Unstreamed(OpenAIAdapter):
    capabilities = frozenset(OpenAIAdapter.capabilities - {"streaming"})


@pytest.fixture(scope="module", params=[OpenAIAdapter, Unstreamed], ids=["streamed", "unstreamed"])
def trial(request: pytest.FixtureRequest):
    with open_subject(request.param, name="openai") as subject:
        yield Trial(subject, GREETING_SCENARIO, 1)


def failed(**error: Any) -> Answered:
    told = {"code": "LLM_PROVIDER_ERROR", "message": "no", **error}
    end = {"type": "END", "finish": "error", "message": {"role": "assistant", "content": None}}
    return Answered(({**IDS, "type": "ERROR", "error": told}, {**IDS, **end}), (0.1, 0.2))


def answered(text: str = "whole") -> Answered:
    end = {"type": "END", "finish": "stop", "message": {"role": "assistant", "content": text}}
    return Answered(({**IDS, **end},), (0.1,))


def test_every_fault_befalls_the_kinds_of_answer_that_are_asked_for(trial: Trial):
    kinds = {True, False} if "streaming" in trial.subject.capabilities else {False}
    told = {(case.fault.id, case.streamed) for case in befalling.cases(trial)}
    wanted = {(one.id, kind == "streamed") for one in FAULTS.values() for kind in one.on}
    assert told == {(name, streamed) for name, streamed in wanted if streamed in kinds}


@pytest.mark.parametrize(
    ("header", "names"),
    [("gzip", ["gzip"]), ("gzip;q=1, br ,deflate", ["gzip", "br", "deflate"]), ("", [""])],
)
def test_an_answer_may_be_encoded_as_the_request_accepts(header: str, names: list[str]):
    assert list(befalling._accepted(Request("POST", "/", {"accept-encoding": header}, b""))) == names
    assert list(befalling._accepted(Request("POST", "/", {}, b""))) == [""]


BUSY = Case(FAULTS["status-429"], streamed=False, expects="error")
DOWN = Case(FAULTS["status-500"], streamed=False, expects="error")
GOOD = {"status": 500, "provider_message": "written error 500"}
LATE = {"status": 429, "provider_message": "written error 429", "retry_after": RETRY_AFTER}


@pytest.mark.parametrize(
    ("case", "heard", "wrong"),
    [
        (DOWN, failed(**GOOD), []),
        (DOWN, failed(status=500, message="written error 500"), []),
        (DOWN, failed(**{**GOOD, "status": 501}), ["the error's status is 501"]),
        (DOWN, failed(**{**GOOD, "status": 429}), ["the error's status is 429"]),
        (DOWN, failed(status=500), ["the provider's words 'written error 500' are not told"]),
        (DOWN, failed(status=500, provider_message="x", message="written error 500"), ["the provider's words"]),
        (BUSY, failed(**LATE), []),
        (BUSY, failed(**{**LATE, "retry_after": None}), [f"retry_after is None; the answer says {RETRY_AFTER} s"]),
        (BUSY, failed(**{**LATE, "retry_after": 99}), [f"retry_after is 99; the answer says {RETRY_AFTER} s"]),
        (DOWN, Crashed("no"), ["the error's status is None", "the provider's words"]),
        (Case(STEADY, streamed=False, expects="whole"), failed(), []),
    ],
)
def test_of_an_error_is_not_told(case: Case, heard: Any, wrong: list[str]):
    seen = list(faults._wrong_error(case, heard))
    assert [one[: len(told)] for one, told in zip(seen, wrong, strict=True)] == wrong


HANG = Case(FAULTS["hang-mid-body"], streamed=False, expects="error")
WHOLE = Case(STEADY, streamed=False, expects="whole")


@pytest.mark.parametrize(
    ("case", "limit", "heard", "count"),
    [
        (HANG, "whole_call", failed(), 0),
        (HANG, "whole_call", Answered(failed().events, (0.1, 0.65)), 0),
        (HANG, "whole_call", Answered(failed().events, (0.1, 0.66)), 1),
        (HANG, "between_bytes", Answered(failed().events, (0.1, 9.0)), 0),
        (HANG, "whole_call", Answered(failed().events), 0),
        (HANG, "whole_call", answered(), 1),
        (HANG, "whole_call", Crashed("no"), 1),
        (WHOLE, "first_byte", answered(), 0),
        (WHOLE, "first_byte", answered("other"), 1),
        (WHOLE, "first_byte", Crashed("no"), 1),
    ],
)
def test_a_call_that_waits_ends_in_time_and_a_steady_one_whole(case: Case, limit: str, heard: Any, count: int):
    scenario = SimpleNamespace(call_options=lambda: IDS)
    trial: Any = SimpleNamespace(scenario=scenario, once=lambda make: {befalling.good: answered()}[make])
    assert len(list(waiting._wrong_wait(trial, Waited(case, limit), heard))) == count


def test_time_limits_are_long_but_for_one(trial: Trial):
    for streamed in (False, True):
        options = waiting._limited(trial, Waited(Case(STEADY, streamed, "whole"), "first_byte"))
        assert options["timeouts"] == {"connect": 60, "first_byte": 0.4, "between_bytes": 60, "whole_call": 60}
        assert options.get("stream", False) is streamed


def test_what_is_left_behind_is_what_is_more_than_a_few(monkeypatch: pytest.MonkeyPatch):
    trial: Any = SimpleNamespace(subject=SimpleNamespace(caller=SimpleNamespace(count_tasks=lambda: 7)))
    before = faults._count_open(trial)
    assert before["tasks"] == 7
    assert before.keys() == {"threads", "tasks", "open sockets and files"}
    monkeypatch.setattr(faults, "_count_open", lambda _: {name: count + 4 for name, count in before.items()})
    assert faults._grown(trial, before) == dict.fromkeys(before, 4)
    monkeypatch.setattr(faults, "_count_open", lambda _: {name: count + 3 for name, count in before.items()})
    assert faults._grown(trial, before) == {}


@pytest.mark.parametrize(
    ("until", "told"),
    [(0.0, []), (0.5, []), (0.98, []), (9.0, ["after 2 faults there are 8 more threads"])],
)
def test_what_is_closed_within_a_second_is_not_left_behind(monkeypatch: pytest.MonkeyPatch, until: float, told: Any):
    now, befallen = [0.0], list[Case]()

    def sleep(seconds: float) -> None:
        now[0] += seconds

    def count_open(_: Any) -> dict[str, int]:
        return {"threads": 8 + 8 * (bool(befallen) and now[0] < until)}

    known = [DOWN, HANG, Case(FAULTS["slow"], streamed=False, expects="whole"), BUSY]
    monkeypatch.setattr(faults, "cases", lambda _: known)
    monkeypatch.setattr(faults, "call", lambda _, case: befallen.append(case))
    monkeypatch.setattr(faults, "_count_open", count_open)
    monkeypatch.setattr(faults, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    monkeypatch.setattr(faults, "gc", SimpleNamespace(collect=int))
    trial: Any = SimpleNamespace(once=lambda _: None)
    assert [one.message for one in faults.leave_nothing_behind.run(trial)] == told
    assert befallen == [DOWN, BUSY]
    assert now[0] == pytest.approx(min(until, 1.0), abs=0.03)


def test_the_provider_repeats_the_key_in_a_status_and_in_an_event(trial: Trial):
    told = dict(faults._with_the_key(trial))
    streams = "streaming" in trial.subject.capabilities
    assert len(told) == (2 if streams else 0)
    assert all(isinstance(one, Answered) and one.error is not None for one in told.values())
    assert TEST_KEY not in str(told)
    if streams:
        ways = ("status 401 that repeats the key (streamed)", "an error event that repeats the key")
        errors = [told[way].error for way in ways]
        assert [one["status"] for one in errors] == [401, 200]
        assert [one["provider_code"] for one in errors] == ["invalid_api_key"] * 2


@pytest.mark.parametrize(
    ("count", "near", "least", "most"),
    [(0, 3, [], 0), (1, 3, [0], 1), (5, 3, [0, 1, 2, 3, 4], 5), (20, 3, [0, 1, 2, 17, 18, 19], 9), (20, 1, [0, 19], 3)],
)
def test_a_stream_is_cut_at_both_ends_and_somewhere_between(count: int, near: int, least: list[int], most: int):
    for seed in range(20):
        places = _places(count, dice(seed), near)
        assert set(least) <= set(places) <= set(range(count))
        assert places == sorted(set(places))
        assert len(places) == most


def dice(seed: int) -> Any:
    return random.Random(seed)  # noqa: S311 - where a stream is cut is no secret


def calling(*calls: tuple[str, str]) -> Answered:
    return Answered(
        tuple({"type": "TOOL_CALL", "call": {"id": one, "function": {"name": name}}} for one, name in calls)
    )


def test_half_a_call_is_one_that_was_never_whole():
    whole = calling(("a", "look"), ("b", "find"))
    assert _half_calls(calling(("x", "look")), whole) == []
    assert _half_calls(Refused("NO", "why"), whole) == []
    (told,) = _half_calls(calling(("a", "look"), ("b", "fi")), whole)
    assert "'name': 'fi'" in told


def test_token_counts_may_be_lost_with_the_end():
    def counted(text: str, **counts: int) -> Answered:
        return Answered(({"type": "METADATA", "metadata": counts}, *answered(text).events))

    everything = {f"{one}_tokens": 3 for one in ("input", "output", "thinking", "cached")}
    assert _lost(counted("a"), counted("a", **everything)) == []
    assert [one.partition(":")[0] for one in _lost(counted("a"), counted("b", **everything))] == ["the message"]


def test_pieces_of_nothing_much_are_few():
    assert list(in_pieces(b"a", dice(1), 3)) == [b"a"]


ODD = Case(STEADY, streamed=True, expects="either")
KEYED = failed(message=f"no {TEST_KEY}")


def judged(check: str, seen: list[tuple[Any, Any]], *, logs: str = "", waited: Any = ()) -> list[str]:
    run = faults.Run([faults.Seen(*one) for one in seen], logs)
    known = {
        faults._run: run,
        befalling.good: answered(),
        befalling.good_stream: answered("streamed"),
        waiting.wait: waited,
    }
    subject = SimpleNamespace(capabilities=())
    scenario = SimpleNamespace(call_options=lambda: IDS)
    stub: Any = SimpleNamespace(once=known.__getitem__, subject=subject, scenario=scenario)
    return [one.message for one in {**vars(faults), **vars(waiting)}[check].run(stub)]


@pytest.mark.parametrize(
    ("check", "seen", "told"),
    [
        ("are_told_as_errors", [(DOWN, failed(**GOOD)), (WHOLE, Crashed("no"))], []),
        ("are_told_as_errors", [(DOWN, failed(**{**GOOD, "status": 1}))], [f"{DOWN}: the error's status is 1"]),
        ("are_told_as_errors", [(HANG, answered())], [f"{HANG}: expected tokens and calls"]),
        ("are_told_as_errors", [(ODD, answered())], []),
        ("are_told_as_errors", [(ODD, failed()), (ODD, failed(code="X"))], [f"{ODD}: the error's code is 'X'"]),
        ("are_told_as_errors", [(ODD, Crashed("no"))], [f"{ODD}: no"]),
        (
            "benign_ones_change_nothing",
            [(WHOLE, answered()), (DOWN, answered("other")), (ODD, answered("streamed"))],
            [],
        ),
        ("benign_ones_change_nothing", [(WHOLE, answered("other"))], [f"{WHOLE}: it differs in the message"]),
        ("benign_ones_change_nothing", [(ODD, answered("other"))], [f"{ODD}: it differs in the message"]),
        ("benign_ones_change_nothing", [(ODD, failed()), (ODD, Crashed("no"))], []),
        ("benign_ones_change_nothing", [(WHOLE, Crashed("no"))], [f"{WHOLE}: no"]),
        (
            "benign_ones_change_nothing",
            [(WHOLE, failed())],
            [f"{WHOLE}: it differs in the message", f"{WHOLE}: it differs"],
        ),
        ("show_no_key", [(DOWN, failed()), (DOWN, Crashed("no"))], []),
        ("show_no_key", [(DOWN, KEYED)], [f"{DOWN}: what is told shows the key"]),
        ("show_no_key", [(DOWN, Crashed(f"no {TEST_KEY}"))], [f"{DOWN}: what is told shows the key"]),
    ],
)
def test_of_what_came_of_the_faults_is_wrong(check: str, seen: Any, told: list[str]):
    found = judged(check, seen)
    assert [one[: len(wanted)] for one, wanted in zip(found, told, strict=True)] == told


def test_the_first_line_of_a_log_that_shows_the_key_is_told_without_it():
    logs = f"good\n{'x' * 300}\nsent {TEST_KEY} away {'y' * 300}\nand {TEST_KEY} again"
    (told,) = judged("show_no_key", [], logs=logs)
    assert told.startswith("a log shows the key: sent [the key] away yyy")
    assert len(told) == len("a log shows the key: ") + 121
    assert judged("show_no_key", [], waited=[(Waited(HANG, "whole_call"), KEYED)]) == [
        f"{HANG}, with the time limit whole_call: what is told shows the key"
    ]


def test_who_is_late_is_asked_once_more_and_a_refused_option_ends_it(monkeypatch: pytest.MonkeyPatch):
    late, good = Waited(HANG, "whole_call"), Waited(HANG, "between_bytes")
    slow = Answered(failed().events, (0.1, 3.0))
    again: list[Any] = []

    def wait_for(_: Any, waited: list[Waited]) -> list[tuple[Waited, Any]]:
        again.extend(waited)
        return [(one, slow) for one in waited]

    monkeypatch.setattr(waiting, "_wait_for", wait_for)
    found = judged("end_in_time", [], waited=[(late, slow), (good, failed())])
    assert (found, again) == ([f"{late} = 0.4 s: it took 3.00 s"], [late])
    with pytest.raises(NotApplicable, match=r"the option timeouts is refused \(NO\)"):
        judged("end_in_time", [], waited=[(good, failed()), (late, Refused("NO", "why"))])
