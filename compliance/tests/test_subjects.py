"""Every kind of adapter can be judged: a reference adapter, any object with `translate`, and one with only `call`."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance import Report, Selection, certify
from art_compliance.generating.profiles import PROFILES, Search
from art_compliance.run.lines import as_text
from art_compliance.run.summary import summarize
from art_sdk import OpenAIAdapter, parse_options, parse_prompt
from own_adapters import BlackBox, OwnAdapter, Refusal, TranslateOnly

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

QUICK = Search(profile=PROFILES["quick"])
SIMPLE = Selection(scenarios=("one-question", "multi-turn-history", "unicode", "sampling", "late-system"))


def failed(report: Report) -> set[str]:
    assert not report.harness_errors
    return {result.check for result in report.failures}


@pytest.mark.parametrize(
    ("make", "kind", "dialect"),
    [
        (OwnAdapter, "white box", "openai-chat"),
        (BlackBox, "black box", "openai-chat"),
        (TranslateOnly, "translate only", None),
        (OpenAIAdapter, "white box", "openai-chat"),
    ],
)
def test_a_good_adapter_passes_however_it_is_reached(make: Any, kind: str, dialect: str | None):
    report = certify(make, selection=SIMPLE, isolated=False)
    assert (report.adapter.kind, report.adapter.dialect) == (kind, dialect)
    assert failed(report) == set()
    assert report.levels["core"].passed > 20


class Toolless(OpenAIAdapter):
    capabilities = OpenAIAdapter.capabilities - {"tools", "parallel_tools", "tool_choice"}


def test_an_adapter_without_tools_is_not_judged_on_tools():
    with_tools = ("parallel-calls", "same-tool-twice", "answer-parallel-calls", "broken-arguments", "failed-result")
    selection = Selection(scenarios=(*SIMPLE.scenarios, *with_tools))
    report = certify(Toolless, selection=selection, search=QUICK, isolated=False)
    assert failed(report) == set()
    assert {name for name, count in report.levels.items() if count.is_applicable} == {"core"}


@pytest.mark.once
@pytest.mark.thorough
def test_an_adapter_without_tools_is_certified_for_what_it_declares():
    report = certify(Toolless, search=QUICK, isolated=False)
    assert failed(report) == set()
    assert {name for name, count in report.levels.items() if count.is_applicable} == {
        "core",
        "streaming",
        "resilience",
        "properties",
    }
    assert report.is_certified


class Lossy(BlackBox):
    async def call(self, prompt: Any, options: Any) -> Any:
        async for event in super().call([m for m in prompt if m["role"] != "system"] or prompt, options):
            yield event


class Shouting(TranslateOnly):
    def translate(self, prompt: Any, options: Any) -> Any:
        return super().translate([{**m, "content": m["content"].upper()} for m in prompt], options)


def test_a_black_box_that_loses_the_system_message_is_found_by_its_requests():
    selection = Selection(scenarios=SIMPLE.scenarios, checks=("translation.system-text-survives",))
    assert failed(certify(Lossy, selection=selection, isolated=False)) == {"translation.system-text-survives"}


def test_a_changed_text_in_an_unknown_format_is_found():
    assert failed(certify(Shouting, selection=SIMPLE, isolated=False)) == {"translation.canary-texts-are-whole"}


def test_an_adapter_that_declares_nothing_is_judged_on_everything():
    class Bare:
        def __init__(self, **_: Any) -> None:
            pass

        def translate(self, prompt: Any, options: Any) -> Any:
            return OpenAIAdapter(api_key="k").translate(parse_prompt(prompt), parse_options(options))

    asked = ("translation.repairs-are-declared", "translation.result-status-survives")
    report = certify(Bare, dialect="openai-chat", selection=Selection(checks=asked), isolated=False)
    assert failed(report) == {*asked}
    assert report.adapter.losses == ()


class Forging(OwnAdapter):
    """Changes the prompt in place, so that a judge with the same list would see nothing missing."""

    def translate(self, prompt: Any, options: Any) -> Any:
        prompt[:] = [message for message in prompt if message["role"] != "system"] or prompt
        return super().translate(prompt, options)


def test_an_adapter_cannot_change_the_prompt_that_it_is_judged_by():
    seen = ("translation.system-text-survives", "translation.leaves-its-arguments-alone")
    selection = Selection(scenarios=("one-question", "two-leading-systems"), checks=seen)
    assert failed(certify(Forging, selection=selection, isolated=False)) == {*seen}
    assert failed(certify(OwnAdapter, selection=selection, isolated=False)) == set()


@pytest.mark.once
def test_an_adapter_that_refuses_almost_everything_passes_no_level_of_tools_or_streams():
    class Refuser(OwnAdapter):
        capabilities = ()

        def translate(self, prompt: Any, options: Any) -> Any:
            if len(prompt) > 1 or options.keys() - {"thread_id"}:
                raise Refusal("not this")
            return super().translate(prompt, options)

    levels = certify(Refuser, search=QUICK, isolated=False).levels
    assert {name for name, count in levels.items() if count.is_applicable} == {"core", "resilience", "properties"}


def test_a_run_without_a_known_dialect_says_so():
    assert "format-free checks" in as_text(summarize(certify(TranslateOnly, selection=SIMPLE, isolated=False)))


def test_declared_repairs_are_allowed_where_exact_is():
    class Mapping(OpenAIAdapter):
        def map_call_ids(self, call_ids: Any) -> Any:
            return {call_id: f"m{number:08}" for number, call_id in enumerate(call_ids)}

    assert (
        failed(certify(Mapping, selection=Selection(checks=("translation.outcome-is-right",)), isolated=False)) == set()
    )


class Naive:
    """A first draft: the messages as they are, in any dialect's list."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def translate(self, prompt: Any, options: Any) -> Any:
        return {"model": "m", self.history: prompt, **{k: v for k, v in options.items() if k != "thread_id"}}


@pytest.mark.once
@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("dialect", "history"),
    [
        ("openai-chat", "messages"),
        pytest.param("anthropic-messages", "messages", marks=pytest.mark.thorough),
        pytest.param("gemini-generate", "contents", marks=pytest.mark.thorough),
    ],
)
def test_a_naive_adapter_fails_checks_but_never_breaks_the_judge(dialect: str, history: str):
    report = certify(type("Mine", (Naive,), {"dialect": dialect, "history": history}), search=QUICK, isolated=False)
    assert report.harness_errors == []
    assert len({result.check for result in report.failures}) > 5
