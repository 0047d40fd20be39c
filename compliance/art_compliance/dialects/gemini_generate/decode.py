"""Decodes `gemini-generate`.

These forms decode to the same: camelCase and snake_case field names, and one object for a list of one
(both are how protobuf's JSON reads them); a turn without role and one of role `user`; the model's
texts of one turn are one text; a result's wrappers `output`, `result`, `return_value` and `content`
around one text, `error` being a failed one, any other object its compact JSON; `parameters` in
protobuf's upper-case types or their numbers, `parametersJsonSchema`, and no parameters as `{}`; bytes in
either alphabet of base64, padded or not; calls without ids are numbered in order, and a result without id
answers the next open call of its name. Thought signatures are extensions of the model's turn. Files that
are not images, such as audio and PDF, are opaque. The URL has the model, and whether to stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from art_compliance.dialects.decoding import Decoded, DecodeFailed, Fields, Ledger, PromptBuilder, call_of
from art_compliance.dialects.framing import to_json
from art_compliance.dialects.gemini_generate.protobuf import MODES, TYPES, canonical_base64, enum_name
from art_compliance.dialects.gemini_generate.reasoning import stands_for_none
from art_compliance.dialects.nullable import with_null_unions
from art_compliance.dialects.numbering import OpenCalls
from art_compliance.dialects.results import WRAPPERS, meant, unwrap
from art_compliance.dialects.urls import model_of
from art_compliance.quoting import show
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
    return Decoded(
        prompt=contents.prompt.messages,
        tools=tools,
        options=options,
        opaque=ledger.opaque,
        places=ledger.places,
        wrapped=frozenset(contents.wrapped),
        has_ids=contents.calls.all_have_ids,
        json_results=contents.json_results,
    )


def _from_url(url: str | None) -> dict[str, Any]:
    model = model_of(url)
    streams = {"stream": True} if ":streamGenerateContent" in (url or "") else {}
    return streams if model is None else {"model": model, **streams}


class _Contents:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.calls = OpenCalls()
        self.prompt = PromptBuilder(ledger)
        self.wrapped: set[str] = set()
        self.json_results: dict[str, tuple[Any, ...]] = {}

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
                raise DecodeFailed(f"{pointer}/role", f"unknown role {show(role)}")

    def _user(self, content: Fields) -> None:
        for part, pointer in self._parts(content):
            answer = part.take("functionResponse", "function_response")
            if answer is not None:
                result, response = self._result(answer, f"{pointer}/functionResponse")
                self.prompt.add(result, pointer)
                self.wrapped |= {self.prompt.last_path} if unwrap(response)[1] else set()
                self.json_results[self.prompt.last_path] = meant(response)
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
            if _is_other_file(blob):
                part.put_back(blob_names[0], blob)
            elif blob is not None:
                with self._ledger.open(blob, f"{pointer}/{blob_names[0]}") as fields:
                    kind = fields.take_text("mimeType", "mime_type") or "image/*"
                    value = fields.take_text(*value_names) or ""  # a field that protobuf leaves out is empty
                yield ImagePart(kind, **{slot: canonical_base64(value) if slot == "data" else value})

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
            call_id = self.calls.open(fields.take_text("id"), name)
        return call_of(call_id, name, to_json(arguments or {}))

    def _result(self, answer: object, pointer: str) -> tuple[ToolResultMessage, dict[str, Any]]:
        """The result, and the object that it was sent as."""
        with self._ledger.open(answer, pointer) as fields:
            name = fields.take_text("name")
            call_id = fields.take_text("id")
            response = _without_name(fields.take_object("response") or {}, name)
        text, wrapper = unwrap(response)
        known = self.calls.answer(call_id, name) or call_id or "unknown"
        return ToolResultMessage(text, known, name, "error" if wrapper == "error" else "success"), response

    def _parts(self, content: Fields) -> Iterator[tuple[Fields, str]]:
        for index, item in enumerate(content.take_list("parts")):
            pointer = f"{content.pointer}/parts/{index}"
            with self._ledger.open(item, pointer) as part:
                yield part, pointer


_IMAGES: Final = (
    ("data", ("inlineData", "inline_data"), ("data",)),
    ("url", ("fileData", "file_data"), ("fileUri", "file_uri")),
)


def _is_other_file(blob: object) -> bool:
    """Whether a file says that it is not an image; the standard format has no slot for it."""
    kind: Any = blob.get("mimeType", blob.get("mime_type")) if is_object(blob) else None
    return isinstance(kind, str) and bool(kind) and not kind.startswith("image/")


class _Signed:
    """The thought signatures of a model's turn: the text's, and each call's by its place among the calls."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}

    def note(self, part: Fields, call: int | None) -> None:
        signature = part.take_text("thoughtSignature", "thought_signature")
        if signature is not None and stands_for_none(signature):
            return
        if signature is not None and call is None:
            self._found["text"] = canonical_base64(signature)
        elif signature is not None:
            self._found.setdefault("calls", {})[str(call)] = canonical_base64(signature)

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        return {"gemini-generate": self._found} if self._found else None


def _without_name(response: dict[str, Any], name: str | None) -> dict[str, Any]:
    """The response without the tool's name, which Google's examples repeat next to a wrapped result.

    Source: google-gemini/cookbook, quickstarts/rest/Function_calling_REST.ipynb, "Multi-turn function calling".
    """
    others = {key: value for key, value in response.items() if key != "name"}
    is_repeated = name is not None and response.get("name") == name and len(others) == 1 and others.keys() <= WRAPPERS
    return others if is_repeated else response


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
        takes if takes is not None else _own_schema(fields.take_object("parameters") or {}),
        gives if gives is not None else _own_schema(fields.take_object("response")),
    )


_SCHEMA_FIELDS: Final = {  # google-genai 2 and 3 send a union as any_of; protobuf's JSON has both names
    "any_of": "anyOf",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_properties": "minProperties",
    "max_properties": "maxProperties",
}


def _own_schema(schema: Any) -> Any:
    """Protobuf's Schema as JSON Schema, which says `nullable` by a union."""
    return with_null_unions(_json_schema(schema))


def _json_schema(schema: Any, *, has_names: bool = False) -> Any:
    """Protobuf's Schema with the names of JSON Schema, whose types are in lower case and no numbers.

    With `has_names` the object is that of `properties`: its keys are not fields.
    """
    if is_array(schema):
        return [_json_schema(item) for item in schema]
    if not is_object(schema):
        return schema
    fields: dict[str, str] = {} if has_names else _SCHEMA_FIELDS
    plain = {
        fields.get(name, name): _json_schema(value, has_names=name == "properties" and not has_names)
        for name, value in schema.items()
    }
    kind = enum_name(schema.get("type"), TYPES)
    return plain if kind is None else plain | {"type": kind.lower()}


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
        schema = _own_schema(fields.take_object("responseSchema", "response_schema"))
    mime = fields.take("responseMimeType", "response_mime_type")
    if mime is not None and (schema is None or mime != "application/json"):
        fields.put_back("responseMimeType", mime)
    return schema


_MODES: Final = {"AUTO": "auto", "VALIDATED": "auto", "NONE": "none", "ANY": "required"}
"""`VALIDATED` leaves the model the choice, too: Google's types say: "constrained to
predict either function calls or natural language response" (`FunctionCallingConfigMode` of google-genai)."""


def _tool_choice(ledger: Ledger, body: Fields) -> str | None:
    config = body.take("toolConfig", "tool_config")
    if config is None:
        return None
    with ledger.open(config, "/toolConfig") as outer:
        calling = outer.take("functionCallingConfig", "function_calling_config")
        if calling is None:
            return None
        with ledger.open(calling, "/toolConfig/functionCallingConfig") as fields:
            given = fields.take("mode")
            mode = enum_name(given, MODES)
            names = fields.take_list("allowedFunctionNames", "allowed_function_names")
            if mode == "ANY" and len(names) == 1:
                return cast("str", names[0])
            if names:
                fields.put_back("allowedFunctionNames", names)
            if mode not in _MODES:
                fields.put_back("mode", given)
            return _MODES.get(mode or "")
