"""The options that a request must have, and how they differ from those that were sent."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.comparison.difference import Comparison, Difference, Expected
from art_compliance.comparison.names import ToolNames
from art_compliance.comparison.normal_form import keeps_json, same_json
from art_compliance.comparison.schema_repairs import explain_schema
from art_compliance.comparison.schemas import normal_schema
from art_compliance.dialects import Decoded
from art_compliance.dialects.nullable import with_null_unions
from art_compliance.quoting import describe_change, show
from art_sdk.adapters.capabilities import Loss, Repair

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


def compare_options(expected: Expected, decoded: Decoded, names: ToolNames) -> Comparison:
    """The options that were lost or changed, and the repairs that explain others away.

    Options that were not given are ignored.
    """
    differences: list[Difference] = []
    repairs: frozenset[Repair] = frozenset()
    for name, given in expected.options.items():
        if name not in decoded.options and _says_nothing(name, given, expected.options):
            continue
        path, pointer = f"options.{name}", decoded.places.get(f"options/{name}")
        value = names.sent(given) if name == "tool_choice" else given
        sent = decoded.options.get(name)
        if name not in decoded.options:
            text = f"the option {name} = {show(value)} is lost"
            differences.append(Difference(slot="option", message=text, path=path, loss=_OPTION_LOSS.get(name)))
        elif not _is_same(name, value, sent):
            change = None
            if name == "response_schema":
                meaning = normal_schema(value), normal_schema(sent)
                change = explain_schema(value, sent) or explain_schema(*meaning)
                value, sent = meaning
            repairs |= change.repairs if change else frozenset()
            if change is None or change.loss:
                text = f"the option {name} changed: {describe_change(value, sent)}"
                loss = change.loss if change else None
                differences.append(Difference(slot="option", message=text, path=path, pointer=pointer, loss=loss))
    return Comparison(tuple(differences), repairs)


_DEFAULTS: Final[dict[str, Any]] = {"parallel_tool_calls": True}
"""What every provider with such an option does without it: `true` in OpenAI's specification (`openapi.yaml`,
`ParallelToolCalls`); `disable_parallel_tool_use` is false (`anthropic.types.ToolChoiceAutoParam`)."""


def _says_nothing(name: str, given: Any, options: dict[str, Any]) -> bool:
    """Whether the request means the same without the option: it is the default, or about calls that are forbidden."""
    return _DEFAULTS.get(name, ...) == given or (name == "parallel_tool_calls" and options.get("tool_choice") == "none")


def _is_same(name: str, value: Any, sent: Any) -> bool:
    if name in _NUMBERS:
        return bool(value == sent)
    is_same = same_json(value, sent)
    if is_same or name != "response_schema":
        return is_same
    meaning = normal_schema(sent)
    return any(keeps_json(normal_schema(one), meaning) for one in (value, with_null_unions(value)))
