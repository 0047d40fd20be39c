"""Cohere's rules. Statements and sources: `fixtures/rules/cohere-chat-v2.toml`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from art_compliance.dialects.ruling import (
    Broken,
    JudgedRequest,
    Place,
    child,
    number,
    objects,
    outside,
    rule,
    rules_of,
    schemas,
    too_many,
)
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Chat(JudgedRequest):
    """The raw body, with messages, calls and functions found once."""

    @cached_property
    def messages(self) -> tuple[Place, ...]:
        """Every message that is an object."""
        return tuple(objects(self.root, "messages"))

    @cached_property
    def calls(self) -> tuple[Place, ...]:
        """Every call of every message."""
        return tuple([call for message in self.messages for call in objects(message, "tool_calls")])

    @cached_property
    def functions(self) -> tuple[Place, ...]:
        """Every function that is offered as a tool."""
        return tuple([child(tool, "function") for tool in objects(self.root, "tools")])

    @cached_property
    def answer_schema(self) -> Place:
        """The schema of the answer; an empty place without one."""
        return child(child(self.root, "response_format"), "json_schema")


@rule("cohere.tool-id-known")
def tool_id_known(chat: Chat) -> Iterator[Broken]:
    """An empty id is left to another rule."""
    known: set[str] = set()
    for message in chat.messages:
        ids = [call.value.get("id") for call in objects(message, "tool_calls")]
        known.update(one for one in ids if isinstance(one, str))
        call_id = message.value.get("tool_call_id")
        if isinstance(call_id, str) and call_id and call_id not in known:
            yield Broken(f"{message.pointer}/tool_call_id", f"no earlier call has the id {show(call_id)}")


@rule("cohere.tool-id-required")
def tool_id_required(chat: Chat) -> Iterator[Broken]:
    """A missing one is left to the wire schema."""
    for message in chat.messages:
        if message.value.get("role") == "tool" and message.value.get("tool_call_id") == "":
            yield Broken(f"{message.pointer}/tool_call_id", "the id is empty")


@rule("cohere.tool-ids-unique")
def tool_ids_unique(chat: Chat) -> Iterator[Broken]:
    """In the whole conversation."""
    seen: set[str] = set()
    for call in chat.calls:
        call_id = call.value.get("id")
        if isinstance(call_id, str):
            if call_id in seen:
                yield Broken(f"{call.pointer}/id", f"an earlier call has the same id, {show(call_id)}")
            seen.add(call_id)


@rule("cohere.system-first")
def system_first(chat: Chat) -> Iterator[Broken]:
    """Several at the start are first, too."""
    is_first = True
    for message in chat.messages:
        is_system = message.value.get("role") == "system"
        if is_system and not is_first:
            yield Broken(message.pointer, "a system message comes after other messages")
        is_first = is_first and is_system


@rule("cohere.message-nonempty")
def message_nonempty(chat: Chat) -> Iterator[Broken]:
    """An assistant's message with calls may be empty: recorded. Nothing is known of empty results.

    The missing content of a system or user message is left to the wire schema.
    """
    for message in chat.messages:
        value = message.value
        given = "content" in value or value.get("role") == "assistant"
        if given and value.get("role") in _SPEAKERS and not value.get("tool_calls") and _is_empty(value.get("content")):
            yield Broken(message.pointer, "the message is empty")


_SPEAKERS: Final = ("system", "user", "assistant")


def _is_empty(content: Any) -> bool:
    """Whether nothing is in it: no text, and no part but empty text."""
    if content is None or content == "":
        return True
    return is_array(content) and all(is_object(part) and part.get("text") == "" for part in content)


@rule("cohere.arguments-object")
def arguments_object(chat: Chat) -> Iterator[Broken]:
    """Null passes, an empty text does not."""
    for call in chat.calls:
        function = child(call, "function")
        text = function.value.get("arguments")
        if isinstance(text, str) and not _is_object_or_null(text):
            yield Broken(f"{function.pointer}/arguments", f"the arguments {show(text)} are not a JSON object")


def _is_object_or_null(text: str) -> bool:
    try:
        value: object = json.loads(text, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return False
    return value is None or is_object(value)


def _no_json(constant: str) -> None:
    raise ValueError(constant)


@rule("cohere.no-text-with-calls")
def no_text_with_calls(chat: Chat) -> Iterator[Broken]:
    """What an assistant says next to its calls is its plan."""
    for message in chat.messages:
        if message.value.get("tool_calls") and not _is_empty(message.value.get("content")):
            yield Broken(f"{message.pointer}/content", "there is text next to tool calls; it belongs in `tool_plan`")


@rule("cohere.token-budget")
def token_budget(chat: Chat) -> Iterator[Broken]:
    """Only with both is the second limit known."""
    thinking = child(chat.root, "thinking")
    budget, most = number(thinking.value.get("token_budget")), number(chat.body.get("max_tokens"))
    if budget is not None and (budget < 1 or (most is not None and budget > most)):
        limit = "1" if budget < 1 else f"1 and at most max_tokens, {most}"
        yield Broken("/thinking/token_budget", f"token_budget is {budget}; it must be at least {limit}")


@rule("cohere.tool-name")
def tool_name(chat: Chat) -> Iterator[Broken]:
    """Of tools and of calls."""
    for function in (*chat.functions, *[child(call, "function") for call in chat.calls]):
        name = function.value.get("name")
        if isinstance(name, str) and not _NAME.fullmatch(name):
            yield Broken(f"{function.pointer}/name", f"the name {show(name)} does not match {_NAME.pattern}")


@rule("cohere.temperature")
def temperature(chat: Chat) -> Iterator[Broken]:
    """Both ends are allowed."""
    yield from outside(chat.root, {"temperature": (0.0, 1.0)})


@rule("cohere.penalties")
def penalties(chat: Chat) -> Iterator[Broken]:
    """Each of the two."""
    yield from outside(chat.root, dict.fromkeys(_PENALTIES, (0.0, 1.0)))


_PENALTIES: Final = ("frequency_penalty", "presence_penalty")


@rule("cohere.penalties-exclusive")
def penalties_exclusive(chat: Chat) -> Iterator[Broken]:
    """Zero is not a penalty."""
    if all(number(chat.body.get(name)) for name in _PENALTIES):
        yield Broken("/presence_penalty", "frequency_penalty and presence_penalty exclude each other")


@rule("cohere.stop-max5")
def stop_max5(chat: Chat) -> Iterator[Broken]:
    """Also the ranges of `k` and `p`."""
    yield from too_many(chat.body.get("stop_sequences"), "/stop_sequences", "stop sequences", 5)
    yield from outside(chat.root, {"k": (0, 500), "p": (0.01, 0.99)})


@rule("cohere.schema-object")
def schema_object(chat: Chat) -> Iterator[Broken]:
    """Of tools and of the answer. A property without `type` may say in another way what it is."""
    for root in (*[child(function, "parameters") for function in chat.functions], chat.answer_schema):
        if root.value or root.under == "parameters":
            yield from _root_faults(root)
        for schema in schemas(root):
            yield from _property_faults(schema)


def _root_faults(root: Place) -> Iterator[Broken]:
    if root.value.get("type") != "object":
        yield Broken(root.pointer, f'the type of the schema is {show(root.value.get("type"))}; it must be "object"')


_TYPED_BY: Final = ("type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const")


def _property_faults(schema: Place) -> Iterator[Broken]:
    properties: Any = schema.value.get("properties")
    if not is_object(properties):
        return
    for name, value in properties.items():
        if not is_object(value) or not any(key in value for key in _TYPED_BY):
            place = Place({}, schema, "properties", name)
            yield Broken(place.pointer, f"the property {show(name)} has no type")
    required: Any = schema.value.get("required")
    for name in required if is_array(required) else ():
        if isinstance(name, str) and name not in properties:
            yield Broken(f"{schema.pointer}/required", f"{show(name)} is required, but not in properties")


@rule("cohere.strict-required")
def strict_required(chat: Chat) -> Iterator[Broken]:
    """Tools without any property need none."""
    for schema in schemas(chat.answer_schema):
        if schema.value.get("type") == "object" and not schema.value.get("required"):
            yield Broken(schema.pointer, "an object in the response schema requires no property")
    if chat.body.get("strict_tools") is not True:
        return
    for function in chat.functions:
        root = child(function, "parameters")
        if root.value.get("properties") and not root.value.get("required"):
            yield Broken(root.pointer, "a strict tool has only optional parameters")


@rule("cohere.format-alone")
def format_alone(chat: Chat) -> Iterator[Broken]:
    """Text is not a form that is asked for."""
    if child(chat.root, "response_format").value.get("type") == "json_object":
        for name in ("tools", "documents"):
            if chat.body.get(name):
                yield Broken("/response_format", f"response_format and {name} exclude each other")


@rule("cohere.tool-choice")
def tool_choice(chat: Chat) -> Iterator[Broken]:
    """Its values are the wire schema's business."""
    if chat.body.get("tool_choice") == "REQUIRED" and not chat.body.get("tools"):
        yield Broken("/tool_choice", "tool_choice is REQUIRED, but there are no tools")


RULES: Final = rules_of(sys.modules[__name__])
