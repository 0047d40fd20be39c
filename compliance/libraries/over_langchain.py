"""LangChain: `langchain-openai`, `langchain-anthropic` and `langchain-google-genai`."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from black_boxes import (
    call_event,
    chat_messages,
    chat_tool,
    check_messages,
    finish_of,
    read_arguments,
    read_options,
    refuse,
    write_events,
)
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI


class LangChain:
    """What the three have in common: LangChain's messages, its calls, and its answers."""

    options: ClassVar = {name: name for name in ("model", "temperature", "top_p", "max_tokens", "stop", "tool_choice")}
    options |= {"tools": "tools", "parallel_tool_calls": "parallel_tool_calls", "response_schema": "response_schema"}
    capabilities = ("system", "late_system", "tools", "parallel_tools", "tool_choice", "streaming", "images", "stop")
    capabilities += ("response_schema", "prefill")
    losses: tuple[str, ...] = ("tool_output_schema",)
    repairs: tuple[str, ...] = ()
    blocked = staticmethod(lambda _: None)
    choices: ClassVar[dict[str, Any]] = {}
    structured = staticmethod(
        lambda schema: {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}
    )

    def call(self, prompt: Any, options: Any) -> Any:
        check_messages(prompt, self.dialect)
        given = read_options(options, self.options, self.dialect)
        choice = {name: given.pop(name) for name in ("tool_choice", "parallel_tool_calls") if name in given}
        schema, tools = given.pop("response_schema", None), [chat_tool(tool) for tool in given.pop("tools", ())]
        if (chosen := choice.get("tool_choice")) in self.choices:
            choice["tool_choice"] = self.choices[chosen]
        if choice and not tools:
            raise refuse("a choice of tools needs tools")
        given |= self.structured(schema) if schema else {}
        messages = [read_message(chat) for chat in chat_messages(prompt)]
        pieces = self.pieces(given, (tools, choice), messages, options.get("stream"))
        return write_events(pieces, options, (ValueError, NotImplementedError), self.key)

    async def pieces(self, given: Any, tools: Any, messages: Any, streamed: Any) -> Any:
        answer, model = None, self.make(given.pop("model", self.default))
        model = model.bind_tools(tools[0], **tools[1]) if tools[0] else model
        if streamed:
            async for chunk in model.astream(messages, **given):
                answer = chunk if answer is None else answer + chunk
                yield chunk.text
        else:
            answer = await model.ainvoke(messages, **given)
            yield answer.text or answer.additional_kwargs.get("refusal") or ""
        facts, usage = answer.response_metadata, answer.usage_metadata or {}
        reason = facts.get("finish_reason") or facts.get("stop_reason") or self.blocked(facts)
        reason = finish_of(reason, calls=bool(answer.tool_calls))
        for call in (*answer.tool_calls, *answer.invalid_tool_calls):
            yield call_event(call["id"], call["name"], call["args"])
        cached = usage.get("input_token_details", {}).get("cache_read")
        thinking = usage.get("output_token_details", {}).get("reasoning")
        yield {
            "input_tokens": usage.get("input_tokens"),
            "output_tokens": usage.get("output_tokens"),
            "cached_tokens": cached,
            "thinking_tokens": thinking,
            "stop_reason": reason,
        }


def read_message(chat: Any) -> Any:
    match chat:
        case {"role": "system"}:
            return SystemMessage(chat["content"], name=chat.get("name"))
        case {"role": "user"}:
            return HumanMessage(chat["content"], name=chat.get("name"))
        case {"role": "tool"}:
            return ToolMessage(
                chat["content"],
                tool_call_id=chat["tool_call_id"],
                name=chat.get("name"),
                status=chat.get("status", "success"),
            )
    good, bad = [], []
    for call in chat.get("tool_calls", ()):
        name, arguments, known = call["function"]["name"], call["function"]["arguments"], {"id": call["id"]}
        if (read := read_arguments(arguments)) is not None:
            good.append({"type": "tool_call", "name": name, "args": read, **known})
        else:
            bad.append({"type": "invalid_tool_call", "name": name, "args": arguments, "error": "no object", **known})
    return AIMessage(chat["content"] or "", tool_calls=good, invalid_tool_calls=bad, name=chat.get("name"))


class OpenAI(LangChain):
    """`ChatOpenAI`. Chat completions have no field for a result's status."""

    dialect, losses = "openai-chat", (*LangChain.losses, "result_status")

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.default = api_key, model or "gpt-4.1-mini"
        own = {"api_key": api_key, "base_url": base_url, "max_retries": 0, "stream_usage": True}
        self.make = cache(lambda name: ChatOpenAI(model=name, **own))


class Anthropic(LangChain):
    """`ChatAnthropic`. It adds `/v1` itself."""

    dialect, losses = "anthropic-messages", (*LangChain.losses, "message_name")
    repairs = ("maps_call_ids", "joins_turns", "drops_blank_text", "always_hoists_late_system", "trims_prefill")
    repairs += ("closes_schemas",)
    choices: ClassVar[dict[str, Any]] = {"required": "any", "none": {"type": "none"}}

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.default = api_key, model or "claude-haiku-4-5"
        own = {"api_key": api_key, "base_url": base_url and base_url.removesuffix("/v1"), "max_retries": 0}
        self.make = cache(lambda name: ChatAnthropic(model=name, **own))


class Gemini(LangChain):
    """`ChatGoogleGenerativeAI`. It adds `/v1beta` itself, and has a default temperature of its own."""

    dialect, losses = "gemini-generate", (*LangChain.losses, "message_name", "call_ids", "result_status")
    losses += ("schema_keywords",)
    repairs = ("wraps_result", "joins_turns", "always_hoists_late_system")
    options: ClassVar = {name: own for name, own in LangChain.options.items() if name != "parallel_tool_calls"}
    options |= {"max_tokens": "max_output_tokens"}
    blocked = staticmethod(lambda facts: facts.get("prompt_feedback", {}).get("block_reason") and "SAFETY")
    structured = staticmethod(lambda schema: {"response_mime_type": "application/json", "response_json_schema": schema})

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.default = api_key, model or "gemini-2.5-flash"
        own = {"api_key": api_key, "base_url": base_url and base_url.removesuffix("/v1beta"), "max_retries": 1}
        self.make = cache(lambda name: ChatGoogleGenerativeAI(model=name, temperature=None, **own))
