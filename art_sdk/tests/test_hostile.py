"""Every hostile input works or ends in the SDK's own error, soon and in little memory; work grows as its input does."""

from __future__ import annotations

import pytest

import hostile_blueprints
import hostile_prompts
from art_sdk import BlueprintLimits, PromptAssemblyFailed, PromptManager
from hostile import MOST_MEGABYTES, MOST_SECONDS, Fault, measure

FAULTS = [pytest.param(fault, id=fault.name) for fault in hostile_blueprints.FAULTS + hostile_prompts.FAULTS]


@pytest.mark.once
@pytest.mark.unmeasured
@pytest.mark.parametrize("fault", FAULTS)
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
