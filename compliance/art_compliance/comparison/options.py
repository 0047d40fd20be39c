"""The options that a request must have, and how they differ from those that were sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.comparison.difference import Difference, Expected
from art_compliance.comparison.normal_form import same_json
from art_compliance.dialects import Decoded
from art_compliance.quoting import describe_change, show
from art_sdk.adapters.capabilities import Loss

_NOT_IN_THE_REQUEST: Final = frozenset(
    {"thread_id", "trace_id", "session_id", "user_id", "call_context", "tools", "late_system", "timeouts", "provider"}
)

_SAME_AS_UNSET: Final[dict[str, Any]] = {"stop": (), "stream": False}
"""Values that mean the same as leaving the option out."""


def expected_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options that must be in the request, by name."""
    found = {name: value for name, value in options.items() if name not in _NOT_IN_THE_REQUEST and value is not None}
    if "stop" in found:
        found["stop"] = tuple(found["stop"])
    return {name: value for name, value in found.items() if _SAME_AS_UNSET.get(name, ...) != value}


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
            text = f"the option {name} = {show(value)} is lost"
            yield Difference(slot="option", message=text, path=path, loss=_OPTION_LOSS.get(name))
        elif not (value == sent if name in _NUMBERS else same_json(value, sent)):
            text = f"the option {name} changed: {describe_change(repr(value), repr(sent))}"
            yield Difference(slot="option", message=text, path=path, pointer=pointer)
