"""Contributors become one system prompt: in order, within their time, whatever one of them does."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk import InvalidConfig, PromptAssemblyFailed
from art_sdk.contributors import (
    BuildOptions,
    DynamicContributor,
    DynamicContributorContext,
    Level,
    StaticContributor,
    SystemPrompt,
    build_system_prompt,
    load_contributors,
    validate_agent_config,
)
from art_sdk.contributors.budget import fit
from art_sdk.contributors.system_prompt import PromptPart

BACKENDS = ["asyncio", "trio"]


def build(contributors: Sequence[Any], context: DynamicContributorContext | None = None, **how: Any) -> SystemPrompt:
    backend = how.pop("backend", "asyncio")
    return anyio.run(lambda: build_system_prompt(contributors, context, **how), backend=backend)


def static(id_: str, priority: int = 1, **how: Any) -> StaticContributor:
    return StaticContributor(id_, priority, id_.upper(), **how)


async def hang(_context: DynamicContributorContext) -> str:
    await anyio.sleep_forever()
    return ""


async def fail(_context: DynamicContributorContext) -> str:
    raise ValueError("no weather today")


async def give_a_number(_context: DynamicContributorContext) -> Any:
    return 3


async def cancel_itself(_context: DynamicContributorContext) -> Any:
    raise anyio.get_cancelled_exc_class()


@pytest.mark.parametrize("backend", BACKENDS)
def test_parts_are_sorted_by_priority_then_as_given(backend: str):
    prompt = build([static("c", 2), static("a", 1), static("d", 2), static("b", 1)], backend=backend)
    assert prompt.text == "A\n\nB\n\nC\n\nD"


def test_empty_parts_are_left_out():
    nothing = DynamicContributor("n", 1, lambda _: None)
    blank = StaticContributor("b", 2, " \n")
    prompt = build([nothing, blank, static("a", 3)])
    assert prompt.text == "A"
    assert [part.state for part in prompt.parts] == ["empty", "empty", "kept"]
    assert build([]).text == ""


def test_contributors_run_at_once():
    async def run() -> str:
        met = anyio.Event()

        async def first(_context: DynamicContributorContext) -> str:
            await met.wait()
            return "first"

        async def second(_context: DynamicContributorContext) -> str:
            met.set()
            return "second"

        made = [DynamicContributor("1", 1, first), DynamicContributor("2", 2, second)]
        return (await build_system_prompt(made)).text

    assert anyio.run(run) == "first\n\nsecond"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        (fail, "ValueError: no weather today"),
        (hang, "took longer than 0.05 s"),
        (give_a_number, "TypeError: its content must be text, not of type int"),
    ],
    ids=["raises", "hangs", "gives a number"],
)
def test_a_contributor_that_fails_fails_the_build_or_is_left_out(handler: Any, reason: str, backend: str):
    made = [static("a"), DynamicContributor("bad", 2, handler), static("z", 3)]
    prompt = build(made, options=BuildOptions(on_error="skip", time_limit=0.05), backend=backend)
    assert prompt.text == "A\n\nZ"
    assert prompt.errors == {"bad": reason}
    with pytest.raises(PromptAssemblyFailed) as caught:
        build(made, options=BuildOptions(time_limit=0.05), backend=backend)
    assert caught.value.message == f"Failed to build the system prompt: the contributor 'bad' failed: {reason}"
    assert caught.value.details == {"contributor": "bad", "level": "base", "reason": reason}


def test_a_contributor_that_cancels_itself_has_failed():
    made = [DynamicContributor("bad", 1, cancel_itself), static("z", 2)]
    prompt = build(made, options=BuildOptions(on_error="skip"))
    assert (prompt.text, prompt.errors) == ("Z", {"bad": "was cancelled"})
    with pytest.raises(PromptAssemblyFailed, match="'bad' failed: was cancelled"):
        build(made)


def test_a_failure_ends_the_build_at_once():
    made = [DynamicContributor("slow", 1, hang), DynamicContributor("bad", 2, fail)]
    with pytest.raises(PromptAssemblyFailed, match="'bad' failed"):
        build(made, options=BuildOptions(time_limit=3_600))


def test_the_cause_of_a_failure_is_kept():
    with pytest.raises(PromptAssemblyFailed) as caught:
        build([DynamicContributor("bad", 1, fail)])
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_long_reason_is_cut():
    async def fail_at_length(_context: DynamicContributorContext) -> str:
        raise ValueError("x" * 10_000)

    prompt = build([DynamicContributor("bad", 1, fail_at_length)], options=BuildOptions(on_error="skip"))
    assert len(prompt.errors["bad"]) <= 151


def test_a_build_that_is_cancelled_is_cancelled():
    async def run() -> bool:
        with anyio.move_on_after(0.05) as scope:
            await build_system_prompt([DynamicContributor("h", 1, hang)], options=BuildOptions(on_error="skip"))
        return scope.cancelled_caught

    assert anyio.run(run)


def test_text_of_contributors_is_not_a_template_unless_it_says_so():
    context = DynamicContributorContext(thread_id="t1", extra={"name": "{{x}}"})
    text = "I am {{name}} in {{threadId}}."
    assert build([StaticContributor("a", 1, text)], context).text == text
    assert build([StaticContributor("a", 1, text, is_template=True)], context).text == "I am {{x}} in t1."
    with pytest.raises(PromptAssemblyFailed, match="name"):
        build([StaticContributor("a", 1, text, is_template=True)])


def test_blocks_split_what_stays_from_what_changes():
    made = [static("t", 1, stability="turn"), static("s", 2), static("u", 3, stability="turn"), static("d", 4)]
    prompt = build(made)
    assert prompt.text == "T\n\nS\n\nU\n\nD"
    assert prompt.blocks() == ("S\n\nD", "T\n\nU")
    assert build([static("s")]).blocks() == ("S",)
    assert build([static("t", stability="turn")]).blocks() == ("T",)
    assert build([]).blocks() == ()


@pytest.mark.parametrize(
    ("most", "drop_order", "text"),
    [
        (100, ("a",), "A" * 20 + "\n\n" + "B" * 20 + "\n\n" + "C" * 20),
        (63, ("b", "a"), "A" * 20 + "\n\n" + "C" * 20),
        (30, ("b", "nobody", "a", "b"), "C" * 20),
        (62, (), "A" * 20 + "\n\n" + "B" * 20 + "\n\n" + "C" * 6 + "\n[truncated]"),
        (56, (), "A" * 20 + "\n\n" + "B" * 20),
        (41, (), "A" * 20 + "\n\n" + "B" * 7 + "\n[truncated]"),
        (35, (), "A" * 20 + "\n\n" + "B" + "\n[truncated]"),
        (34, (), "A" * 20),
        (19, (), "A" * 7 + "\n[truncated]"),
        (12, (), ""),
        (15, ("c", "b", "a"), ""),
    ],
)
def test_a_prompt_that_is_too_long_loses_parts_then_its_end(most: int, drop_order: tuple[str, ...], text: str):
    made = [StaticContributor(id_, 1, id_.upper() * 20) for id_ in "abc"]
    assert build(made, options=BuildOptions(max_chars=most, drop_order=drop_order)).text == text


@given(
    sizes=st.lists(st.integers(0, 40), max_size=6),
    most=st.integers(1, 100),
    dropped=st.lists(st.integers(0, 6), max_size=4),
)
def test_no_prompt_is_longer_than_its_budget(sizes: list[int], most: int, dropped: list[int]):
    parts = [
        PromptPart(
            id=str(index),
            priority=0,
            level="base",
            stability="static",
            text="x" * size,
            state="kept" if size else "empty",
            milliseconds=0.0,
            is_wrapped=size % 3 == 0,
        )
        for index, size in enumerate(sizes)
    ]
    whole, fitted = SystemPrompt(tuple(parts)), SystemPrompt(tuple(fit(parts, most, [*map(str, dropped)])))
    assert len(fitted.text) <= most
    assert (fitted.text == whole.text) == (len(whole.text) <= most)
    assert all(part.text.endswith("[truncated]") for part in fitted.parts if part.state == "truncated")
    assert not [part for part in fitted.parts if part.is_wrapped and part.state == "truncated"]


def test_levels_stand_after_or_before_the_base_by_priority():
    prompt = build(
        [static("base", 50)],
        instance=[static("i2", 2), static("i1", 1)],
        thread=Level([static("t2", 99), static("t1", 98)], placement="prepend"),
        call=[static("c", 0)],
    )
    assert prompt.text == "T1\n\nT2\n\nBASE\n\nI1\n\nI2\n\nC"
    assert [part.level for part in prompt.parts] == ["thread", "thread", "base", "instance", "instance", "call"]


def test_a_narrower_level_replaces_a_wider_one_but_never_the_base():
    own = [StaticContributor("x", 1, "of the call")]
    assert build([static("b")], instance=[static("x")], call=own).text == "B\n\nof the call"
    with pytest.raises(InvalidConfig, match="the level 'call' must not replace contributors of the base: x"):
        build([static("x")], call=own)


def test_an_id_that_a_level_has_twice_is_refused():
    with pytest.raises(InvalidConfig, match="the level 'base' has contributors with the same id: a"):
        build([static("a"), static("a")])


def test_user_instructions_are_there_once_however_many_contributors_give_them():
    entry = {"id": "userInstructions", "type": "static", "priority": 5, "content": "Be brief."}
    twins = [{"id": id_, "type": "dynamic", "priority": 1, "source": "userInstructions"} for id_ in "ab"]
    prompt = {"contributors": [entry, *twins, {"id": "dateTime", "enabled": False}]}
    config = validate_agent_config({"llm": {"systemPrompt": prompt}})
    built = build(load_contributors(prompt), DynamicContributorContext(agent_config=config))
    assert built.text == "Be brief."
    assert {part.id: part.state for part in built.parts} == {
        "a": "kept",
        "b": "repeated",
        "userInstructions": "repeated",
    }


def test_parts_tell_time_size_and_error_but_not_the_text(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    made = [StaticContributor("a", 1, "a secret text"), DynamicContributor("bad", 2, fail)]
    prompt = build(made, options=BuildOptions(on_error="skip"))
    good, bad = prompt.parts
    assert isinstance(good, PromptPart)
    assert (good.size, good.error, bad.size, bad.error) == (13, None, 0, "ValueError: no weather today")
    assert good.milliseconds >= 0
    assert "secret" not in f"{prompt!r}{made!r}"
    assert caplog.text == ""


def test_a_build_is_logged_at_debug_without_its_text(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG, "art_sdk.contributors")
    build([StaticContributor("a", 1, "a secret text")])
    assert "PromptPart('a', base, kept, 13 characters" in caplog.text
    assert "secret" not in caplog.text
