"""PromptContext: the data that an agent fills a blueprint with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from art_sdk.messages import ArtStandardPrompt, ToolResult, ToolSchema, dump_prompt

_BLUEPRINT_NAMES: Final = {
    "query": "query",
    "history": "history",
    "available_tools": "availableTools",
    "tool_results": "toolResults",
    "system_prompt": "systemPrompt",
}


class PromptContext(Mapping[str, Any]):
    """The data of one prompt, read by name as JSON data: `context["availableTools"]`.

    Five names are standard and typed: snake_case in Python, camelCase in blueprints. Any other name is the agent's
    own and is the same in both. A standard name that is not given is absent, not null.

    Raises TypeError if a name is given in both of its forms.
    """

    def __init__(
        self,
        *,
        query: str | None = None,
        history: ArtStandardPrompt | None = None,
        available_tools: tuple[ToolSchema, ...] | None = None,
        tool_results: tuple[ToolResult, ...] | None = None,
        system_prompt: str | None = None,
        **own: Any,
    ) -> None:
        given: dict[str, Any] = {
            "query": query,
            "history": None if history is None else dump_prompt(history),
            "available_tools": None if available_tools is None else [_plain(tool) for tool in available_tools],
            "tool_results": None if tool_results is None else [_result(result) for result in tool_results],
            "system_prompt": system_prompt,
        }
        standard = {_BLUEPRINT_NAMES[name]: value for name, value in given.items() if value is not None}
        repeated = sorted(standard.keys() & own.keys())
        if repeated:
            raise TypeError(f"given in both snake_case and camelCase: {', '.join(repeated)}")
        self._values: dict[str, Any] = standard | own

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"PromptContext({', '.join(self._values)})"


def _plain(value: ToolSchema | ToolResult) -> dict[str, Any]:
    return cast("dict[str, Any]", msgspec.json.decode(msgspec.json.encode(value)))


def _result(result: ToolResult) -> dict[str, Any]:
    """With both `output` and `error`: a blueprint may ask for either, and a tool may return nothing."""
    return {"output": None, "error": None} | _plain(result)
