"""The order of a prompt's sections: what changes least comes first, so that providers' caches keep the beginning."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from art_sdk.agents.browser.planning import Plan

SECTION_ORDER: Final = (
    "system_message",
    "system_message_changing",
    "schema",
    "context",
    "validation",
    "instruction",
)

_ALWAYS: Final = frozenset({"system_message", "schema", "context", "instruction"})


def next_names(plan: Plan, waiting: Container[str], given: Container[str]) -> list[str]:
    """The sections that can be given now: those that are ready, up to one that will come and is not."""
    names: list[str] = []
    for name in SECTION_ORDER:
        if name in waiting:
            names += [] if name in given else [name]
        elif name in _ALWAYS or (name == "validation" and plan.has_validation):
            break
    return names
