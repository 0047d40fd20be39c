"""What a trial gives to the checks, and when it has nothing to give."""

from __future__ import annotations

import copyreg
import gc
import shutil
import weakref
from copy import copy
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from msgspec import structs

from art_compliance.checks import NotApplicable, Trial
from art_compliance.checks.live import call_is_answered, scrub
from art_compliance.checks.recording import Recording
from art_compliance.checks.replay.playing import replayed
from art_compliance.checks.requirements import LeftTo, is_json, require_read, require_sent
from art_compliance.comparison import expected_options
from art_compliance.resources import data_folder
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.scenarios import Scenario, WrittenAnswer
from art_compliance.subject.access import Access
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Refused, Sent
from art_compliance.subject.opening import open_subject
from art_compliance.subject.subject import Subject
from art_sdk import OpenAIAdapter
from made_cassettes import relabel
from trials import translating


@pytest.mark.parametrize("payload", [{}, [], {"a": [1, 2.5, None, True, "x"]}, {"a": (1, 2)}, "x", 10**30])
def test_json_data_is_recognised(payload: Any):
    assert is_json(payload)


def test_the_options_of_a_trial_may_be_changed_by_a_check():
    with open_subject(OpenAIAdapter, name="adapter", isolated=False) as subject:
        trial = Trial(subject, structs.replace(GREETING_SCENARIO, options={"temperature": 0.5}), 1)
        assert trial.options.pop("temperature") == 0.5
        assert trial.options["temperature"] == 0.5


@pytest.mark.parametrize("payload", [{1: 2}, {"a": float("nan")}, {"a": b"x"}, {"a": {1}}, {"a": "\ud800"}, object()])
def test_values_that_json_cannot_express_are_recognised(payload: Any):
    assert not is_json(payload)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, {}),
        ({"temperature": 0.0, "seed": None}, {"temperature": 0.0}),
        ({"stop": ["a"], "stream": True}, {"stop": ("a",), "stream": True}),
        ({"stop": [], "stream": False}, {}),
        ({"stop": list("ab")[2:], "max_tokens": 10**9}, {"max_tokens": 10**9}),
        (
            {"thread_id": "t", "trace_id": "t", "tools": [], "timeouts": {}, "provider": {}, "model": "m"},
            {"model": "m"},
        ),
    ],
)
def test_an_option_must_be_found_unless_it_says_nothing(options: dict[str, Any], found: dict[str, Any]):
    assert expected_options(options) == found


class Poor(OpenAIAdapter):
    capabilities = frozenset({"system"})
    losses = frozenset({"call_ids"})
    repairs = frozenset({"joins_turns"})


class Keeping(Poor):
    losses = frozenset({"message_name"})


def scenario(**more: Any) -> Scenario:
    fields = {name: getattr(GREETING_SCENARIO, name) for name in GREETING_SCENARIO.__struct_fields__}
    return Scenario(**{**fields, **more})


@pytest.fixture(scope="module")
def subject():
    with open_subject(OpenAIAdapter, name="openai") as one:
        yield one


def test_what_is_needed_and_not_declared_is_known(subject: Subject):
    needy = scenario(needs=("tools", "images"))
    assert Trial(subject, needy, 1).undeclared == ()
    with open_subject(Poor, name="poor") as poor:
        trial = Trial(poor, needy, 1)
        assert trial.undeclared == ("tools", "images")
        with pytest.raises(NotApplicable, match=r"^not declared: tools, images$"):
            trial.call(WrittenAnswer(content="a"))
        assert trial.declared_repairs == {"joins_turns", "maps_call_ids"}
    with open_subject(Keeping, name="keeping") as keeping:
        assert Trial(keeping, needy, 1).declared_repairs == {"joins_turns"}


class StreamsInside(OpenAIAdapter):
    """Declares that it may ask for a stream where the caller did not."""

    repairs = frozenset({*OpenAIAdapter.repairs, "streams_inside"})


@pytest.mark.parametrize(("fields", "shown"), [({}, set()), ({"stream": True}, {"streams_inside"})])
def test_a_stream_that_nobody_asked_for_shows_the_repair(fields: dict[str, Any], shown: set[str]):
    with open_subject(translating(lambda payload, *_: {**payload, **fields}, StreamsInside), name="inside") as inside:
        trial = Trial(inside, GREETING_SCENARIO, 1)
        assert trial.comparison.differences == ()
        assert trial.shown == shown


def test_an_answer_is_read_or_there_is_nothing_to_judge(subject: Subject):
    trial = Trial(subject, GREETING_SCENARIO, 1)
    with pytest.raises(NotApplicable, match="the scenario has no answer"):
        _ = trial.written
    answered = trial.with_answer(WrittenAnswer(content="said"))
    assert (answered.answered.text, answered.seed) == ("said", 1)
    with pytest.raises(NotApplicable, match="no field for reasoning"):
        trial.call(WrittenAnswer(content="said", thinking="Hm."))
    failed = Answered(({"type": "ERROR", "error": {"code": "X"}}, {"type": "END"}))
    for reply in (failed, Refused("NO", "why"), Crashed("no")):
        with pytest.raises(NotApplicable, match="the answer is not read"):
            require_read(reply)


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (Refused("NO", "x"), r"^refused: NO$"),
        (Crashed("x"), "^it crashed: "),
        (Sent({"a": float("nan")}, None), "^the payload is not JSON data: "),
    ],
)
def test_without_a_request_there_is_nothing_to_judge(seen: Any, why: str):
    with pytest.raises(NotApplicable, match=why):
        require_sent(seen)


def with_traceback(kind: type[BaseException], attributes: dict[str, Any], traceback: TracebackType) -> BaseException:
    made = kind.__new__(kind, *attributes.pop("args"))
    vars(made).update(attributes)
    return made.with_traceback(traceback)


def reduced_with_traceback(error: BaseException) -> tuple[Any, ...]:
    """As tblib, which Dask brings, teaches `copy` and `pickle`."""
    return with_traceback, (type(error), {"args": error.args, **vars(error)}, error.__traceback__)


@pytest.mark.parametrize("raised", [NotApplicable("no result", judged=3), LeftTo("payload.is-canonical")])
def test_what_is_kept_of_a_check_that_does_not_apply_refers_to_no_frames(
    subject: Subject, raised: NotApplicable, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(copyreg.dispatch_table, type(raised), reduced_with_traceback)
    alive: list[weakref.ref[object]] = []

    def look(_: Trial) -> None:
        local = frozenset({"in the frame"})
        alive.append(weakref.ref(local))
        raise copy(raised)

    trial = Trial(subject, GREETING_SCENARIO, 1)
    seen: list[NotApplicable] = []
    for _ in range(3):
        with pytest.raises(type(raised)) as caught:
            trial.once(look)
        seen.append(caught.value)
    assert [(str(one), vars(one)) for one in seen] == [(str(raised), vars(raised))] * 3
    assert len(set(map(id, seen))) == 3
    seen.clear()
    del caught
    gc.collect()
    assert [one() for one in alive] == [None]


def test_without_a_cassette_or_a_real_provider_nothing_is_called(subject: Subject, tmp_path: Path):
    trial = Trial(subject, GREETING_SCENARIO, 1)
    with pytest.raises(NotApplicable, match="the scenario has no cassette"):
        _ = trial.recording.cassette
    with pytest.raises(NotApplicable, match="this run does not call the real provider"):
        call_is_answered(trial)
    assert trial.recording.source is None
    gone = Trial(
        subject,
        GREETING_SCENARIO,
        1,
        recording=Recording(GREETING_SCENARIO, tmp_path / "openai-chat" / "greeting.yaml"),
    )
    with pytest.raises(NotApplicable, match="the scenario has no cassette"):
        _ = gone.recording.cassette
    assert gone.recording.source is None
    assert gone.recording.describe_command(["--key-from", "KEY"]) == "art record"


def test_a_cassettes_source_and_model_are_known(subject: Subject, tmp_path: Path):
    own_model = {"source": "strict provider", "model": "m-1"}
    no_model = {"source": "provider", "model": None}
    for known, source, model in ((own_model, "strict provider", "m-1"), (no_model, "provider", None)):
        trial = Trial(
            subject, GREETING_SCENARIO, 1, recording=Recording(GREETING_SCENARIO, a_cassette(tmp_path, **known))
        )
        assert (trial.recording.source, trial.recording.options.get("model")) == (source, model)
    chosen = scenario(options={"model": "own"})
    trial = recorded(subject, a_cassette(tmp_path, **own_model), chosen)
    assert trial.recording.options["model"] == "own"


def test_without_its_own_words_a_cassette_has_no_known_source(subject: Subject, tmp_path: Path):
    path = a_cassette(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(f"version: 1\n{text[text.index('interactions:') :]}", encoding="utf-8")
    unknown = recorded(subject, path)
    assert (unknown.recording.source, unknown.recording.options) == (None, GREETING_SCENARIO.call_options())


def recorded(subject: Subject, path: Path, asked: Scenario = GREETING_SCENARIO) -> Trial:
    return Trial(subject, asked, 1, recording=Recording(asked, path))


def a_cassette(folder: Path, **changed: Any) -> Path:
    """A copy of one of the suite's cassettes that says this of itself."""
    path = folder / "one.yaml"
    shutil.copy(data_folder("cassettes") / "openai" / "one-question.yaml", path)
    if changed:
        relabel(path, **changed)
    return path


class Silent(OpenAIAdapter):
    call = None


def test_without_a_call_nothing_is_replayed(tmp_path: Path):
    with open_subject(Silent, name="one") as one:
        trial = recorded(one, a_cassette(tmp_path))
        with pytest.raises(NotApplicable, match="the adapter has no call"):
            replayed(trial)


def test_what_is_shown_is_without_the_real_providers_key(subject: Subject):
    text = "the key sk-very-secret-1234567890 was refused"
    assert scrub(Trial(subject, GREETING_SCENARIO, 1), text.replace("sk-", "own-")) == text.replace("sk-", "own-")
    with open_subject(OpenAIAdapter, name="live", access=Access(key="sk-very-secret-1234567890")) as live:
        shown = scrub(Trial(subject, GREETING_SCENARIO, 1, live=live), text)
    assert "very-secret" not in shown


def test_what_several_checks_look_at_is_looked_at_once(subject: Subject):
    looked: list[Trial] = []
    trial = Trial(subject, GREETING_SCENARIO, 1)

    def look(one: Trial) -> int:
        looked.append(one)
        return len(looked)

    assert [trial.once(look), trial.once(look)] == [1, 1]
    assert looked == [trial]


def test_the_providers_fields_are_those_of_the_dialect(subject: Subject):
    given = scenario(options={"provider": {"openai-chat": {"seed": 1}, "gemini-generate": {"x": 2}}})
    assert Trial(subject, given, 1).provider_fields == {"seed": 1}
    assert Trial(subject, GREETING_SCENARIO, 1).provider_fields == {}


def test_a_prompt_that_says_another_thing_differs(subject: Subject):
    trial = Trial(subject, scenario(options={"model": "m", "temperature": 0.5}), 1)
    prompt, options = GREETING_SCENARIO.prompt, trial.scenario.call_options()
    assert list(trial.comparison.differences) == []
    assert trial.observe(prompt) == trial.observation
    assert trial.compare(trial.decoded, [{"role": "user", "content": "other"}], options, trial.sent).differences
    assert trial.compare(trial.decoded, prompt, {**options, "model": "n"}, trial.sent).differences
    warmer = trial.observe_sent(prompt, {**options, "temperature": 1.5})
    assert warmer.payload["temperature"] == 1.5
