"""Pydantic AI: its models, called directly (`pydantic_ai.direct`)."""

from __future__ import annotations

from typing import Any, ClassVar

from anthropic import AsyncAnthropic
from black_boxes import (
    call_event,
    chat_messages,
    check_messages,
    finish_of,
    read_options,
    refuse,
    write_events,
)
from pydantic_ai import direct
from pydantic_ai import messages as told
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition


class PydanticAI:
    """What the three have in common. Its messages have no names."""

    options: ClassVar = {name: name for name in ("model", "temperature", "top_p", "max_tokens", "parallel_tool_calls")}
    options |= {"stop": "stop_sequences", "tool_choice": "tool_choice", "tools": "tools", "response_schema": "schema"}
    capabilities = ("system", "late_system", "tools", "parallel_tools", "tool_choice", "streaming", "images", "stop")
    capabilities += ("response_schema", "prefill")
    losses: tuple[str, ...] = ("tool_output_schema", "message_name")
    repairs: tuple[str, ...] = ("wraps_arguments",)

    def call(self, prompt: Any, options: Any) -> Any:
        check_messages(prompt, self.dialect)
        given = {**read_options(options, self.options, self.dialect), "max_retries": 0}
        model, schema = self.model(given.pop("model", self.default)), given.pop("schema", None)
        tools = [
            ToolDefinition(
                name=tool["name"], description=tool["description"], parameters_json_schema=tool["inputSchema"]
            )
            for tool in given.pop("tools", ())
        ]
        if given.get("tool_choice") not in (None, "auto", "none", "required"):
            given["tool_choice"] = [given["tool_choice"]]
        native = {"output_mode": "native", "output_object": OutputObjectDefinition(schema)} if schema else {}
        request = [model, read_messages(prompt)]
        parameters = {
            "model_settings": given,
            "model_request_parameters": ModelRequestParameters(function_tools=tools, **native),
        }
        return write_events(
            self.pieces(request, parameters, options.get("stream")), options, (UserError, ValueError), self.key
        )

    async def pieces(self, request: Any, parameters: Any, streamed: Any) -> Any:
        if streamed:
            async with direct.model_request_stream(*request, **parameters) as stream:
                async for event in stream:
                    match event:
                        case told.PartStartEvent(part=told.TextPart(content=text)):
                            yield text
                        case told.PartDeltaEvent(delta=told.TextPartDelta(content_delta=text)):
                            yield text
                answer = stream.get()
        else:
            answer = await direct.model_request(*request, **parameters)
            yield answer.text or ""
        yield (answer.provider_details or {}).get("refusal") or ""
        calls, usage = answer.tool_calls, answer.usage
        reason = finish_of(answer.finish_reason, calls=bool(calls))
        for call in calls:
            yield call_event(call.tool_call_id, call.tool_name, "" if call.args is None else call.args)
        yield {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "stop_reason": reason,
            "cached_tokens": usage.cache_read_tokens,
            "thinking_tokens": usage.details.get("reasoning_tokens"),
        }


def read_messages(prompt: Any) -> list[Any]:
    """Each message as a request or a response of its own, but results together. A result needs its tool's name."""
    messages, names = [], {}
    for chat in chat_messages(prompt):
        match chat:
            case {"role": "system", "content": text}:
                messages.append(told.ModelRequest([told.SystemPromptPart(text)]))
            case {"role": "user", "content": str(text)}:
                messages.append(told.ModelRequest([told.UserPromptPart(text)]))
            case {"role": "user", "content": parts}:
                messages.append(told.ModelRequest([told.UserPromptPart([read_part(part) for part in parts])]))
            case {"role": "tool", "tool_call_id": call_id, "content": text}:
                if (name := chat.get("name") or names.get(call_id)) is None:
                    raise refuse(f"the result of {call_id!r} has no call")
                outcome = "failed" if chat.get("status") == "error" else "success"
                part = told.ToolReturnPart(name, text, call_id, outcome=outcome)
                if (
                    messages
                    and isinstance(last := messages[-1], told.ModelRequest)
                    and last.parts[0].part_kind == part.part_kind
                ):
                    messages[-1] = told.ModelRequest([*last.parts, part])
                else:
                    messages.append(told.ModelRequest([part]))
            case {"role": "assistant"}:
                parts = [told.TextPart(chat["content"])] if chat["content"] is not None else []
                for call in chat.get("tool_calls", ()):
                    names[call["id"]] = call["function"]["name"]
                    parts.append(told.ToolCallPart(call["function"]["name"], call["function"]["arguments"], call["id"]))
                messages.append(told.ModelResponse(parts))
    return messages


def read_part(part: Any) -> Any:
    if part["type"] == "text":
        return part["text"]
    url = part["image_url"]["url"]
    return told.BinaryContent.from_data_uri(url) if url.startswith("data:") else told.ImageUrl(url)


class OpenAI(PydanticAI):
    """`OpenAIChatModel`. Chat completions have no field for a result's status."""

    dialect, default, losses = "openai-chat", "gpt-4.1-mini", (*PydanticAI.losses, "schema_keywords")
    repairs = (*PydanticAI.repairs, "closes_schemas", "marks_failed_result")

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.default = api_key, model or self.default
        provider = OpenAIProvider(api_key=api_key, base_url=base_url)
        self.model = lambda name: OpenAIChatModel(name, provider=provider)


class Anthropic(PydanticAI):
    """`AnthropicModel`. The provider adds `/v1` itself."""

    dialect, default = "anthropic-messages", "claude-haiku-4-5"
    losses = (*PydanticAI.losses, "schema_keywords")
    repairs = (*PydanticAI.repairs, "always_hoists_late_system", "drops_blank_text", "joins_turns", "closes_schemas")

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.default = api_key, model or self.default
        client = AsyncAnthropic(api_key=api_key, base_url=base_url and base_url.removesuffix("/v1"), max_retries=0)
        provider = AnthropicProvider(anthropic_client=client)
        self.model = lambda name: AnthropicModel(name, provider=provider)


class Gemini(PydanticAI):
    """`GoogleModel`. The provider adds `/v1beta` itself."""

    dialect, default = "gemini-generate", "gemini-2.5-flash"
    losses = (*PydanticAI.losses, "schema_keywords")
    repairs = (*PydanticAI.repairs, "always_hoists_late_system", "adds_filler_turn", "wraps_result")
    options: ClassVar = {name: own for name, own in PydanticAI.options.items() if name != "parallel_tool_calls"}

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.default = api_key, model or self.default
        provider = GoogleProvider(api_key=api_key, base_url=base_url and base_url.removesuffix("/v1beta"))
        self.model = lambda name: GoogleModel(name, provider=provider)
