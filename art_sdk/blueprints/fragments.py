"""Fragments: pieces of prompt text that several blueprints include by name, with `{{> name}}`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

PES_TOOL_FORMAT: Final = """\
Answer in exactly this form:
Intent: what the user wants, in one sentence
Plan: the steps that lead there, numbered; name the tool of each step that needs one
Tool Calls: one JSON array and nothing else, such as
[{"id": "call_1", "type": "function", "function": {"name": "a_tool", "arguments": "{\\"key\\": \\"value\\"}"}}]
or [] where no tool is needed"""

FRAGMENTS: Final[Mapping[str, str]] = MappingProxyType({"pes_tool_format": PES_TOOL_FORMAT})
"""The fragments of a `PromptManager` that is given none."""
