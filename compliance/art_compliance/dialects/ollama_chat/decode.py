"""Decodes `ollama-chat`.

These forms decode to the same: neighbouring user messages are one turn, as the server's templates join them, and a
message's images stand before its text; roles in any case; a `type` next to a call's function, and none; calls without
ids are numbered in order, and a result without an id answers the next open call of its name, or, without a name, the
only open call (nothing but `tool_name` and `tool_call_id` in api/types.go links a result to its call); `stream` left
out and true; no `format`, an empty one, and null. The model's `thinking` is an extension of its turn.
What is not in its place is opaque, since the server drops it: `temperature` outside `options`, say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from art_compliance.dialects.decoding import (
    Decoded,
    DecodeFailed,
    Fields,
    Ledger,
    PromptBuilder,
    call_of,
    take_functions,
)
from art_compliance.dialects.numbering import OpenCalls
from art_sdk import AssistantMessage, ImagePart, SystemMessage, TextPart, ToolCall, ToolResultMessage
from art_sdk.json_data import is_array, is_object
from art_sdk.messages import ArtStandardPrompt


def decode(payload: object, *, url: str | None = None) -> Decoded:
    """The request in the standard format. Raises DecodeFailed."""
    del url
    ledger = Ledger()
    with ledger.open(payload, "") as body:
        messages = _Messages(ledger)
        prompt = messages.read(body.take_list("messages"))
        tools = tuple(take_functions(ledger, body))
        options = _options(ledger, body)
    return Decoded(
        prompt=prompt,
        tools=tools,
        options=options,
        opaque=ledger.opaque,
        places=ledger.places,
        has_ids=messages.calls.all_have_ids,
    )


class _Messages:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._prompt = PromptBuilder(ledger)
        self.calls = OpenCalls()

    def read(self, messages: list[Any]) -> ArtStandardPrompt:
        for fields, read in self._ledger.by_role(
            messages, _ROLES, str.lower
        ):  # `Message.UnmarshalJSON` in api/types.go
            read(self, fields)
        return self._prompt.messages

    def system(self, fields: Fields) -> None:
        self._prompt.add(SystemMessage(fields.take_text("content") or ""), fields.pointer)

    def user(self, fields: Fields) -> None:
        text, images = fields.take_text("content") or "", fields.take_list("images")
        for at, data in enumerate(images):
            if not isinstance(data, str):
                raise DecodeFailed(f"{fields.pointer}/images/{at}", "an image is text in base64")
            self._prompt.add_part(ImagePart("image/*", data=data), fields.pointer)
        if text or not images:
            self._prompt.add_part(TextPart(text), fields.pointer)

    def assistant(self, fields: Fields) -> None:
        self._prompt.end_user()
        text, thinking = fields.take_text("content"), fields.take_text("thinking")
        calls = tuple(self._tool_calls(fields))
        extensions = {"ollama-chat": {"thinking": thinking}} if thinking else None
        said = None if calls and not text else text
        self._prompt.add(AssistantMessage(said, calls, extensions=extensions), fields.pointer)

    def tool(self, fields: Fields) -> None:
        call_id, name = fields.take_text("tool_call_id"), fields.take_text("tool_name")
        known = self.calls.answer(call_id, name) or call_id or "unknown"
        self._prompt.add(ToolResultMessage(fields.take_text("content") or "", known, name), fields.pointer)

    def _tool_calls(self, fields: Fields) -> Iterator[ToolCall]:
        for index, item in enumerate(fields.take_list("tool_calls")):
            pointer = f"{fields.pointer}/tool_calls/{index}"
            self._prompt.place_call(index, pointer)
            with self._ledger.open(item, pointer) as call:
                call.take("type")
                with self._ledger.open(call.take("function"), f"{pointer}/function") as function:
                    function.take("index")
                    name = function.take_text("name") or ""
                    arguments = function.take_object("arguments") or {}
                yield call_of(self.calls.open(call.take_text("id"), name), name, _compact(arguments))


_ROLES: Final[Mapping[str, Callable[[_Messages, Fields], None]]] = {
    "system": _Messages.system,
    "user": _Messages.user,
    "assistant": _Messages.assistant,
    "tool": _Messages.tool,
}


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_OPTIONS: Final = {"temperature": "temperature", "top_p": "top_p", "num_predict": "max_tokens"}


def _options(ledger: Ledger, body: Fields) -> dict[str, Any]:
    found: dict[str, tuple[Any, str]] = {"model": (body.take("model"), "/model")}
    streams = body.take("stream")
    found["stream"] = (None if streams is False else True, "/stream")
    found["response_schema"] = (_format(body), "/format")
    with ledger.open(body.take_object("options") or {}, "/options") as options:
        for theirs, ours in _OPTIONS.items():
            found[ours] = (options.take(theirs), f"/options/{theirs}")
        found["stop"] = (_stop(options), "/options/stop")
    return ledger.options(found)


def _stop(options: Fields) -> tuple[Any, ...] | None:
    stop = options.take("stop")
    if is_array(stop):
        return tuple(stop) or None
    options.put_back("stop", stop)
    return None


def _format(body: Fields) -> dict[str, Any] | None:
    """The schema. `json` asks for any JSON, which has no slot; an empty text asks for nothing."""
    wanted = body.take("format")
    if is_object(wanted):
        return wanted
    body.put_back("format", wanted or None)
    return None
