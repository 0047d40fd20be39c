"""LangChain: `langchain-openai`, `langchain-anthropic` and `langchain-google-genai`."""

from typing import Any, ClassVar

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, convert_to_messages
from langchain_core.messages.tool import invalid_tool_call, tool_call
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from subject import Request, Subject, chosen
from turns import Turn


class LangChain(Subject):
    refusals, needs_tools_to_choose, choices = (ValueError, NotImplementedError), True, {}
    counts = ("input_tokens", "output_tokens", "input_token_details.cache_read", "output_token_details.reasoning")

    async def answer(self, request: Request) -> Any:
        model = self.model(request.model)
        if request.tools:
            choice = self.choices.get(request.tool_choice, request.tool_choice)
            asked = chosen(tool_choice=choice, parallel_tool_calls=request.parallel_tool_calls)
            model = model.bind_tools(request.tools, **asked)
        settings = request.settings | (self.structured(request) if request.schema else {})
        answer, messages = None, [write(turn) for turn in request.turns()]
        if request.is_streamed:
            async for chunk in model.astream(messages, **settings):
                answer = chunk if answer is None else answer + chunk
                yield chunk.text
        else:
            answer = await model.ainvoke(messages, **settings)
            yield answer.text or answer.additional_kwargs.get("refusal") or ""
        facts = answer.response_metadata
        blocked = "SAFETY" if facts.get("prompt_feedback", {}).get("block_reason") else None
        calls = [(call["id"], call["name"], call["args"]) for call in (*answer.tool_calls, *answer.invalid_tool_calls)]
        yield self.end(calls, facts.get("finish_reason") or facts.get("stop_reason") or blocked, answer.usage_metadata)

    def made(self, model: str) -> Any:
        return self.kind(model=model, api_key=self.key, base_url=self.url, **self.own)

    def structured(self, request: Request) -> dict[str, Any]:
        return {"response_format": request.chat_schema()}


def write(turn: Turn) -> Any:
    if turn.role != "assistant":
        return convert_to_messages([turn.chat])[0]
    calls = [tool_call(name=one.name, args=one.read, id=one.id) for one in turn.calls if one.read is not None]
    broken = [invalid_tool_call(name=one.name, args=one.text, id=one.id) for one in turn.calls if one.read is None]
    return AIMessage(turn.content or "", tool_calls=calls, invalid_tool_calls=broken, name=turn.name)


class OpenAI(LangChain):
    dialect, kind, own = "openai-chat", ChatOpenAI, {"max_retries": 0, "stream_usage": True}


class Anthropic(LangChain):
    dialect, kind, own, adds = "anthropic-messages", ChatAnthropic, {"max_retries": 0}, "/v1"
    choices: ClassVar = {"required": "any", "none": {"type": "none"}}
    repairs = ("maps_call_ids", "joins_turns", "drops_blank_text", "always_hoists_late_system", "trims_prefill")
    repairs, losses = (*repairs, "closes_schemas"), ("schema_keywords",)


class Gemini(LangChain):  # its default temperature is 0.7, and max_retries counts the first try
    dialect, kind, own = "gemini-generate", ChatGoogleGenerativeAI, {"max_retries": 1, "temperature": None}
    losses = ("call_ids", "result_status", "schema_keywords")
    repairs = ("wraps_result", "joins_turns", "always_hoists_late_system")
    adds, missing, renamed = "/v1beta", ("parallel_tool_calls",), {"max_tokens": "max_output_tokens"}

    def structured(self, request: Request) -> dict[str, Any]:
        return {"response_mime_type": "application/json", "response_json_schema": request.schema}
