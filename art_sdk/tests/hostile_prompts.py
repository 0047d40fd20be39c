"""Hostile prompts: `FAULTS` is the table. Each must work, or end in an error of the SDK, soon and in little memory."""

from __future__ import annotations

from typing import Any

from art_sdk import AssistantMessage, CallOptions, OpenAIAdapter, parse_options, parse_prompt, parse_prompt_json
from hostile import Fault, cycle, doubling


def parse(data: Any) -> object:
    """Parses a prompt, its conversation included."""
    return parse_prompt(data, conversation=True)


def parse_text(text: str) -> object:
    """Parses the JSON text of a prompt."""
    return parse_prompt_json(text, conversation=True)


def prepare(options: Any) -> object:
    """Makes a request with these options."""
    return OpenAIAdapter(api_key="k", model="m").prepare([{"role": "user", "content": "x"}], options)


def call(id_: str, arguments: str = "{}") -> dict[str, Any]:
    """A tool call."""
    return {"id": id_, "type": "function", "function": {"name": "f", "arguments": arguments}}


def calling(*ids: str) -> dict[str, Any]:
    """An assistant message with these calls."""
    return {"role": "assistant", "content": None, "tool_calls": [call(one) for one in ids]}


def result(id_: str) -> dict[str, Any]:
    """A result."""
    return {"role": "tool_result", "content": "x", "tool_call_id": id_}


def extended(value: Any) -> list[dict[str, Any]]:
    """A prompt with any data in it."""
    return [{"role": "assistant", "content": "x", "extensions": {"d": {"v": value}}}]


FAULTS = [
    Fault(
        "one result, 50,000 times",
        parse,
        lambda: [calling("a"), *[result("a")] * 50_000],
        "already has a result, at $[1]",
    ),
    Fault("one call and its result, 25,000 times", parse, lambda: [calling("a"), result("a")] * 25_000, "used twice"),
    Fault("one call, 50,000 times in one message", parse, lambda: [calling(*["a"] * 50_000)], "used twice"),
    Fault(
        "50,000 calls in one message, each with its result",
        parse,
        lambda: [calling(*map(str, range(50_000))), *[result(str(n)) for n in range(50_000)]],
        "",
    ),
    Fault(
        "50,000 requests in one turn",
        parse,
        lambda: [
            {"role": "tool_request", "content": {"id": str(n), "name": "f", "arguments": {}}} for n in range(50_000)
        ],
        "has no result",
    ),
    Fault("500,000 wrong messages", parse, lambda: [0] * 500_000, "$[0]: Expected `object`"),
    Fault(
        "shared lists with 10^45 paths in a prompt",
        parse,
        lambda: extended(doubling(150)),
        "larger than 100,000,000",
    ),
    Fault(
        "shared lists with 10^45 paths in a typed message",
        parse,
        lambda: [AssistantMessage("x", extensions={"d": {"v": doubling(150)}})],
        "larger than 100,000,000",
    ),
    Fault("a prompt that contains itself", parse, lambda: extended(cycle()), "nested deeper"),
    Fault(
        "shared lists with 10^45 paths in options",
        parse_options,
        lambda: {"thread_id": "t", "response_schema": {"x": doubling(150)}},
        "larger than 100,000,000",
    ),
    Fault(
        "shared lists with 10^45 paths in typed options",
        prepare,
        lambda: CallOptions(thread_id="t", provider={"openai-chat": {"x": doubling(150)}}),
        "larger than 100,000,000",
    ),
    Fault(
        "a million lists in each of a million places of a tool's schema",
        prepare,
        lambda: {"thread_id": "t", "tools": [{"name": "t", "inputSchema": {"x": [[[]] * 1_000_000] * 1_000_000}}]},
        "larger than 100,000,000",
    ),
    Fault("a key of 1 MB over 100,000 numbers", parse, lambda: extended({"k" * 1_000_000: [0] * 100_000}), ""),
    Fault(
        "arguments of 500,000 brackets",
        parse,
        lambda: [{**calling(), "tool_calls": [call("a", '{"a":' + "[" * 500_000)]}, result("a")],
        "not a JSON object",
    ),
    Fault(
        "one key, 50,000 times in arguments",
        parse,
        lambda: [{**calling(), "tool_calls": [call("a", "{" + '"a":1,' * 50_000 + '"b":1}')]}, result("a")],
        "twice in one object",
    ),
    Fault("JSON text of 1,000,000 brackets", parse_text, lambda: "[" * 1_000_000, "not JSON"),
    Fault("JSON text nested 100,000 deep", parse_text, lambda: "[" * 100_000 + "]" * 100_000, "not JSON"),
    Fault(
        "JSON text of 1,000,000 numbers", parse_text, lambda: "[" + "0," * 1_000_000 + "0]", "$[0]: Expected `object`"
    ),
    Fault("JSON text with a number of 1,000,000 digits", parse_text, lambda: "[" + "1" * 1_000_000 + "]", "not JSON"),
    Fault(
        "JSON text with a key 200,000 times",
        parse_text,
        lambda: "[{" + '"a":1,' * 200_000 + '"b":1}]',
        "twice in one object",
    ),
]
