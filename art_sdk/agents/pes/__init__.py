"""The PES agent: plan, execute, synthesize. Import its parts from here."""

from __future__ import annotations

from art_sdk.agents.history import ConversationMessage, format_history_for_prompt
from art_sdk.agents.observations import Observation, ObservationManager
from art_sdk.agents.pes.agent import PESAgent
from art_sdk.agents.pes.blueprints import (
    DEFAULT_SYSTEM_PROMPT,
    PES_PLAN,
    PES_PLAN_OBJECT,
    PES_SYNTHESIZE,
    PES_SYNTHESIZE_OBJECT,
)
from art_sdk.agents.pes.configuration import PESConfig
from art_sdk.agents.pes.explaining import explain_agent
from art_sdk.agents.pes.factory import create_agent
from art_sdk.agents.pes.parsing import OutputParser, PlanningOutput
from art_sdk.agents.pes.result import AgentEvent, AgentResult
from art_sdk.agents.pes.settings import PESSettings
from art_sdk.agents.reasoning import ReasoningEngine
from art_sdk.agents.stores.memory import InMemoryStore
from art_sdk.agents.stores.protocols import ConversationStore, StateStore
from art_sdk.agents.stores.sqlite import SQLiteStore
from art_sdk.agents.thread_config import ProviderConfig, ThreadConfig, parse_thread_config
from art_sdk.agents.tool_system import ToolFailed, ToolSystem
from art_sdk.agents.tools import Tool, ToolContext, ToolRegistry

__all__ = [
    "DEFAULT_SYSTEM_PROMPT",
    "PES_PLAN",
    "PES_PLAN_OBJECT",
    "PES_SYNTHESIZE",
    "PES_SYNTHESIZE_OBJECT",
    "AgentEvent",
    "AgentResult",
    "ConversationMessage",
    "ConversationStore",
    "InMemoryStore",
    "Observation",
    "ObservationManager",
    "OutputParser",
    "PESAgent",
    "PESConfig",
    "PESSettings",
    "PlanningOutput",
    "ProviderConfig",
    "ReasoningEngine",
    "SQLiteStore",
    "StateStore",
    "ThreadConfig",
    "Tool",
    "ToolContext",
    "ToolFailed",
    "ToolRegistry",
    "ToolSystem",
    "create_agent",
    "explain_agent",
    "format_history_for_prompt",
    "parse_thread_config",
]
