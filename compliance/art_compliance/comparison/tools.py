"""Compares the given tools with those that were sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.comparison.difference import Difference, Expected
from art_compliance.comparison.normal_form import same_json
from art_compliance.dialects import Decoded
from art_compliance.quoting import describe_change
from art_sdk.adapters.capabilities import Loss
from art_sdk.json_data import is_object

_TOOL_FIELDS: Final[dict[str, Loss | None]] = {
    "description": None,
    "input_schema": None,
    "output_schema": "tool_output_schema",
}


def compare_tools(expected: Expected, decoded: Decoded) -> Iterator[Difference]:
    """The tools that were lost, changed or invented, and a changed order."""
    names, sent = [tool.name for tool in expected.tools], [tool.name for tool in decoded.tools]
    if len(sent) != len(set(sent)):
        yield Difference(slot="invented", message=f"a tool is sent twice: {', '.join(sent)}")
    elif sent != names and sorted(sent) == sorted(names):
        text = f"the order of the tools changed: {', '.join(sent)}"
        yield Difference(slot="tool", message=text, path="options.tools")
    found = {tool.name: (number, tool) for number, tool in enumerate(decoded.tools)}
    for number, tool in enumerate(expected.tools):
        path = f"options.tools[{number}]"
        if tool.name not in found:
            yield Difference(slot="tool", message=f"the tool {tool.name!r} is lost", path=path)
            continue
        at, twin = found.pop(tool.name)
        pointer = decoded.places.get(f"tools/{at}")
        for name, loss in _TOOL_FIELDS.items():
            own, sent_value = _rooted(getattr(tool, name)), _rooted(getattr(twin, name))
            if not same_json(own, sent_value):
                shown = describe_change(repr(own), repr(sent_value))
                text = f"the {name} of the tool {tool.name!r} changed: {shown}"
                yield Difference(slot="tool", message=text, path=f"{path}.{name}", pointer=pointer, loss=loss)
    for at, twin in found.values():
        text = f"the tool {twin.name!r} was not given"
        yield Difference(slot="invented", message=text, pointer=decoded.places.get(f"tools/{at}"))


def _rooted(value: Any) -> Any:
    """A tool's schema with its root's type: it describes an object whether it says so or not."""
    return {"type": "object", **value} if is_object(value) else value
