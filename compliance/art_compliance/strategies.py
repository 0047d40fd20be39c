"""Hypothesis strategies for everything an adapter meets. Public: use them in your own tests.

    from hypothesis import given
    from art_compliance.strategies import requests

    @given(requests())
    def test_my_adapter_copes(request):
        my_adapter.translate(request.prompt, request.options)

Everything is JSON data: prompts for `art_sdk.parse_prompt`, options for `parse_options`. Sizes are bounded, and
everything shrinks towards one short user message. Needs `hypothesis`, which the extra `compliance` installs.
"""

from __future__ import annotations

from art_compliance.generating.requests import Request
from art_compliance.generating.strategies.answers import answers, dialogues, exchanges, turns
from art_compliance.generating.strategies.broken import BREAKS, broken_prompts
from art_compliance.generating.strategies.options import options, requests
from art_compliance.generating.strategies.prompts import FLAVORS, prompts
from art_compliance.generating.strategies.schemas import arguments_for, json_schemas, tool_schemas, tools
from art_compliance.generating.strategies.texts import (
    RESULTS,
    blank_texts,
    call_ids,
    json_values,
    plain_ids,
    plain_tool_names,
    results,
    texts,
    tool_names,
)
from art_compliance.generating.strategies.traffic import chunkings, fault_schedules

__all__ = [
    "BREAKS",
    "FLAVORS",
    "RESULTS",
    "Request",
    "answers",
    "arguments_for",
    "blank_texts",
    "broken_prompts",
    "call_ids",
    "chunkings",
    "dialogues",
    "exchanges",
    "fault_schedules",
    "json_schemas",
    "json_values",
    "options",
    "plain_ids",
    "plain_tool_names",
    "prompts",
    "requests",
    "results",
    "texts",
    "tool_names",
    "tool_schemas",
    "tools",
    "turns",
]
