"""OpenTelemetry's spans of calls to models: what they tell of a request, written as the provider's format has it.

The names are those of the conventions for GenAI spans
(https://github.com/open-telemetry/semantic-conventions/blob/v1.37.0/docs/gen-ai/gen-ai-spans.md), the form that of OTLP
in JSON (one `resourceSpans` a line or a file) or of a span that Python's SDK writes (`to_json`). A span is not a copy
of the request: what it does not tell is left out, so that pairing, roles and the values of options are judged, and the
shape of what was sent is not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from art_compliance.dialects import DIALECTS
from art_compliance.dialects.recorded import objects_of
from art_compliance.traffic.found import Answer, Found, Item, Skipped, Unread
from art_sdk.json_data import is_array, is_object

_DIALECTS: Final[Mapping[str, str]] = {
    "openai": "openai-chat",
    "azure.ai.openai": "openai-chat",
    "deepseek": "deepseek-chat",
    "groq": "groq-chat",
    "mistral_ai": "mistral-chat",
    "anthropic": "anthropic-messages",
    "gcp.gemini": "gemini-generate",
    "gcp.gen_ai": "gemini-generate",
    "gcp.vertex_ai": "gemini-generate",
}
"""The format of each `gen_ai.provider.name` whose requests can be written from a span."""

_CALLS: Final = frozenset({"chat", "generate_content"})
"""The operations that send a conversation."""


def is_spans(data: object) -> bool:
    """Whether JSON data is spans: OTLP's, or one of Python's SDK."""
    if not is_object(data):
        return False
    attributes: Any = data.get("attributes")
    is_one = is_object(attributes) and any(name.startswith("gen_ai.") for name in attributes)
    return is_one or is_array(data.get("resourceSpans"))


def read_spans(data: Mapping[str, Any], where: str) -> Iterator[Item]:
    """The request of each span that is a call to a model; other spans are skipped."""
    if "resourceSpans" not in data:
        yield _read(data, _attributes(data), _attributes(data.get("resource")), where)
        return
    for at, resource in enumerate(objects_of(data["resourceSpans"])):
        shared = _attributes(resource.get("resource"))
        for scope_at, scope in enumerate(objects_of(resource.get("scopeSpans"))):
            for span_at, span in enumerate(objects_of(scope.get("spans"))):
                place = f"{where}: resourceSpans[{at}].scopeSpans[{scope_at}].spans[{span_at}]"
                yield _read(span, _attributes(span), shared, place)


def _read(span: Mapping[str, Any], attributes: Mapping[str, Any], shared: Mapping[str, Any], where: str) -> Item:
    if attributes.get("gen_ai.operation.name") not in _CALLS:
        return Skipped(where=where)
    provider = attributes.get("gen_ai.provider.name", attributes.get("gen_ai.system"))
    dialect = _DIALECTS.get(provider) if isinstance(provider, str) else None
    messages = _json(attributes.get("gen_ai.input.messages"))
    if dialect is None:
        return Unread(where=where, why="a span of a provider whose requests are not written from spans")
    if not is_array(messages):
        return Unread(where=where, why="a span without gen_ai.input.messages: instrumentations record them on demand")
    model = attributes.get("gen_ai.request.model")
    client = shared.get("service.name")
    return Found(
        where=where,
        body=_WRITERS.get(dialect, _chat)(attributes, list(objects_of(messages))),
        url=_url(dialect, attributes),
        dialect=dialect,
        is_recorded=True,
        answer=_answer(attributes),
        time=_time(span),
        client=client if isinstance(client, str) else None,
        model=model if isinstance(model, str) else None,
    )


def _attributes(holder: Any) -> dict[str, Any]:
    """Attributes as an object: OTLP's are a list of keys and typed values."""
    given: Any = holder.get("attributes") if is_object(holder) else None
    if is_object(given):
        return given
    return {str(one.get("key")): _value(one.get("value")) for one in objects_of(given)}


def _value(value: Any) -> Any:
    """A typed value of OTLP; a long integer is a text in JSON."""
    match value:
        case {"intValue": number}:
            return int(number) if str(number).lstrip("-").isdecimal() else None
        case {"arrayValue": {"values": items}} if is_array(items):
            return [_value(item) for item in items]
        case {"kvlistValue": {"values": items}}:
            return {str(one.get("key")): _value(one.get("value")) for one in objects_of(items)}
        case {"stringValue": plain} | {"doubleValue": plain} | {"boolValue": plain}:
            return plain
        case _:
            return None


def _json(value: Any) -> Any:
    """Messages and tools are structured, or a text of JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _time(span: Mapping[str, Any]) -> str | float | None:
    time = span.get("startTimeUnixNano", span.get("start_time"))
    return int(time) if isinstance(time, str) and time.isdecimal() else time if isinstance(time, str | int) else None


def _answer(attributes: Mapping[str, Any]) -> Answer:
    """The status, where an error is one, and the tokens."""
    error = attributes.get("error.type")
    status = 200 if error is None else int(error) if isinstance(error, str) and error.isdecimal() else None
    given, said = attributes.get("gen_ai.usage.input_tokens"), attributes.get("gen_ai.usage.output_tokens")
    return Answer(status=status, tokens=(given if isinstance(given, int) else 0, said if isinstance(said, int) else 0))


def _url(dialect: str, attributes: Mapping[str, Any]) -> str | None:
    host, service = attributes.get("server.address"), DIALECTS[dialect].service
    if not isinstance(host, str) or not host:
        return None
    path = f"{service.base_path}{service.endings[0]}".replace("{model}", str(attributes.get("gen_ai.request.model")))
    return f"https://{host}{path}"


_OPTIONS: Final = ("temperature", "top_p", "max_tokens", "frequency_penalty", "presence_penalty", "seed")


def _options(attributes: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The options that the span tells, by the names that the format has for them."""
    values = {ours: attributes.get(f"gen_ai.request.{name}") for name, ours in names.items()}
    return {name: value for name, value in values.items() if value is not None}


def _texts(parts: Any) -> str:
    return "\n".join(str(part.get("content", "")) for part in objects_of(parts) if part.get("type") == "text")


def _calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [part for part in objects_of(message.get("parts")) if part.get("type") == "tool_call"]


def _results(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [part for part in objects_of(message.get("parts")) if part.get("type") == "tool_call_response"]


def _result(part: Mapping[str, Any]) -> str:
    result = part.get("response", part.get("result"))
    return result if isinstance(result, str) else json.dumps(result)


def _system(attributes: Mapping[str, Any]) -> str:
    return _texts(_json(attributes.get("gen_ai.system_instructions")))


def _chat(attributes: Mapping[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """A request of chat completions."""
    system = _system(attributes)
    written = [{"role": "system", "content": system}] if system else []
    written += [one for message in messages for one in _chat_messages(message)]
    return {
        "model": attributes.get("gen_ai.request.model"),
        "messages": written,
        **_options(attributes, {n: n for n in _OPTIONS}),
    }


def _chat_messages(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    results = _results(message)
    yield from ({"role": "tool", "tool_call_id": one.get("id"), "content": _result(one)} for one in results)
    text, calls = _texts(message.get("parts")), _calls(message)
    if text or calls or not results:
        yield {
            "role": message.get("role"),
            "content": text,
            **({"tool_calls": [*map(_chat_call, calls)]} if calls else {}),
        }


def _arguments(call: Mapping[str, Any]) -> Any:
    """The arguments as JSON; a span without them is of a call without any."""
    given = call.get("arguments")
    return dict[str, Any]() if given in (None, "") else _json(given)


def _chat_call(call: Mapping[str, Any]) -> dict[str, Any]:
    given = call.get("arguments")
    arguments = given if isinstance(given, str) else json.dumps(given or {})
    return {"id": call.get("id"), "type": "function", "function": {"name": call.get("name"), "arguments": arguments}}


def _anthropic(attributes: Mapping[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """A request of Anthropic's messages; the span need not tell `max_tokens`, which every request has."""
    names = {"temperature": "temperature", "top_p": "top_p", "top_k": "top_k", "max_tokens": "max_tokens"}
    system = _system(attributes)
    return {
        "model": attributes.get("gen_ai.request.model"),
        "max_tokens": 1,
        "messages": [{"role": _ROLES.get(_role(one), "user"), "content": _blocks(one)} for one in messages],
        **({"system": system} if system else {}),
        **_options(attributes, names),
    }


_ROLES: Final = {"assistant": "assistant"}


def _role(message: Mapping[str, Any]) -> str:
    return str(message.get("role"))


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    text = _texts(message.get("parts"))
    results = [
        {"type": "tool_result", "tool_use_id": one.get("id"), "content": _result(one)} for one in _results(message)
    ]
    calls = [
        {"type": "tool_use", "id": one.get("id"), "name": one.get("name"), "input": _arguments(one)}
        for one in _calls(message)
    ]
    return [*results, *([{"type": "text", "text": text}] if text else []), *calls]


def _gemini(attributes: Mapping[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """A request of Gemini's generateContent."""
    names = {"temperature": "temperature", "top_p": "topP", "top_k": "topK", "max_tokens": "maxOutputTokens"}
    system, options = _system(attributes), _options(attributes, names)
    return {
        "contents": [
            {"role": "model" if _role(one) in {"assistant", "model"} else "user", "parts": _parts(one)}
            for one in messages
        ],
        **({"systemInstruction": {"parts": [{"text": system}]}} if system else {}),
        **({"generationConfig": options} if options else {}),
    }


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    text = _texts(message.get("parts"))
    calls = [{"functionCall": {"name": one.get("name"), "args": _arguments(one)}} for one in _calls(message)]
    results = [
        {"functionResponse": {"name": one.get("name") or "unknown", "response": {"result": _result(one)}}}
        for one in _results(message)
    ]
    return [*([{"text": text}] if text else []), *calls, *results]


_Write = Callable[[Mapping[str, Any], list[dict[str, Any]]], dict[str, Any]]
_WRITERS: Final[Mapping[str, _Write]] = {"anthropic-messages": _anthropic, "gemini-generate": _gemini}
"""What writes a request of each format, but for those of the chat completions family."""
