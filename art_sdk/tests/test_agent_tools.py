from __future__ import annotations

import math
import threading
import time
from functools import partial
from typing import Any

import anyio
import pytest

from art_sdk import InvalidConfig, ParsedToolCall, ToolResult
from art_sdk.agents.pes import Tool, ToolContext, ToolFailed, ToolRegistry, ToolSystem
from scripted import tool

ANY: dict[str, Any] = {"type": "object"}


def execute(*tools: Tool, calls: list[ParsedToolCall] | None = None, **options: Any) -> tuple[ToolResult, ...]:
    asked = [ParsedToolCall("c", tools[0].name, {})] if calls is None else calls
    system = ToolSystem(ToolRegistry(tools))

    async def run() -> tuple[ToolResult, ...]:
        return await system.execute_tools(asked, thread_id="t", trace_id="r", **options)

    return anyio.run(run)


def outcome(run: Any, arguments: dict[str, Any] | None = None, schema: Any = ANY, **limits: Any) -> Any:
    one = tool("f", run, schema, **limits)
    [result] = execute(one, calls=[ParsedToolCall("c", "f", arguments or {})])
    return result.output if result.status == "success" else result.error


async def slow(_: object) -> None:
    await anyio.sleep_forever()


def fail(error: BaseException) -> Any:
    def run(_: object) -> None:
        raise error

    return run


def test_functions_of_all_kinds_are_run():
    async def asynchronous(arguments: dict[str, Any]) -> Any:
        await anyio.lowlevel.checkpoint()
        return arguments

    assert outcome(asynchronous, {"a": 1}) == {"a": 1}
    assert outcome(partial(asynchronous), {"a": 1}) == {"a": 1}
    assert outcome(lambda _: asynchronous({}), {"a": 1}) == {}
    assert outcome(lambda _: threading.current_thread().name) == "tool f"
    assert outcome(lambda _: None) is None


def test_a_tool_that_asks_for_it_is_given_the_run():
    def run(_: object, context: ToolContext) -> Any:
        return [context.thread_id, context.trace_id, context.call_id]

    assert outcome(run, takes_context=True) == ["t", "r", "c"]


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("run", "error"),
    [
        (fail(ValueError("no such city")), "ValueError: no such city"),
        (fail(ToolFailed("no such city")), "no such city"),
        (fail(KeyboardInterrupt()), "KeyboardInterrupt: "),
        (fail(SystemExit(3)), "SystemExit: 3"),
        (fail(Unreadable()), "Unreadable: its message cannot be read"),
        (fail(ValueError("\ud800")), "ValueError: ?"),
        (fail(ValueError("x" * 5_000)), "ValueError: " + "x" * 988 + "... (5,012 characters)"),
        (lambda _: "x" * 10_000_000, "the tool's output has 10,000,002 bytes; the limit is 65,536"),
        (lambda _: object(), "the tool's output is not JSON data: a value of type object is not JSON data"),
        (lambda _: math.nan, "the tool's output is not JSON data: $: nan is not a JSON number"),
        (lambda _: {"a": {1, 2}}, "the tool's output is not JSON data: $.a: a value of type set is not JSON data"),
        (lambda _: "\ud800", None),
    ],
)
def test_what_goes_wrong_in_a_tool_is_an_error_result(run: Any, error: str | None):
    found = outcome(run)
    assert found == error if error else found.startswith("the tool's output is not JSON data: ")


def test_a_tool_that_contains_itself_is_an_error_result():
    endless: list[Any] = []
    endless.append(endless)
    assert outcome(lambda _: endless).startswith("the tool's output is not JSON data: ")


@pytest.mark.parametrize("run", [slow, lambda _: threading.Event().wait()], ids=["async", "thread"])
def test_a_tool_that_hangs_is_left_behind(run: Any):
    began = time.monotonic()
    assert outcome(run, timeout=0.05) == "the tool timed out after 0.05 s"
    assert time.monotonic() - began < 20


def test_a_timeout_of_the_tools_own_is_its_error():
    assert outcome(fail(TimeoutError("mine"))) == "TimeoutError: mine"


def test_a_result_keeps_what_the_tool_returned_then():
    shared = {"a": 1}
    [result] = execute(tool("f", lambda _: shared, ANY))
    shared["a"] = 2
    assert result.output == {"a": 1}


CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def test_arguments_that_do_not_fit_the_schema_reach_no_tool():
    wrong = "the arguments do not match the tool's input schema: "
    assert outcome(fail(AssertionError()), {}, CITY) == f"{wrong}$: 'city' is a required property"
    assert outcome(fail(AssertionError()), {"city": 7}, CITY) == f"{wrong}$.city: 7 is not of type 'string'"


def test_a_reference_in_a_schema_is_not_fetched():
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:1/never"}}}
    assert "Unresolvable" in outcome(fail(AssertionError()), {"a": 1}, schema)


def test_an_unknown_tool_and_one_that_the_thread_does_not_enable_are_error_results():
    tools = (tool("f", lambda _: 1, ANY), tool("g", lambda _: 2, ANY))
    calls = [ParsedToolCall("a", "f", {}), ParsedToolCall("b", "g", {}), ParsedToolCall("c", "h", {})]
    results = execute(*tools, calls=calls, enabled=["g"])
    assert [result.output for result in results] == [None, 2, None]
    assert [result.error for result in results] == [
        "there is no tool 'f'; tools: g",
        None,
        "there is no tool 'h'; tools: g",
    ]


def test_calls_run_at_the_same_time_and_results_keep_their_order():
    together = threading.Barrier(3)
    came: list[str] = []

    def meet(arguments: dict[str, Any]) -> int:
        together.wait(timeout=20)
        return arguments["n"]

    calls = [ParsedToolCall(f"c{n}", "f", {"n": n}) for n in range(3)]
    results = execute(tool("f", meet, ANY), calls=calls, on_result=lambda result: came.append(result.call_id))
    assert [result.output for result in results] == [0, 1, 2]
    assert sorted(came) == ["c0", "c1", "c2"]


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda: tool("f", slow, {"type": "array"}), "the tool 'f': the root of its input schema must be an object"),
        (lambda: tool("f", slow, {"type": "object", "required": 7}), "its input schema is not JSON Schema: $.required"),
        (lambda: tool("f", slow, ANY, timeout=0), "the tool 'f': timeout and max_output must be positive"),
        (lambda: tool("g", slow, ANY), "the tool 'g' is registered twice"),
    ],
)
def test_a_tool_that_cannot_be_used_is_not_registered(made: Any, reason: str):
    registry = ToolRegistry([tool("g", slow, ANY)])
    with pytest.raises(InvalidConfig) as caught:
        registry.register(made())
    assert reason in caught.value.message


def test_an_enabled_tool_must_be_registered():
    registry = ToolRegistry([tool("g", slow, ANY)])
    assert [schema.name for schema in registry.schemas()] == ["g"]
    assert registry.schemas([]) == ()
    with pytest.raises(InvalidConfig, match="enabledTools: there is no tool 'x'; registered tools: g"):
        registry.schemas(["g", "x"])
