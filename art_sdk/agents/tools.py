"""An agent's tools: a schema for the model, a function that does the work, and its limits."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from msgspec import Struct

from art_sdk.errors import InvalidConfig
from art_sdk.messages import ToolSchema

_EXTRA: Final = "tools need jsonschema: pip install 'art-adapter-sdk[agents]'"


class ToolContext(Struct, frozen=True, kw_only=True):
    """The call that a tool runs for."""

    thread_id: str
    trace_id: str
    call_id: str


class Tool(Struct, frozen=True, kw_only=True):
    """One tool. `run` takes the arguments as a dictionary and returns JSON data; it may be asynchronous.

    With `takes_context`, it takes a `ToolContext` as its second argument. A function that is not asynchronous runs in
    its own thread. `timeout` is in seconds, `max_output` in bytes of JSON: beyond either, the call fails, and the
    result says why. A thread that hangs is abandoned; an asynchronous function must not suppress its cancellation.
    """

    schema: ToolSchema
    run: Callable[..., Any]
    timeout: float = 30.0
    max_output: int = 65_536
    takes_context: bool = False

    @property
    def name(self) -> str:
        """The name that the model calls it by."""
        return self.schema.name

    @property
    def is_async(self) -> bool:
        """Whether `run` is to be called in the event loop."""
        return inspect.iscoroutinefunction(self.run) or inspect.iscoroutinefunction(getattr(self.run, "__call__", None))  # noqa: B004 - its type is what counts


class _Registered(Struct, frozen=True):
    tool: Tool
    validator: Any


class ToolRegistry:
    """The tools of an agent by name. It gives their schemas to prompts, and the tools to a `ToolSystem`."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, _Registered] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> None:
        """Adds a tool.

        Raises InvalidConfig for a name that is taken, an input schema that is not JSON Schema or whose root is not an
        object, and limits that are not positive.
        """
        name = tool.name
        if name in self._tools:
            raise InvalidConfig(f"the tool {name!r} is registered twice")
        if tool.timeout <= 0 or tool.max_output <= 0:
            raise InvalidConfig(f"the tool {name!r}: timeout and max_output must be positive")
        if tool.schema.input_schema.get("type", "object") != "object":
            raise InvalidConfig(f"the tool {name!r}: the root of its input schema must be an object")
        self._tools[name] = _Registered(tool, _validator(tool.schema))

    def find(self, name: str) -> Tool | None:
        """The tool of that name, or None."""
        found = self._tools.get(name)
        return None if found is None else found.tool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tools, in the order of their registration."""
        return tuple(self._tools)

    def schemas(self, enabled: Collection[str] | None = None) -> tuple[ToolSchema, ...]:
        """The schemas of all tools, or of the enabled ones. Raises InvalidConfig for an unknown name."""
        if enabled is None:
            return tuple(known.tool.schema for known in self._tools.values())
        unknown = [name for name in enabled if name not in self._tools]
        if unknown:
            known = ", ".join(self._tools) or "none"
            raise InvalidConfig(f"enabledTools: there is no tool {unknown[0]!r}; registered tools: {known}")
        return tuple(known.tool.schema for name, known in self._tools.items() if name in enabled)

    def find_fault(self, name: str, arguments: dict[str, Any]) -> str | None:
        """What is wrong with a known tool's arguments, and where, or None."""
        fault = next(iter(self._tools[name].validator.iter_errors(arguments)), None)
        return None if fault is None else f"{fault.json_path}: {fault.message}"


def _validator(schema: ToolSchema) -> Any:
    try:
        import jsonschema  # noqa: PLC0415 - it is in an extra, and slow to import
        import referencing  # noqa: PLC0415 - likewise
    except ImportError as error:
        raise InvalidConfig(_EXTRA, cause=error) from error
    kind = jsonschema.Draft202012Validator
    try:
        kind.check_schema(schema.input_schema)
    except jsonschema.SchemaError as error:
        text = f"the tool {schema.name!r}: its input schema is not JSON Schema: {error.json_path}: {error.message}"
        raise InvalidConfig(text, cause=error) from error
    return kind(schema.input_schema, registry=referencing.Registry())  # of its own: nothing is fetched from the net
