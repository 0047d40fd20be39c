from __future__ import annotations

import datetime as dt
import decimal
import json
import math
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk import (
    ArtStandardPrompt,
    AssistantMessage,
    PromptValidationFailed,
    SystemMessage,
    ToolRequest,
    ToolRequestMessage,
    ToolResultMessage,
    UserMessage,
    dump_prompt,
    parse_prompt,
    parse_prompt_json,
)
from art_sdk.validation import parse_value
from row_tables import table


def _violations(data: Any, **how: Any) -> list[tuple[str, str]]:
    with pytest.raises(PromptValidationFailed) as caught:
        parse_prompt(data, **how)
    error = caught.value
    found = [(one["path"], one["message"]) for one in error.details["violations"]]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    assert error.message == f"{found[0][0]}: {found[0][1]}{more}"
    assert error.details["layer"] == ("conversation" if how else "shape")
    return found


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def _assistant(**call: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [CALL, CALL | call]}


def _request(**content: Any) -> dict[str, Any]:
    return {"role": "tool_request", "content": {"id": "c", "name": "f", "arguments": {}} | content}


MISSING = "missing required field"
ROLES = "expected one of system, user, assistant, tool_request, tool_result (or tool)"
BAD_MESSAGES: list[tuple[Any, str, str]] = [
    ({}, ".role", MISSING),
    ({1: "user"}, ".role", MISSING),
    ({"role": None, "content": "x"}, ".role", "Expected `str`"),
    ({"role": 1, "content": "x"}, ".role", "Expected `str`, got `int`; " + ROLES),
    ({"role": "robot", "content": "x"}, ".role", "Invalid value 'robot'; " + ROLES),
    ({"role": "\ud800", "content": "x"}, ".role", "a lone surrogate cannot be sent as UTF-8; replace it with U+FFFD"),
    ({"role": "user"}, ".content", MISSING),
    ({"role": "user", "content": None}, ".content", "Expected `str | array`, got `null`"),
    ({"role": "user", "content": 5}, ".content", "Expected `str | array`, got `int`"),
    ({"role": "user", "content": b"x"}, ".content", "Expected `str | array`, got `bytes`"),
    ({"role": "user", "content": [{"type": "sound"}]}, ".content[0].type", "Invalid value 'sound'"),
    ({"role": "user", "content": [{"type": "text"}]}, ".content[0].text", MISSING),
    ({"role": "user", "content": ["x"]}, ".content[0]", "Expected `object`, got `str`"),
    ({"role": "user", "content": [{"type": "image", "mime_type": ""}]}, ".content[0].mime_type", "length >= 1"),
    ({"role": "user", "content": "x", "mood": "good"}, ".mood", "messages with the role user accept content, name"),
    (_request() | {"tool_calls": []}, ".tool_calls", "accept only content, the call: an object with id"),
    ({"role": "user", "content": "x", "a`b$.c": 1}, ".a`b$.c", "unknown field"),
    ({"role": "user", "content": "x", "a\nb": 1}, ".a\nb", "unknown field"),
    ({"role": "user", "content": "x", "\ud800": 1}, "", "the key '\\ud800' contains a lone surrogate"),
    ({"role": "user", "content": "x", "name": 1}, ".name", "Expected `str | null`, got `int`"),
    ({"role": "user", "content": "a\ud800"}, ".content", "a lone surrogate"),
    ({"role": "system", "content": None}, ".content", "Expected `str`, got `null`"),
    ({"role": "system", "content": []}, ".content", "Expected `str`, got `array`"),
    ({"role": "assistant"}, ".content", MISSING),
    ({"role": "assistant", "content": ["x"]}, ".content", "Expected `str | null`, got `array`"),
    ({"role": "assistant", "content": None, "tool_calls": None}, ".tool_calls", "Expected `array`, got `null`"),
    ({"role": "assistant", "content": None, "tool_calls": {}}, ".tool_calls", "Expected `array`, got `object`"),
    ({"role": "assistant", "content": "x", "extensions": []}, ".extensions", "got `array`"),
    ({"role": "assistant", "content": "x", "extensions": {"d": 1}}, ".extensions[...]", "got `int`"),
    ({"role": "assistant", "content": "x", "extensions": {1: {}}}, ".extensions", "Expected `str`, got `int`"),
    ({"role": "assistant", "content": "x", "extensions": {"d": {1: 2}}}, ".extensions[...]", "got `int`"),
    ({"role": "assistant", "content": "x", "extensions": {"d": {"a": {1: 2}}}}, ".extensions.d.a", "not a string"),
    ({"role": "assistant", "content": "x", "extensions": {"d": {"a": math.nan}}}, ".extensions.d.a", "nan is not"),
    (
        {"role": "assistant", "content": "x", "extensions": {"d": {"a": [object()]}}},
        ".extensions.d.a[0]",
        "a value of type object",
    ),
    (_assistant(id=""), ".tool_calls[1].id", "Expected `str` of length >= 1"),
    (_assistant(id=None), ".tool_calls[1].id", "Expected `str`, got `null`"),
    (_assistant(type="tool"), ".tool_calls[1].type", "Invalid enum value 'tool'"),
    (_assistant(index=0), ".tool_calls[1].index", "unknown field"),
    (_assistant(function={"name": "", "arguments": ""}), ".tool_calls[1].function.name", "length >= 1"),
    (_assistant(function={"name": "f"}), ".tool_calls[1].function.arguments", MISSING),
    (_assistant(function={"name": "f", "arguments": {}}), ".tool_calls[1].function.arguments", "got `object`"),
    ({"role": "tool_result", "content": "x"}, ".tool_call_id", MISSING),
    ({"role": "tool", "content": "x"}, ".tool_call_id", MISSING),
    ({"role": "tool_result", "content": "x", "tool_call_id": ""}, ".tool_call_id", "length >= 1"),
    ({"role": "tool_result", "content": None, "tool_call_id": "c"}, ".content", "got `null`"),
    ({"role": "tool", "content": "x", "tool_call_id": "c", "status": "bad"}, ".status", "Invalid enum value 'bad'"),
    ({"role": "tool_request"}, ".content", MISSING),
    ({"role": "tool_request", "content": "x"}, ".content", "Expected `object | null`, got `str`"),
    (_request(arguments=None), ".content.arguments", "Expected `str | object`, got `null`"),
    (_request(arguments=[]), ".content.arguments", "got `array`"),
    (_request(arguments={"a": math.inf}), ".content.arguments.a", "inf is not a JSON number"),
    (_request(id=""), ".content.id", "length >= 1"),
    (_request(mood=1), ".content.mood", "unknown field"),
    ("user", "", "Expected `object`, got `str`"),
    (None, "", "Expected `object`, got `null`"),
    ([], "", "Expected `object`, got `array`"),
    (UserMessage(5), ".content", "Expected `str | array`, got `int`"),  # type: ignore[arg-type]
    (UserMessage("a\udfff"), ".content", "a lone surrogate"),
    (
        AssistantMessage("x", extensions={"d": {"x": object()}}),
        ".extensions.d.x",
        "a value of type object is not JSON data",
    ),
    (ToolRequestMessage(ToolRequest("c", "f", {"a": math.nan})), ".content.arguments.a", "nan is not"),
    (ToolResultMessage("x", ""), ".tool_call_id", "length >= 1"),
    *[
        (UserMessage(foreign), ".content", "Expected `str | array`, got `")  # type: ignore[arg-type]
        for foreign in (b"x", bytearray(b"x"), dt.datetime(2020, 1, 1), uuid.UUID(int=1), decimal.Decimal(1))  # noqa: DTZ001
    ],
]


@table(("message", "path", "reason"), BAD_MESSAGES)
def test_a_malformed_message_is_an_error_with_its_path(message: Any, path: str, reason: str) -> None:
    good = {"role": "user", "content": "hello"}
    found_path, found_reason = _violations([good, message])[0]
    assert found_path == "$[1]" + path
    assert reason in found_reason


@table(("message", "path", "reason"), BAD_MESSAGES)
def test_a_malformed_message_beside_a_typed_one_is_an_error(message: Any, path: str, reason: str) -> None:
    found_path, found_reason = _violations((SystemMessage("s"), message))[0]
    assert found_path == "$[1]" + path
    assert reason in found_reason


@pytest.mark.parametrize(
    ("data", "type_name"),
    [
        (None, "null"),
        ({}, "an object"),
        ("[]", "a string"),
        (3, "a number"),
        (True, "a boolean"),
        (object(), "a object"),
        ({1}, "a set"),
        (UserMessage("x"), "a UserMessage"),
        (b"[]", "a bytes"),
    ],
)
def test_a_prompt_must_be_an_array(data: Any, type_name: str) -> None:
    assert _violations(data) == [("$", f"expected an array of messages, got {type_name}")]


def test_every_malformed_message_is_reported() -> None:
    data = [{"role": "user"}, {"role": "user", "content": "x"}, 5, {"role": "system", "content": 1}]
    assert [path for path, _ in _violations(data)] == ["$[0].content", "$[2]", "$[3].content"]


def test_every_unsendable_text_is_reported() -> None:
    data = [{"role": "user", "content": text} for text in ("\ud800", "ok", "x\udfff")]
    assert [path for path, _ in _violations(data)] == ["$[0].content", "$[2].content"]


@pytest.mark.parametrize("levels", [201, 250, 300, 400, 600, 900, *range(960, 1010), 5000, 50_000])
@table("typed", [False, True])
def test_a_deeply_nested_prompt_is_an_error(levels: int, typed: bool, nested: Callable[[int], Any]) -> None:  # noqa: FBT001
    bomb = {"d": nested(levels)}
    message = AssistantMessage("x", extensions=bomb) if typed else _request(arguments=bomb)
    [(path, reason)] = _violations([message])
    assert path.startswith("$[0]")
    assert "nested deeper than" in reason
    while bomb:  # deallocated level by level: some Pythons cannot do it in one go
        bomb = bomb.popitem()[1]
        bomb = bomb if isinstance(bomb, dict) else {}


def test_nesting_up_to_the_limit_is_accepted(nested: Callable[[int], Any]) -> None:
    data = [_request(arguments={"d": nested(197)})]
    assert dump_prompt(parse_prompt(data)) == data


def test_every_kind_of_message_is_accepted(everything: list[dict[str, Any]]) -> None:
    prompt = parse_prompt(everything, conversation=True)
    assert [type(message).__name__ for message in prompt] == [
        "SystemMessage",
        "UserMessage",
        "AssistantMessage",
        "ToolResultMessage",
        "ToolResultMessage",
        "ToolRequestMessage",
        "ToolResultMessage",
        "AssistantMessage",
        "UserMessage",
    ]


def test_data_types_tuples_and_mixtures_parse_to_the_same_value(everything: list[dict[str, Any]]) -> None:
    prompt = parse_prompt(everything)
    mixed = [typed if index % 2 else plain for index, (typed, plain) in enumerate(zip(prompt, everything, strict=True))]
    assert parse_prompt(prompt) == parse_prompt(tuple(everything)) == parse_prompt(mixed) == prompt
    assert parse_prompt(list(prompt)) == parse_prompt_json(json.dumps(everything).encode()) == prompt


def test_parsing_does_not_change_its_argument(everything: list[dict[str, Any]]) -> None:
    before = json.dumps(everything)
    parse_prompt(everything, conversation=True)
    assert json.dumps(everything) == before


def test_tool_is_another_name_of_tool_result() -> None:
    result = {"content": "x", "tool_call_id": "c", "name": "f", "status": "error"}
    one, other = ([{"role": role, **result}] for role in ("tool", "tool_result"))
    assert parse_prompt(one) == parse_prompt(other) == (ToolResultMessage("x", "c", "f", "error"),)


@pytest.mark.parametrize("text", ["", "\x00\x1f", "\ufffd", "\U0001f600", " ", "{{x}}", "a" * 1_000_000])
def test_text_is_kept_character_for_character(text: str) -> None:
    assert parse_prompt([{"role": "user", "content": text}]) == (UserMessage(text),)


def test_an_empty_prompt_is_valid() -> None:
    assert parse_prompt([], conversation=True) == ()


@pytest.mark.parametrize(
    "text",
    ["", "[", b"\xff\xfe[", b'["\xff"]', "[}", "[" * 100_000, "<html>", "[1" + "0" * 5000 + "]", None, 5, b"\x80" * 9],
)
def test_text_that_is_not_json_is_an_error(text: Any) -> None:
    with pytest.raises(PromptValidationFailed, match=r"^PROMPT_VALIDATION_FAILED: \$: not JSON: ") as caught:
        parse_prompt_json(text)
    assert caught.value.details["layer"] == "shape"
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("text", ["{}", "null", '"x"', "NaN"])
def test_json_text_must_be_an_array(text: str) -> None:
    with pytest.raises(PromptValidationFailed, match="expected an array of messages"):
        parse_prompt_json(text)


def test_nan_in_json_text_is_an_error() -> None:
    with pytest.raises(PromptValidationFailed, match=r"\$\[0\]\.content\.arguments\.a: nan"):
        parse_prompt_json('[{"role":"tool_request","content":{"id":"c","name":"f","arguments":{"a":NaN}}}]')


def test_the_conversation_is_checked_on_request(result: Callable[..., Any], user: dict[str, Any]) -> None:
    data = [user, result("nobody"), {"role": "tool_request", "content": None}]
    assert len(parse_prompt(data)) == 3
    assert _violations(data, conversation=True) == [
        ("$[1].tool_call_id", "no earlier call has the id 'nobody'"),
        ("$[2].content", "a tool_request must not have null as its content"),
    ]


def test_violations_of_the_conversation_are_sorted_by_message(
    call: Callable[..., Any], result: Callable[..., Any]
) -> None:
    data = [call("a", arguments="[]"), result("x"), result("a"), call("b", arguments="{")]
    paths = [path for path, _ in _violations(data, conversation=True)]
    assert paths == [
        "$[0].tool_calls[0].function.arguments",
        "$[1].tool_call_id",
        "$[3]",
        "$[3].tool_calls[0].function.arguments",
    ]


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        ("x", int, "$: Expected `int`, got `str`"),
        ({"a": "\ud800"}, dict[str, str], "$.a: a lone surrogate"),
        ({"\ud800": 1}, UserMessage, "$: the key '\\ud800' contains a lone surrogate"),
        ({"a": {"b": {2: 1}}}, dict[str, Any], "$.a.b: the key 2 is not a string"),
        ({"a": dt.date(2020, 1, 1)}, dict[str, Any], "$.a: a value of type date is not JSON data"),
        (
            AssistantMessage("x", extensions={"d": {"e": object()}}),
            AssistantMessage,
            "$.extensions.d.e: a value of type object",
        ),
    ],
)
def test_the_error_of_a_bad_value_has_its_path(data: Any, kind: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r"^\$") as caught:
        parse_value(data, kind)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("levels", [300, 600, *range(975, 1000), 5000])
def test_a_value_nested_too_deeply_is_an_error(levels: int, nested: Callable[[int], Any]) -> None:
    with pytest.raises(ValueError, match="nested deeper"):
        parse_value(nested(levels), dict[str, Any])


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.characters() | st.binary()
ROLE = st.sampled_from(["system", "user", "assistant", "tool", "tool_result", "tool_request", "robot"])
JSONISH = st.recursive(
    SCALARS | ROLE,
    lambda children: st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=2).map(tuple),
        st.dictionaries(st.text(max_size=3) | st.integers(), children, max_size=3),
    ),
    max_leaves=8,
)
FIELDS = {
    name: JSONISH | st.just("x")
    for name in ("content", "name", "tool_calls", "tool_call_id", "status", "extensions", "surprise")
}
MESSAGEISH = st.fixed_dictionaries({"role": ROLE}, optional=FIELDS) | JSONISH


@given(st.lists(MESSAGEISH) | JSONISH)
def test_any_data_parses_or_raises_a_validation_error(data: Any) -> None:
    violations: list[dict[str, str]] | None = None
    try:
        prompt = parse_prompt(data, conversation=True)
    except PromptValidationFailed as error:
        violations = error.details["violations"]
    else:
        assert parse_prompt(dump_prompt(prompt)) == prompt
    assert violations is None or violations
    assert all(one["path"].startswith("$") and one["message"] for one in violations or ())


@given(st.text() | st.binary())
def test_any_text_parses_or_raises_a_validation_error(text: str | bytes) -> None:
    try:
        found: ArtStandardPrompt = parse_prompt_json(text)
    except PromptValidationFailed:
        return
    assert found == ()


@pytest.mark.parametrize(
    "text",
    [
        '[{"role": "user", "content": "a", "content": "b"}]',
        '[{"role": "assistant", "content": "", "extensions": {"x": {"y": 1, "y": 1}}}]',
    ],
)
def test_a_doubled_key_in_json_text_is_refused(text: str) -> None:
    with pytest.raises(PromptValidationFailed, match=r"not JSON: the key '(content|y)' appears twice in one object"):
        parse_prompt_json(text)
