"""Which options of a call come together: all values of any two or three, and only those that an adapter can do."""

from __future__ import annotations

from itertools import combinations, product
from random import Random
from typing import Any

import pytest
from msgspec.structs import asdict

from art_compliance.checks.translation.pairs import covering_rows
from art_sdk import CAPABILITIES, CallOptions, OpenAIAdapter
from trials import messages_of

TOGETHER = "translation.options-survive-together"


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_all_values_of_any_factors_occur_in_a_few_rows(size: int, seed: int):
    factors = {"a": ("1", "2", "3"), "b": ("1", "2"), "c": ("1", "2"), "d": ("1",), "e": ("1", "2", "3", "4")}
    rows = list(covering_rows(factors, Random(seed), size))
    for group in combinations(factors, size):
        for values in product(*(factors[name] for name in group)):
            assert any(all(row[name] == value for name, value in zip(group, values, strict=True)) for row in rows)
    assert all(row.keys() == factors.keys() and all(row[name] in factors[name] for name in row) for row in rows)
    largest = {1: 4, 2: 4 * 3, 3: 4 * 3 * 2}[size]
    assert largest <= len(rows) <= 2 * largest


NEEDED = {
    "tools": "tools",
    "tool_choice": "tool_choice",
    "parallel_tool_calls": "parallel_tools",
    "stream": "streaming",
    "response_schema": "response_schema",
    "stop": "stop",
    "provider": "provider_fields",
}
"""The capability without which no call has the option."""
NONE = CallOptions(thread_id="none")


@pytest.mark.parametrize("missing", [None, *NEEDED])
def test_only_what_an_adapter_declares_is_combined(missing: str | None):
    seen: list[set[str]] = []

    class Watching(OpenAIAdapter):
        """Writes down which options are given."""

        capabilities = CAPABILITIES - ({NEEDED[missing]} if missing else set())

        def translate(self, prompt: Any, options: Any) -> Any:
            seen.append({name for name, value in asdict(options).items() if value != getattr(NONE, name)})
            return super().translate(prompt, options)

    assert messages_of(TOGETHER, Watching) == []
    left_out = {missing} | ({"tool_choice", "parallel_tool_calls"} if missing == "tools" else set())
    given = set().union(*seen)
    assert given & NEEDED.keys() == NEEDED.keys() - left_out
    assert {"temperature", "top_p", "max_tokens", "model", "thread_id"} <= given
