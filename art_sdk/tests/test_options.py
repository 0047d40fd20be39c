from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import CallOptions, InvalidConfig, Timeouts, ToolSchema, parse_options
from row_tables import table

TOOL = {"name": "f", "description": "d", "inputSchema": {"type": "object"}}


def test_everything_that_can_be_said_of_a_call_is_read() -> None:
    data = {
        "thread_id": "t",
        "trace_id": "r",
        "session_id": "s",
        "user_id": "u",
        "stream": True,
        "call_context": "AGENT_THOUGHT",
        "model": "m",
        "tools": [TOOL],
        "tool_choice": "f",
        "parallel_tool_calls": False,
        "temperature": 1,
        "top_p": 0.5,
        "max_tokens": 7,
        "stop": ["x"],
        "response_schema": {"n": 10**40},
        "late_system": "hoist",
        "timeouts": {"connect": 1, "whole_call": 2.5, "first_byte": None},
        "provider": {"d": {"x": [None]}},
    }
    options = parse_options(data)
    assert set(data) == set(CallOptions.__struct_fields__)
    assert options == CallOptions(
        thread_id="t",
        trace_id="r",
        session_id="s",
        user_id="u",
        stream=True,
        call_context="AGENT_THOUGHT",
        model="m",
        tools=(ToolSchema("f", "d", {"type": "object"}),),
        tool_choice="f",
        parallel_tool_calls=False,
        temperature=1.0,
        top_p=0.5,
        max_tokens=7,
        stop=("x",),
        response_schema={"n": 10**40},
        late_system="hoist",
        timeouts=Timeouts(connect=1.0, whole_call=2.5, first_byte=None),
        provider={"d": {"x": [None]}},
    )
    assert parse_options(options) == options


@table(
    ("more", "words"),
    [
        ({"thread_id": None}, "$.thread_id: Expected `str`, got `null`"),
        ({"tempreature": 1}, "$.tempreature: unknown field"),
        ({"stream": "yes"}, "$.stream: Expected `bool`, got `str`"),
        ({"model": ""}, "$.model: Expected `str` of length >= 1"),
        ({"model": "\ud800"}, "$.model: a lone surrogate"),
        ({"temperature": "hot"}, "$.temperature: Expected `float | null`, got `str`"),
        ({"temperature": math.nan}, "$.temperature: nan is not a JSON number"),
        ({"top_p": math.inf}, "$.top_p: inf is not a JSON number"),
        ({"max_tokens": 0}, "$.max_tokens: Expected `int` >= 1"),
        ({"max_tokens": True}, "$.max_tokens: Expected `int | null`, got `bool`"),
        ({"stop": "x"}, "$.stop: Expected `array`, got `str`"),
        ({"stop": [""]}, "$.stop[0]: Expected `str` of length >= 1"),
        ({"late_system": "drop"}, "$.late_system: Invalid enum value 'drop'"),
        ({"timeouts": {"connect": -1}}, "$.timeouts.connect: Expected `float` > 0.0"),
        ({"timeouts": {"whole_call": 0}}, "$.timeouts.whole_call: Expected `float` > 0.0"),
        ({"timeouts": {"first_byte": 1e30}}, "$.timeouts.first_byte: Expected `float` <= 1000000000.0"),
        ({"timeouts": {"read": 1}}, "$.timeouts.read: unknown field"),
        ({"provider": {"d": 1}}, "$.provider[...]: Expected `object`, got `int`"),
        ({"provider": {"d": {"x": {1: 2}}}}, "$.provider.d.x: the key 1 is not a string"),
        ({"response_schema": {"x": object()}}, "$.response_schema.x: a value of type object is not JSON data"),
        ({"response_schema": {"x": b""}}, "$.response_schema.x: a value of type bytes is not JSON data"),
        ({"tools": [{"name": "f", "description": "d"}]}, "$.tools[0].inputSchema: missing required field"),
        ({"tools": [TOOL | {"name": ""}]}, "$.tools[0].name: Expected `str` of length >= 1"),
        ({"tools": [TOOL, TOOL]}, "$.tools[1].name: duplicate tool 'f'"),
        ({"tools": [TOOL | {"inputSchema": {"type": "array"}}]}, "$.tools[0].inputSchema.type: must be 'object'"),
        (
            {"tools": [TOOL | {"inputSchema": {"type": None}}]},
            "$.tools[0].inputSchema.type: must be 'object', not None",
        ),
        ({"tools": [TOOL], "tool_choice": "g"}, "$.tool_choice: unknown tool 'g'; known tools: f"),
        ({"tool_choice": "g"}, "$.tool_choice: unknown tool 'g'; known tools: none"),
        ({"tool_choice": ""}, "$.tool_choice: Expected `str` of length >= 1"),
        ({"\ud800": 1}, "$: the key '\\ud800' contains a lone surrogate"),
        ({5: 1}, "$: Expected `str`"),
    ],
)
def test_a_bad_option_is_refused_by_name(more: dict[Any, Any], words: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        parse_options({"thread_id": "t"} | more)
    assert caught.value.message.startswith(f"bad call options: {words}")


@pytest.mark.parametrize("data", [None, [], "t", 5, object(), {}, b"{}", {"thread_id"}])
def test_bad_options_are_refused(data: Any) -> None:
    with pytest.raises(InvalidConfig, match="bad call options: "):
        parse_options(data)


@pytest.mark.parametrize(
    "options",
    [
        CallOptions(thread_id=5),  # type: ignore[arg-type]
        CallOptions(thread_id="t", temperature=math.nan),
        CallOptions(thread_id="t", response_schema={"x": object()}),
        CallOptions(thread_id="t", tools=(TOOL, TOOL)),  # type: ignore[arg-type]
        CallOptions(thread_id="t", timeouts=Timeouts(between_bytes=-1)),
    ],
)
def test_typed_options_are_checked_like_data(options: CallOptions) -> None:
    with pytest.raises(InvalidConfig, match=r"bad call options: \$"):
        parse_options(options)


@pytest.mark.parametrize("levels", [300, 600, 985, *range(990, 1005), 5000])
@table("typed", [False, True])
def test_a_depth_bomb_is_refused(levels: int, typed: bool, nested: Callable[[int], Any]) -> None:  # noqa: FBT001
    data = {"thread_id": "t", "response_schema": nested(levels)}
    with pytest.raises(InvalidConfig, match="nested deeper"):
        parse_options(CallOptions(**data) if typed else data)


@pytest.mark.parametrize("choice", ["auto", "none", "required", None])
def test_a_choice_that_names_no_tool_needs_no_tool(choice: str | None) -> None:
    assert parse_options({"thread_id": "t", "tool_choice": choice}).tool_choice == choice


def test_a_schema_without_a_type_describes_an_object() -> None:
    assert parse_options({"thread_id": "t", "tools": [TOOL | {"inputSchema": {}}]}).tools[0].input_schema == {}


def test_the_options_share_nothing_with_the_data() -> None:
    data: dict[str, Any] = {"thread_id": "t", "response_schema": {"a": {}}}
    schema = parse_options(data).response_schema
    assert schema is not None
    schema["a"]["b"] = 1
    assert data["response_schema"] == {"a": {}}
