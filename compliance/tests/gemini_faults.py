"""The faults of `semantic_faults` in Gemini's contents, and which are accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from semantic_faults import Format, Spoil

_PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


def _call(call_id: str, city: str) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": "get_weather", "args": {"city": city}}, "thoughtSignature": "c2ln"}


def _result(call_id: str, text: str, name: str = "get_weather") -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": name, "response": {"output": text}}}


def _tool(name: str) -> dict[str, Any]:
    schema = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}
    return {"name": name, "description": f"Call {name}.", "parameters": schema}


def _image(data: str) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": data}}


def _good() -> dict[str, Any]:
    return {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "How is the weather in Paris and in Rome?"}, _image(_PIXEL)]},
            {"role": "model", "parts": [_call("a1", "Paris"), _call("a2", "Rome")]},
            {"role": "user", "parts": [_result("a1", "sunny"), _result("a2", "rainy")]},
            {"role": "model", "parts": [{"text": "Sunny in Paris, rainy in Rome."}]},
            {"role": "user", "parts": [{"text": "Thanks."}]},
        ],
        "tools": [{"functionDeclarations": [_tool("get_weather"), _tool("get_time")]}],
        "generationConfig": {"maxOutputTokens": 100},
    }


def _set(**options: Any) -> Spoil:
    return lambda body: body["generationConfig"].update(options)


def _declared(body: dict[str, Any]) -> list[dict[str, Any]]:
    return body["tools"][0]["functionDeclarations"]


def _force(*names: str) -> dict[str, Any]:
    return {"functionCallingConfig": {"mode": "ANY", **({"allowedFunctionNames": list(names)} if names else {})}}


def _doubled_id(body: dict[str, Any]) -> None:
    body["contents"][1]["parts"][1]["functionCall"]["id"] = "a1"
    body["contents"][2]["parts"][1]["functionResponse"]["id"] = "a1"


def _late_result(body: dict[str, Any]) -> None:
    asked, said = {"role": "user", "parts": [{"text": "Well?"}]}, {"role": "model", "parts": [{"text": "One moment."}]}
    body["contents"][2:2] = [asked, said]


def _drop_tools(body: dict[str, Any]) -> None:
    del body["tools"]
    body["contents"] = body["contents"][:1]
    body["toolConfig"] = _force()


_SPOIL: Final[Mapping[str, Spoil]] = {
    "unanswered-call": lambda body: body["contents"][2]["parts"].pop(),
    "orphan-result": lambda body: body["contents"][4].update(parts=[_result("a9", "no")]),
    "doubled-result": lambda body: body["contents"][2]["parts"].append(_result("a1", "windy")),
    "doubled-call-id": _doubled_id,
    "result-after-other-turn": _late_result,
    "tool-name-with-space": lambda body: _declared(body)[1].update(name="get time"),
    "tool-name-too-long": lambda body: _declared(body)[1].update(name="g" * 200),
    "two-tools-of-one-name": lambda body: _declared(body).append(_tool("get_time")),
    "choice-of-unknown-tool": lambda body: body.update(toolConfig=_force("get_news")),
    "choice-without-tools": _drop_tools,
    "empty-conversation": lambda body: body.update(contents=[]),
    "unknown-role": lambda body: body["contents"][-1].update(role="narrator"),
    "absent-user-content": lambda body: body["contents"][-1].pop("parts"),
    "temperature-out-of-range": _set(temperature=5),
    "top-p-out-of-range": _set(topP=1.5),
    "no-tokens": _set(maxOutputTokens=0),
    "negative-tokens": _set(maxOutputTokens=-1),
    "too-many-stops": _set(stopSequences=[f"stop {n}" for n in range(40)]),
    "invalid-base64": lambda body: body["contents"][0]["parts"].append(_image("this is not base64!")),
    "arguments-not-json": lambda body: body["contents"][1]["parts"][0]["functionCall"].update(args="{city: Paris"),
    "invalid-parameters": lambda body: _declared(body)[0]["parameters"]["properties"]["city"].update(type="strin"),
    "answer-schema-without-name": _set(responseSchema={"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}),
    "missing-model": lambda _: None,  # the URL has it
}

_UNKNOWN: Final = {
    "doubled-call-id": "ids are optional, and no thread that was found quotes a refusal of equal ones",
    "top-p-out-of-range": "threads quote the limits of topK, temperature and maxOutputTokens, and none for topP",
    "missing-model": "a URL without a model is another method's, and the answer 404 says nothing of the request",
}

_HOME: Final = "https://generativelanguage.googleapis.com/v1beta"

FORMATS: Final[Mapping[str, Format]] = {
    "gemini-generate": Format(
        good=_good,
        url=f"{_HOME}/models/gemini-3-pro-preview:generateContent",
        spoil=_SPOIL,
        unknown=_UNKNOWN,
        spoiled_urls={"missing-model": f"{_HOME}/models/:generateContent"},
    ),
}
