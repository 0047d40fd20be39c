"""The built-in sources. The options of each are its keyword-only parameters."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from inspect import isawaitable
from typing import Any, Final, Literal

from art_sdk.contributors.configuration import ContributorConfig, SystemPromptConfig
from art_sdk.contributors.context import DynamicContributorContext
from art_sdk.contributors.contributor import USER_INSTRUCTIONS

Granularity = Literal["date", "minute", "second"]

_logger: Final = logging.getLogger(__name__)


async def get_current_date_time(context: DynamicContributorContext, *, granularity: Granularity = "date") -> str:
    """`Current date and time: ` and the clock's time, cut to the granularity.

    `date` (2026-01-02) and `minute` (2026-01-02T03:04+01:00) are of the clock's own time zone, `second` is in UTC as
    JavaScript's `toISOString` writes it (2026-01-02T02:04:05.678Z). The coarser, the longer a provider's cache holds.
    """
    return f"Current date and time: {_WRITTEN[granularity](context.now())}"


_WRITTEN: Final[dict[str, Callable[[datetime], str]]] = {
    "date": lambda now: now.date().isoformat(),
    "minute": lambda now: now.isoformat(timespec="minutes").replace("+00:00", "Z"),
    "second": lambda now: now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
}


async def get_memory_summary(context: DynamicContributorContext) -> str:
    """`Memory Summary (Provider: ...): ` and what the memory recalls for this thread and query.

    Empty if no memory is configured, if its provider is `none`, or if there is nothing to recall. Raises ValueError if
    a memory is configured and the context has none.
    """
    config = None if context.agent_config is None else context.agent_config.memory
    if config is None or config.provider == "none":
        return ""
    if context.memory is None:
        raise ValueError("a memory is configured, but the context has none: pass memory=open_memory(config)")
    recalled = await context.memory.recall(context.thread_id, context.query)
    return f"Memory Summary (Provider: {config.provider}): {recalled}" if recalled else ""


async def get_user_instructions(context: DynamicContributorContext) -> str:
    """The content of the enabled static contributor `userInstructions` in the agent's configuration, else `""`.

    A prompt has it once, however many contributors give it.
    """
    prompt = None if context.agent_config is None else context.agent_config.llm.system_prompt
    contributors = prompt.contributors if isinstance(prompt, SystemPromptConfig) else ()
    return next((str(one.content or "") for one in contributors if _has_instructions(one)), "")


def _has_instructions(one: ContributorConfig) -> bool:
    return one.id == USER_INSTRUCTIONS and one.type == "static" and one.enabled


async def get_tool_listing(context: DynamicContributorContext, *, omit_if_unavailable: bool = False) -> str:
    """`Available tools: ` and their names, those that the thread enables if the context has them.

    Without tools it says so, and so it does when they cannot be listed; with `omit_if_unavailable` it is empty then.
    """
    try:
        names = await _tool_names(context)
    except Exception as error:  # noqa: BLE001 - whatever the application's own manager raises
        _logger.warning("The tools for the system prompt could not be listed: %s", type(error).__name__)
        return "" if omit_if_unavailable else "Could not retrieve tool listing."
    if not names:
        return "" if omit_if_unavailable else "No tools are available."
    return f"Available tools: {', '.join(names)}"


async def _tool_names(context: DynamicContributorContext) -> list[str]:
    if context.tools is not None:
        return [tool.name for tool in context.tools]
    if context.client_manager is None:
        return []
    listed: Any = context.client_manager.get_all_tools()
    tools: Iterable[str] = await listed if isawaitable(listed) else listed
    return list(tools)
