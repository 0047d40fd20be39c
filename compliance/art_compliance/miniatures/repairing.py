"""Repairs as an honest adapter makes them: changes of a prompt, its options and the events of its answer.

The miniatures that abuse a declaration are made of these, and so are the adapters that prove that it can be kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.generating.rewriting import Rewriting
from art_compliance.miniatures.base import Options, Prompt, Translate, retranslate
from art_sdk import ToolCall
from art_sdk.json_data import is_array, is_object
from art_sdk.stream import EndEvent, StreamEvent, ToolCallEvent

NameOf = Callable[[str], str]


def clean_name(name: str) -> str:
    """The name with an underscore for every character that some provider rejects. Different names may become equal."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)[:40]


def distinct_name(name: str) -> str:
    """As `clean_name`, with a digest of the name where that changed it."""
    clean = clean_name(name)
    return name if name == clean and name[0].isalpha() else f"t_{clean}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def rename_tools(adapter: Any, name_of: NameOf, *, is_undone: bool = True) -> None:
    """The adapter sends every tool under another name; in answers, the calls get the original names back."""
    known: dict[str, str] = {}

    def sent(name: str) -> str:
        other = name_of(name)
        known[other] = name
        return other

    rewriting = Rewriting(tool_name=sent)

    def renamed(translate: Translate, prompt: Prompt, options: Options) -> Any:
        return translate(rewriting.prompt(prompt), rewriting.options(options))

    retranslate(adapter, renamed)
    if is_undone:
        _undo_in_answers(adapter, known)


def _undo_in_answers(adapter: Any, known: Mapping[str, str]) -> None:
    own, own_sync = adapter.call, getattr(adapter, "call_sync", adapter.call)

    async def call(prompt: Any, options: Any) -> Any:
        async for event in own(prompt, options):
            yield _with_names(event, known)

    adapter.call = call

    def call_sync(prompt: Any, options: Any) -> Any:
        return (_with_names(event, known) for event in own_sync(prompt, options))

    if hasattr(adapter, "call_sync"):
        adapter.call_sync = call_sync


def _with_names(event: StreamEvent, known: Mapping[str, str]) -> StreamEvent:
    """The event with the original names in its calls."""
    match event:
        case ToolCallEvent():
            return replace(event, call=_named(event.call, known))
        case EndEvent() if event.message is not None:
            calls = tuple(_named(call, known) for call in event.message.tool_calls)
            return replace(event, message=replace(event.message, tool_calls=calls))
        case _:
            return event


def _named(call: ToolCall, known: Mapping[str, str]) -> ToolCall:
    return replace(call, function=replace(call.function, name=known.get(call.function.name, call.function.name)))


def late_places(prompt: Prompt) -> list[int]:
    """The places of the system messages after the first message of another role."""
    first = next((at for at, message in enumerate(prompt) if message["role"] != "system"), len(prompt))
    return [at for at in range(first, len(prompt)) if prompt[at]["role"] == "system"]


def with_late_in_front(prompt: Prompt) -> Prompt:
    """The prompt with its late system messages behind the leading ones."""
    late = late_places(prompt)
    first = next((at for at, message in enumerate(prompt) if message["role"] != "system"), len(prompt))
    rest = [message for at, message in enumerate(prompt) if at >= first and at not in late]
    return [*prompt[:first], *(prompt[at] for at in late), *rest]


NOTE: Final = "Note from the operator: "


def with_late_demoted(prompt: Prompt, note: str = NOTE) -> Prompt:
    """The prompt with user messages in place of its late system messages, each behind a note."""
    late = late_places(prompt)
    return [_demoted(message, note) if at in late else message for at, message in enumerate(prompt)]


def with_all_demoted(prompt: Prompt) -> Prompt:
    """The prompt with user messages in place of its system messages."""
    return [_demoted(message, NOTE) if message["role"] == "system" else message for message in prompt]


def _demoted(message: dict[str, Any], note: str) -> dict[str, Any]:
    return {**message, "role": "user", "content": f"{note}{message['content']}"}


def with_late_delayed(prompt: Prompt) -> Prompt:
    """The prompt with each late system message after an assistant's text behind the user message that follows."""
    moved: Prompt = []
    waiting: Prompt = []
    for message in prompt:
        if message["role"] == "system" and moved and _is_text_of_assistant(moved[-1]):
            waiting.append(message)
        else:
            moved += [message, *waiting] if message["role"] == "user" else [*waiting, message]
            waiting = []
    return moved + waiting


def _is_text_of_assistant(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and not message.get("tool_calls")


def with_trimmed_prefill(prompt: Prompt) -> Prompt:
    """The prompt without whitespace at the end of an assistant's last text."""
    last = prompt[-1] if prompt else {}
    is_prefill = last.get("role") == "assistant" and last.get("content") and not last.get("tool_calls")
    return [*prompt[:-1], {**last, "content": last["content"].rstrip()}] if is_prefill else prompt


def has_failed(message: dict[str, Any]) -> bool:
    """Whether the result says that its call failed."""
    return message.get("status") == "error"


def with_marked_failures(prompt: Prompt, *, is_marked: Callable[[dict[str, Any]], bool] = has_failed) -> Prompt:
    """The prompt with a mark before each failed result."""
    is_result = [message["role"] in ("tool", "tool_result") for message in prompt]
    return [
        {**message, "content": f"Error: {message['content']}"} if one and is_marked(message) else message
        for message, one in zip(prompt, is_result, strict=True)
    ]


def with_wrapped_results(prompt: Prompt) -> Prompt:
    """The prompt with each result in an object, as JSON text."""
    return [
        {**message, "content": json.dumps({"result": message["content"]})}
        if message["role"] in ("tool", "tool_result")
        else message
        for message in prompt
    ]


def with_wrapped_arguments(prompt: Prompt, key_of: Callable[[str], str] = lambda _: "NOT_JSON") -> Prompt:
    """The prompt with an object around the arguments that are none."""
    return [
        {**message, "tool_calls": [_wrapped_call(call, key_of) for call in message["tool_calls"]]}
        if message.get("tool_calls")
        else message
        for message in prompt
    ]


def _wrapped_call(call: dict[str, Any], key_of: Callable[[str], str]) -> dict[str, Any]:
    text = call["function"]["arguments"]
    try:
        is_whole = not text.strip() or is_object(json.loads(text))
    except ValueError:
        is_whole = False
    wrapped = text if is_whole else json.dumps({key_of(text): text}, ensure_ascii=False)
    return {**call, "function": {**call["function"], "arguments": wrapped}}


PLACEHOLDER: Final = "(empty)"


def with_filled_blanks(prompt: Prompt, placeholder: Callable[[str], str] = lambda _: PLACEHOLDER) -> Prompt:
    """The prompt with a placeholder for each blank text."""
    return [_filled(message, placeholder) for message in prompt]


def _filled(message: dict[str, Any], placeholder: Callable[[str], str]) -> dict[str, Any]:
    content = message.get("content")
    is_beside = message["role"] not in ("system", "user", "assistant") or bool(message.get("tool_calls"))
    if isinstance(content, str) and not content.strip() and not is_beside:
        return {**message, "content": placeholder(content)}
    if is_array(content):
        parts = [
            {**part, "text": placeholder(part["text"])} if part["type"] == "text" and not part["text"].strip() else part
            for part in content
        ]
        return {**message, "content": parts}
    return message


FILLER: Final = "Please continue."


def with_fillers(prompt: Prompt, text: Callable[[int], str] = lambda _: FILLER) -> Prompt:
    """The prompt with a turn wherever two of one role follow each other, or an assistant's comes first."""
    filled: Prompt = []
    before: str | None = None
    for message in prompt:
        role = {"tool": "result", "tool_result": "result", "tool_request": "assistant"}.get(
            message["role"], message["role"]
        )
        if role == "assistant" and before in (None, "assistant"):
            filled.append({"role": "user", "content": text(len(filled))})
        elif role == "user" and before == "user":
            filled.append({"role": "assistant", "content": text(len(filled))})
        filled.append(message)
        before = before if role == "system" else role
    return filled


_ROLES: Final = {"tool": "result", "tool_result": "result", "tool_request": "assistant"}


def with_schemas(options: Options, change: Callable[[Any], Any]) -> Options:
    """The options with the schemas of their tools changed."""
    if "tools" not in options:
        return options
    return {**options, "tools": [{**tool, "inputSchema": change(tool["inputSchema"])} for tool in options["tools"]]}


def closed(schema: Any) -> Any:
    """The schema, whose objects take no other properties and require each of theirs. Maps stay open."""
    if is_array(schema):
        return [closed(item) for item in schema]
    if not is_object(schema):
        return schema
    inner = {name: _closed_keyword(name, value) for name, value in schema.items()}
    if schema.get("type", "") != "object" or is_object(schema.get("additionalProperties")):
        return inner
    properties = inner.get("properties", {})
    return {**inner, "properties": properties, "additionalProperties": False, "required": list(properties)}


def _closed_keyword(name: str, value: Any) -> Any:
    if name in ("properties", "$defs", "definitions") and is_object(value):
        return {key: closed(item) for key, item in value.items()}
    return closed(value) if name in ("items", "prefixItems", "anyOf", "allOf", "not") else value


def without_keywords(schema: Any, keywords: frozenset[str]) -> Any:
    """The schema without these keywords."""
    if is_array(schema):
        return [without_keywords(item, keywords) for item in schema]
    if not is_object(schema):
        return schema
    return {
        name: {key: without_keywords(item, keywords) for key, item in value.items()}
        if name in ("properties", "$defs", "definitions") and is_object(value)
        else without_keywords(value, keywords)
        for name, value in schema.items()
        if name not in keywords
    }
