"""The faults of `semantic_faults` in Anthropic's messages, and which are accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from semantic_faults import OF_MESSAGES, Format, Spoil

_PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


def _call(call_id: str, city: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "get_weather", "input": {"city": city}}


def _result(call_id: str, text: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text}


def _tool(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return {"name": name, "description": f"Call {name}.", "input_schema": schema}


def _image(data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def _good() -> dict[str, Any]:
    asked = {"type": "text", "text": "How is the weather in Paris and in Rome?"}
    return {
        "model": "claude-haiku-4-5",
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [asked, _image(_PIXEL)]},
            {"role": "assistant", "content": [_call("toolu_1", "Paris"), _call("toolu_2", "Rome")]},
            {"role": "user", "content": [_result("toolu_1", "sunny"), _result("toolu_2", "rainy")]},
            {"role": "assistant", "content": "Sunny in Paris, rainy in Rome."},
            {"role": "user", "content": "Thanks."},
        ],
        "tools": [_tool("get_weather"), _tool("get_time")],
        "max_tokens": 100,
    }


def _doubled_id(body: dict[str, Any]) -> None:
    body["messages"][1]["content"][1]["id"] = "toolu_1"
    body["messages"][2]["content"].pop()


def _late_result(body: dict[str, Any]) -> None:
    body["messages"][2:2] = [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": "One moment."}]


def _drop_tools(body: dict[str, Any]) -> None:
    del body["tools"]
    body["messages"] = body["messages"][:1]
    body["tool_choice"] = {"type": "any"}


def _ask_for_schema(body: dict[str, Any]) -> None:
    body["output_config"] = {"format": {"type": "json_schema"}}


_SPOIL: Final[Mapping[str, Spoil]] = {
    **OF_MESSAGES,
    "unanswered-call": lambda body: body["messages"][2]["content"].pop(),
    "orphan-result": lambda body: body["messages"][4].update(content=[_result("toolu_9", "no")]),
    "doubled-result": lambda body: body["messages"][2]["content"].append(_result("toolu_1", "windy")),
    "doubled-call-id": _doubled_id,
    "result-after-other-turn": _late_result,
    "tool-name-with-space": lambda body: body["tools"][1].update(name="get time"),
    "tool-name-too-long": lambda body: body["tools"][1].update(name="g" * 200),
    "two-tools-of-one-name": lambda body: body["tools"].append(_tool("get_time")),
    "choice-of-unknown-tool": lambda body: body.update(tool_choice={"type": "tool", "name": "get_news"}),
    "choice-without-tools": _drop_tools,
    "top-p-out-of-range": lambda body: body.update(top_p=1.5),
    "no-tokens": lambda body: body.update(max_tokens=0),
    "negative-tokens": lambda body: body.update(max_tokens=-1),
    "too-many-stops": lambda body: body.update(stop_sequences=[f"stop {n}" for n in range(40)]),
    "invalid-base64": lambda body: body["messages"][0]["content"].append(_image("this is not base64!")),
    "arguments-not-json": lambda body: body["messages"][1]["content"][0].update(input="{city: Paris"),
    "invalid-parameters": lambda body: body["tools"][0]["input_schema"]["properties"]["city"].update(type="strin"),
    "answer-schema-without-name": _ask_for_schema,
}

_ACCEPTED: Final = {
    "no-tokens": "0 fills the cache without an answer: docstring of `max_tokens` in anthropic 2.12, and "
    "https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pre-warming-the-cache",
}
_UNKNOWN: Final = {
    "too-many-stops": "no document of Anthropic's and no thread that was found names a limit",
}

FORMATS: Final[Mapping[str, Format]] = {
    "anthropic-messages": Format(
        good=_good,
        url="https://api.anthropic.com/v1/messages",
        spoil=_SPOIL,
        accepted=_ACCEPTED,
        unknown=_UNKNOWN,
    ),
}
