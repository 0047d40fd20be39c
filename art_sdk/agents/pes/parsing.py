"""OutputParser: what a model says in the planning step and in the synthesis, as values.

A plan comes in one of three forms: native tool calls, with or without text; the text form

    Intent: ...
    Plan: ...
    Tool Calls: [...]

or one JSON object with `intent`, `plan` and `toolCalls`. The JSON may be fenced as in Markdown, and stand behind
thoughts in `<think>`.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from msgspec import Struct

from art_sdk.errors import LLMProviderError
from art_sdk.json_data import is_array, is_object, is_utf8, json_type
from art_sdk.messages import AssistantMessage, FunctionCall, ToolCall


class PlanningOutput(Struct, frozen=True):
    """A plan. The calls are in standard form, wherever they were read; their arguments need not be valid."""

    intent: str
    plan: str
    tool_calls: tuple[ToolCall, ...] = ()


class OutputParser:
    """Reads answers. `provider` names who gave them in errors."""

    def __init__(self, provider: str = "the model") -> None:
        self.provider: Final = provider

    def parse_planning_output(self, message: AssistantMessage) -> PlanningOutput:
        """The plan in an answer. Text of neither form is a plan without calls.

        Raises LLMProviderError, which may be retried, for tool calls in the text that cannot be read.
        """
        text = strip_thinking(message.content or "")
        try:
            planned = _read_plan(text, with_calls=not message.tool_calls)
        except _Unreadable as error:
            words = f"{self.provider}: the plan cannot be read: {error}"
            raise LLMProviderError(words, provider=self.provider, is_retryable=True, cause=error) from error
        calls = message.tool_calls or planned.tool_calls
        return PlanningOutput(planned.intent, planned.plan, calls)

    def parse_synthesis_output(self, message: AssistantMessage) -> str:
        """The answer for the user: the text without thoughts."""
        return strip_thinking(message.content or "")


class _Unreadable(ValueError):
    """Tool calls in a text that are not what was asked for."""


def _read_plan(text: str, *, with_calls: bool) -> PlanningOutput:
    return _read_json(text, with_calls=with_calls) or _read_text(text, with_calls=with_calls)


_OPEN: Final = re.compile(r"^[ \t]*<(think|thinking)>", re.MULTILINE | re.IGNORECASE)
_CLOSE: Final = re.compile(r"</(?:think|thinking)>", re.IGNORECASE)


def strip_thinking(text: str) -> str:
    """The text without `<think>` parts that begin a line, and without whitespace around it.

    A part that is not closed goes on to the end; a part without its beginning, which some chat templates write
    themselves, begins with the text.
    """
    kept: list[str] = []
    at = 0
    first_close, first_open = _CLOSE.search(text), _OPEN.search(text)
    if first_close is not None and (first_open is None or first_close.start() < first_open.start()):
        at = first_close.end() if _ends_a_line(text, first_close.end()) else 0
    while (opened := _OPEN.search(text, at)) is not None:
        kept.append(text[at : opened.start()])
        closed = _CLOSE.search(text, opened.end())
        at = len(text) if closed is None else closed.end()
    return "".join([*kept, text[at:]]).strip()


def _ends_a_line(text: str, at: int) -> bool:
    return not text[at:].partition("\n")[0].strip()


_FENCE: Final = re.compile(r"^[ \t]*```[ \t]*[A-Za-z]*[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(
    r"^[ \t]*(?:[#>*_-][#>*_ \t-]{0,7})?(intent|plan|tool[ _]?calls)[*_]{0,3}[ \t]{0,8}:[*_]{0,3}",
    re.MULTILINE | re.IGNORECASE,
)
_KEYS: Final = frozenset({"intent", "plan", "toolCalls", "tool_calls"})


def _read_json(text: str, *, with_calls: bool) -> PlanningOutput | None:
    """The plan in a text that is one JSON value, fenced or not. None for other text."""
    fenced = _FENCE.search(text)
    for candidate in (text, fenced[1] if fenced else ""):
        value = _decode(candidate)
        if is_array(value) and value and not _HEADING.search(text):
            return PlanningOutput("", "", _calls(value) if with_calls else ())
        if is_object(value) and _KEYS & value.keys():
            calls = value.get("toolCalls", value.get("tool_calls")) if with_calls else None
            return PlanningOutput(_words(value.get("intent")), _words(value.get("plan")), _calls(calls))
    return None


def _decode(text: str) -> object:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _words(value: object) -> str:
    """A plan as text; models also give lists of steps."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip().encode(errors="replace").decode()  # an escape may stand for a lone surrogate
    if is_array(value):
        return "\n".join(_words(one) for one in value)
    return json.dumps(value)


def _read_text(text: str, *, with_calls: bool) -> PlanningOutput:
    """The plan in the text form. Text without its headings is the plan itself."""
    headings = list(_in_order(text))
    if not headings:
        return PlanningOutput("", text)
    ends = [start for _, start, _ in headings[1:]] + [len(text)]
    sections = {name: text[end:stop].strip() for (name, _, end), stop in zip(headings, ends, strict=True)}
    calls = _calls(_calls_in(sections.get("tool calls", ""))) if with_calls else ()
    return PlanningOutput(sections.get("intent", ""), sections.get("plan", ""), calls)


def _in_order(text: str) -> list[tuple[str, int, int]]:
    """The first heading of each name, as name, start and end; one out of order is text of the section before it."""
    order = ["intent", "plan", "tool calls"]
    found: list[tuple[str, int, int]] = []
    for match in _HEADING.finditer(text):
        name = "tool calls" if match[1].lower().startswith("tool") else match[1].lower()
        if name in order:
            del order[: order.index(name) + 1]
            found.append((name, match.start(), match.end()))
    return found


_NO_CALLS: Final = re.compile(r"\W*(none|n/?a|null|no tools?\b.{0,60})?\W*", re.IGNORECASE)


def _calls_in(section: str) -> object:
    """The JSON value that the section begins with, fenced or not. What follows it is ignored."""
    fenced = _FENCE.search(section)
    text = (fenced[1] if fenced else section).strip()
    if text.startswith(("[", "{")):
        try:
            return json.JSONDecoder().raw_decode(text)[0]
        except (ValueError, RecursionError) as error:
            raise _Unreadable(f"its tool calls are not JSON: {error}") from error
    if _NO_CALLS.fullmatch(text):
        return None
    raise _Unreadable(f"its tool calls must be a JSON array, not {text!r:.60}")


def _calls(value: object) -> tuple[ToolCall, ...]:
    """The calls of a list. Those without an id are numbered."""
    if value is None:
        return ()
    calls = [value] if is_object(value) else value
    if not is_array(calls):
        raise _Unreadable(f"its tool calls must be an array, not {json_type(value)}")
    return tuple(_call(one, position) for position, one in enumerate(calls, start=1))


def _call(value: object, position: int) -> ToolCall:
    """A call in either spelling: `{id, type, function: {name, arguments}}` or `{callId, toolName, arguments}`."""
    if not is_object(value):
        raise _Unreadable(f"tool call {position} must be an object, not {json_type(value)}")
    function = value.get("function", value)
    source: dict[str, Any] = function if is_object(function) else value
    name = source.get("name") or source.get("toolName") or value.get("toolName")
    if not isinstance(name, str) or not is_utf8(name):
        raise _Unreadable(f"tool call {position} names no tool")
    given = value.get("id") or value.get("callId")
    call_id = given if isinstance(given, str) and is_utf8(given) else f"call_{position}"
    return ToolCall(call_id, FunctionCall(name, _arguments(source.get("arguments", value.get("arguments")))))


def _arguments(value: object) -> str:
    """Arguments as text: JSON text as it is, other values as JSON."""
    if value is None:
        return "{}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
