"""Decodes `cohere-chat-v2`.

These forms decode to the same: text as a string and as a list of text parts (of a system message each part is one
message; of an assistant or tool message they are one text); empty text next to calls, and none; `{"type": "text"}` as
the form of the answer, and none; a result as text and as a document. `tool_choice` left out next to tools is `auto`.
The plan, the citations and the thinking of an assistant's message are extensions of it. An image's detail has no slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from art_compliance.dialects.decoding import (
    Decoded,
    DecodeFailed,
    Fields,
    Ledger,
    PromptBuilder,
    call_of,
    image_of,
    take_functions,
    user_message,
    wrong_kind,
)
from art_compliance.dialects.results import meant, unwrap
from art_compliance.quoting import show
from art_sdk import AssistantMessage, ImagePart, SystemMessage, ToolCall, ToolResultMessage
from art_sdk.json_data import is_object
from art_sdk.messages import ArtStandardMessage, ArtStandardPrompt

NAME: Final = "cohere-chat-v2"


def decode(payload: object, *, url: str | None = None) -> Decoded:
    """The request in the standard format. Raises DecodeFailed."""
    del url
    ledger = Ledger()
    with ledger.open(payload, "") as body:
        messages = _Messages(ledger)
        prompt = messages.read(body.take_list("messages"))
        tools = tuple(take_functions(ledger, body))
        options = _options(ledger, body, has_tools=bool(tools))
    return Decoded(
        prompt=prompt,
        tools=tools,
        options=options,
        opaque=ledger.opaque,
        places=ledger.places,
        wrapped=frozenset(messages.wrapped),
        json_results=messages.json_results,
    )


class _Messages:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._prompt = PromptBuilder(ledger)
        self.wrapped: set[str] = set()
        self.json_results: dict[str, tuple[Any, ...]] = {}
        self._objects: list[dict[str, Any]] = []

    def read(self, messages: list[Any]) -> ArtStandardPrompt:
        for fields, read in self._ledger.by_role(messages, _ROLES):
            for one in read(self, fields):
                self._prompt.add(one, fields.pointer)
            self._note_objects()
        return self._prompt.messages

    def system(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        for text in self._ledger.texts(fields):
            yield SystemMessage(text)

    def user(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        yield user_message(tuple(self._ledger.texts_and_images(fields, self._image)))

    def assistant(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        kept: dict[str, Any] = {"tool_plan": fields.take_text("tool_plan"), "citations": fields.take_list("citations")}
        blocks: list[dict[str, Any]] = []
        text = "".join(self._ledger.texts(fields, blocks, {"thinking"}))
        kept["blocks"] = blocks
        calls = tuple(self._tool_calls(fields))
        extension = {name: value for name, value in kept.items() if value}
        yield AssistantMessage(text or None, calls, extensions={NAME: extension} if extension else None)

    def tool(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        text = "".join(self._said(part, kind) for part, kind in self._ledger.parts(fields, "content"))
        yield ToolResultMessage(text, fields.take_text("tool_call_id") or "unknown")

    def _said(self, part: Fields, kind: str | None) -> str:
        """The text of a part of a result. A document has it as `data`, or in an object."""
        if kind == "document":
            with self._ledger.open(part.take("document"), f"{part.pointer}/document") as document:
                return self._text_of(document)
        if kind == "text":
            return part.take_text("text") or ""
        part.put_back("type", kind)
        return ""

    def _text_of(self, document: Fields) -> str:
        document.take("id")  # citations name it
        data = document.take("data")
        if not is_object(data):
            return data if isinstance(data, str) else ""
        self._objects.append(data)
        return unwrap(data)[0]

    def _note_objects(self) -> None:
        """Where the last message is a result that was an object, what that may stand for."""
        for one in self._objects:
            self.wrapped |= {self._prompt.last_path} if unwrap(one)[1] else set()
            self.json_results[self._prompt.last_path] = meant(one)
        self._objects.clear()

    def _image(self, part: Fields) -> ImagePart:
        with self._ledger.open(part.take("image_url"), f"{part.pointer}/image_url") as image:
            url = image.take_text("url") or ""
        return image_of(url)

    def _tool_calls(self, fields: Fields) -> Iterator[ToolCall]:
        for index, item in enumerate(fields.take_list("tool_calls")):
            pointer = f"{fields.pointer}/tool_calls/{index}"
            self._prompt.place_call(index, pointer)
            with self._ledger.open(item, pointer) as call:
                call.take("type")
                with self._ledger.open(call.take("function"), f"{pointer}/function") as function:
                    name, arguments = function.take_text("name") or "", function.take_text("arguments") or ""
                yield call_of(call.take_text("id") or "unknown", name, arguments)


_ROLES: Final[Mapping[str, Callable[[_Messages, Fields], Iterator[ArtStandardMessage]]]] = {
    "system": _Messages.system,
    "user": _Messages.user,
    "assistant": _Messages.assistant,
    "tool": _Messages.tool,
}


_OPTIONS: Final = {
    "model": "model",
    "stream": "stream",
    "temperature": "temperature",
    "p": "top_p",
    "max_tokens": "max_tokens",
}
_CHOICES: Final = {"REQUIRED": "required", "NONE": "none"}


def _options(ledger: Ledger, body: Fields, *, has_tools: bool) -> dict[str, Any]:
    found = {ours: (body.take(theirs), f"/{theirs}") for theirs, ours in _OPTIONS.items()}
    found["stop"] = (tuple(body.take_list("stop_sequences")) or None, "/stop_sequences")
    found["tool_choice"] = (_tool_choice(body, has_tools=has_tools), "/tool_choice")
    found["response_schema"] = (_response_schema(ledger, body), "/response_format")
    return ledger.options(found)


def _tool_choice(body: Fields, *, has_tools: bool) -> str | None:
    """Left out next to tools, the model may choose."""
    choice = body.take_text("tool_choice")
    if choice is None:
        return "auto" if has_tools else None
    if choice not in _CHOICES:
        raise DecodeFailed("/tool_choice", f"unknown choice {show(choice)}")
    return _CHOICES[choice]


def _response_schema(ledger: Ledger, body: Fields) -> dict[str, Any] | None:
    """The schema. Any JSON object, without a schema, has no slot."""
    wanted = body.take("response_format")
    if wanted is None:
        return None
    if not is_object(wanted):
        raise wrong_kind("/response_format", "an object", wanted)
    if wanted.get("type") == "json_object" and is_object(wanted.get("json_schema")):
        with ledger.open(wanted, "/response_format") as fields:
            fields.take("type")
            return fields.take_object("json_schema")
    if wanted != {"type": "text"}:
        body.put_back("response_format", wanted)
    return None
