"""LiteLLM: `litellm.acompletion`, which takes requests in the form of chat completions for every provider."""

from __future__ import annotations

import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # its import would fetch a list of prices

import litellm
from subject import Request, Subject

litellm.suppress_debug_info = True


class LiteLLM(Subject):
    """What the three have in common. Chat completions have no field for a result's status."""

    losses = ("result_status",)
    refusals = (litellm.UnsupportedParamsError,)

    async def answer(self, request: Request) -> Any:
        asked = {**request.chat_settings(), "messages": request.plain_messages(), "max_retries": 0}
        asked |= {"model": f"{self.provider}/{request.model}", "api_key": self.key, "api_base": self.url}
        if request.is_streamed:
            chunks = []
            async for chunk in await litellm.acompletion(**asked, stream=True, stream_options={"include_usage": True}):
                chunks.append(chunk)
                for choice in chunk.choices:
                    yield choice.delta.content or ""
            answer = litellm.stream_chunk_builder(chunks)
        else:
            answer = await litellm.acompletion(**asked)
            said = answer.choices[0].message
            yield said.content or (said.provider_specific_fields or {}).get("refusal") or ""
        message = answer.choices[0].message
        calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]
        yield self.end(calls, answer.choices[0].finish_reason, answer.usage)


class OpenAI(LiteLLM):
    dialect, provider = "openai-chat", "openai"


class Anthropic(LiteLLM):
    dialect, provider, adds = "anthropic-messages", "anthropic", "/v1"
    repairs = ("maps_call_ids", "joins_turns", "drops_blank_text", "fills_blank_text", "trims_prefill")
    repairs += ("demotes_late_system", "renames_tools", "closes_schemas")


class Gemini(LiteLLM):
    dialect, provider = "gemini-generate", "gemini"
    losses = (*LiteLLM.losses, "call_ids", "schema_keywords")
    repairs = ("wraps_result", "joins_turns", "drops_blank_text", "demotes_late_system")
