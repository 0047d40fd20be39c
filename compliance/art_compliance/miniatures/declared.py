"""Adapters that declare a repair or a loss, and then do more, or something else, than the declaration permits."""

from __future__ import annotations

import json
from itertools import count
from typing import Any, Final

from art_compliance.miniatures.base import (
    Events,
    Options,
    Prompt,
    Translate,
    change_events,
    change_options,
    change_prompt,
    miniature,
    retranslate,
)
from art_compliance.miniatures.repairing import (
    NOTE,
    clean_name,
    closed,
    distinct_name,
    late_places,
    rename_tools,
    with_all_demoted,
    with_filled_blanks,
    with_fillers,
    with_late_demoted,
    with_marked_failures,
    with_schemas,
    with_wrapped_arguments,
    with_wrapped_results,
    without_keywords,
)


def declare(adapter: Any, *repairs: str, late_system: bool = False, losses: tuple[str, ...] = ()) -> None:
    """Adds to what the adapter declares."""
    adapter.repairs = frozenset(adapter.repairs) | set(repairs)
    adapter.losses = frozenset(adapter.losses) | set(losses)
    if late_system:
        adapter.capabilities = frozenset(adapter.capabilities) | {"late_system"}


@miniature("translation.options-survive", around=("ollama",))
def declares_a_choice_that_is_ignored(adapter: Any) -> None:
    """`tool_choice` is declared and sent to a provider that ignores it."""
    adapter.capabilities = frozenset(adapter.capabilities) | {"tool_choice"}


@miniature("translation.renamed-tools-stay-distinct")
def cleans_tool_names_alike(adapter: Any) -> None:
    """Tools are renamed, and two of them may get the same name."""
    declare(adapter, "renames_tools")
    rename_tools(adapter, distinct_name)
    retranslate(adapter, _with_clean_names)


def _with_clean_names(translate: Translate, prompt: Prompt, options: Options) -> Any:
    text = json.dumps(translate(prompt, options))
    for tool in options.get("tools", ()):
        text = text.replace(json.dumps(distinct_name(tool["name"])), json.dumps(clean_name(tool["name"])))
    return json.loads(text)


@miniature("response.renamed-tools-come-back")
def keeps_the_sent_names(adapter: Any) -> None:
    """Tools are renamed, but the calls of an answer keep the names under which they were sent."""
    declare(adapter, "renames_tools")
    rename_tools(adapter, distinct_name, is_undone=False)


@miniature("response.renamed-tools-come-back")
def lowers_names_for_good(adapter: Any) -> None:
    """All names of tools are sent in lower case, and stay so in answers."""
    declare(adapter, "renames_tools")
    rename_tools(adapter, str.lower, is_undone=False)


@miniature("translation.inner-streams-change-nothing-else")
def streams_inside_in_name_only(adapter: Any) -> None:
    """It declares that it always asks for a stream, but asks for one only where the caller does."""
    declare(adapter, "streams_inside")


@miniature("translation.turns-keep-their-order")
def hoists_before_the_leading(adapter: Any) -> None:
    """Late system messages are always hoisted, but before the leading ones, the last one first."""
    declare(adapter, "always_hoists_late_system", late_system=True)
    change_prompt(adapter, _with_late_first)


def _with_late_first(prompt: Prompt) -> Prompt:
    late = late_places(prompt)
    rest = [message for at, message in enumerate(prompt) if at not in late]
    return [*(prompt[at] for at in reversed(late)), *rest]


@miniature("translation.user-text-survives")
def demotes_with_a_changing_note(adapter: Any) -> None:
    """Late system messages become user messages behind a note, which differs from prompt to prompt."""
    declare(adapter, "demotes_late_system", late_system=True)
    change_prompt(adapter, lambda prompt: with_late_demoted(prompt, f"Note {len(str(prompt))}: "))


@miniature("translation.user-text-survives")
def loses_what_it_demotes(adapter: Any) -> None:
    """Late system messages become user messages that say only the note."""
    declare(adapter, "demotes_late_system", late_system=True)
    change_prompt(adapter, lambda prompt: [_emptied(m, at in late_places(prompt)) for at, m in enumerate(prompt)])


def _emptied(message: dict[str, Any], is_late: bool) -> dict[str, Any]:  # noqa: FBT001 - a place's own flag
    return {**message, "role": "user", "content": "Note from the operator."} if is_late else message


@miniature("translation.user-text-survives")
def demotes_in_small_letters(adapter: Any) -> None:
    """Every system message becomes a user message, in small letters."""
    declare(adapter, "demotes_system", late_system=True)
    change_prompt(adapter, lambda prompt: [_in_small_letters(message) for message in with_all_demoted(prompt)])


def _in_small_letters(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    is_demoted = message["role"] == "user" and isinstance(content, str) and content.startswith(NOTE)
    return {**message, "content": NOTE + content[len(NOTE) :].lower()} if is_demoted else message


@miniature("translation.turns-keep-their-order")
def delays_behind_answers(adapter: Any) -> None:
    """Late system messages move to the end, not only behind the user message that follows."""
    declare(adapter, "delays_late_system", late_system=True)
    change_prompt(adapter, _with_late_last)


def _with_late_last(prompt: Prompt) -> Prompt:
    late = late_places(prompt)
    rest = [message for at, message in enumerate(prompt) if at not in late]
    return [*rest, *(prompt[at] for at in late)]


@miniature("translation.assistant-text-survives")
def trims_more_than_the_prefill(adapter: Any) -> None:
    """Every text of the assistant loses the whitespace at its end, not only the last one of the prompt."""
    declare(adapter, "trims_prefill")
    change_prompt(adapter, lambda prompt: [_rstripped(message) for message in prompt])


def _rstripped(message: dict[str, Any]) -> dict[str, Any]:
    is_text = message["role"] == "assistant" and isinstance(message["content"], str)
    return {**message, "content": message["content"].rstrip()} if is_text else message


@miniature("translation.results-survive")
def marks_good_results_too(adapter: Any) -> None:
    """Failed results are marked in their texts, and so are good ones that have a digit."""
    declare(adapter, "marks_failed_result")
    change_prompt(adapter, lambda prompt: with_marked_failures(prompt, is_marked=_has_failed_or_counts))


def _has_failed_or_counts(message: dict[str, Any]) -> bool:
    return message.get("status") == "error" or any(character.isdigit() for character in message["content"])


@miniature("translation.result-status-survives")
def promises_marks(adapter: Any) -> None:
    """It declares that failed results are marked in their texts, and sends them like good ones."""
    declare(adapter, "marks_failed_result")
    adapter.losses = frozenset(adapter.losses) - {"result_status"}
    change_prompt(adapter, lambda prompt: [{k: v for k, v in m.items() if k != "status"} for m in prompt])


@miniature("translation.results-survive")
def wraps_results_with_care(adapter: Any) -> None:
    """Results are wrapped in an object, but long ones are cut before."""
    declare(adapter, "wraps_result")
    change_prompt(adapter, lambda prompt: with_wrapped_results([_cut_result(message) for message in prompt]))


def _cut_result(message: dict[str, Any]) -> dict[str, Any]:
    is_result = message["role"] in ("tool", "tool_result")
    return {**message, "content": message["content"][:_LONGEST]} if is_result else message


_LONGEST: Final = 20


@miniature("translation.arguments-survive")
def wraps_arguments_by_length(adapter: Any) -> None:
    """Arguments that are not an object are wrapped in one, in a field whose name says how long they are."""
    declare(adapter, "wraps_arguments")
    change_prompt(adapter, lambda prompt: with_wrapped_arguments(prompt, lambda text: f"{len(text)} characters"))


@miniature("response.calls-are-whole", "stream.calls-are-whole")
def makes_up_one_id(adapter: Any) -> None:
    """It declares that it has ids of its own, and gives the same one to each call of an answer."""
    declare(adapter, losses=("call_ids",))
    change_events(adapter, _with_one_id)


def _with_one_id(events: Events) -> Events:
    text = json.dumps(events)
    for event in events:
        if event["type"] == "TOOL_CALL":
            text = text.replace(json.dumps(event["call"]["id"]), '"call_0"')
    changed: Events = json.loads(text)
    return changed


@miniature("translation.nothing-is-invented")
def fills_gaps_with_news(adapter: Any) -> None:
    """Turns that are added between two of one role say something else each time."""
    declare(adapter, "adds_filler_turn")
    numbers = count()
    change_prompt(adapter, lambda prompt: with_fillers(prompt, lambda at: f"Go on, part {at} of {next(numbers)}."))


@miniature("translation.user-text-survives")
def fills_blanks_with_news(adapter: Any) -> None:
    """Blank texts become placeholders that say how long the blank was."""
    declare(adapter, "fills_blank_text")
    change_prompt(adapter, lambda prompt: with_filled_blanks(prompt, lambda blank: f"({len(blank)} blanks)"))


@miniature("translation.tools-survive")
def closes_schemas_over_nothing(adapter: Any) -> None:
    """Schemas are closed, and their optional properties left out."""
    declare(adapter, "closes_schemas")
    change_options(adapter, lambda options: with_schemas(options, _closed_over_required))


def _closed_over_required(schema: dict[str, Any]) -> Any:
    kept = {name: value for name, value in schema.get("properties", {}).items() if name in schema.get("required", ())}
    return closed({**schema, "properties": kept})


@miniature("translation.tools-survive")
def drops_choices_from_schemas(adapter: Any) -> None:
    """Schemas lose keywords, and among them the values that an argument may have."""
    declare(adapter, losses=("schema_keywords",))
    keywords = frozenset({"enum", "title", "default"})
    change_options(adapter, lambda options: with_schemas(options, lambda one: without_keywords(one, keywords)))


@miniature("translation.prefix-is-stable")
def fills_the_end(adapter: Any) -> None:
    """A declared filler is added, and the message before it rewritten while it is the last one."""
    declare(adapter, "adds_filler_turn")

    def spoiled(translate: Any, prompt: Prompt, options: Options) -> Any:
        last = prompt[-1]
        is_text = last["role"] == "user" and isinstance(last["content"], str)
        return translate(
            [*prompt[:-1], {**last, "content": f"{last['content']} (last)"}] if is_text else prompt, options
        )

    retranslate(adapter, spoiled)
