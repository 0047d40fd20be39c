"""Compares the given tools with those that were sent."""

from __future__ import annotations

from collections.abc import Iterator
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
from art_sdk.json_data import is_object
from art_sdk.messages import ToolSchema

_TOOL_FIELDS: Final[dict[str, Loss | None]] = {
    "description": None,
    "input_schema": None,
    "output_schema": "tool_output_schema",
}


def compare_tools(expected: Expected, decoded: Decoded, names: ToolNames) -> Comparison:
    """The tools that were lost, changed or invented, and a changed order; and the repairs that explain others away."""
    repairs: set[Repair] = set()
    differences = [*names.clashes(expected)] or [*_misplaced(expected, decoded, names)]
    found = {tool.name: (number, tool) for number, tool in enumerate(decoded.tools)}
    for number, tool in enumerate(expected.tools):
        name = names.sent(tool.name)
        if name not in found:
            if (twin := _renamed(number, expected, decoded, names)) is not None:
                text = f"the tool {show(tool.name)} became {show(twin.name)}"
                place = decoded.places.get(f"tools/{found.pop(twin.name)[0]}")
                path = f"options.tools[{number}].name"
                differences.append(Difference(slot="tool", message=text, path=path, pointer=place))
            elif name not in (names.sent(other.name) for other in expected.tools[:number]):  # that is a clash
                text = f"the tool {show(tool.name)} is lost"
                differences.append(Difference(slot="tool", message=text, path=f"options.tools[{number}]"))
            continue
        at, twin = found.pop(name)
        one = _compare_tool(tool, twin, f"options.tools[{number}]", decoded.places.get(f"tools/{at}"))
        differences += one.differences
        repairs |= one.repairs
    for at, twin in found.values():
        text = f"the tool {show(twin.name)} was not given"
        differences.append(Difference(slot="invented", message=text, pointer=decoded.places.get(f"tools/{at}")))
    return Comparison(tuple(differences), frozenset(repairs))


def _renamed(number: int, expected: Expected, decoded: Decoded, names: ToolNames) -> ToolSchema | None:
    """The tool that was sent at the place of a tool under a name that is no other tool's."""
    if len(decoded.tools) != len(expected.tools):
        return None
    given, sent = [names.sent(tool.name) for tool in expected.tools], [tool.name for tool in decoded.tools]
    return None if sent[number] in given or sent.count(sent[number]) > 1 else decoded.tools[number]


def _misplaced(expected: Expected, decoded: Decoded, names: ToolNames) -> Iterator[Difference]:
    """That a tool is sent twice, or that the order of the tools changed."""
    given, sent = [names.sent(tool.name) for tool in expected.tools], [tool.name for tool in decoded.tools]
    if len(sent) != len(set(sent)):
        yield Difference(slot="invented", message=f"a tool is sent twice: {', '.join(sent)}")
    elif sent != given and sorted(sent) == sorted(given):
        text = f"the order of the tools changed: {', '.join(sent)}"
        yield Difference(slot="tool", message=text, path="options.tools")


def _compare_tool(tool: ToolSchema, twin: ToolSchema, path: str, pointer: str | None) -> Comparison:
    """How a sent tool differs from the given one, and how its schema was repaired."""
    repairs: frozenset[Repair] = frozenset()
    differences: list[Difference] = []
    for name, loss in _TOOL_FIELDS.items():
        if same_json(getattr(tool, name), getattr(twin, name)):
            continue
        own, sent = _meaning(getattr(tool, name), tool.name), _meaning(getattr(twin, name), twin.name)
        if keeps_json(own, sent) or keeps_json(_as_in_openapi(getattr(tool, name), tool.name), sent):
            continue
        given = getattr(tool, name), getattr(twin, name)
        change = explain_schema(*map(_rooted, given)) or explain_schema(own, sent) if name == "input_schema" else None
        repairs |= change.repairs if change else frozenset()
        if change is None or change.loss:
            text = f"the {name} of the tool {show(tool.name)} changed: {describe_change(own, sent)}"
            kind = change.loss if change else loss
            differences.append(Difference(slot="tool", message=text, path=f"{path}.{name}", pointer=pointer, loss=kind))
    return Comparison(tuple(differences), repairs)


def _meaning(value: Any, name: str) -> Any:
    """A tool's description, or the meaning of its schema, which describes an object whether it says so or not."""
    return normal_schema(_rooted(value), name) if is_object(value) else value


def _as_in_openapi(value: Any, name: str) -> Any:
    """The meaning of a schema that says `nullable`, which JSON Schema ignores, as OpenAPI has it."""
    return _meaning(with_null_unions(value), name)


def _rooted(value: Any) -> Any:
    return {"type": "object", **value} if is_object(value) else value
