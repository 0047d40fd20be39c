"""What of a request counts as invented."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from art_compliance.checks.response.reading import _cut, _next_turn
from art_compliance.checks.translation import conservation
from art_compliance.subject.observations import Refused, Sent

BOOKS = {"thread_id": "th-1"}


def invented(
    *, opaque: Any = None, options: Any = None, asked: Any = None, provider: Any = None
) -> list[tuple[str, Any]]:
    trial: Any = SimpleNamespace(
        comparison=SimpleNamespace(differences=()),
        provider_fields=provider or {},
        decoded=SimpleNamespace(opaque=opaque or {}, options=options or {}, places={"options/seed": "/seed"}),
        scenario=SimpleNamespace(options=asked or {}, call_options=lambda: {**(asked or {}), **BOOKS}),
        subject=SimpleNamespace(),
    )
    return [(one.message, one.pointer) for one in conservation.nothing_is_invented.run(trial)]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, []),
        (
            {"opaque": {"/x": "Be kind to him."}},
            [("text that is not in the prompt: 'Be kind to him.'", "/x")],
        ),
        (
            {"opaque": {"/x": {"y": ["Be kind to him."]}}},
            [("text that is not in the prompt: 'Be kind to him.'", "/x/y/0")],
        ),
        ({"opaque": {"/x": "Be kind to him."}, "provider": {"x": "Be kind to him."}}, []),
        ({"opaque": {"/x": 7, "/y": True, "/z": None, "/word": "ephemeral"}}, []),
        ({"opaque": {"/x": "th-1"}}, [("text that is not in the prompt: 'th-1'", "/x")]),
        ({"opaque": {"/x": "x" * 24}}, []),
        ({"opaque": {"/x": "x" * 25}}, [(f"text that is not in the prompt: {'x' * 25!r}", "/x")]),
        ({"options": {"seed": 7}}, [("the option seed was not asked for: 7", "/seed")]),
        ({"options": {"seed": 7}, "asked": {"seed": 7}}, []),
        ({"options": {"model": "m", "max_tokens": 9, "tool_choice": "auto", "stream": False}}, []),
        ({"options": {"tool_choice": "none"}}, [("the option tool_choice was not asked for: 'none'", None)]),
    ],
)
def test_of_a_request_is_invented(given: Any, told: list[Any]):
    assert invented(**given) == told


@pytest.mark.parametrize(
    ("sent", "is_lost"),
    [({"/seed": 7}, False), ({"/seed": 6}, True), ({"/seed": 8}, True), ({"/x": 7}, True), ({}, True)],
)
def test_the_providers_own_fields_are_found_as_they_were_given(sent: Any, is_lost: bool):  # noqa: FBT001
    trial: Any = SimpleNamespace(
        comparison=SimpleNamespace(differences=()),
        provider_fields={"seed": 7},
        decoded=SimpleNamespace(opaque=sent),
        dialect=SimpleNamespace(name="openai-chat"),
        subject=SimpleNamespace(losses=()),
    )
    told = [(one.message, one.path, one.pointer) for one in conservation.options_survive.run(trial)]
    lost = ("the provider's own field /seed = 7 is lost", "options.provider['openai-chat']", "/seed")
    assert told == ([lost] if is_lost else [])


def outcome(*repairs: str, right: tuple[str, ...] = ("exact",), refused: str = "", hoist: bool = False) -> list[str]:
    declared = frozenset({"joins_turns", "hoists_late_system"})
    trial: Any = SimpleNamespace(
        undeclared=(),
        dialect=SimpleNamespace(name="openai-chat"),
        scenario=SimpleNamespace(
            needs=(), options={"late_system": "hoist"} if hoist else {}, outcomes_for=lambda _: right
        ),
        observation=Refused(refused, "why") if refused else Sent({}, None),
        comparison=SimpleNamespace(repairs=frozenset(repairs)),
        declared_repairs=declared,
    )
    return [one.message for one in conservation.outcome_is_right.run(trial)]


LATE = "hoists_late_system"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, []),
        ({"right": ("repair:joins_turns",)}, ["the outcome is exact; right is repair:joins_turns"]),
        ({"repairs": ["joins_turns"]}, []),
        ({"repairs": ["maps_call_ids"]}, ["the outcome is repair:maps_call_ids; right is exact"]),
        ({"repairs": [LATE]}, ["the outcome is repair:hoists_late_system; right is exact"]),
        ({"repairs": [LATE], "hoist": True}, []),
        (
            {"repairs": ["joins_turns"], "right": ("refused:X",)},
            ["the outcome is repair:joins_turns; right is refused:X"],
        ),
        ({"refused": "X", "right": ("exact", "refused:X")}, []),
        ({"refused": "X"}, ["the outcome is refused:X; right is exact: why"]),
    ],
)
def test_an_outcome_is_right(given: dict[str, Any], told: list[str]):
    assert outcome(*given.pop("repairs", ()), **given) == told


@pytest.mark.parametrize(("arguments", "is_cut"), [("{}", False), ("", False), ('{"a', True), ("[1]", True)])
def test_arguments_that_are_no_object_were_cut(arguments: str, is_cut: bool):  # noqa: FBT001
    assert _cut(arguments) is is_cut


def test_after_an_answer_its_calls_are_answered_or_the_user_speaks():
    calls = [{"id": "c1"}, {"id": "c2"}]
    assert _next_turn({"content": "a"}) == [{"role": "user", "content": "Go on."}]
    assert [one["tool_call_id"] for one in _next_turn({"content": None, "tool_calls": calls})] == ["c1", "c2"]
