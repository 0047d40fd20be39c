from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk import ToolRequest, ToolRequestMessage, parse_arguments, parse_prompt
from art_sdk.arguments import explain_bad_arguments
from art_sdk.conversation import (
    AssistantTurn,
    Conversation,
    SystemTurn,
    argument_faults,
    find_call_ids,
    read_conversation,
)
from row_tables import table

USER: dict[str, Any] = {"role": "user", "content": "u"}
SYSTEM: dict[str, Any] = {"role": "system", "content": "s"}
EMPTY: dict[str, Any] = {"role": "tool_request", "content": None}


def _call(*ids: str, arguments: str = "{}") -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _result(call_id: str, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "content": "r", "tool_call_id": call_id, **more}


def _request(call_id: str, arguments: Any = "{}") -> dict[str, Any]:
    return {"role": "tool_request", "content": {"id": call_id, "name": "f", "arguments": arguments}}


def _read(*messages: dict[str, Any]) -> Conversation:
    return read_conversation(parse_prompt(list(messages)))


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (USER, USER),
        (SYSTEM, USER, _call("a", "b"), _result("b"), _result("a"), USER),
        (_call("a"), _result("a", name="f"), _call("b"), _result("b")),
        (_request("a"), _request("b"), _result("a"), _result("b")),
        (_call("a"), _request("b"), _result("a"), _result("b"), _request("c"), _result("c")),
        (_call("a"), SYSTEM, _result("a")),
    ],
)
def test_a_valid_conversation_has_no_faults(messages: tuple[dict[str, Any], ...]) -> None:
    assert _read(*messages).faults == []


FAULTS: list[tuple[str, list[dict[str, Any]], list[tuple[str, str, str | None]]]] = [
    ("orphan", [USER, _result("x")], [("orphan-result", "$[1].tool_call_id", "x")]),
    ("early", [_result("a"), _call("a")], [("orphan-result", "$[0].tool_call_id", "a"), ("pending-call", "$[1]", "a")]),
    ("double", [_call("a"), _result("a"), _result("a")], [("double-result", "$[2].tool_call_id", "a")]),
    ("same turn", [_call("a", "a"), _result("a")], [("duplicate-id", "$[0].tool_calls[1].id", "a")]),
    (
        "later turn",
        [_call("a"), _result("a"), _call("b", "a"), _result("b")],
        [("duplicate-id", "$[2].tool_calls[1].id", "a")],
    ),
    ("request", [_call("a"), _request("a"), _result("a")], [("duplicate-id", "$[1].content.id", "a")]),
    ("user between", [_call("a"), USER, _result("a")], [("unanswered-call", "$[0]", "a")]),
    (
        "both open",
        [USER, _call("a", "b"), USER],
        [("unanswered-call", "$[1]", "a"), ("unanswered-call", "$[1]", "b")],
    ),
    ("half open", [_call("a", "b"), _result("a"), _call()], [("unanswered-call", "$[0]", "b")]),
    ("pending", [USER, _call("a", "b"), _result("b")], [("pending-call", "$[1]", "a")]),
    ("pending request", [_call("a"), _request("b"), _result("a")], [("pending-call", "$[1]", "b")]),
    (
        "requests apart",
        [_request("a"), SYSTEM, _request("b"), _result("b")],
        [("unanswered-call", "$[0]", "a")],
    ),
    ("name", [_call("a"), _result("a", name="g")], [("contradicting-name", "$[1].name", "a")]),
    ("nothing", [USER, EMPTY], [("empty-request", "$[1].content", None)]),
    (
        "nothing between calls",
        [_call("a"), EMPTY, _request("b"), _result("a"), _result("b")],
        [("empty-request", "$[1].content", None)],
    ),
]


@pytest.mark.parametrize(("messages", "faults"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS])
def test_a_fault_is_found_with_its_path(messages: list[Any], faults: list[tuple[str, str, str | None]]) -> None:
    found = _read(*messages).faults
    assert [(fault.kind, fault.path, fault.call_id) for fault in found] == faults
    assert all(repr(fault.call_id) in fault.message for fault in found if fault.call_id)


def test_the_first_of_two_results_counts() -> None:
    [turn] = _read(_call("a"), _result("a"), _result("a")).turns
    assert isinstance(turn, AssistantTurn)
    assert turn.answers["a"].tool_call_id == "a"


def test_tool_requests_join_the_turn_before_them() -> None:
    turns = _read(USER, _call("a"), _request("b", {"n": 10**30}), _result("b"), _result("a"), _request("c"), USER).turns
    first, second = (turn for turn in turns if isinstance(turn, AssistantTurn))
    assert [call.id for call in first.calls] == ["a", "b"]
    assert (first.index, first.places) == (1, (1, 2))
    assert first.calls[1].function.arguments == '{"n":1000000000000000000000000000000}'
    assert [(call.id, answer.tool_call_id) for call, answer in first.answers_in_call_order()] == [
        ("a", "a"),
        ("b", "b"),
    ]
    assert (second.index, second.places, second.message.content) == (5, (5,), None)


def test_a_tool_request_after_a_user_message_is_a_turn_of_its_own() -> None:
    turns = _read({"role": "assistant", "content": "x"}, USER, _request("a"), _result("a")).turns
    assert [turn.index for turn in turns] == [0, 1, 2]


@pytest.mark.parametrize(
    ("messages", "late", "splits"),
    [
        ((SYSTEM, USER), False, False),
        ((SYSTEM, SYSTEM), False, False),
        ((USER, SYSTEM), True, False),
        ((_request("a"), SYSTEM, _result("a")), True, True),
        ((_call("a", "b"), _result("a"), SYSTEM, _result("b")), True, True),
        ((_call("a"), _result("a"), SYSTEM), True, False),
        ((_result("x"), SYSTEM), True, False),
    ],
)
def test_a_system_message_is_marked_late_or_splitting(messages: Any, late: bool, splits: bool) -> None:  # noqa: FBT001
    [*_, turn] = (turn for turn in _read(*messages).turns if isinstance(turn, SystemTurn))
    assert (turn.late, turn.splits) == (late, splits)


@pytest.mark.parametrize(
    ("messages", "count"),
    [((), 0), ((USER, SYSTEM), 0), ((_call("a", "b"), _result("a")), 2), ((_call("a"), _request("b")), 2)],
)
def test_every_call_is_counted(messages: tuple[dict[str, Any], ...], count: int) -> None:
    assert len(list(find_call_ids(parse_prompt(list(messages))))) == count


def test_bad_arguments_are_found_with_their_path() -> None:
    conversation = _read(
        USER,
        _call("a", arguments="{}"),
        _request("b", "[]"),
        _result("a"),
        _result("b"),
        _call("c", arguments="{"),
        _result("c"),
        _request("d", "nope"),
        _result("d"),
    )
    found = argument_faults(conversation)
    assert [(fault.path, fault.call_id) for fault in found] == [
        ("$[2].content.arguments", "b"),
        ("$[5].tool_calls[0].function.arguments", "c"),
        ("$[7].content.arguments", "d"),
    ]
    assert {fault.kind for fault in found} == {"bad-arguments"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        (" \n\t", {}),
        ("{}", {}),
        ('{"a":":","b:":"{[\\":"}', {"a": ":", "b:": '{[":'}),
        ('{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":3}}', {"a": {"a": [{"a": 1}, {"a": 2}]}, "b": {"a": 3}}),
        ('{"n":' + "9" * 4000 + "}", {"n": int("9" * 4000)}),
        ('{"n":-18446744073709551617,"m":1.0,"k":1e2}', {"n": -18446744073709551617, "m": 1.0, "k": 100.0}),
        ('{"a":"\\ud83d\\ude00\\u0000"}', {"a": "\U0001f600\x00"}),
        (' {"a" : null } ', {"a": None}),
    ],
)
def test_arguments_are_read_exactly(text: str, value: dict[str, Any]) -> None:
    found = parse_arguments(text)
    assert found == value
    assert [type(item) for item in found.values()] == [type(item) for item in value.values()]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ('"{}"', "not a JSON object"),
        ("{", "not a JSON object"),
        ("{} {}", "not a JSON object"),
        ("{'a': 1}", "not a JSON object"),
        ('{"a": NaN}', "not a JSON object"),
        ('{"a": 1e999}', "not a JSON object"),
        ('{"a": 1' + "0" * 5000 + "}", "not a JSON object"),
        ('{"a": "\\ud800"}', "not a JSON object"),
        ('{"a": "\ud800"}', "not a JSON object"),
        ('{"a": 1, "a": 1}', "'a' twice"),
        ('{"a": 1, "\\u0061": 2}', "'a' twice"),
        ('{"x": [{"a": 1, "b": ":", "a": 3}]}', "'a' twice"),
        ('{"a": {"b": 1}, "a": {"c": 1}}', "'a' twice"),
        ("<html>", "not a JSON object"),
    ],
)
def test_the_error_of_bad_arguments_says_why(text: str, reason: str) -> None:
    assert reason in (explain_bad_arguments(text) or "")


@pytest.mark.parametrize("levels", [202, 300, 450, *range(490, 500), *range(960, 1005), 100_000])
@table(("left", "right"), [('{"a":', "}"), ('{"a":[', "]}")])
def test_arguments_nested_too_deeply_are_an_error(levels: int, left: str, right: str) -> None:
    reason = explain_bad_arguments(left * levels + "1" + right * levels)
    assert reason is not None
    assert reason.startswith("the arguments ")


def test_many_shallow_brackets_are_fine() -> None:
    assert parse_arguments('{"a":[' + ",".join(["{}"] * 1000) + "]}") == {"a": [{}] * 1000}


def test_a_deep_stack_of_the_caller_is_fine() -> None:
    text = '{"a":' * 150 + "1" + "}" * 150

    def dig(levels: int) -> Any:
        return dig(levels - 1) if levels else parse_arguments(text)

    assert list(dig(sys.getrecursionlimit() * 6 // 10)) == ["a"]


def test_reading_a_conversation_does_not_change_the_prompt() -> None:
    arguments: dict[str, Any] = {"b": [1], "a": {}}
    message = ToolRequestMessage(ToolRequest("a", "f", arguments))
    read_conversation((message,))
    assert json.dumps(arguments) == '{"b": [1], "a": {}}'


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), st.booleans(), st.sampled_from([None, 1]))
def test_arguments_are_read_as_json_reads_them(value: dict[str, Any], ascii_only: bool, indent: int | None) -> None:  # noqa: FBT001
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert parse_arguments(text) == json.loads(text) == value


@given(st.text(alphabet='{}[]":,a1\\u0 .e-\ud800') | st.text())
def test_any_text_is_an_object_or_an_error(text: str) -> None:
    try:
        found = parse_arguments(text)
    except ValueError as error:
        assert str(error).startswith("the arguments ")  # noqa: PT017
    else:
        assert found == (json.loads(text) if text.strip() else {})


TURNS = st.lists(
    st.sampled_from([USER, SYSTEM, EMPTY])
    | st.lists(st.sampled_from("abc"), max_size=3).map(lambda ids: _call(*ids))
    | st.sampled_from("abcd").map(_result)
    | st.sampled_from("abc").map(_request),
    max_size=8,
)


@given(TURNS)
def test_reading_never_raises_and_loses_no_message(messages: list[dict[str, Any]]) -> None:
    conversation = _read(*messages)
    calls = sum(len(turn.calls) for turn in conversation.turns if isinstance(turn, AssistantTurn))
    assert calls == sum(
        len(m.get("tool_calls", ())) + (m["role"] == "tool_request" and m is not EMPTY) for m in messages
    )
    answers = sum(len(turn.answers) for turn in conversation.turns if isinstance(turn, AssistantTurn))
    lost = [fault for fault in conversation.faults if fault.kind in ("orphan-result", "double-result")]
    assert answers + len(lost) == sum(m["role"] == "tool" for m in messages)
    assert all(0 <= fault.index < len(messages) for fault in conversation.faults)


def test_untyped_messages_are_an_error_that_says_what_to_do() -> None:
    untyped: Any = (*parse_prompt([USER]), USER)
    with pytest.raises(TypeError, match=r"^\$\[1\] is a dict, not a message; parse_prompt turns data into messages$"):
        read_conversation(untyped)


def test_a_call_without_a_result_is_not_among_the_answers(call: Callable[..., Any]) -> None:
    turn = _read(call("a")).turns[0]
    assert isinstance(turn, AssistantTurn)
    assert turn.answers_in_call_order() == []
