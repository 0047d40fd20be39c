"""Pydantic AI: its models, called directly (`pydantic_ai.direct`)."""

from typing import Any

from answering import the_end
from anthropic import AsyncAnthropic
from chat_form import Names
from pydantic_ai import direct
from pydantic_ai import messages as told
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import ModelRequestParameters, anthropic, google, openai
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import anthropic as at_anthropic
from pydantic_ai.providers import google as at_google
from pydantic_ai.providers import openai as at_openai
from pydantic_ai.tools import ToolDefinition
from subject import Request, Subject, chosen


class PydanticAI(Subject):  # its messages have no names
    losses, repairs = (*Subject.losses, "message_name", "schema_keywords"), ("wraps_arguments",)
    renamed, refusals = {"stop": "stop_sequences"}, (UserError, ValueError)

    async def answer(self, request: Request) -> Any:
        tools = [
            ToolDefinition(name=one["name"], description=one["description"], parameters_json_schema=one["parameters"])
            for one in request.functions()
        ]
        native = (
            {"output_mode": "native", "output_object": OutputObjectDefinition(request.schema)} if request.schema else {}
        )
        choice = request.tool_choice if request.has_plain_choice() else [request.tool_choice]
        settings = request.settings | chosen(tool_choice=choice, parallel_tool_calls=request.parallel_tool_calls)
        asked = {"model_request_parameters": ModelRequestParameters(function_tools=tools, **native)}
        asked["model_settings"] = settings | {"max_retries": 0}
        model, messages = self.model(request.model), read_messages(request.messages)
        if request.is_streamed:
            async with direct.model_request_stream(model, messages, **asked) as stream:
                async for event in stream:
                    match event:
                        case told.PartStartEvent(part=told.TextPart(content=text)):
                            yield text
                        case told.PartDeltaEvent(delta=told.TextPartDelta(content_delta=text)):
                            yield text
                answer = stream.get()
        else:
            answer = await direct.model_request(model, messages, **asked)
            yield answer.text or ""
        yield (answer.provider_details or {}).get("refusal") or ""
        calls = [
            (call.tool_call_id, call.tool_name, "" if call.args is None else call.args) for call in answer.tool_calls
        ]
        used = answer.usage
        counts = (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.details.get("reasoning_tokens"))
        for piece in the_end(calls, answer.finish_reason, *counts):
            yield piece


def read_messages(chats: list[dict[str, Any]]) -> list[Any]:
    """Each message as a request or its own response, but results together."""
    messages, names = [], Names()
    for chat in chats:
        names.learn(chat)
        match chat:
            case {"role": "system", "content": text}:
                messages.append(told.ModelRequest([told.SystemPromptPart(text)]))
            case {"role": "user", "content": content}:
                parts = content if isinstance(content, str) else [read_part(part) for part in content]
                messages.append(told.ModelRequest([told.UserPromptPart(parts)]))
            case {"role": "tool", "tool_call_id": call, "content": text}:
                outcome = "failed" if chat.get("status") == "error" else "success"
                result = told.ToolReturnPart(chat.get("name") or names.of(call), text, call, outcome=outcome)
                earlier = messages.pop().parts if messages and messages[-1].parts[0].part_kind == "tool-return" else []
                messages.append(told.ModelRequest([*earlier, result]))
            case {"role": "assistant", "content": text}:
                calls = [(*call["function"].values(), call["id"]) for call in chat.get("tool_calls", ())]
                texts = [] if text is None else [told.TextPart(text)]
                messages.append(told.ModelResponse([*texts, *(told.ToolCallPart(*call) for call in calls)]))
    return messages


def read_part(part: dict[str, Any]) -> Any:
    if part["type"] == "text":
        return part["text"]
    url = part["image_url"]["url"]
    return told.BinaryContent.from_data_uri(url) if url.startswith("data:") else told.ImageUrl(url)


class OpenAI(PydanticAI):
    dialect, default, losses = "openai-chat", "gpt-4.1-mini", (*PydanticAI.losses, "result_status")
    repairs = (*PydanticAI.repairs, "closes_schemas", "marks_failed_result")

    def made(self, name: str) -> Any:
        return openai.OpenAIChatModel(name, provider=at_openai.OpenAIProvider(self.url, self.key))


class Anthropic(PydanticAI):
    dialect, default, adds = "anthropic-messages", "claude-haiku-4-5", "/v1"
    repairs = (*PydanticAI.repairs, "always_hoists_late_system", "drops_blank_text", "joins_turns", "closes_schemas")

    def made(self, name: str) -> Any:
        client = AsyncAnthropic(api_key=self.key, base_url=self.url, max_retries=0)
        return anthropic.AnthropicModel(name, provider=at_anthropic.AnthropicProvider(anthropic_client=client))


class Gemini(PydanticAI):
    dialect, default, adds, missing = "gemini-generate", "gemini-2.5-flash", "/v1beta", ("parallel_tool_calls",)
    repairs = (*PydanticAI.repairs, "always_hoists_late_system", "adds_filler_turn", "wraps_result")

    def made(self, name: str) -> Any:
        return google.GoogleModel(name, provider=at_google.GoogleProvider(api_key=self.key, base_url=self.url))
