"""PESAgent: plans, executes tools, and synthesizes an answer.

query ─ plan ─► intent, plan, calls ─ execute ─► results ─ synthesize ─► answer
└──────────── PES_PLAN            PES_SYNTHESIZE ────┘
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from art_sdk.agents.observations import ObservationManager
from art_sdk.agents.pes.preparing import Parts
from art_sdk.agents.pes.question import Question
from art_sdk.agents.pes.result import AgentEvent, AgentResult
from art_sdk.agents.pes.settings import PESSettings
from art_sdk.agents.reasoning import ReasoningEngine
from art_sdk.agents.stores.protocols import ConversationStore, StateStore
from art_sdk.agents.tool_system import ToolSystem
from art_sdk.blueprints.assembly import PromptManager
from art_sdk.contributors import DynamicContributorContext
from art_sdk.contributors.memory import Memory
from art_sdk.errors import InvalidConfig


class PESAgent:
    """An agent that answers questions, on any number of threads at the same time.

    `state` has the settings of threads, and their conversations, too, unless `conversations` is given. `about` has
    what contributors of system prompts know besides the question: memory, workspace, clock, and so on. Raises
    InvalidConfig for stores that do not do that.
    """

    def __init__(
        self,
        reasoning: ReasoningEngine,
        prompts: PromptManager,
        tools: ToolSystem,
        state: StateStore,
        observations: ObservationManager,
        *,
        conversations: ConversationStore | None = None,
        settings: PESSettings | None = None,
        about: DynamicContributorContext | None = None,
    ) -> None:
        history = state if conversations is None else conversations
        if not isinstance(history, ConversationStore):
            raise InvalidConfig(f"{type(history).__name__} keeps no conversations; give a store that does")
        self.settings: Final = PESSettings() if settings is None else settings
        self.observations: Final = observations
        self.state: Final = state
        self._parts: Final = Parts(
            reasoning=reasoning,
            prompts=prompts,
            tools=tools,
            state=state,
            conversations=history,
            observations=observations,
            about=DynamicContributorContext() if about is None else about,
        )

    async def aclose(self) -> None:
        """Closes the adapters' connections, and the memory's."""
        await self._parts.reasoning.aclose()
        if isinstance(self._parts.about.memory, Memory):
            await self._parts.about.memory.aclose()

    async def process(
        self, thread_id: str, query: str, *, session_id: str | None = None, user_id: str | None = None
    ) -> AgentResult:
        """The answer to a query, which both are then part of the thread's conversation.

        Raises what `settings.on_error` lets through: PromptValidationFailed for a blank query, InvalidConfig for
        settings of the thread that cannot be used, PromptAssemblyFailed, PromptTranslationFailed and LLMProviderError.
        Every error is an observation first. After an error, the conversation is as it was.
        """
        question = Question(self._parts, self.settings, thread_id, query, session_id, user_id, stream=False)
        async with aclosing(question.answer()) as events:
            async for event in events:
                if isinstance(event, AgentResult):
                    return event
        raise AssertionError("the last event is the result")

    def stream(
        self, thread_id: str, query: str, *, session_id: str | None = None, user_id: str | None = None
    ) -> AsyncGenerator[AgentEvent]:
        """As `process`: the events of both calls and the observations as they happen, and last the `AgentResult`.

        Closing the generator (`aclose`) ends the call that is underway.
        """
        return Question(self._parts, self.settings, thread_id, query, session_id, user_id, stream=True).answer()
