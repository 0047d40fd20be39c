"""What the format-free checks see in a payload of any form."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from art_compliance.checks.translation import canary
from art_compliance.checks.translation.canary import Planted, walk
from art_compliance.comparison.normal_form import normal_form
from art_sdk import parse_prompt


def test_a_walk_finds_every_scalar_with_the_objects_around_it():
    payload = {"a": [{"b/c": 1}, "x"], "d": {"e": None, "f": [[True]]}, "g": ' {"h": {"i": "{\\"j\\": 1}"}}'}
    assert [tuple(leaf) for leaf in walk(payload)] == [
        ("/a/0/b~1c", 1, ("", "/a/0")),
        ("/a/1", "x", ("",)),
        ("/d/e", None, ("", "/d")),
        ("/d/f/0/0", True, ("", "/d")),
        ("/g", payload["g"], ("",)),
        ("/g/h/i", '{"j": 1}', ("", "/g")),
    ]
    assert [leaf.value for leaf in walk(["[1]", "{", '{"a": 1} x', "7", ""])] == ["[1]", "{", '{"a": 1} x', "7", ""]


CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "canary-sea"}'}}
OTHER = {"id": "call_2", "type": "function", "function": {"name": "look", "arguments": "{}"}}
PROMPT = [
    {"role": "system", "content": " canary-system "},
    {"role": "user", "content": "canary-user"},
    {"role": "assistant", "content": "canary-said", "tool_calls": [CALL, OTHER]},
    {"role": "tool_result", "tool_call_id": "call_1", "content": "canary-one"},
    {"role": "tool_result", "tool_call_id": "call_2", "content": "canary-two"},
]
SEA = {"at": "canary-sea"}
GOOD: dict[str, Any] = {
    "system": " canary-system ",
    "turns": [
        {"text": "x canary-user x"},
        {
            "text": "canary-said",
            "calls": [{"id": "call_1", "args": {"at": "canary-sea"}}, {"id": "call_2", "args": "{}"}],
        },
        {"results": [{"of": "call_1", "text": "canary-one"}, {"of": "call_2", "text": "canary-two"}]},
    ],
}


Told = list[tuple[str, str | None]]


def changed(path: str, value: Any) -> dict[str, Any]:
    payload = json.loads(json.dumps(GOOD))
    *way, last = path.split("/")
    target: Any = payload
    for step in way:
        target = target[int(step) if step.isdigit() else step]
    target[int(last) if last.isdigit() else last] = value
    return payload


def found(
    check: str, payload: Any, *, prompt: Any = PROMPT, options: Any = None, **subject: Any
) -> list[tuple[Any, ...]]:
    planted = Planted(prompt, options or {}, payload, normal_form(parse_prompt(prompt)), list(walk(payload)))
    own = SimpleNamespace(**{"losses": frozenset(), "repairs": frozenset(), **subject})
    trial: Any = SimpleNamespace(once=lambda _: planted, subject=own)
    return [(one.message, one.pointer or one.path) for one in getattr(canary, check).run(trial)]


RESULTS = GOOD["turns"][2]["results"]
CASES: list[tuple[str, Any, Told]] = [
    ("canary_texts_stand_whole", GOOD, []),
    ("canary_texts_stand_whole", changed("system", "canary"), [("the text with canary-system : it is lost", None)]),
    (
        "canary_texts_stand_whole",
        changed("system", "canary-system "),
        [("the text with canary-system : it changed", "/system")],
    ),
    ("canary_texts_stand_whole", {**GOOD, "again": "canary-user"}, [("it stands 2 times: canary-user", "/again")]),
    (
        "canary_texts_stand_whole",
        {**GOOD, "again": ["canary-user"] * 2},
        [("it stands 3 times: canary-user", "/again/0")],
    ),
    ("canary_order_is_kept", GOOD, []),
    ("canary_order_is_kept", {"turns": GOOD["turns"], "system": GOOD["system"]}, []),
    ("canary_order_is_kept", changed("turns/2/results", RESULTS[::-1]), []),
    ("canary_order_is_kept", changed("turns", GOOD["turns"][1:]), []),
    (
        "canary_order_is_kept",
        changed("turns", [GOOD["turns"][1], GOOD["turns"][0], GOOD["turns"][2]]),
        [("canary-said stands before canary-user, which comes first in the prompt", "/turns/0/text")],
    ),
    ("canary_order_is_kept", ["canary-user canary-said canary-one canary-two"], []),
    (
        "canary_order_is_kept",
        ["canary-said canary-user canary-one canary-two"],
        [("canary-said stands before canary-user, which comes first in the prompt", "/0")],
    ),
    (
        "canary_order_is_kept",
        ["canary-user", "canary-one", "canary-said", "canary-two"],
        [("canary-one stands before canary-said, which comes first in the prompt", "/1")],
    ),
    ("canary_results_are_linked", GOOD, []),
    (
        "canary_results_are_linked",
        changed("turns/2/results/0/of", "call_2"),
        [
            ("the id 'call_1' stands 1 times; 2 are to be there (call and result)", "$[2].tool_calls[0]"),
            ("the id 'call_2' stands 3 times; 2 are to be there (call and result)", "$[2].tool_calls[1]"),
        ],
    ),
    (
        "canary_results_are_linked",
        changed("turns/2/results", [{**RESULTS[0], "of": "call_2"}, {**RESULTS[1], "of": "call_1"}]),
        [
            ("the result of 'call_1' stands with the id 'call_2'", "/turns/2/results/0/text"),
            ("the result of 'call_2' stands with the id 'call_1'", "/turns/2/results/1/text"),
        ],
    ),
    (
        "canary_results_are_linked",
        changed("turns/2/results", [{"of": one["of"], "in": {"deep": {"text": one["text"]}}} for one in RESULTS]),
        [],
    ),
    ("canary_arguments_decode_once", GOOD, []),
    ("canary_arguments_decode_once", changed("turns/1/calls/1/args", ""), []),
    ("canary_arguments_decode_once", changed("turns/1/calls/0/args", ' {"at": "canary-sea"}'), []),
    (
        "canary_arguments_decode_once",
        changed("turns/1/calls/0/args", json.dumps('{"at": "canary-sea"}')),
        [("the arguments of 'look' are nowhere: {'at': 'canary-sea'}", "$[2].tool_calls[0]")],
    ),
    (
        "canary_arguments_decode_once",
        changed("turns/1/calls/0/args", {"at": "canary-sea", "more": 1}),
        [("the arguments of 'look' are nowhere: {'at': 'canary-sea'}", "$[2].tool_calls[0]")],
    ),
]


@pytest.mark.parametrize(("check", "payload", "told"), CASES)
def test_a_check_finds(check: str, payload: Any, told: Told):
    seen = found(check, payload)
    assert [(message[: len(wanted[0])], place) for (message, place), wanted in zip(seen, told, strict=True)] == told


@pytest.mark.parametrize(
    ("text", "token"),
    [("a canary-0123456789 b", "canary-0123456789 "), ("no such bird is in this text", "no such bird is in"), ("", "")],
)
def test_a_text_is_named_by_its_token_or_its_beginning(text: str, token: str):
    assert canary._token(text) == token


def test_blank_texts_are_nobodys():
    prompt = [{"role": "user", "content": "  "}, {"role": "user", "content": "canary-b"}]
    assert found("canary_texts_stand_whole", ["canary-b"], prompt=prompt) == []
    assert found("canary_order_is_kept", ["canary-b", "  "], prompt=prompt) == []


def test_ids_that_are_nowhere_are_mapped_or_lost_where_that_is_declared():
    payload = json.loads(json.dumps(GOOD).replace("call_", "id-"))
    assert len(found("canary_results_are_linked", payload)) == 2
    assert found("canary_results_are_linked", payload, repairs={"maps_call_ids"}) == []
    assert found("canary_results_are_linked", payload, losses={"call_ids"}) == []
    assert len(found("canary_results_are_linked", payload, losses={"names"})) == 2
    assert len(found("canary_results_are_linked", changed("turns/2/results/0/of", "x"), losses={"call_ids"})) == 1


def test_a_call_that_waits_for_its_result_has_its_id_once():
    prompt = [*PROMPT[:2], {**PROMPT[2], "tool_calls": [CALL]}]
    assert found("canary_results_are_linked", ["call_1"], prompt=prompt) == []
    told = "the id 'call_1' stands 2 times; 1 are to be there (call and result)"
    assert found("canary_results_are_linked", ["call_1", "call_1"], prompt=prompt)[0][0] == told


TOOL = {
    "name": "look",
    "description": "canary tool",
    "inputSchema": {"type": "object", "properties": {"at": {}, "n": {}}},
}
TOLD = {"name": "look", "description": "canary tool", "parameters": {"at": {}, "n": {}}}


@pytest.mark.parametrize(
    ("tool", "payload", "told"),
    [
        (TOOL, TOLD, []),
        (TOOL, [{"look": 1}, TOLD], []),
        (TOOL, {**TOLD, "name": "x"}, ["its name 'look'"]),
        (TOOL, {**TOLD, "description": "canary"}, ["its description"]),
        (TOOL, {**TOLD, "parameters": {"at": {}}}, ["its parameter 'n'"]),
        (TOOL, {}, ["its name 'look'", "its description", "its parameter 'at'", "its parameter 'n'"]),
        ({**TOOL, "description": " "}, {**TOLD, "description": "x"}, []),
        ({"name": "look", "description": "canary tool", "inputSchema": {}}, {**TOLD, "parameters": 1}, []),
    ],
)
def test_of_a_tool_is_missing(tool: Any, payload: Any, told: list[str]):
    seen = found("canary_tools_are_told", payload, options={"tools": [tool]})
    assert [message.removesuffix(" is missing") for message, _ in seen] == [
        one.removesuffix(" is missing") for one in told
    ]
    assert {place for _, place in seen} <= {"options.tools[0]"}


@pytest.mark.parametrize(
    ("options", "payload", "told"),
    [
        ({"temperature": 0.5}, {"t": 0.5}, []),
        ({"temperature": 0.5}, {"t": 0.25}, ["temperature = 0.5 is nowhere"]),
        ({"stop": ["a", "b"]}, {"s": ["a", "b"]}, []),
        ({"stop": ["a", "b"]}, {"s": ["a"]}, ["stop = ('a', 'b') is nowhere"]),
        ({"max_tokens": 7, "top_p": 0.5}, [7], ["top_p = 0.5 is nowhere"]),
        ({"tool_choice": "auto"}, [], []),
    ],
)
def test_of_the_options_is_missing(options: Any, payload: Any, told: list[str]):
    assert [message for message, _ in found("canary_options_are_told", payload, options=options)] == told
    lost = frozenset(f"sampling_option:{name}" for name in options)
    assert found("canary_options_are_told", payload, options=options, losses=lost) == []
