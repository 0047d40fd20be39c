"""aisuite: `Client.chat.completions.acreate`, which takes requests in the form of chat completions."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import aisuite
from answering import read_chat
from subject import Request, Subject


class AISuite(Subject):
    """What the three have in common. Chat completions have no field for a result's status."""

    losses = ("result_status",)

    @cached_property
    def client(self) -> Any:
        return aisuite.Client({self.provider: {"api_key": self.key, **self.settings}})

    async def answer(self, request: Request) -> Any:
        asked = {**request.chat_settings(), "messages": request.plain_messages()}
        if request.is_streamed and self.provider == "openai":
            asked["stream_options"] = {"include_usage": True}
        model = f"{self.provider}:{request.model}"
        answer = await self.client.chat.completions.acreate(model, stream=request.is_streamed, **asked)
        async for piece in read_chat(answer, is_streamed=request.is_streamed):
            yield piece


class OpenAI(AISuite):
    dialect, provider = "openai-chat", "openai"

    @property
    def settings(self) -> dict[str, Any]:
        return {"base_url": self.url, "max_retries": 0}


class Anthropic(OpenAI):  # everything but messages and tools is in Anthropic's own form, or has no parameter
    dialect, provider, adds = "anthropic-messages", "anthropic", "/v1"
    repairs = ("joins_turns",)
    missing, renamed = ("parallel_tool_calls", "response_schema", "tool_choice"), {"stop": "stop_sequences"}


class Gemini(AISuite):
    dialect, provider, adds = "gemini-generate", "gemini", "/v1beta"
    losses = (*AISuite.losses, "call_ids", "schema_keywords")
    repairs = ("joins_turns", "wraps_result", "adds_filler_turn", "demotes_late_system", "wraps_arguments")
    missing = Anthropic.missing

    @property
    def settings(self) -> dict[str, Any]:
        return {"http_options": {"base_url": self.url}}
