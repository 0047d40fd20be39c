"""An adapter that does something on purpose and declares it passes; it fails where it does the same undeclared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from msgspec.structs import replace

from art_compliance.checks import CHECKS
from art_compliance.miniatures import MINIATURES, Miniature
from art_compliance.miniatures.base import change_options, change_payload, change_prompt
from art_compliance.miniatures.declared import declare
from art_compliance.miniatures.repairing import (
    closed,
    distinct_name,
    late_places,
    rename_tools,
    with_all_demoted,
    with_filled_blanks,
    with_fillers,
    with_late_delayed,
    with_late_demoted,
    with_late_in_front,
    with_marked_failures,
    with_schemas,
    with_trimmed_prefill,
    with_wrapped_arguments,
    with_wrapped_results,
    without_keywords,
)
from art_compliance.run.results import Result
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.run.session import Session
from art_compliance.subject.factories import Factory
from art_compliance.subject.meanings import LOSS_MEANINGS, REPAIR_MEANINGS
from art_compliance.subject.opening import open_subject
from art_sdk import AnthropicAdapter, BaseAdapter, GeminiAdapter, OpenAIAdapter
from art_sdk.stream import EndEvent, StreamEvent, ToolCallEvent
from trials import spoiled, suite_scenario

LATE = ("late-system", "late-systems-in-tool-loop", "system-after-user", "ends-with-system-hoisted")
NAMES = ("dotted-name", "odd-names", "odd-name-in-history-only", "names-differ-in-case", "answer-parallel-calls")
RESULTS = ("failed-result", "failed-beside-good", "failed-json-result", "error-looking-result", "plain-text")
ARGUMENTS = ("broken-arguments", "array-arguments", "fenced-arguments", "broken-among-good", "rich-arguments")
SCHEMAS = ("schema-with-references", "schema-with-unions", "schema-with-open-objects", "schema-keywords", "deep-schema")
BLANKS = ("blank-user-text", "blank-assistant-text", "blank-part", "outer-blanks")
TURNS = ("assistant-begins", "consecutive-users", "consecutive-assistants", "mixed-runs", "multi-turn-history")
PREFILLS = ("trailing-blank", "trailing-newline", "after-history", "trailing-blanks-in-every-role")

IDS = ("answer-parallel-calls", "answer-calls-without-ids", "results-reversed", "same-tool-twice", "ten-rounds")

KEYWORDS = frozenset({"title", "default", "format", "pattern", "minLength", "$schema", "$comment", "examples"})


class Habit(NamedTuple):
    """What an adapter does on purpose: how, around which adapter, and the scenarios where it shows."""

    repair: str
    make: type[BaseAdapter]
    scenarios: tuple[str, ...]
    change: Callable[[Any], None]
    needs_late_system: bool = False
    loss: str | None = None

    def of(self, *, is_declared: bool) -> Factory:
        """The factory of the adapter."""

        def spoil(adapter: Any) -> None:
            adapter.repairs = frozenset(adapter.repairs) - {self.repair}
            self.change(adapter)
            names = [self.repair] if is_declared and not self.loss else []
            losses = (self.loss,) if is_declared and self.loss else ()
            declare(adapter, *names, late_system=self.needs_late_system, losses=losses)

        return spoiled(spoil, self.make)


def translated(change: Callable[[Any], Any]) -> Callable[[Any], None]:
    return lambda adapter: change_prompt(adapter, change)


def with_schema(change: Callable[[Any], Any]) -> Callable[[Any], None]:
    return lambda adapter: change_options(adapter, lambda options: with_schemas(options, change))


def dropping(adapter: Any) -> None:
    change_options(adapter, lambda options: with_schemas(options, lambda one: without_keywords(one, KEYWORDS)))


def renaming(adapter: Any) -> None:
    rename_tools(adapter, distinct_name)


def marking(adapter: Any) -> None:
    adapter.losses = frozenset(adapter.losses) - {"result_status"}
    change_prompt(adapter, with_marked_failures)


def losing_ids(adapter: Any) -> None:
    """Sends no ids, and makes up new ones for the calls of each answer."""
    change_payload(adapter, _without_ids)
    own = adapter.call

    async def call(prompt: Any, options: Any) -> Any:
        fresh: dict[str, str] = {}
        async for event in own(prompt, options):
            yield with_call_ids(event, lambda known: fresh.setdefault(known, f"own-{uuid4()}"))

    adapter.call = call


def with_call_ids(event: StreamEvent, new_id: Callable[[str], str]) -> StreamEvent:
    match event:
        case ToolCallEvent():
            return replace(event, call=replace(event.call, id=new_id(event.call.id)))
        case EndEvent() if event.message is not None:
            calls = tuple(replace(call, id=new_id(call.id)) for call in event.message.tool_calls)
            return replace(event, message=replace(event.message, tool_calls=calls))
        case _:
            return event


def _without_ids(payload: Any) -> Any:
    for content in payload["contents"]:
        for part in content["parts"]:
            for name in ("functionCall", "functionResponse"):
                part.get(name, {}).pop("id", None)
    return payload


def with_note_beside(prompt: Any) -> Any:
    """The prompt with user messages of two texts in place of its late system messages: a note, and what they say."""
    late = late_places(prompt)
    return [
        {"role": "user", "content": [{"type": "text", "text": text} for text in ("Note.", message["content"])]}
        if at in late
        else message
        for at, message in enumerate(prompt)
    ]


HABITS = (
    Habit("sends no ids", GeminiAdapter, IDS, losing_ids, loss="call_ids"),
    *(Habit("renames_tools", make, NAMES, renaming) for make in (OpenAIAdapter, AnthropicAdapter, GeminiAdapter)),
    *(
        Habit("always_hoists_late_system", make, LATE, translated(with_late_in_front), needs_late_system=True)
        for make in (OpenAIAdapter, AnthropicAdapter, GeminiAdapter)
    ),
    *(
        Habit("demotes_late_system", make, LATE, translated(with_late_demoted), needs_late_system=True)
        for make in (OpenAIAdapter, AnthropicAdapter, GeminiAdapter)
    ),
    Habit("demotes_late_system", GeminiAdapter, LATE, translated(with_note_beside), needs_late_system=True),
    Habit("demotes_system", OpenAIAdapter, LATE, translated(with_all_demoted), needs_late_system=True),
    Habit("delays_late_system", OpenAIAdapter, LATE, translated(with_late_delayed)),
    Habit("trims_prefill", OpenAIAdapter, PREFILLS, translated(with_trimmed_prefill)),
    Habit("trims_prefill", AnthropicAdapter, PREFILLS, translated(with_trimmed_prefill)),
    Habit("marks_failed_result", OpenAIAdapter, RESULTS, marking),
    Habit("wraps_result", OpenAIAdapter, RESULTS, translated(with_wrapped_results)),
    *(
        Habit("wraps_arguments", make, ARGUMENTS, translated(with_wrapped_arguments))
        for make in (OpenAIAdapter, AnthropicAdapter)
    ),
    Habit("fills_blank_text", OpenAIAdapter, BLANKS, translated(with_filled_blanks)),
    Habit("fills_blank_text", AnthropicAdapter, BLANKS, translated(with_filled_blanks)),
    Habit("adds_filler_turn", OpenAIAdapter, TURNS, translated(with_fillers)),
    Habit("adds_filler_turn", GeminiAdapter, TURNS, translated(with_fillers)),
    Habit("closes_schemas", OpenAIAdapter, SCHEMAS, with_schema(closed)),
    Habit("closes_schemas", GeminiAdapter, SCHEMAS, with_schema(closed)),
    Habit("leaves keywords out", OpenAIAdapter, SCHEMAS, dropping, loss="schema_keywords"),
)


def results_of(habit: Habit, *, is_declared: bool) -> Iterator[Result]:
    """Yield the results of all checks of single requests and answers on the habit's scenarios."""
    with open_subject(habit.of(is_declared=is_declared), name="habit") as subject:
        session = Session(subject, seed=5)
        scenarios = [GREETING_SCENARIO, *map(suite_scenario, habit.scenarios)]
        checks = [one for one in CHECKS.values() if one.stage.name in ("translation", "wire", "response", "stream")]
        for check in checks:
            for one in scenarios:
                if (one is GREETING_SCENARIO if check.once else check.applies_to(one)) and (
                    check.stage.name == "translation" or not check.once or "renamed" in check.id
                ):
                    yield session.run(check, one)


def failures(results: Iterable[Result]) -> Iterator[str]:
    for one in results:
        if one.verdict in ("fail", "harness error"):
            yield f"{one.check} on {one.scenario}: {one.reason or one.findings[0].message}"


def name_of(habit: Habit) -> str:
    return f"{habit.loss or habit.repair}-{habit.make.__name__}"


def habits_around_adapters() -> Iterator[Any]:
    """Around other adapters than OpenAI's the same lines run: once is enough."""
    for habit in HABITS:
        marks = () if habit.make is OpenAIAdapter else (pytest.mark.once,)
        yield pytest.param(habit, marks=marks, id=name_of(habit))


@pytest.mark.once
@pytest.mark.unmeasured
@pytest.mark.parametrize("habit", [*habits_around_adapters()])
def test_what_is_declared_is_allowed_and_shown(habit: Habit):
    results = [*results_of(habit, is_declared=True)]
    assert [*failures(results)] == []
    assert (habit.loss or habit.repair) in {name for one in results for name in one.shown}


@pytest.mark.once
@pytest.mark.unmeasured
@pytest.mark.parametrize("habit", [*habits_around_adapters()])
def test_what_is_not_declared_is_found(habit: Habit):
    assert next(failures(results_of(habit, is_declared=False)), None)


NEEDS_NO_ABUSE = {
    "joins_turns": "miniatures that lose or change texts are caught with it declared, around the adapter for Gemini",
    "hoists_late_system": "as above; `hoists-before-the-leading` abuses what it permits",
    "maps_call_ids": "as above, around the adapters for OpenAI and Anthropic",
    "drops_blank_text": "as above, around the adapters for Gemini and Anthropic",
}


def abuses_of(name: str) -> list[Miniature]:
    """The miniatures that declare it, and are caught by one of the checks that hold its law."""
    found: list[Miniature] = []
    for miniature in MINIATURES:
        adapter: Any = OpenAIAdapter(api_key="k")
        adapter.repairs, adapter.losses = adapter.repairs - {name}, adapter.losses - {name}
        before = {*adapter.repairs, *adapter.losses}
        miniature.spoil(adapter)
        new = {*adapter.repairs, *adapter.losses} - before
        meaning = {**REPAIR_MEANINGS, **LOSS_MEANINGS}[name]
        found += [miniature] if name in new and miniature.fails & {*meaning.checks} else []
    return found


@pytest.mark.parametrize("name", [*REPAIR_MEANINGS, "schema_keywords", "call_ids"])
def test_a_declaration_is_abused_by_a_miniature_that_its_own_law_catches(name: str):
    assert bool(abuses_of(name)) is (name not in NEEDS_NO_ABUSE)
