"""The faults of `semantic_faults` in Ollama's own chat API, and which are accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from semantic_faults import OF_MESSAGES, PIXEL, Format, Spoil


def _call(city: str) -> dict[str, Any]:
    return {"function": {"name": "get_weather", "arguments": {"city": city}}}


def _result(text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_name": "get_weather", "content": text}


def _tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {"type": "function", "function": {"name": name, "description": f"Call {name}.", "parameters": parameters}}


def _good() -> dict[str, Any]:
    return {
        "model": "qwen3:8b",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "How is the weather in Paris and in Rome?", "images": [PIXEL]},
            {"role": "assistant", "content": "", "tool_calls": [_call("Paris"), _call("Rome")]},
            _result("sunny"),
            _result("rainy"),
            {"role": "assistant", "content": "Sunny in Paris, rainy in Rome."},
            {"role": "user", "content": "Thanks."},
        ],
        "tools": [_tool("get_weather"), _tool("get_time")],
        "options": {"num_predict": 100},
    }


def _function(body: dict[str, Any], at: int) -> dict[str, Any]:
    return body["tools"][at]["function"]


def _drop_tools(body: dict[str, Any]) -> None:
    del body["tools"]
    body["messages"] = body["messages"][:2]
    body["tool_choice"] = "required"


def _doubled_id(body: dict[str, Any]) -> None:
    for call in body["messages"][2]["tool_calls"]:
        call["id"] = "call_1"


def _late_result(body: dict[str, Any]) -> None:
    body["messages"][3:3] = [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": "One moment."}]


def _set(**values: Any) -> Spoil:
    return lambda body: body["options"].update(values)


_SPOIL: Final[Mapping[str, Spoil]] = {
    **OF_MESSAGES,
    "unanswered-call": lambda body: body["messages"].pop(4),
    "orphan-result": lambda body: body["messages"].append(_result("no")),
    "doubled-result": lambda body: body["messages"].insert(4, _result("windy")),
    "doubled-call-id": _doubled_id,
    "result-after-other-turn": _late_result,
    "tool-name-with-space": lambda body: _function(body, 1).update(name="get time"),
    "tool-name-too-long": lambda body: _function(body, 1).update(name="g" * 200),
    "two-tools-of-one-name": lambda body: body["tools"].append(_tool("get_time")),
    "choice-of-unknown-tool": lambda body: body.update(
        tool_choice={"type": "function", "function": {"name": "get_news"}}
    ),
    "choice-without-tools": _drop_tools,
    "temperature-out-of-range": _set(temperature=5),
    "top-p-out-of-range": _set(top_p=1.5),
    "no-tokens": _set(num_predict=0),
    "negative-tokens": _set(num_predict=-1),
    "too-many-stops": _set(stop=[f"stop {n}" for n in range(40)]),
    "invalid-base64": lambda body: body["messages"][1]["images"].append("this is not base64!"),
    "arguments-not-json": lambda body: body["messages"][2]["tool_calls"][0]["function"].update(
        arguments="{city: Paris"
    ),
    "invalid-parameters": lambda body: _function(body, 0)["parameters"]["properties"]["city"].update(type="strin"),
    "answer-schema-without-name": lambda body: body.update(format="an object"),
}

_PAIRING: Final = (
    "ChatHandler compares no calls with results: https://github.com/ollama/ollama/blob/main/server/routes.go"
)
_TYPES: Final = "text by its type, and nothing else is asked: https://github.com/ollama/ollama/blob/main/api/types.go"
_NUMBERS: Final = "options have no limits: https://github.com/ollama/ollama/blob/main/api/types.go, Options.FromMap"
_DROPPED: Final = (
    "dropped without a word, which is a finding of its own kind: "
    "https://github.com/ollama/ollama/blob/main/server/routes.go, ShouldBindJSON"
)
_ACCEPTED: Final = {
    "unanswered-call": _PAIRING,
    "orphan-result": _PAIRING,
    "doubled-result": _PAIRING,
    "doubled-call-id": _PAIRING,
    "result-after-other-turn": _PAIRING,
    "tool-name-with-space": _TYPES,
    "tool-name-too-long": _TYPES,
    "two-tools-of-one-name": _PAIRING,
    "choice-of-unknown-tool": _DROPPED,
    "choice-without-tools": _DROPPED,
    "empty-conversation": "the model is loaded: https://docs.ollama.com/api/chat",
    "unknown-role": _TYPES,
    "absent-user-content": _TYPES,
    "temperature-out-of-range": _NUMBERS,
    "top-p-out-of-range": _NUMBERS,
    "no-tokens": _NUMBERS,
    "negative-tokens": "-1 is no limit: https://docs.ollama.com/modelfile",
    "too-many-stops": _NUMBERS,
    "invalid-parameters": f"{_TYPES}, PropertyType",
}

FORMATS: Final[Mapping[str, Format]] = {
    "ollama-chat": Format(good=_good, url="http://localhost:11434/api/chat", spoil=_SPOIL, accepted=_ACCEPTED),
}
