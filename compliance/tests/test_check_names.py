"""Names of tools that an adapter changed come back in answers, with one call where it takes no more."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.miniatures.base import change_events
from art_sdk import OpenAIAdapter
from trials import messages_of, spoiled

RENAMED = "response.renamed-tools-come-back"
Events = list[dict[str, Any]]


class OneByOne(OpenAIAdapter):
    """Declares that it takes one call at a time."""

    capabilities = OpenAIAdapter.capabilities - {"parallel_tools"}


def with_one_call(events: Events) -> Events:
    """All calls behind the first are left out."""
    calls = [event for event in events if event["type"] == "TOOL_CALL"]
    kept = [event for event in events if event not in calls[1:]]
    *others, end = kept
    message = end["message"]
    if message and message.get("tool_calls"):
        end = {**end, "message": {**message, "tool_calls": message["tool_calls"][:1]}}
    return [*others, end]


def reads_one_call(adapter: Any) -> None:
    change_events(adapter, with_one_call)


@pytest.mark.parametrize(("make", "is_found"), [(OneByOne, False), (OpenAIAdapter, True)])
def test_an_adapter_to_which_one_call_comes_at_a_time_is_answered_so(make: Any, is_found: bool):  # noqa: FBT001
    assert bool(messages_of(RENAMED, spoiled(reads_one_call, make))) == is_found
