"""What a PES agent reads before it plans: the thread's settings, its history, and its system prompt."""

from __future__ import annotations

import dataclasses
from typing import Any

from msgspec import Struct

from art_sdk.agents.history import format_history_for_prompt
from art_sdk.agents.observations import ObservationManager
from art_sdk.agents.pes.blueprints import DEFAULT_SYSTEM_PROMPT
from art_sdk.agents.pes.settings import PESSettings
from art_sdk.agents.reasoning import Provider, ReasoningEngine
from art_sdk.agents.stores.protocols import ConversationStore, StateStore
from art_sdk.agents.system_prompt import build_blocks
from art_sdk.agents.thread_config import ProviderConfig
from art_sdk.agents.tool_system import ToolSystem
from art_sdk.blueprints.assembly import PromptManager
from art_sdk.contributors import DynamicContributorContext
from art_sdk.errors import PromptValidationFailed
from art_sdk.json_data import is_object
from art_sdk.messages import ArtStandardPrompt, ToolSchema


class Parts(Struct, frozen=True, kw_only=True):
    """What an agent is made of."""

    reasoning: ReasoningEngine
    prompts: PromptManager
    tools: ToolSystem
    state: StateStore
    conversations: ConversationStore
    observations: ObservationManager
    about: DynamicContributorContext


class Prepared(Struct, frozen=True, kw_only=True):
    """What is known when the planning begins.

    `enabled` names the tools that the thread enables, or is None for all; `tools` are their schemas. `system` has the
    system prompt under the names of a context.
    """

    history: ArtStandardPrompt = ()
    tools: tuple[ToolSchema, ...] = ()
    enabled: list[str] | None = None
    provider: Provider = None
    capabilities: frozenset[str] = frozenset()
    system: dict[str, Any] = {}


async def prepare(parts: Parts, settings: PESSettings, thread_id: str, query: str) -> Prepared:
    """Reads what the thread has. Raises PromptValidationFailed for a blank query, InvalidConfig, and as stores do."""
    if not query.strip():
        raise PromptValidationFailed("the query must not be blank")
    read = parts.state.get_thread_config_value
    enabled = await read(thread_id, "enabledTools")
    tools = parts.tools.registry.schemas(enabled)
    configured = await read(thread_id, "provider")
    provider = ProviderConfig(**configured) if is_object(configured) else configured
    capabilities = parts.reasoning.capabilities(provider)
    stored = await parts.conversations.get_messages(thread_id, settings.history_limit + 1)
    history = format_history_for_prompt(stored, settings.history_limit)
    about = dataclasses.replace(parts.about, thread_id=thread_id, query=query, history=history, tools=tools)
    own = await read(thread_id, "systemPrompt")
    return Prepared(
        history=history,
        tools=tools,
        enabled=enabled,
        provider=provider,
        capabilities=capabilities,
        system=await _system_prompt((own, settings.default_system_prompt), about),
    )


async def _system_prompt(candidates: tuple[Any, ...], about: DynamicContributorContext) -> dict[str, Any]:
    """The first of the system prompts that is not empty, as the names of a context."""
    for configured in candidates:
        blocks = await build_blocks(configured, about) if configured else ()
        if blocks:
            break
    else:
        blocks = (DEFAULT_SYSTEM_PROMPT,)
    several = {"systemBlocks": list(blocks)} if len(blocks) > 1 else {}
    return {"system_prompt": "\n\n".join(blocks), **several}
