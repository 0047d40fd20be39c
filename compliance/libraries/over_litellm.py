"""LiteLLM: `litellm.acompletion`, which takes requests in the form of chat completions for every provider."""

from __future__ import annotations

import os
from typing import Any, ClassVar

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # its import would fetch a list of prices

import litellm
from black_boxes import call_event, chat_messages, chat_tool, check_messages, finish_of, read_options, write_events

litellm.suppress_debug_info = True


class LiteLLM:
    """What the three have in common. Chat completions have no field for a result's status."""

    options: ClassVar = {
        name: name for name in ("model", "temperature", "top_p", "max_tokens", "stop", "tool_choice", "tools")
    }
    options |= {"parallel_tool_calls": "parallel_tool_calls", "response_schema": "response_format"}
    capabilities = ("system", "late_system", "tools", "parallel_tools", "tool_choice", "streaming", "images", "stop")
    capabilities += ("response_schema", "prefill")
    losses: tuple[str, ...] = ("tool_output_schema", "result_status")
    repairs: tuple[str, ...] = ()

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.url, self.model = api_key, self.address(base_url), model or self.default

    @staticmethod
    def address(base_url: Any) -> Any:
        return base_url

    def call(self, prompt: Any, options: Any) -> Any:
        check_messages(prompt, self.dialect)
        given = read_options(options, self.options, self.dialect)
        if "tools" in given:
            given["tools"] = [chat_tool(tool) for tool in given["tools"]]
        if given.get("tool_choice") not in (None, "auto", "none", "required"):
            given["tool_choice"] = {"type": "function", "function": {"name": given["tool_choice"]}}
        if "response_format" in given:
            schema = {"name": "answer", "schema": given["response_format"]}
            given["response_format"] = {"type": "json_schema", "json_schema": schema}
        messages = [{name: chat[name] for name in chat if name != "status"} for chat in chat_messages(prompt)]
        request = {"model": self.model, **given, "messages": messages}
        request |= {"model": f"{self.provider}/{request['model']}", "api_key": self.key, "api_base": self.url}
        pieces = self.pieces(request, options.get("stream"))
        return write_events(pieces, options, (litellm.UnsupportedParamsError,), self.key)

    async def pieces(self, request: Any, streamed: Any) -> Any:
        if streamed:
            stream = await litellm.acompletion(
                **request, max_retries=0, stream=True, stream_options={"include_usage": True}
            )
            chunks = []
            async for chunk in stream:
                chunks.append(chunk)
                for choice in chunk.choices:
                    yield choice.delta.content or ""
            answer = litellm.stream_chunk_builder(chunks)
        else:
            answer = await litellm.acompletion(**request, max_retries=0)
            said = answer.choices[0].message
            yield said.content or (said.provider_specific_fields or {}).get("refusal") or ""
        message, usage = answer.choices[0].message, answer.usage
        reason = finish_of(answer.choices[0].finish_reason, calls=bool(message.tool_calls))
        for call in message.tool_calls or ():
            yield call_event(call.id, call.function.name, call.function.arguments)
        details, cached = usage.completion_tokens_details, usage.prompt_tokens_details
        yield {
            "input_tokens": usage.prompt_tokens,
            "output_tokens": usage.completion_tokens,
            "stop_reason": reason,
            "thinking_tokens": details and details.reasoning_tokens,
            "cached_tokens": cached and cached.cached_tokens,
        }


class OpenAI(LiteLLM):
    """`openai/...`."""

    dialect, provider, default = "openai-chat", "openai", "gpt-4.1-mini"


class Anthropic(LiteLLM):
    """`anthropic/...`. It adds `/v1/messages` itself."""

    dialect, provider, default = "anthropic-messages", "anthropic", "claude-haiku-4-5"
    losses = (*LiteLLM.losses, "message_name")
    repairs = ("maps_call_ids", "joins_turns", "drops_blank_text", "fills_blank_text", "trims_prefill")
    repairs += ("demotes_late_system", "renames_tools", "closes_schemas")

    @staticmethod
    def address(base_url: Any) -> Any:
        return base_url and base_url.removesuffix("/v1")


class Gemini(LiteLLM):
    """`gemini/...`."""

    dialect, provider, default = "gemini-generate", "gemini", "gemini-2.5-flash"
    losses = (*LiteLLM.losses, "message_name", "call_ids", "schema_keywords")
    repairs = ("wraps_result", "joins_turns", "drops_blank_text", "demotes_late_system")
