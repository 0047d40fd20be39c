"""Four times the input takes about four times the work: whatever would be quadratic would take sixteen times.

CPU time is compared, not the clock's, and of several runs the fastest counts: load can only make one slower.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import pytest

import hostile_prompts
from art_sdk import Blueprint, BlueprintLimits, parse_prompt_json, parse_tool_calls
from art_sdk.blueprints.json_text import element_starts
from art_sdk.errors import ARTError
from art_sdk.messages import AssistantMessage, FunctionCall, ToolCall
from hostile_blueprints import in_text
from hostile_prompts import calling, extended, result

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

TIMES = 4
MOST_GROWTH = 8.5  # between 4 (linear) and 16 (quadratic)
SOON = 0.003  # seconds: what is faster is measured with more input
LIMITS = BlueprintLimits(characters=10**8, tags=10**7, partials=10**7, values=10**8, text=10**9, steps=10**9)

Work = Callable[[], object]
Growing = Callable[[int], Work]


def compiling(source: Callable[[int], Any], partials: Callable[[int], dict[str, str]] = lambda _: {}) -> Growing:
    """Compiles a blueprint. Its name is new each time, so that it is not cached."""

    def prepare(size: int) -> Work:
        given, table = source(size), partials(size)
        return lambda: Blueprint.compile(given, name=str(time.perf_counter_ns()), partials=table, limits=LIMITS)

    return prepare


def rendering(source: str, context: Callable[[int], Any]) -> Growing:
    """Renders a compiled blueprint."""
    blueprint = Blueprint.compile(source, limits=LIMITS)

    def prepare(size: int) -> Work:
        given = context(size)
        return lambda: blueprint.render(given)

    return prepare


def failing_line(size: int) -> Work:
    """Finds the last line of a blueprint with many lines."""
    blueprint = Blueprint.compile(in_text("x\n" * size + "{{q}}"), limits=LIMITS)
    text = blueprint.render({"q": "x"})
    return lambda: blueprint.find_place({"q": "x"}, len(text) - 10, strict="off")


def parsing(data: Callable[[int], list[Any]]) -> Growing:
    """Parses a prompt, its conversation included."""

    def prepare(size: int) -> Work:
        given = data(size)
        return lambda: hostile_prompts.parse(given)

    return prepare


def request(number: int) -> dict[str, Any]:
    """A message that is a call."""
    return {"role": "tool_request", "content": {"id": str(number), "name": "f", "arguments": {}}}


def parsing_calls(size: int) -> Work:
    """Parses the arguments of many calls."""
    message = AssistantMessage(None, tuple(ToolCall("c", FunctionCall("f", '{"a": 1}')) for _ in range(size)))
    return lambda: parse_tool_calls(message)


def shared(size: int) -> Any:
    """A chain of lists, each at every depth above its own, with a long list at its end."""
    value: Any = [0] * size
    for _ in range(100):
        value = [value, value]
    return value


GROWING: dict[str, Growing] = {
    "tags of a text": compiling(lambda n: in_text("{{a}} " * n)),
    "tags alone on their lines": compiling(lambda n: in_text("{{#a}}\n{{/a}}\n" * n)),
    "newlines before a tag": compiling(lambda n: "\n" * (50 * n) + in_text("{{a}}")),
    "newlines in a string, before a tag": compiling(lambda n: in_text("\n" * (50 * n) + "{{a}}")),
    "blanks before tags of one line": compiling(lambda n: in_text((" " * 50 + "{{a}}") * n)),
    "partials of one line": compiling(lambda n: "{{>p}} " * n, lambda _: {"p": "1"}),
    "partials of a table": compiling(lambda _: "{{>p1}}", lambda n: {f"p{i}": "1" for i in range(n)}),
    "strings of a text": compiling(lambda n: '["", ' + '"\\n",' * n + "]"),
    "keys of an object": compiling(lambda n: [{f"k{i}": "{{a}}" for i in range(n)}]),
    "messages of an object": compiling(lambda n: [{"role": "user", "content": "{{a}}"}] * n),
    "sections of a list": compiling(lambda n: ["{{#a}}", "x", "{{/a}}"] * n),
    "items of a section": rendering(in_text("{{#l}}{{.}} {{-index}}{{/l}}"), lambda n: {"l": ["x"] * n}),
    "sections in sections": rendering(
        in_text("{{#l}}{{#l}}{{q}}{{/l}}{{/l}}"), lambda n: {"l": [1] * int(n**0.5), "q": 1}
    ),
    "keys of a context": rendering("[{{q}}]", lambda n: {"q": "x"} | {f"k{i}": i for i in range(n)}),
    "characters of a value": rendering("[{{q}}]", lambda n: {"q": "\n" * (100 * n)}),
    "lines before a failing one": failing_line,
    "elements before a failing one": lambda n: lambda: [*element_starts("[" + "{}," * n + "{}]")],
    "results of one call": parsing(lambda n: [calling("a"), *[result("a")] * n]),
    "calls with one id": parsing(lambda n: [calling("a"), result("a")] * n),
    "calls with one id in one message": parsing(lambda n: [calling(*["a"] * n)]),
    "calls of one message": parsing(lambda n: [calling(*map(str, range(n))), *[result(str(i)) for i in range(n)]]),
    "requests of one turn": parsing(lambda n: [*map(request, range(n)), *(result(str(i)) for i in range(n))]),
    "requests without results": parsing(lambda n: [*map(request, range(n))]),
    "wrong messages": parsing(lambda n: [0] * n),
    "a list that is shared": parsing(lambda n: extended(shared(n))),
    "keys over many values": parsing(lambda n: extended({"k" * 100 * n: [0] * n})),
    "keys of JSON text": lambda n: (
        lambda: parse_prompt_json('[{"role": "user", "content": "x"' + "".join(f', "k{i}": 1' for i in range(n)) + "}]")
    ),
    "arguments of calls": parsing_calls,
}


@pytest.mark.parametrize("name", GROWING)
def test_work_grows_as_its_input_does(name: str):
    prepare, size = GROWING[name], 250
    while (once := seconds(prepare(size))) < SOON:
        size *= 2
    more = prepare(size * TIMES)
    growth = seconds(more) / once
    for _ in range(4):
        if growth < MOST_GROWTH:
            return
        growth = min(growth, seconds(more) / seconds(prepare(size)))
    pytest.fail(f"{TIMES} times the input took {growth:.1f} times as long")


def seconds(work: Work) -> float:
    """CPU seconds of the fastest of two runs."""
    return min(_seconds_once(work) for _ in range(2))


def _seconds_once(work: Work) -> float:
    gc.disable()
    start = time.process_time()
    try:
        work()
    except ARTError:  # what is wrong takes time to find, too
        pass
    finally:
        gc.enable()
    return time.process_time() - start
