"""What each loss and each repair permits, the law that applies instead, and the checks that enforce it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from art_sdk import Loss, Repair


class Meaning(NamedTuple):
    """A declaration: what an adapter may do, what must hold when it does, and the ids of the checks that say so.

    The checks of generated prompts enforce the same laws.
    """

    permits: str
    law: str
    checks: tuple[str, ...]


_OPTION: Final = Meaning(
    "leave the option out",
    "no other value is sent, and no other option is lost",
    ("translation.options-survive", "translation.canary-options-arrive"),
)

LOSS_MEANINGS: Final[Mapping[Loss, Meaning]] = {
    "message_name": Meaning(
        "leave out a message's `name`",
        "the message stays in its place, its text whole",
        ("translation.message-names-survive",),
    ),
    "result_status": Meaning(
        "send a failed result like a good one", "its text is whole", ("translation.result-status-survives",)
    ),
    "call_ids": Meaning(
        "send calls without ids, and make up ids for the calls of an answer",
        "every result still answers its own call; the ids of answers are new in the conversation and different",
        ("translation.results-survive", "response.calls-are-whole"),
    ),
    "tool_output_schema": Meaning(
        "leave out a tool's output schema",
        "its name, description and input schema are whole",
        ("translation.tools-survive",),
    ),
    "schema_keywords": Meaning(
        "leave keywords out of schemas that only limit or describe a value: `format`, `pattern`, `default`, `title`, "
        "`minimum`, `additionalProperties` and the like; a description may say instead what they said",
        "types, properties, `required`, `enum`, `items`, unions, references and descriptions stay as they are",
        ("translation.tools-survive", "translation.options-survive"),
    ),
    "sampling_option:temperature": _OPTION,
    "sampling_option:top_p": _OPTION,
    "sampling_option:max_tokens": _OPTION,
    "sampling_option:stop": _OPTION,
    "sampling_option:parallel_tool_calls": _OPTION,
}

_PLACE: Final = ("translation.system-text-survives", "translation.turns-keep-their-order")

REPAIR_MEANINGS: Final[Mapping[Repair, Meaning]] = {
    "joins_turns": Meaning(
        "join consecutive messages of one role; an assistant message before a call's results is joined to the call",
        "each text is whole and in order, with at most two characters between two of them",
        ("translation.user-text-survives", "translation.assistant-text-survives"),
    ),
    "hoists_late_system": Meaning(
        'move late system messages to the front, if the call says `late_system="hoist"`',
        "they follow the leading ones in their order, each whole; nothing else moves",
        _PLACE,
    ),
    "always_hoists_late_system": Meaning(
        "do so in every call; declare the capability `late_system`, too", "the same", _PLACE
    ),
    "delays_late_system": Meaning(
        "move a system message that follows an assistant's text behind the user message that comes next",
        "it moves no further, and is whole",
        _PLACE,
    ),
    "demotes_late_system": Meaning(
        "send late system messages as user messages, with a note around the text, or next to it as a separate text",
        "the text is whole and in its place; the note is the same in every request, of at most 200 characters",
        ("translation.user-text-survives", "translation.system-text-survives"),
    ),
    "demotes_system": Meaning(
        "do so with every system message",
        "the same",
        ("translation.user-text-survives", "translation.system-text-survives"),
    ),
    "maps_call_ids": Meaning(
        "send other call ids",
        "ids map one to one, a call and its result agree, and answers have the caller's own ids",
        (
            "translation.call-ids-survive",
            "translation.canary-results-are-linked",
            "translation.mapped-ids-stay-distinct",
        ),
    ),
    "drops_blank_text": Meaning(
        "leave out texts that are only whitespace",
        "every other text is whole",
        ("translation.user-text-survives", "translation.assistant-text-survives"),
    ),
    "fills_blank_text": Meaning(
        "send a placeholder in place of such a text",
        "the placeholder is the same in every request, by role, of at most 200 characters",
        ("translation.user-text-survives", "translation.assistant-text-survives"),
    ),
    "adds_filler_turn": Meaning(
        "add a turn where two of one role follow each other, before an assistant's that comes first, after one that "
        "comes last, between results and a user message, or where there are only system messages",
        "its text is the same in every request, of at most 200 characters",
        ("translation.nothing-is-invented", "translation.prefix-is-stable"),
    ),
    "trims_prefill": Meaning(
        "strip trailing whitespace from an assistant's text that ends the prompt",
        "no other text is cut",
        ("translation.assistant-text-survives",),
    ),
    "wraps_arguments": Meaning(
        "send arguments that are not a JSON object as an object with their text in its only field",
        "the text is whole, and the field has the same name in every request; arguments that are an object stay",
        ("translation.arguments-survive",),
    ),
    "wraps_result": Meaning(
        "put every result into an object, or between two constant texts",
        "the text is whole inside, and the wrapper the same in every request",
        ("translation.results-survive",),
    ),
    "marks_failed_result": Meaning(
        "say that a call failed in the text of its result, where the provider has no field for it",
        "each failed result has the mark and no other; the mark is the same in every request, and the text whole",
        ("translation.result-status-survives", "translation.results-survive"),
    ),
    "renames_tools": Meaning(
        "send tools under other names",
        "different tools have different names, each the same one in tools, `tool_choice` and calls; "
        "the calls of an answer have the original names",
        ("translation.renamed-tools-stay-distinct", "response.renamed-tools-come-back"),
    ),
    "closes_schemas": Meaning(
        "set `additionalProperties: false`, and perhaps require every property, with null for an optional one; "
        "`anyOf` in place of `oneOf`",
        "everything else in the schema stays; maps stay open",
        ("translation.tools-survive", "translation.options-survive"),
    ),
    "streams_inside": Meaning(
        "request a stream where the call asks for a whole answer (allowed without the declaration, too)",
        "every request asks for a stream, and the option `stream` changes nothing in it",
        ("translation.inner-streams-change-nothing-else",),
    ),
}


def describe_meanings() -> str:
    """Both tables in Markdown, as the guide has them."""
    tables = (("loss", LOSS_MEANINGS), ("repair", REPAIR_MEANINGS))
    return "\n".join(line for kind, meanings in tables for line in _table(kind, meanings))


def _table(kind: str, meanings: Mapping[Loss, Meaning] | Mapping[Repair, Meaning]) -> list[str]:
    rows = [f"| `{name}` | {one.permits} | {one.law} | {_ids(one.checks)} |" for name, one in meanings.items()]
    return [f"| {kind} | the adapter may | what must hold | checked by |", "| --- | --- | --- | --- |", *rows, ""]


def _ids(checks: tuple[str, ...]) -> str:
    return ", ".join(f"`{check}`" for check in checks)
