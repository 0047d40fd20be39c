"""Adapters whose requests say what the prompt says, but break a rule of the provider."""

from __future__ import annotations

import json
from typing import Any

from art_compliance.miniatures.base import Options, Prompt, Translate, change_payload, miniature, retranslate


@miniature("wire.no-rule-is-broken")
def sends_an_empty_tools_list(adapter: Any) -> None:
    """Without tools, an empty list of tools is sent."""
    change_payload(adapter, lambda payload: {"tools": [], **payload})


@miniature("wire.no-rule-is-broken")
def leaves_the_calls_turn_out(adapter: Any) -> None:
    """The turn with the calls is left out, but their results are sent."""
    change_payload(adapter, lambda payload: _with_history(payload, _without_calls))


@miniature("wire.no-rule-is-broken")
def sends_results_late(adapter: Any) -> None:
    """Results move to the end of the conversation."""
    change_payload(adapter, lambda payload: _with_history(payload, _results_last))


@miniature("wire.no-rule-is-broken")
def writes_tool_names_with_blanks(adapter: Any) -> None:
    """Tool names are made readable, with spaces."""
    retranslate(adapter, _with_readable_names)


_CALLS = ("tool_calls", '"tool_use"', "functionCall", '"function_call"')
_RESULTS = ("tool_call_id", '"tool_result"', "functionResponse", '"function_call_output"')
_HISTORIES = ("contents", "input", "messages")


def _with_history(payload: Any, change: Any) -> Any:
    name = next(one for one in _HISTORIES if one in payload)
    return {**payload, name: change(payload[name])}


def _contains(turn: Any, marks: tuple[str, ...]) -> bool:
    return any(mark in json.dumps(turn) for mark in marks)


def _without_calls(history: list[Any]) -> list[Any]:
    return [turn for turn in history if not _contains(turn, _CALLS)] or history


def _results_last(history: list[Any]) -> list[Any]:
    return sorted(history, key=lambda turn: _contains(turn, _RESULTS))


def _with_readable_names(translate: Translate, prompt: Prompt, options: Options) -> Any:
    text = json.dumps(translate(prompt, options))
    for tool in options.get("tools", ()):
        text = text.replace(json.dumps(tool["name"]), json.dumps(f"{tool['name']} tool"))
    return json.loads(text)
