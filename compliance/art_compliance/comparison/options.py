"""Compares the given options with those that were sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from art_compliance.comparison.difference import Difference, Expected
from art_compliance.comparison.normal_form import same_json
from art_compliance.dialects import Decoded
from art_compliance.quoting import describe_change, quote
from art_sdk.adapters.capabilities import Loss

_OPTION_LOSS: Final[dict[str, Loss]] = {
    "temperature": "sampling_option:temperature",
    "top_p": "sampling_option:top_p",
    "max_tokens": "sampling_option:max_tokens",
    "stop": "sampling_option:stop",
    "parallel_tool_calls": "sampling_option:parallel_tool_calls",
}

_NUMBERS: Final = frozenset({"temperature", "top_p"})
"""Options for which 1 and 1.0 are the same."""


def compare_options(expected: Expected, decoded: Decoded) -> Iterator[Difference]:
    """The options that were lost or changed. Options that were not given are ignored."""
    for name, value in expected.options.items():
        path, pointer = f"options.{name}", decoded.places.get(f"options/{name}")
        sent = decoded.options.get(name)
        if name not in decoded.options:
            text = f"the option {name} = {quote(repr(value))} is lost"
            yield Difference(slot="option", message=text, path=path, loss=_OPTION_LOSS.get(name))
        elif not (value == sent if name in _NUMBERS else same_json(value, sent)):
            text = f"the option {name} changed: {describe_change(repr(value), repr(sent))}"
            yield Difference(slot="option", message=text, path=path, pointer=pointer)
