"""any-llm: `AnyLLM.acompletion`, which takes requests in the form of chat completions for every provider."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import any_llm
from answering import read_chat
from subject import Request, Subject


class AnyLLM(Subject):
    """What the three have in common. Chat completions have no field for a result's status."""

    losses = ("result_status",)
    refusals = (any_llm.UnsupportedParameterError,)
    client: ClassVar[Mapping[str, Any]] = {"max_retries": 0}

    @cached_property
    def library(self) -> Any:
        return any_llm.AnyLLM.create(self.provider, api_key=self.key, api_base=self.url, **self.client)

    async def answer(self, request: Request) -> Any:
        asked = {**request.chat_settings(), "messages": request.plain_messages(), "model": request.model}
        if request.is_streamed:
            asked |= {"stream": True} | (
                {"stream_options": {"include_usage": True}} if self.provider == "openai" else {}
            )
        answer = await self.library.acompletion(**asked)
        has_refusals = self.provider == "openai"  # elsewhere: "Response blocked by ... content filtering."
        async for piece in read_chat(answer, is_streamed=request.is_streamed, has_refusals=has_refusals):
            yield piece


class OpenAI(AnyLLM):
    dialect, provider = "openai-chat", "openai"


class Anthropic(AnyLLM):
    dialect, provider, adds = "anthropic-messages", "anthropic", "/v1"
    repairs, losses = ("joins_turns", "closes_schemas"), (*AnyLLM.losses, "schema_keywords")


class Gemini(AnyLLM):
    dialect, provider, adds = "gemini-generate", "gemini", "/v1beta"
    repairs = ("wraps_result", "joins_turns")
    client: ClassVar[Mapping[str, Any]] = {}
