"""What a recorded answer says, read without any adapter: its texts, its calls and its counts, whole or streamed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from art_compliance.cassettes.bodies import json_of, stream_items
from art_compliance.dialects.framing import to_json
from art_compliance.pointers import look_up
from art_sdk.json_data import is_array, is_object


class Call(Struct):
    """A call: its name, and its arguments as far as they have come."""

    name: str = ""
    arguments: str = ""

    @property
    def value(self) -> Any:
        """The arguments as JSON, or the text that they are."""
        return arguments_of(self.arguments)


class Recorded(Struct, frozen=True):
    """An answer: texts and calls by the place that each has in it. What was thought is not among them."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    calls: dict[str, Call] = field(default_factory=dict[str, Call])
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def say(self, place: str, text: Any) -> None:
        """More of a text."""
        if isinstance(text, str) and text:
            self.texts[place] = self.texts.get(place, "") + text

    def call(self, place: str, name: Any, arguments: Any) -> None:
        """More of a call."""
        call = self.calls.setdefault(place, Call())
        call.name = call.name or str(name or "")
        call.arguments += arguments if isinstance(arguments, str) else to_json(arguments) if arguments else ""


def read_recorded(dialect: str, body: bytes) -> Recorded:
    """What a body says; nothing where it is no answer of the dialect."""
    whole = json_of(body)
    items = [*stream_items(body)] if whole is None else [*whole] if is_array(whole) else [whole]
    family = dialect if dialect in _READERS else _OF_RELATIVES
    told = Recorded(counts=_count(items, _COUNTS[family]))
    for at, item in enumerate(items):
        if is_object(item):
            _READERS[family](told, at, item)
    return told


def arguments_of(text: str) -> Any:
    """Arguments as JSON, or the text that they are where they were cut short."""
    try:
        return json.loads(text.strip() or "{}")
    except ValueError:
        return text


def _read_chat(told: Recorded, _: int, item: Mapping[str, Any]) -> None:
    for choice in _objects(item.get("choices")):
        if choice.get("index", 0) != 0:
            continue
        said: Any = choice.get("message") or choice.get("delta") or {}
        content = said.get("content")
        told.say("content", content)
        told.say("refusal", said.get("refusal"))
        for part in _objects(content):  # Mistral's
            told.say("content", part.get("text"))
        for at, call in enumerate(_objects(said.get("tool_calls"))):
            function: Any = call.get("function") or {}
            told.call(str(call.get("index", at)), function.get("name"), function.get("arguments"))


def _read_anthropic(told: Recorded, _: int, item: Mapping[str, Any]) -> None:
    for at, block in enumerate(_objects(item.get("content"))):
        _read_block(told, str(at), block)
    place = str(item.get("index"))
    if is_object(item.get("content_block")):
        _read_block(told, place, item["content_block"])
    delta: Any = item.get("delta") or {}
    told.say(place, delta.get("text"))
    if "partial_json" in delta and place in told.calls:
        told.call(place, None, delta["partial_json"])


def _read_block(told: Recorded, place: str, block: Mapping[str, Any]) -> None:
    told.say(place, block.get("text"))
    if block.get("type") == "tool_use":
        told.call(place, block.get("name"), block.get("input"))


def _read_gemini(told: Recorded, number: int, item: Mapping[str, Any]) -> None:
    candidates = [*_objects(item.get("candidates"))]
    content: dict[str, Any] = candidates[0].get("content") or {} if candidates else {}
    for at, part in enumerate(_objects(content.get("parts"))):
        if not part.get("thought"):
            told.say("parts", part.get("text"))
        if is_object(part.get("functionCall")):
            called: Any = part["functionCall"]
            told.call(f"{number}/{at}", called.get("name"), called.get("args"))


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    found: list[Any] = list(value) if is_array(value) else []
    return (one for one in found if is_object(one))


_OF_RELATIVES: Final = "openai-chat"
_READERS: Final[Mapping[str, Callable[[Recorded, int, Mapping[str, Any]], None]]] = {
    _OF_RELATIVES: _read_chat,
    "anthropic-messages": _read_anthropic,
    "gemini-generate": _read_gemini,
}

_COUNTS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    _OF_RELATIVES: {"input_tokens": ("/usage/prompt_tokens",), "output_tokens": ("/usage/completion_tokens",)},
    "anthropic-messages": {
        "input_tokens": (
            "/usage/input_tokens",
            "/usage/cache_creation_input_tokens",
            "/usage/cache_read_input_tokens",
        ),
        "output_tokens": ("/usage/output_tokens",),
    },
    "gemini-generate": {
        "input_tokens": ("/usageMetadata/promptTokenCount", "/usageMetadata/toolUsePromptTokenCount"),
        "output_tokens": ("/usageMetadata/candidatesTokenCount", "/usageMetadata/thoughtsTokenCount"),
    },
}
"""Where an answer counts, by dialect: each count is the sum of these. A stream counts on; its last word holds."""

_ROOTS: Final = ("", "/message", "/x_groq")
"""Where the counts stand: Anthropic's first event and Groq's chunks have them one level down."""


def _count(items: list[Any], wanted: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    return {name: sum(_last_count(items, pointer) for pointer in pointers) for name, pointers in wanted.items()}


def _last_count(items: list[Any], pointer: str) -> int:
    found = [look_up(item, f"{root}{pointer}") for item in items for root in _ROOTS]
    return next((count for count in reversed(found) if isinstance(count, int)), 0)
