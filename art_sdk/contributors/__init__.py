"""System prompts made of pieces: fixed texts, functions of the context, files, resources, memory.

configuration ─ load_contributors ─► contributors ─ build_system_prompt, with a context ─► SystemPrompt
"""

from __future__ import annotations

from art_sdk.contributors.building import BuildOptions, build_system_prompt
from art_sdk.contributors.configuration import (
    AgentConfig,
    ContributorConfig,
    LLMConfig,
    MemoryConfig,
    SystemPromptConfig,
)
from art_sdk.contributors.context import ClientManager, DynamicContributorContext, ReadsResources, RecallsMemory
from art_sdk.contributors.contributor import (
    DynamicContributor,
    SourceHandler,
    StaticContributor,
    SystemPromptContributor,
)
from art_sdk.contributors.files import FileContributor
from art_sdk.contributors.levels import Level
from art_sdk.contributors.loading import default_contributors, load_contributors
from art_sdk.contributors.memory import (
    Memory,
    MemoryProvider,
    MemoryUnavailable,
    memory_providers,
    open_memory,
    summarize_with,
)
from art_sdk.contributors.registry import (
    SourceRegistry,
    get_source_handler,
    prompt_source,
    source_handler_registry,
)
from art_sdk.contributors.resources import ResourcesContributor
from art_sdk.contributors.running import PromptContributors
from art_sdk.contributors.sources import (
    get_current_date_time,
    get_memory_summary,
    get_tool_listing,
    get_user_instructions,
)
from art_sdk.contributors.system_prompt import PromptPart, SystemPrompt
from art_sdk.contributors.validation import validate_agent_config

__all__ = [
    "AgentConfig",
    "BuildOptions",
    "ClientManager",
    "ContributorConfig",
    "DynamicContributor",
    "DynamicContributorContext",
    "FileContributor",
    "LLMConfig",
    "Level",
    "Memory",
    "MemoryConfig",
    "MemoryProvider",
    "MemoryUnavailable",
    "PromptContributors",
    "PromptPart",
    "ReadsResources",
    "RecallsMemory",
    "ResourcesContributor",
    "SourceHandler",
    "SourceRegistry",
    "StaticContributor",
    "SystemPrompt",
    "SystemPromptConfig",
    "SystemPromptContributor",
    "build_system_prompt",
    "default_contributors",
    "get_current_date_time",
    "get_memory_summary",
    "get_source_handler",
    "get_tool_listing",
    "get_user_instructions",
    "load_contributors",
    "memory_providers",
    "open_memory",
    "prompt_source",
    "source_handler_registry",
    "summarize_with",
    "validate_agent_config",
]
