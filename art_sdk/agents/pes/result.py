"""What a PES agent gives: the result of a question, and the events on the way to it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from art_sdk.agents.observations import Observation
from art_sdk.errors import ARTError
from art_sdk.messages import ToolResult
from art_sdk.stream import LLMMetadata, StreamEvent


class AgentResult(Struct, frozen=True, kw_only=True):
    """The answer to one question, and how it came about.

    `rounds` counts the rounds of tool calls; `metadata` is that of each call of the model. A `failed` result has the
    `error` that it is the answer to, by the policy `answer`.
    """

    thread_id: str
    trace_id: str
    answer: str
    status: Literal["success", "failed"] = "success"
    intent: str = ""
    plan: str = ""
    tool_results: tuple[ToolResult, ...] = ()
    rounds: int = 0
    metadata: tuple[LLMMetadata, ...] = ()
    error: ARTError | None = None


Step = StreamEvent | Observation
AgentEvent = Step | AgentResult
"""What `PESAgent.stream` yields."""
