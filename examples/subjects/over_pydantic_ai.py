"""Pydantic AI: its models, called directly (`pydantic_ai.direct`)."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from anthropic import AsyncAnthropic
from pydantic_ai import direct
from pydantic_ai import messages as told
from pydantic_ai.exceptions import ModelRequestRejectedError, UserError
from pydantic_ai.models import ModelRequestParameters, anthropic, google, openai
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition
from subject import Request, Subject, chosen
from turns import Image, Turn


class PydanticAI(Subject):  # its messages have no names
    losses, repairs = ("message_name", "schema_keywords"), ("wraps_arguments",)
    renamed, refusals = {"stop": "stop_sequences"}, (ModelRequestRejectedError, UserError, ValueError)
    counts = ("input_tokens", "output_tokens", "cache_read_tokens", "details.reasoning_tokens")

    async def answer(self, request: Request) -> Any:
        tools = [
            ToolDefinition(name=one.name, description=one.description, parameters_json_schema=one.parameters)
            for one in request.functions()
        ]
        output = OutputObjectDefinition(request.schema) if request.schema else None
        choice = request.tool_choice if request.has_plain_choice() else [request.tool_choice]
        settings = request.settings | chosen(tool_choice=choice, parallel_tool_calls=request.parallel_tool_calls)
        form = chosen(output_object=output, output_mode="native" if output else None)
        asked = {"model_request_parameters": ModelRequestParameters(function_tools=tools, **form)}
        asked["model_settings"] = settings | {"max_retries": 0}
        model, messages = self.model(request.model), list(write(request.turns()))
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
            (call.tool_call_id, call.tool_name, "{}" if call.args is None else call.args) for call in answer.tool_calls
        ]
        said = answer.finish_reason or (answer.provider_details or {}).get("finish_reason")
        yield self.end(calls, said, answer.usage)


def write(turns: list[Turn]) -> Iterator[told.ModelMessage]:
    """A message for each turn, but one for all results of a round."""
    for role, some in groupby(turns, lambda turn: turn.role):
        if role == "tool":
            yield told.ModelRequest([write_result(turn) for turn in some])
        else:
            yield from map(write_turn, some)


def write_result(turn: Turn) -> told.ToolReturnPart:
    outcome = "failed" if turn.is_failed else "success"
    return told.ToolReturnPart(turn.name or turn.call.name, turn.content, turn.call_id, outcome=outcome)


def write_turn(turn: Turn) -> told.ModelMessage:
    match turn.role:
        case "system":
            return told.ModelRequest([told.SystemPromptPart(turn.content)])
        case "user":
            return told.ModelRequest([told.UserPromptPart(turn.content_as(image=write_image))])
    calls = [told.ToolCallPart(call.name, call.text, call.id) for call in turn.calls]
    return told.ModelResponse([*turn.parts_as(told.TextPart), *calls])


def write_image(image: Image) -> told.UserContent:
    return told.BinaryContent.from_data_uri(image.url) if image.is_inline else told.ImageUrl(image.url)


class OpenAI(PydanticAI):
    dialect, repairs = "openai-chat", (*PydanticAI.repairs, "closes_schemas", "marks_failed_result")

    def made(self, name: str) -> Any:
        return openai.OpenAIChatModel(name, provider=OpenAIProvider(self.url, self.key))


class Anthropic(PydanticAI):
    dialect, adds = "anthropic-messages", "/v1"
    repairs = (*PydanticAI.repairs, "always_hoists_late_system", "drops_blank_text", "joins_turns", "closes_schemas")

    def made(self, name: str) -> Any:
        client = AsyncAnthropic(api_key=self.key, base_url=self.url, max_retries=0)
        return anthropic.AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


class Gemini(PydanticAI):
    dialect, adds, missing = "gemini-generate", "/v1beta", ("parallel_tool_calls",)
    repairs = (*PydanticAI.repairs, "always_hoists_late_system", "adds_filler_turn", "wraps_result")

    def made(self, name: str) -> Any:
        return google.GoogleModel(name, provider=GoogleProvider(api_key=self.key, base_url=self.url))
