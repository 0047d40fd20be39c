"""Every hostile input works or ends in the SDK's own error, soon and in little memory; work grows as its input does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import hostile_blueprints
import hostile_prompts
from art_sdk import BlueprintLimits, PromptAssemblyFailed, PromptManager
from hostile import MOST_MEGABYTES, MOST_SECONDS, Fault, measure

LONGEST = {
    "JSON text of 1,000,000 numbers": "500,000 wrong messages",
    "a blueprint of 240,000 empty texts": "a blueprint of 20,000 messages",
    "a blueprint with a key of 400,000 characters over 100,000 texts": "a blueprint with 16,000 keys",
    "a history of 200,000 wrong messages": "an array of 490,000 numbers",
    "a million lists in each of a million places of a tool's schema": "shared lists with 10^45 paths in options",
    "sections over [1, 2], 30 deep": "sections over [1, 2], 18 deep",
}
"""What takes longest, each with one that runs the same code and is tried by `make test`."""


def faults() -> Iterator[Any]:
    for fault in hostile_blueprints.FAULTS + hostile_prompts.FAULTS:
        marks = (pytest.mark.thorough,) if fault.name in LONGEST else ()
        yield pytest.param(fault, marks=marks, id=fault.name)


def test_what_is_left_out_has_one_like_it():
    names = {fault.name for fault in hostile_blueprints.FAULTS + hostile_prompts.FAULTS}
    assert {*LONGEST, *LONGEST.values()} <= names
    assert not LONGEST.keys() & {*LONGEST.values()}


@pytest.mark.once
@pytest.mark.unmeasured
@pytest.mark.parametrize("fault", [*faults()])
def test_a_hostile_input_ends_well(fault: Fault):
    found = measure(fault)
    if found.seconds >= MOST_SECONDS or found.megabytes >= MOST_MEGABYTES:
        found = measure(fault)  # noise only ever adds, so one try in time is enough
    assert found.is_ours, found.error
    assert fault.error in found.error
    assert bool(fault.error) == bool(found.error)
    assert found.seconds < MOST_SECONDS
    assert found.megabytes < MOST_MEGABYTES
    if found.error and fault in hostile_blueprints.FAULTS:
        assert "for 'HOSTILE': " in found.error


IN_LOOP = '[{"role": "user", "content": "\n{{#l}}{{q}}{{/l}}"}]'


@pytest.mark.parametrize(
    ("limits", "blueprint", "message", "tag"),
    [
        ({"steps": 4}, IN_LOOP, "rendering takes more than 4 steps (the limit 'steps') (line 2)", "{{#l}}"),
        ({"output": 40}, IN_LOOP, "more than 40 characters (the limit 'output') (line 2)", "{{q}}"),
        ({"tags": 1}, IN_LOOP, "more than 1 tags (the limit 'tags') (line 2)", "{{q}}"),
        ({"partials": 1}, "[{{> p}}\n{{> p}}]", "more than 1 partials (the limit 'partials') (line 2)", "{{>p}}"),
        (
            {"characters": 25},
            "[{{> p}}\n{{> p}}]",
            "than 25 characters (the limit 'characters') (line 2)",
            "{{>p}}",
        ),
        ({"characters": 9}, IN_LOOP, "more than 9 characters (the limit 'characters')", None),
        ({"values": 3}, IN_LOOP, "$.l: more than 3 values (the limit 'values')", None),
        ({"text": 3}, IN_LOOP, "partials.p: more than 3 characters of text (the limit 'text')", None),
    ],
)
def test_a_limit_is_an_option(limits: dict[str, int], blueprint: str, message: str, tag: str | None):
    manager = PromptManager({}, limits=BlueprintLimits(**limits))
    context = {"q": "xyz", "l": [1, 2, 3, 4]}
    with pytest.raises(PromptAssemblyFailed) as caught:
        manager.assemble_prompt(blueprint, context, name="B", partials={"p": "[   ],"})
    assert message in caught.value.message
    assert caught.value.details.get("tag") == tag
    assert caught.value.details["blueprint"] == "B"


@pytest.mark.parametrize("limits", [None, 5, {"steps": 5}, BlueprintLimits(steps=0), BlueprintLimits(tags=True)])
def test_limits_must_be_positive_numbers(limits: object):
    with pytest.raises(PromptAssemblyFailed, match="limit"):
        PromptManager(limits=limits)  # type: ignore[arg-type]
