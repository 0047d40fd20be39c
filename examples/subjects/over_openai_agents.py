"""OpenAI Agents SDK: its two models, chat completions and responses, called without an agent."""

from typing import Any

from agents import FunctionTool, ModelSettings, ModelTracing, OpenAIChatCompletionsModel, OpenAIResponsesModel
from openai import AsyncOpenAI
from subject import Request, Subject, chosen
from turns import Image, Turn


class Agents(Subject):  # its items have no names
    losses, missing = ("message_name", "result_status"), ("stop", "response_schema")
    counts = ("input_tokens", "output_tokens")

    async def answer(self, request: Request) -> Any:
        tools = [FunctionTool(*one, print, strict_json_schema=False) for one in request.functions()]
        choice = chosen(tool_choice=request.tool_choice, parallel_tool_calls=request.parallel_tool_calls)
        model, turns, system, end = self.model(request.model), request.turns(), None, None
        if turns and turns[0].role == "system":
            system = turns.pop(0).content
        items = [item for turn in turns for item in write(turn)]
        asked = (system, items, ModelSettings(**request.settings, **choice), tools, None, [], ModelTracing.DISABLED)
        more = {"previous_response_id": None, "conversation_id": None, "prompt": None}
        if request.is_streamed:
            async for event in model.stream_response(*asked, **more):
                if event.type in {"response.output_text.delta", "response.refusal.delta"}:
                    yield event.delta
                elif event.type in {"response.completed", "response.incomplete", "response.failed"}:
                    end = event.response
        else:
            end = await model.get_response(*asked, **more)
            parts = [part for item in end.output if item.type == "message" for part in item.content]
            yield "".join(part.text if part.type == "output_text" else part.refusal for part in parts)
        calls = [(item.call_id, item.name, item.arguments) for item in end.output if item.type == "function_call"]
        cut = getattr(end, "incomplete_details", None)  # an answer that is not streamed does not say how it ended
        said = {"max_output_tokens": "length", None: "stop"}.get(cut and cut.reason, "content_filter")
        yield self.end(calls, said, end.usage)

    def made(self, model: str) -> Any:
        return self.kind(model, AsyncOpenAI(api_key=self.key, base_url=self.url, max_retries=0))


def write(turn: Turn) -> list[Any]:
    if turn.role == "tool":
        return [{"type": "function_call_output", "call_id": turn.call_id, "output": turn.content}]
    parts = turn.content_as(write_text, write_image)
    message = [] if parts is None else [{"role": turn.role, "content": parts}]
    calls = [{"call_id": call.id, "name": call.name, "arguments": call.text} for call in turn.calls]
    return [*message, *({"type": "function_call", **call} for call in calls)]


def write_text(text: str) -> dict[str, Any]:
    return {"type": "input_text", "text": text}


def write_image(image: Image) -> dict[str, Any]:
    return {"type": "input_image", "image_url": image.url, "detail": "auto"}


class Chat(Agents):
    dialect, kind = "openai-chat", OpenAIChatCompletionsModel


class Responses(Agents):
    dialect, kind = "openai-responses", OpenAIResponsesModel
