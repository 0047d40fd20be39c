"""The prompts that are larger or odder than people write by hand: what each is, and that a seed makes it again."""

from __future__ import annotations

from random import Random

import pytest

from art_compliance.checks.translation.demanding import DEMANDS, Demand
from art_sdk import parse_prompt

each = pytest.mark.parametrize("demand", DEMANDS, ids=lambda demand: demand.words)


@each
def test_a_demanding_prompt_is_right_and_a_seed_makes_it_again(demand: Demand):
    made, again, other = (demand.make(Random(seed)) for seed in (1, 1, 2))
    assert parse_prompt(made[0])
    assert made == again
    assert made != other


def test_the_two_images_differ():
    (demand,) = (one for one in DEMANDS if "images" in one.words)
    prompt, _ = demand.make(Random(1))
    assert [message["role"] for message in prompt] == ["user", "assistant", "user"]
    first, second = (message["content"][1]["data"] for message in prompt[::2])
    assert first != second
