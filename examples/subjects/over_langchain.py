"""LangChain: `langchain-openai`, `langchain-anthropic` and `langchain-google-genai`."""

from typing import Any

from answering import the_end
from chat_form import read_arguments
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, convert_to_messages
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from subject import Request, Subject, chosen


class LangChain(Subject):
    refusals, needs_tools_to_choose, choices = (ValueError, NotImplementedError), True, {}

    async def answer(self, request: Request) -> Any:
        model = self.model(request.model)
        choice = self.choices.get(request.tool_choice, request.tool_choice)
        choice = chosen(tool_choice=choice, parallel_tool_calls=request.parallel_tool_calls)
        model = model.bind_tools(request.tools, **choice) if request.tools else model
        given = request.settings | (self.structured(request) if request.schema else {})
        answer, messages = None, [read_message(chat) for chat in request.messages]
        if request.is_streamed:
            async for chunk in model.astream(messages, **given):
                answer = chunk if answer is None else answer + chunk
                yield chunk.text
        else:
            answer = await model.ainvoke(messages, **given)
            yield answer.text or answer.additional_kwargs.get("refusal") or ""
        facts, used = answer.response_metadata, answer.usage_metadata or {}
        blocked = "SAFETY" if facts.get("prompt_feedback", {}).get("block_reason") else None
        said = facts.get("finish_reason") or facts.get("stop_reason") or blocked
        calls = [(call["id"], call["name"], call["args"]) for call in (*answer.tool_calls, *answer.invalid_tool_calls)]
        details = (used.get("input_token_details", {}), used.get("output_token_details", {}))
        counts = (used.get("input_tokens"), used.get("output_tokens"), details[0].get("cache_read"))
        for piece in the_end(calls, said, *counts, details[1].get("reasoning")):
            yield piece

    def made(self, model: str) -> Any:
        return self.kind(model=model, api_key=self.key, base_url=self.url, **self.own)

    @staticmethod
    def structured(request: Request) -> dict[str, Any]:
        return {"response_format": request.chat_schema()}


def read_message(chat: dict[str, Any]) -> Any:
    if chat["role"] != "assistant":
        return convert_to_messages([chat])[0]
    good, bad = [], []
    for call in chat.get("tool_calls", ()):
        name, text = call["function"]["name"], call["function"]["arguments"]
        if (read := read_arguments(text)) is not None:
            good.append({"type": "tool_call", "id": call["id"], "name": name, "args": read})
        else:
            bad.append(
                {"type": "invalid_tool_call", "id": call["id"], "name": name, "args": text, "error": "no object"}
            )
    return AIMessage(chat["content"] or "", tool_calls=good, invalid_tool_calls=bad, name=chat.get("name"))


class OpenAI(LangChain):
    dialect, default, kind = "openai-chat", "gpt-4.1-mini", ChatOpenAI
    losses, own = (*Subject.losses, "result_status"), {"max_retries": 0, "stream_usage": True}


class Anthropic(LangChain):
    dialect, default, kind, adds = "anthropic-messages", "claude-haiku-4-5", ChatAnthropic, "/v1"
    losses, own, choices = (
        (*Subject.losses, "message_name"),
        {"max_retries": 0},
        {"required": "any", "none": {"type": "none"}},
    )
    repairs = (
        "maps_call_ids",
        "joins_turns",
        "drops_blank_text",
        "always_hoists_late_system",
        "trims_prefill",
        "closes_schemas",
    )


class Gemini(LangChain):  # its default temperature is 0.7, and max_retries counts the first try
    dialect, default, kind, adds = "gemini-generate", "gemini-2.5-flash", ChatGoogleGenerativeAI, "/v1beta"
    losses = (*Subject.losses, "message_name", "call_ids", "result_status", "schema_keywords")
    repairs, own = ("wraps_result", "joins_turns", "always_hoists_late_system"), {"max_retries": 1, "temperature": None}
    missing, renamed = ("parallel_tool_calls",), {"max_tokens": "max_output_tokens"}

    @staticmethod
    def structured(request: Request) -> dict[str, Any]:
        return {"response_mime_type": "application/json", "response_json_schema": request.schema}
