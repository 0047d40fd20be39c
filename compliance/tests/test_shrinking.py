"""Which smaller requests shrinking tries, one thing less at a time, and which of them it takes."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from art_compliance.generating.requests import Request
from art_compliance.generating.shrinking import shrink

CALL = {"role": "tool_request", "content": {"id": "c1", "name": "look", "arguments": '{"at": "sea", "n": 2}'}}
RESULT = {"role": "tool_result", "tool_call_id": "c1", "content": "b"}
TOOL = {"name": "look", "description": "a", "inputSchema": {"type": "object", "properties": {}}}


def call(call_id: str, arguments: str = "{}", name: str = "look") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(content: str | None, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def result(call_id: str) -> dict[str, Any]:
    return {**RESULT, "tool_call_id": call_id}


def tried(request: Request, *, alone: bool = False) -> list[Request]:
    """All that is tried where nothing smaller fails."""
    seen: list[Request] = []
    assert shrink(request, lambda one: bool(seen.append(one)), seconds=60.0, alone=alone) == request
    return seen


PROMPTS: dict[str, tuple[list[dict[str, Any]], list[list[dict[str, Any]]]]] = {
    "messages, one by one, and none is no prompt": ([user("a")], []),
    "messages of every role": (
        [{"role": "system", "content": "s"}, user("a"), {"role": "assistant", "content": "b"}],
        [
            [user("a"), {"role": "assistant", "content": "b"}],
            [{"role": "system", "content": "s"}, {"role": "assistant", "content": "b"}],
            [{"role": "system", "content": "s"}, user("a")],
        ],
    ),
    "a request goes with its result, then goes what its arguments say": (
        [user("a"), CALL, RESULT],
        [
            [CALL, RESULT],
            [user("a")],
            *(
                [user("a"), {**CALL, "content": {**CALL["content"], "arguments": less}}, RESULT]
                for less in ("{}", '{"n": 2}', '{"at": "sea"}')
            ),
        ],
    ),
    "a call goes from its turn with its result, and the turn with its last call": (
        [user("a"), assistant(None, call("c1"), call("c2")), result("c1"), result("c2")],
        [
            [assistant(None, call("c1"), call("c2")), result("c1"), result("c2")],
            [user("a"), assistant(None, call("c2")), result("c2")],
            [user("a"), assistant(None, call("c1")), result("c1")],
        ],
    ),
    "a turn that says something stays without its call": (
        [user("a"), assistant("b", call("c1")), result("c1")],
        [
            [assistant("b", call("c1")), result("c1")],
            [user("a"), {"role": "assistant", "content": "b"}],
        ],
    ),
    "one argument alone becomes a letter, unless it is as plain": (
        [user("a"), assistant(None, call("c1", '{"at": "sea"}'), call("c2", '{"n": 0}')), result("c1"), result("c2")],
        [
            [assistant(None, call("c1", '{"at": "sea"}'), call("c2", '{"n": 0}')), result("c1"), result("c2")],
            [user("a"), assistant(None, call("c2", '{"n": 0}')), result("c2")],
            [user("a"), assistant(None, call("c1", '{"at": "sea"}')), result("c1")],
            *(
                [user("a"), assistant(None, call("c1", less), call("c2", '{"n": 0}')), result("c1"), result("c2")]
                for less in ("{}", "{}", '{"at": "a"}')
            ),
            *(
                [user("a"), assistant(None, call("c1", '{"at": "sea"}'), call("c2", less)), result("c1"), result("c2")]
                for less in ("{}", "{}")
            ),
        ],
    ),
    "arguments that are no object stay": (
        [assistant("b", call("c1", "[1"), call("c2", "[1]"), call("c3", ""))],
        [
            [assistant("b", call("c2", "[1]"), call("c3", ""))],
            [assistant("b", call("c1", "[1"), call("c3", ""))],
            [assistant("b", call("c1", "[1"), call("c2", "[1]"))],
        ],
    ),
    "an empty request has no call": (
        [user("a"), {"role": "tool_request", "content": None}],
        [[{"role": "tool_request", "content": None}], [user("a")]],
    ),
    "fields that may be absent": (
        [user("a", name="n"), user("b", status="error", extensions={})],
        [
            [user("b", status="error", extensions={})],
            [user("a", name="n")],
            [user("a"), user("b", status="error", extensions={})],
            [user("a", name="n"), user("b", status="error")],
            [user("a", name="n"), user("b", extensions={})],
        ],
    ),
    "texts become a letter, or lose a half, a quarter, a character": (
        [user("wxyz")],
        [[user(text)] for text in ("a", "yz", "wx", "xyz", "wyz", "wxz", "wxy")],
    ),
    "texts of an odd length": (
        [user("xyz"), user("b")],
        [[user("b")], [user("xyz")], *([user(text), user("b")] for text in ("a", "yz", "xz", "xy"))],
    ),
    "content that is no text": ([user([{"type": "text", "text": "abc"}])], []),
}


@pytest.mark.parametrize("what", PROMPTS)
def test_a_smaller_prompt_is_tried_without(what: str):
    prompt, smaller = PROMPTS[what]
    assert [one.prompt for one in tried(Request(prompt, {}))] == smaller


def test_a_call_may_go_without_its_result_in_a_broken_conversation():
    prompt = [user("a"), CALL, RESULT]
    smaller = [one.prompt for one in tried(Request(prompt, {}), alone=True)][:3]
    assert smaller == [[CALL, RESULT], [user("a"), RESULT], [user("a"), CALL]]


def test_a_call_id_on_a_user_message_ties_it_to_nothing():
    prompt = [user("a", tool_call_id="c1"), assistant("b", call("c1"))]
    assert [one.prompt for one in tried(Request(prompt, {}))] == [
        [assistant("b", call("c1"))],
        [{"role": "assistant", "content": "b"}],
    ]


OTHER = {"name": "find", "description": "long", "inputSchema": {"type": "object", "properties": {"x": {}}}}
LAST = {**TOOL, "name": "last"}
OPTIONS: dict[str, tuple[list[dict[str, Any]], dict[str, Any], list[dict[str, Any]]]] = {
    "one after the other, and the thread stays": (
        [user("a")],
        {"top_p": 1, "thread_id": "t", "seed": 2},
        [{"top_p": 1, "thread_id": "t"}, {"thread_id": "t", "seed": 2}],
    ),
    "a tool, its description and its schema": (
        [user("a")],
        {"tools": [TOOL, OTHER, LAST]},
        [
            {"tools": [OTHER, LAST]},
            {"tools": [TOOL, LAST]},
            {"tools": [TOOL, {**OTHER, "description": "a"}, LAST]},
            {"tools": [TOOL, {**OTHER, "inputSchema": {"type": "object", "properties": {}}}, LAST]},
            {"tools": [TOOL, OTHER]},
        ],
    ),
    "a tool that is chosen stays": (
        [user("a")],
        {"tools": [TOOL, LAST], "tool_choice": "look"},
        [{"tools": [TOOL, LAST]}, {"tools": [TOOL], "tool_choice": "look"}],
    ),
    "a tool that was called stays": ([CALL], {"tools": [TOOL, LAST]}, [{"tools": [TOOL]}]),
    "a tool that was called in a turn stays": (
        [assistant("b", call("c1"))],
        {"tools": [TOOL, LAST]},
        [{"tools": [TOOL]}],
    ),
}


@pytest.mark.parametrize("what", OPTIONS)
def test_smaller_options_are_tried_without(what: str):
    prompt, options, smaller = OPTIONS[what]
    assert [one.options for one in tried(Request(prompt, options)) if one.options != options] == smaller


def turn(answer: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"answer": answer, **more}


ASKED = user("a")
BESIDE = {"user": "l", "results": [{"content": "x"}], "is_streamed": True, "is_reversed": True}
WORDS = {"user": "ab", "results": [{"content": "x"}, {"content": "cd", "status": "error"}]}
PLAIN = {"user": "a", "results": [{"content": "a"}], "is_streamed": False, "is_reversed": False}
THREE = {"content": "b", "tool_calls": [call("c1", '{"x": "y"}'), call("c2"), call("c3")], "finish": "calls"}


def test_each_call_and_each_text_keeps_its_place():
    answer = {"content": None, "tool_calls": [call(f"c{at}", '{"x": "y"}') for at in range(3)]}
    for one in tried(Request([ASKED], {}, [turn(answer)])):
        kept = [call["id"] for call in one.turns[0]["answer"]["tool_calls"]]
        assert kept in (["c0", "c1", "c2"], ["c1", "c2"], ["c0", "c2"], ["c0", "c1"])
    prompt = [user(f"{at}{at}") for at in range(4)]
    lengths = [
        [one["content"][:1] for one in smaller.prompt]
        for smaller in tried(Request(prompt, {}))
        if len(smaller.prompt) == 4
    ]
    assert all(sum(found == str(at) for at, found in enumerate(firsts)) >= 3 for firsts in lengths)
    assert len(lengths) == 4 * 3


TURNS: dict[str, tuple[list[dict[str, Any]], list[list[dict[str, Any]]]]] = {
    "the last one stays": ([turn({"content": "b"})], []),
    "whole turns": (
        [turn({"content": "b"}), turn({"content": "c"}), turn({"content": "d"})],
        [
            [turn({"content": "c"}), turn({"content": "d"})],
            [turn({"content": "b"}), turn({"content": "d"})],
            [turn({"content": "b"}), turn({"content": "c"})],
        ],
    ),
    "one of two turns": (
        [turn({"content": "b"}), turn({"content": "c"})],
        [[turn({"content": "c"})], [turn({"content": "b"})]],
    ),
    "each turn in its place": (
        [turn({"content": "b"}), turn({"content": "cd"}), turn({"content": "e"})],
        [
            [turn({"content": "cd"}), turn({"content": "e"})],
            [turn({"content": "b"}), turn({"content": "e"})],
            *([turn({"content": "b"}), turn({"content": text}), turn({"content": "e"})] for text in ("a", "d", "c")),
            [turn({"content": "b"}), turn({"content": "cd"})],
        ],
    ),
    "what was thought": (
        [turn({"content": "b", "thinking": "c", "signature": "d", "thinking_tokens": 3})],
        [[turn({"content": "b"})]],
    ),
    "what stands beside the answer": (
        [turn({"content": "b"}, **BESIDE)],
        [
            [turn({"content": "b"}, **{**BESIDE, **plain})]
            for plain in (
                {"user": "a"},
                {"results": [{"content": "a"}]},
                {"is_streamed": False},
                {"is_reversed": False},
            )
        ],
    ),
    "the words beside the answer, piece by piece": (
        [turn({"content": "b"}, **WORDS)],
        [
            [turn({"content": "b"}, **{**WORDS, **less})]
            for less in (
                {"user": "a"},
                {"results": [{"content": "a"}]},
                *({"user": text} for text in ("a", "b", "a")),
                *({"results": [{"content": "x"}, {"content": text, "status": "error"}]} for text in ("a", "d", "c")),
            )
        ],
    ),
    "words that would be blank are not tried": (
        [turn({"content": "b "}, user="a\n")],
        [
            *([turn({"content": text}, user="a\n")] for text in ("a", "b")),
            *([turn({"content": "b "}, user="a")],) * 3,
        ],
    ),
    "what is plain already": (
        [turn({"content": "b"}, **PLAIN)],
        [],
    ),
    "calls one by one, then their arguments, then the text beside": (
        [turn(THREE)],
        [
            [turn({"content": "b", "tool_calls": [call("c2"), call("c3")], "finish": "calls"})],
            *(
                [turn({"content": "b", "tool_calls": [call("c1", less), call("c2"), call("c3")], "finish": "calls"})]
                for less in ("{}", "{}", '{"x": "a"}')
            ),
            [turn({"content": "b", "tool_calls": [call("c1", '{"x": "y"}'), call("c3")], "finish": "calls"})],
            [turn({"content": "b", "tool_calls": [call("c1", '{"x": "y"}'), call("c2")], "finish": "calls"})],
            [
                turn(
                    {
                        "content": None,
                        "tool_calls": [call("c1", '{"x": "y"}'), call("c2"), call("c3")],
                        "finish": "calls",
                    }
                )
            ],
        ],
    ),
    "the last call where there is a text": (
        [turn({"content": "b", "tool_calls": [call("c1")], "finish": "calls"})],
        [
            [turn({"content": "b", "finish": "stop"})],
            [turn({"content": None, "tool_calls": [call("c1")], "finish": "calls"})],
        ],
    ),
    "the last call without a text stays": ([turn({"content": None, "tool_calls": [call("c1")]})], []),
}


@pytest.mark.parametrize("what", TURNS)
def test_smaller_turns_are_tried_without(what: str):
    turns, smaller = TURNS[what]
    found = [list(one.turns) for one in tried(Request([ASKED], {}, turns))]
    assert json.dumps(found) == json.dumps(smaller)


def test_a_tool_that_an_answer_calls_stays():
    turns = [turn({"content": None, "tool_calls": [call("c1")]})]
    options = {"tools": [TOOL]}
    assert tried(Request([ASKED], options, turns)) == []


def test_a_smaller_failing_request_is_shrunk_again():
    prompt = [user("first"), user("second"), user("third")]
    least = shrink(Request(prompt, {"seed": 1}), lambda one: "second" in str(one.prompt), seconds=60.0, alone=False)
    assert least == Request([user("second")], {})


def test_a_long_text_costs_no_more_than_what_is_tried():
    """Written out at once, the shorter texts of this one would be half a gigabyte."""
    request = Request([user("ab" * 10_000)], {"seed": 1})
    tries = iter(range(10))
    tracemalloc.start()
    shrink(request, lambda one: next(tries, None) is None, seconds=5.0, alone=False)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_without_time_nothing_is_tried():
    request = Request([user("first"), user("second")], {})
    assert shrink(request, lambda one: True, seconds=0.0, alone=False) is request
