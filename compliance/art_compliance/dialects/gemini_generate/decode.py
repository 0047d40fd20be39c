"""Decodes `gemini-generate`.

These forms decode to the same: camelCase and snake_case field names, and one object for a list of one
(both are how protobuf's JSON reads them); a turn without role and one of role `user`; the model's
texts of one turn are one text; a result's wrappers `output`, `result`, `return_value` and `content`
around one text, `error` being a failed one, any other object its compact JSON; `parameters` in
protobuf's upper-case types, `parametersJsonSchema`, and no parameters as `{}`; calls without ids
are numbered in order, and a result without id answers the next open call of its name. Thought
signatures are extensions of the model's turn. The URL has the model, and whether to stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, cast

from art_compliance.dialects.decoding import Decoded, DecodeFailed, Fields, Ledger, PromptBuilder, call_of
from art_compliance.dialects.numbering import OpenCalls
from art_compliance.dialects.urls import model_of
from art_sdk import AssistantMessage, ImagePart, SystemMessage, TextPart, ToolCall, ToolResultMessage, ToolSchema
from art_sdk.json_data import is_array, is_object


def decode(payload: object, *, url: str | None = None) -> Decoded:
    """The request in the standard format. Raises DecodeFailed."""
    ledger = Ledger()
    with ledger.open(payload, "") as body:
        contents = _Contents(ledger)
        contents.system(body.take("systemInstruction", "system_instruction"))
        for index, content in enumerate(body.take_list("contents")):
            contents.turn(content, f"/contents/{index}")
        tools = tuple(_tools(ledger, body.take_list("tools")))
        options = _options(ledger, body)
    options |= _from_url(url)
    prompt = contents.prompt.messages
    return Decoded(prompt=prompt, tools=tools, options=options, opaque=ledger.opaque, places=ledger.places)


def _from_url(url: str | None) -> dict[str, Any]:
    model = model_of(url)
    streams = {"stream": True} if ":streamGenerateContent" in (url or "") else {}
    return streams if model is None else {"model": model, **streams}


class _Contents:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._calls = OpenCalls()
        self.prompt = PromptBuilder(ledger)

    def system(self, instruction: object) -> None:
        if instruction is None:
            return
        with self._ledger.open(instruction, "/systemInstruction") as content:
            content.take("role")  # recorded as `user` and as missing; it has no meaning
            for part, pointer in self._parts(content):
                text = part.take_text("text")
                if text is not None:
                    self.prompt.add(SystemMessage(text), pointer)

    def turn(self, item: object, pointer: str) -> None:
        with self._ledger.open(item, pointer) as content:
            role = content.take_text("role")
            if role in (None, "user", "function"):
                self._user(content)
            elif role == "model":
                self._model(content)
            else:
                raise DecodeFailed(f"{pointer}/role", f"unknown role {role!r}")

    def _user(self, content: Fields) -> None:
        for part, pointer in self._parts(content):
            answer = part.take("functionResponse", "function_response")
            if answer is not None:
                self.prompt.add(self._result(answer, f"{pointer}/functionResponse"), pointer)
                continue
            for one in self._said(part, pointer):
                self.prompt.add_part(one, pointer)
        self.prompt.end_user()

    def _said(self, part: Fields, pointer: str) -> Iterator[TextPart | ImagePart]:
        text = part.take_text("text")
        if text is not None:
            yield TextPart(text)
        for slot, blob_names, value_names in _IMAGES:
            blob = part.take(*blob_names)
            if blob is not None:
                with self._ledger.open(blob, f"{pointer}/{blob_names[0]}") as fields:
                    kind = fields.take_text("mimeType", "mime_type") or "image/*"
                    value = fields.take_text(*value_names) or ""  # a field that protobuf leaves out is empty
                yield ImagePart(kind, **{slot: value})

    def _model(self, content: Fields) -> None:
        texts: list[str] = []
        calls: list[ToolCall] = []
        signed = _Signed()
        for part, pointer in self._parts(content):
            call = part.take("functionCall", "function_call")
            signed.note(part, None if call is None else len(calls))
            if call is not None:
                self.prompt.place_call(len(calls), f"{pointer}/functionCall")
                calls.append(self._call(call, f"{pointer}/functionCall"))
            elif part.left.get("thought") is not True:
                text = part.take_text("text")
                texts += [] if text is None else [text]
        said = "".join(texts) if texts and (any(texts) or not calls) else None
        self.prompt.add(AssistantMessage(said, tuple(calls), extensions=signed.extensions()), content.pointer)

    def _call(self, call: object, pointer: str) -> ToolCall:
        with self._ledger.open(call, pointer) as fields:
            name = fields.take_text("name") or ""
            arguments = fields.take_object("args")
            call_id = self._calls.open(fields.take_text("id"), name)
        return call_of(call_id, name, _compact(arguments or {}))

    def _result(self, answer: object, pointer: str) -> ToolResultMessage:
        with self._ledger.open(answer, pointer) as fields:
            name = fields.take_text("name")
            call_id = fields.take_text("id")
            response = fields.take_object("response")
        text, failed = _unwrap(response or {})
        known = self._calls.answer(call_id, name) or call_id or "unknown"
        return ToolResultMessage(text, known, name, "error" if failed else "success")

    def _parts(self, content: Fields) -> Iterator[tuple[Fields, str]]:
        for index, item in enumerate(content.take_list("parts")):
            pointer = f"{content.pointer}/parts/{index}"
            with self._ledger.open(item, pointer) as part:
                yield part, pointer


_IMAGES: Final = (
    ("data", ("inlineData", "inline_data"), ("data",)),
    ("url", ("fileData", "file_data"), ("fileUri", "file_uri")),
)


class _Signed:
    """The thought signatures of a model's turn: the text's, and each call's by its place among the calls."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}

    def note(self, part: Fields, call: int | None) -> None:
        signature = part.take_text("thoughtSignature", "thought_signature")
        if signature is not None and call is None:
            self._found["text"] = signature
        elif signature is not None:
            self._found.setdefault("calls", {})[str(call)] = signature

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        return {"gemini-generate": self._found} if self._found else None


_WRAPPERS: Final = frozenset({"output", "result", "return_value", "content"})


def _unwrap(response: dict[str, Any]) -> tuple[str, bool]:
    """A result's text, and whether the call failed."""
    if len(response) == 1:
        key, value = next(iter(response.items()))
        if isinstance(value, str) and (key in _WRAPPERS or key == "error"):
            return value, key == "error"
    return _compact(response), False


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _tools(ledger: Ledger, tools: list[Any]) -> Iterator[ToolSchema]:
    for index, item in enumerate(tools):
        with ledger.open(item, f"/tools/{index}") as tool:
            declarations = tool.take_list("functionDeclarations", "function_declarations")
            for at, declaration in enumerate(declarations):
                pointer = f"/tools/{index}/functionDeclarations/{at}"
                ledger.place_tool(pointer)
                with ledger.open(declaration, pointer) as fields:
                    yield _tool(fields)


def _tool(fields: Fields) -> ToolSchema:
    takes = fields.take_object("parametersJsonSchema", "parameters_json_schema")
    gives = fields.take_object("responseJsonSchema", "response_json_schema")
    return ToolSchema(
        fields.take_text("name") or "",
        fields.take_text("description") or "",
        takes if takes is not None else _json_schema(fields.take_object("parameters") or {}),
        gives if gives is not None else _json_schema(fields.take_object("response")),
    )


def _json_schema(schema: Any) -> Any:
    """Protobuf's Schema as JSON Schema, which has the same types in lower case."""
    if is_array(schema):
        return [_json_schema(item) for item in schema]
    if not is_object(schema):
        return schema
    table = schema
    plain = {name: _json_schema(value) for name, value in table.items()}
    if isinstance(table.get("type"), str):
        plain["type"] = table["type"].lower()
    return plain


_CONFIG: Final = {
    "temperature": ("temperature", "temperature"),
    "top_p": ("topP", "top_p"),
    "max_tokens": ("maxOutputTokens", "max_output_tokens"),
}


def _options(ledger: Ledger, body: Fields) -> dict[str, Any]:
    found: dict[str, tuple[Any, str]] = {}
    config = body.take("generationConfig", "generation_config")
    if config is not None:
        with ledger.open(config, "/generationConfig") as fields:
            found = {name: (fields.take(*names), f"{fields.pointer}/{names[0]}") for name, names in _CONFIG.items()}
            stop = tuple(fields.take_list("stopSequences", "stop_sequences"))
            found["stop"] = (stop or None, "/generationConfig/stopSequences")
            found["response_schema"] = (_response_schema(fields), "/generationConfig/responseJsonSchema")
    found["tool_choice"] = (_tool_choice(ledger, body), "/toolConfig/functionCallingConfig")
    return ledger.options(found)


def _response_schema(fields: Fields) -> Any:
    schema = fields.take_object("responseJsonSchema", "response_json_schema")
    if schema is None:
        schema = _json_schema(fields.take_object("responseSchema", "response_schema"))
    mime = fields.take("responseMimeType", "response_mime_type")
    if mime is not None and (schema is None or mime != "application/json"):
        fields.put_back("responseMimeType", mime)
    return schema


_MODES: Final = {"AUTO": "auto", "NONE": "none", "ANY": "required"}


def _tool_choice(ledger: Ledger, body: Fields) -> str | None:
    config = body.take("toolConfig", "tool_config")
    if config is None:
        return None
    with ledger.open(config, "/toolConfig") as outer:
        calling = outer.take("functionCallingConfig", "function_calling_config")
        if calling is None:
            return None
        with ledger.open(calling, "/toolConfig/functionCallingConfig") as fields:
            mode = fields.take_text("mode")
            names = fields.take_list("allowedFunctionNames", "allowed_function_names")
            if mode == "ANY" and len(names) == 1:
                return cast("str", names[0])
            if names:
                fields.put_back("allowedFunctionNames", names)
            if mode not in _MODES:
                fields.put_back("mode", mode)
            return _MODES.get(mode or "")
