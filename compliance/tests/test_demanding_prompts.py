"""The prompts that are larger or odder than people write by hand: what each is, and that a seed makes it again."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from art_compliance.checks.translation.demanding import DEMANDS, Demand
from art_sdk import OpenAIAdapter, parse_prompt
from trials import findings_of, translating

each = pytest.mark.parametrize("demand", DEMANDS, ids=lambda demand: demand.words)


@each
def test_a_demanding_prompt_is_right_and_a_seed_makes_it_again(demand: Demand):
    made, again, other = (demand.make(Random(seed)) for seed in (1, 1, 2))
    assert parse_prompt(made[0])
    assert made == again
    assert made != other


def test_the_two_images_differ():
    (demand,) = (one for one in DEMANDS if "two images" in one.words)
    prompt, _ = demand.make(Random(1))
    assert [message["role"] for message in prompt] == ["user", "assistant", "user"]
    first, second = (message["content"][1]["data"] for message in prompt[::2])
    assert first != second


def in_order_of_names(payload: dict[str, Any], *_: Any) -> dict[str, Any]:
    for tool in payload.get("tools", ()):
        parameters = tool["function"]["parameters"]
        parameters["properties"] = dict(sorted(parameters["properties"].items()))
    return payload


def test_the_order_of_keys_is_seen_inside_lists():
    (found,) = findings_of("translation.keys-keep-their-order", translating(in_order_of_names))
    assert found.pointer == "/tools/0/function/parameters/properties"
    assert found.message.startswith("the properties of a tool's schema, ")
    assert findings_of("translation.keys-keep-their-order", OpenAIAdapter) == ()
