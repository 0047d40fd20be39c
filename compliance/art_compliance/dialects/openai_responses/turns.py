"""Items of the assistant that stand together, as one message."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.decoding import Fields, PromptBuilder
from art_sdk import AssistantMessage, ToolCall

NAME: Final = "openai-responses"

_OF_MESSAGES: Final = ("id", "phase", "status")
_OF_CALLS: Final = ("id", "status", "namespace")


class AssistantItems:
    """Collects neighbouring items of the assistant, and adds them to the prompt as one message."""

    def __init__(self, prompt: PromptBuilder) -> None:
        self._prompt = prompt
        self._begin()

    def _begin(self) -> None:
        self._pointer: str | None = None
        self._texts: list[str] = []
        self._calls: list[ToolCall] = []
        self._kept: list[dict[str, Any]] = []
        self._given: dict[str, Any] = {}
        self._has_more = False

    def text(self, text: str, fields: Fields) -> None:
        """A message."""
        self._at(fields.pointer)
        self._texts.append(text)
        self._has_more = self._has_more or fields.left.get("phase") is not None
        self._keep({"type": "message"}, fields, _OF_MESSAGES)

    def call(self, call: ToolCall, fields: Fields) -> None:
        """A call."""
        self._at(fields.pointer)
        self._prompt.place_call(len(self._calls), fields.pointer)
        self._calls.append(call)
        self._keep({"type": "function_call"}, fields, _OF_CALLS)

    def other(self, item: dict[str, Any], pointer: str) -> None:
        """Reasoning, or another item of an answer."""
        self._at(pointer)
        self._kept.append(item)
        self._has_more = True

    def end(self) -> None:
        """Adds the message, if there is one."""
        if self._pointer is None:
            return
        text = "".join(self._texts) if self._texts else None
        extensions = {NAME: {"items": self._items()}} if self._has_more else None
        if not self._has_more:
            self._prompt.ledger.opaque |= self._given
        self._prompt.add(AssistantMessage(text, tuple(self._calls), extensions=extensions), self._pointer)
        self._begin()

    def _items(self) -> list[dict[str, Any]]:
        """What is kept of the items; of all messages but the last, how much of the text is theirs."""
        places = [at for at, item in enumerate(self._kept) if item["type"] == "message"]
        lengths = dict(zip(places[:-1], map(len, self._texts), strict=False))
        return [item | ({"length": lengths[at]} if at in lengths else {}) for at, item in enumerate(self._kept)]

    def _at(self, pointer: str) -> None:
        if self._pointer is None:
            self._prompt.end_user()
            self._pointer = pointer

    def _keep(self, item: dict[str, Any], fields: Fields, names: tuple[str, ...]) -> None:
        given = {name: fields.left.pop(name) for name in names if fields.left.get(name) is not None}
        self._kept.append(item | given)
        self._given |= {f"{fields.pointer}/{name}": value for name, value in given.items()}
