"""What the official clients read of an answer of the strict provider, whole and streamed, and what they should read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import anthropic
import cohere
import cohere.core
import httpx
import httpx2
import ollama
import openai
from google import genai

from art_compliance.scenarios import WrittenAnswer

READ = dict[str, Any]


def openai_message(message: Any, finish: str, usage: Any) -> READ:
    calls = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]
    counts = {
        "input": usage.prompt_tokens,
        "output": usage.completion_tokens,
        "cached": usage.prompt_tokens_details.cached_tokens,
        "thinking": usage.completion_tokens_details.reasoning_tokens,
    }
    return {"text": message.content, "refusal": message.refusal, "calls": calls, "finish": finish, "usage": counts}


class OpenAI:
    dialect = "openai-chat"
    finishes: ClassVar = {"stop": "stop", "tool_calls": "tool_calls", "length": "length", "content_filter": "stop"}

    def __init__(self, url: str, key: str = "any") -> None:
        self.client = openai.OpenAI(api_key=key, base_url=f"{url}/v1", max_retries=0, timeout=60)
        self.asked: Any = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}

    def ask(self) -> READ:
        answer = self.client.chat.completions.create(**self.asked)
        return openai_message(answer.choices[0].message, answer.choices[0].finish_reason, answer.usage)

    def stream(self) -> READ:
        with self.client.chat.completions.stream(**self.asked, stream_options={"include_usage": True}) as stream:
            try:
                answer = stream.get_final_completion()
            except openai.LengthFinishReasonError as error:
                answer = error.completion
        return openai_message(answer.choices[0].message, answer.choices[0].finish_reason, answer.usage)

    def expected(self, said: WrittenAnswer) -> READ:
        return {
            "text": None if said.is_refusal else said.content,
            "refusal": said.content if said.is_refusal else None,
            "calls": [(call.id, call.function.name, json.loads(call.function.arguments)) for call in said.tool_calls],
            "finish": self.finishes[said.finish],
            "usage": {
                "input": said.input_tokens,
                "output": said.output_tokens,
                "cached": said.cached_tokens or 0,
                "thinking": said.thinking_tokens or 0,
            },
        }


class Responses(OpenAI):
    """By the client's own state machine, which is strict about the order of events."""

    dialect = "openai-responses"
    finishes: ClassVar = {
        "stop": None,
        "tool_calls": None,
        "length": "max_output_tokens",
        "content_filter": "content_filter",
    }
    ends: ClassVar = {"response.completed", "response.incomplete", "response.failed"}

    def __init__(self, url: str, key: str = "any") -> None:
        super().__init__(url, key)
        self.asked = {"model": "gpt-5-mini", "input": "hi"}

    def ask(self) -> READ:
        return self.read(self.client.responses.create(**self.asked))

    def stream(self) -> READ:
        with self.client.responses.stream(**self.asked) as stream:
            for event in stream:
                if event.type == "error":  # the client passes it on
                    raise openai.APIError(event.message, httpx2.Request("POST", "http://any"), body=None)
                if event.type in self.ends:
                    return self.read(event.response)
        raise AssertionError("the stream has no end")

    def read(self, answer: Any) -> READ:
        items = {kind: [item for item in answer.output if item.type == kind] for kind in ("message", "reasoning")}
        parts = [part.to_dict() for item in items["message"] for part in item.content]
        usage, details = answer.usage, answer.incomplete_details
        calls = [item for item in answer.output if item.type == "function_call"]
        return {
            "parts": [(part["type"], part.get("text", part.get("refusal"))) for part in parts],
            "thought": [part.text for item in items["reasoning"] for part in item.summary],
            "encrypted": [item.encrypted_content for item in items["reasoning"]],
            "calls": [(call.call_id, call.name, json.loads(call.arguments)) for call in calls],
            "finish": details.reason if details else None,
            "usage": (usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens),
            "thinking": usage.output_tokens_details.reasoning_tokens,
        }

    def expected(self, said: WrittenAnswer) -> READ:
        kind = "refusal" if said.is_refusal else "output_text"
        return {
            "parts": [] if said.content is None else [(kind, said.content)],
            "thought": [said.thinking] if said.thinking else [],
            "encrypted": [said.signature] if said.thinking else [],
            "calls": [(call.id, call.function.name, json.loads(call.function.arguments)) for call in said.tool_calls],
            "finish": None if said.is_refusal else self.finishes[said.finish],
            "usage": (said.input_tokens, said.cached_tokens or 0, said.output_tokens),
            "thinking": said.thinking_tokens or 0,
        }


class Anthropic:
    dialect = "anthropic-messages"
    finishes: ClassVar = {
        "stop": "end_turn",
        "tool_calls": "tool_use",
        "length": "max_tokens",
        "content_filter": "refusal",
    }

    def __init__(self, url: str, key: str = "any") -> None:
        self.client = anthropic.Anthropic(api_key=key, base_url=url, max_retries=0, timeout=60)
        self.asked: Any = {"model": "claude-x", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}]}

    def ask(self) -> READ:
        return self.read(self.client.messages.create(**self.asked))

    def stream(self) -> READ:
        with self.client.messages.stream(**self.asked) as stream:
            return self.read(stream.get_final_message())

    def read(self, message: Any) -> READ:
        usage = message.usage
        return {
            "content": [block.to_dict(exclude_none=True) for block in message.content],
            "finish": message.stop_reason,
            "usage": (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens),
            "thinking": usage.output_tokens_details.thinking_tokens,
        }

    def expected(self, said: WrittenAnswer) -> READ:
        thought = (
            [{"type": "thinking", "thinking": said.thinking, "signature": said.signature}] if said.thinking else []
        )
        text = [{"type": "text", "text": said.content}] if said.content else []
        called = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in said.tool_calls]
        calls = [
            {"type": "tool_use", "id": known, "name": name, "input": value, "caller": {"type": "direct"}}
            for known, name, value in called
        ]
        cached = said.cached_tokens or 0
        return {
            "content": [*thought, *text, *calls],
            "finish": self.finishes[said.finish],
            "usage": (said.input_tokens - cached, cached, said.output_tokens),
            "thinking": said.thinking_tokens or 0,
        }


class Gemini:
    dialect = "gemini-generate"
    finishes: ClassVar = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}

    def __init__(self, url: str, key: str = "any") -> None:
        once = genai.types.HttpRetryOptions(attempts=1)
        options = genai.types.HttpOptions(base_url=url, timeout=60_000, retry_options=once)
        self.client = genai.Client(api_key=key, http_options=options)
        self.asked: Any = {"model": "gemini-2.5-flash", "contents": "hi"}

    def ask(self) -> READ:
        return self.read([self.client.models.generate_content(**self.asked)])

    def stream(self) -> READ:
        return self.read(list(self.client.models.generate_content_stream(**self.asked)))

    def read(self, chunks: list[Any]) -> READ:
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or ()]
        usage = chunks[-1].usage_metadata
        calls = [part.function_call for part in parts if part.function_call]
        return {
            "text": "".join(part.text for part in parts if part.text and not part.thought),
            "thought": "".join(part.text for part in parts if part.text and part.thought),
            "calls": [(call.id, call.name, call.args) for call in calls],
            "signatures": [part.thought_signature for part in parts if part.thought_signature],
            "finish": chunks[-1].candidates[0].finish_reason.name,
            "usage": (usage.prompt_token_count, usage.candidates_token_count, usage.thoughts_token_count),
            "cached": usage.cached_content_token_count,
        }

    def expected(self, said: WrittenAnswer) -> READ:
        thoughts = said.thinking_tokens
        return {
            "text": said.content or "",
            "thought": said.thinking,
            "calls": [(call.id, call.function.name, json.loads(call.function.arguments)) for call in said.tool_calls],
            "signatures": [b"sig"] if said.signature else [],
            "finish": self.finishes[said.finish],
            "usage": (said.input_tokens, said.output_tokens - (thoughts or 0), thoughts),
            "cached": said.cached_tokens,
        }


class Ollama:
    """It passes over the ids of calls."""

    dialect = "ollama-chat"
    finishes: ClassVar = {"stop": "stop", "tool_calls": "stop", "length": "length"}

    def __init__(self, url: str, key: str = "any") -> None:
        self.client = ollama.Client(host=url, headers={"authorization": f"Bearer {key}"}, timeout=60)
        self.asked: Any = {"model": "qwen3:8b", "messages": [{"role": "user", "content": "hi"}]}

    def ask(self) -> READ:
        return self.read([self.client.chat(**self.asked)])

    def stream(self) -> READ:
        return self.read(list(self.client.chat(**self.asked, stream=True)))

    def read(self, chunks: list[Any]) -> READ:
        calls = [call.function for chunk in chunks for call in chunk.message.tool_calls or ()]
        return {
            "text": "".join(chunk.message.content or "" for chunk in chunks),
            "thought": "".join(chunk.message.thinking or "" for chunk in chunks),
            "calls": [(call.name, call.arguments) for call in calls],
            "finish": chunks[-1].done_reason,
            "usage": (chunks[-1].prompt_eval_count, chunks[-1].eval_count),
        }

    def expected(self, said: WrittenAnswer) -> READ:
        return {
            "text": said.content or "",
            "thought": said.thinking,
            "calls": [(call.function.name, json.loads(call.function.arguments)) for call in said.tool_calls],
            "finish": self.finishes[said.finish],
            "usage": (said.input_tokens, said.output_tokens),
        }


class Cohere:
    """It counts in floats."""

    dialect = "cohere-chat-v2"
    finishes: ClassVar = {"stop": "COMPLETE", "tool_calls": "TOOL_CALL", "length": "MAX_TOKENS"}

    def __init__(self, url: str, key: str = "any") -> None:
        self.client = httpx.Client(timeout=60)
        self.own = cohere.ClientV2(key, base_url=url, max_retries=0, httpx_client=self.client)
        self.asked: Any = {"model": "command-a-03-2025", "messages": [{"role": "user", "content": "hi"}]}

    def ask(self) -> READ:
        answer = self.own.chat(**self.asked)
        said = answer.message.content or ()
        calls = [(one.id, one.function.name, one.function.arguments) for one in answer.message.tool_calls or ()]
        texts = ["".join(getattr(part, kind, None) or "" for part in said) for kind in ("text", "thinking")]
        return self.read(*texts, calls, answer)

    def stream(self) -> READ:
        text, thought, calls, last = "", "", {}, None
        for event in self.own.chat_stream(**self.asked):
            message = getattr(getattr(event, "delta", None), "message", None)
            match event.type:
                case "content-delta":
                    text, thought = text + (message.content.text or ""), thought + (message.content.thinking or "")
                case "tool-call-start":
                    begun = message.tool_calls
                    calls[event.index] = (begun.id, begun.function.name, begun.function.arguments)
                case "tool-call-delta":
                    *named, arguments = calls[event.index]
                    calls[event.index] = (*named, arguments + message.tool_calls.function.arguments)
                case "message-end":
                    last = event.delta
                case _:
                    pass
        if last.error:
            raise RuntimeError(last.error)  # the client raises none
        return self.read(text, thought, list(calls.values()), last)

    def read(self, text: str, thought: str, calls: Any, last: Any) -> READ:
        return {
            "text": text,
            "thought": thought,
            "calls": [(call_id, name, json.loads(arguments or "{}")) for call_id, name, arguments in calls],
            "finish": last.finish_reason,
            "usage": (last.usage.tokens.input_tokens, last.usage.tokens.output_tokens, last.usage.cached_tokens),
        }

    def expected(self, said: WrittenAnswer) -> READ:
        return {
            "text": said.content or "",
            "thought": said.thinking or "",
            "calls": [(call.id, call.function.name, json.loads(call.function.arguments)) for call in said.tool_calls],
            "finish": self.finishes[said.finish],
            "usage": (said.input_tokens, said.output_tokens, said.cached_tokens),
        }


CLIENTS: tuple[Callable[[str], Any], ...] = (OpenAI, Responses, Anthropic, Gemini, Ollama, Cohere)


@contextmanager
def using(make: Any, url: str, key: str = "any") -> Iterator[Any]:
    """A client, closed in the end: of themselves some leave their sockets to the garbage collector."""
    own = make(url, key)
    try:
        yield own
    finally:
        own.client.close()
