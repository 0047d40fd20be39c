"""The faults of `semantic_faults` in Cohere's chat API, and which are accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from semantic_faults import OF_MESSAGES, PIXEL, Format, Spoil


def _call(call_id: str, city: str) -> dict[str, Any]:
    function = {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'}
    return {"id": call_id, "type": "function", "function": function}


def _result(call_id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def _tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {"type": "function", "function": {"name": name, "description": f"Call {name}.", "parameters": parameters}}


def _image(data: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def _good() -> dict[str, Any]:
    asked = {"type": "text", "text": "How is the weather in Paris and in Rome?"}
    calls = [_call("get_weather_1", "Paris"), _call("get_weather_2", "Rome")]
    return {
        "model": "command-a-03-2025",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [asked, _image(PIXEL)]},
            {"role": "assistant", "tool_plan": "I will look it up.", "tool_calls": calls},
            _result("get_weather_1", "sunny"),
            _result("get_weather_2", "rainy"),
            {"role": "assistant", "content": "Sunny in Paris, rainy in Rome."},
            {"role": "user", "content": "Thanks."},
        ],
        "tools": [_tool("get_weather"), _tool("get_time")],
        "max_tokens": 100,
    }


def _drop_tools(body: dict[str, Any]) -> None:
    del body["tools"]
    body["messages"] = body["messages"][:2]
    body["tool_choice"] = "REQUIRED"


def _doubled_id(body: dict[str, Any]) -> None:
    body["messages"][2]["tool_calls"][1]["id"] = "get_weather_1"
    body["messages"].pop(4)


def _late_result(body: dict[str, Any]) -> None:
    body["messages"][3:3] = [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": "One moment."}]


def _function(body: dict[str, Any], at: int) -> dict[str, Any]:
    return body["tools"][at]["function"]


def _ask_for_schema(body: dict[str, Any]) -> None:
    del body["tools"]
    body["messages"] = body["messages"][:2]
    body["response_format"] = {"type": "json_object", "json_schema": "an object"}


_SPOIL: Final[Mapping[str, Spoil]] = {
    **OF_MESSAGES,
    "unanswered-call": lambda body: body["messages"].pop(4),
    "orphan-result": lambda body: body["messages"].append(_result("get_weather_9", "no")),
    "doubled-result": lambda body: body["messages"].insert(4, _result("get_weather_1", "windy")),
    "doubled-call-id": _doubled_id,
    "result-after-other-turn": _late_result,
    "tool-name-with-space": lambda body: _function(body, 1).update(name="get time"),
    "tool-name-too-long": lambda body: _function(body, 1).update(name="g" * 200),
    "two-tools-of-one-name": lambda body: body["tools"].append(_tool("get_time")),
    "choice-of-unknown-tool": lambda body: body.update(
        tool_choice={"type": "function", "function": {"name": "get_news"}}
    ),
    "choice-without-tools": _drop_tools,
    "top-p-out-of-range": lambda body: body.update(p=1.5),
    "no-tokens": lambda body: body.update(max_tokens=0),
    "negative-tokens": lambda body: body.update(max_tokens=-1),
    "too-many-stops": lambda body: body.update(stop_sequences=[f"stop {n}" for n in range(40)]),
    "invalid-base64": lambda body: body["messages"][1]["content"].append(_image("this is not base64!")),
    "arguments-not-json": lambda body: body["messages"][2]["tool_calls"][0]["function"].update(
        arguments="{city: Paris"
    ),
    "invalid-parameters": lambda body: _function(body, 0)["parameters"]["properties"]["city"].update(type="strin"),
    "answer-schema-without-name": _ask_for_schema,
}

_TEXTS: Final = "none of the texts of https://docs.cohere.com/reference/errors is about it, and no thread quotes one"
_UNKNOWN: Final = {
    "unanswered-call": _TEXTS,
    "doubled-result": _TEXTS,
    "result-after-other-turn": _TEXTS,
    "tool-name-too-long": _TEXTS,
    "two-tools-of-one-name": _TEXTS,
    "empty-conversation": "the text for it is one of the first version's API",
    "no-tokens": "the text for it is about a parameter of the first version's API",
    "negative-tokens": _TEXTS,
    "invalid-base64": _TEXTS,
    "invalid-parameters": "a missing type has a text, an unknown one has none",
}

FORMATS: Final[Mapping[str, Format]] = {
    "cohere-chat-v2": Format(good=_good, url="https://api.cohere.com/v2/chat", spoil=_SPOIL, unknown=_UNKNOWN),
}
