"""Black boxes that nobody here wrote: the providers' official clients, thinly wrapped, judged by their traffic alone.

A wrapper has 40 lines at most; `tell`, which makes events of what a client gives, serves both. They take chats of
texts, and refuse whatever else is asked of them. What the clients let through, the wrappers must look for themselves:
each such line says so, and without it the suite says it.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from contextlib import aclosing
from typing import Any, ClassVar

import anthropic
import openai
import pytest

from art_compliance import Report, certify
from art_sdk import PromptTranslationFailed

FINISHES = {"stop": "stop", "length": "length", "content_filter": "content_filter"}
REASONS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "refusal": "content_filter"}


class OpenAIClient:
    """`openai.AsyncOpenAI`."""

    dialect, capabilities = "openai-chat", ("system", "late_system", "streaming")
    names: ClassVar = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_completion_tokens"}

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.client = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, max_retries=0)
        self.model = model or "gpt-4.1-mini"

    async def aclose(self) -> None:
        await self.client.close()

    def call(self, prompt: Any, options: Any) -> Any:
        own = refuse_all_but_texts(prompt, options, self)
        said = [{name: value for name, value in message.items() if value != []} for message in prompt]
        if not all(re.fullmatch(r"[^\s<|\\/>]+", message.get("name", "none")) for message in said):
            raise PromptTranslationFailed("such names are not taken")
        request = {"model": options.get("model") or self.model, "messages": said, "extra_body": own}
        request |= {own: options[name] for name, own in self.names.items() if options.get(name) is not None}
        if options.get("stream"):
            request |= {"stream": True, "stream_options": {"include_usage": True}}
        return tell(self.pieces(request), options, self.client.api_key)

    async def pieces(self, request: Any) -> Any:
        finish = usage = None
        async for chunk in read(await self.client.chat.completions.create(**request)):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                said, finish = choice.delta if "stream" in request else choice.message, choice.finish_reason or finish
                yield said.content or said.refusal or ""
        details = usage.prompt_tokens_details
        counts = {"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens}
        yield {
            **counts,
            "cached_tokens": details and details.cached_tokens,
            "stop_reason": FINISHES.get(finish, "other"),
        }


class AnthropicClient:
    """`anthropic.AsyncAnthropic`."""

    dialect, capabilities, losses = "anthropic-messages", ("system", "streaming"), ("message_name",)
    names: ClassVar = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_tokens"}

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        base_url = base_url and base_url.removesuffix("/v1")  # the client adds it itself
        self.client = anthropic.AsyncAnthropic(api_key=api_key, base_url=base_url, max_retries=0, timeout=600)
        self.model = model or "claude-sonnet-4-5"

    async def aclose(self) -> None:
        await self.client.close()

    def call(self, prompt: Any, options: Any) -> Any:
        own = refuse_all_but_texts(prompt, options, self)
        first = next((at for at, message in enumerate(prompt) if message["role"] != "system"), len(prompt))
        if first == len(prompt) or any(message["role"] == "system" for message in prompt[first:]):
            raise PromptTranslationFailed("a system message stands first, and not alone")
        said = [{"role": message["role"], "content": message["content"]} for message in prompt]
        named = {name: options[name] for name in ("temperature", "top_p") if options.get(name) is not None}
        request = {"model": options.get("model") or self.model, "messages": said[first:], "extra_body": own | named}
        request["max_tokens"] = options.get("max_tokens") or 4096
        if first:
            request["system"] = [{"type": "text", "text": message["content"]} for message in said[:first]]
        return tell(self.pieces(request, stream=bool(options.get("stream"))), options, self.client.api_key)

    async def pieces(self, request: Any, *, stream: bool) -> Any:
        if stream:
            async with self.client.messages.stream(**request) as answer:
                hold_stream(answer.response)
                async for text in answer.text_stream:
                    yield text
                message = await answer.get_final_message()
        else:
            message = await self.client.messages.create(**request)
            yield "".join(block.text for block in message.content if block.type == "text")
        if not isinstance(message.stop_reason, str):
            raise TypeError("it ended before its stop_reason")  # the client lets that through
        cached, usage = message.usage.cache_read_input_tokens or 0, message.usage
        counts = {"input_tokens": usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0)}
        counts |= {"output_tokens": usage.output_tokens, "cached_tokens": cached}
        yield {**counts, "stop_reason": REASONS.get(message.stop_reason, "other")}


def refuse_all_but_texts(prompt: Any, options: Any, wrapper: Any) -> dict[str, Any]:
    """Gives the provider's own fields."""
    books = {"thread_id", "trace_id", "session_id", "user_id", "call_context", "timeouts", "late_system", "stream"}
    own = options.get("provider", {}).get(wrapper.dialect, {})
    given = {name for name, value in options.items() if value not in (None, [], "")}
    if given - books - {"model", "provider", *wrapper.names} or own.keys() & {*FIELDS, *wrapper.names.values()}:
        raise PromptTranslationFailed("such options are not taken")
    for message in prompt:
        plain = isinstance(message["content"], str) and message["content"].strip()
        other = {name for name, value in message.items() if value != []} - {"role", "content", "name"}
        if message["role"] not in {"system", "user", "assistant"} or other or not plain:
            raise PromptTranslationFailed("texts alone are taken")
    if not prompt or prompt[-1]["role"] != "user":
        raise PromptTranslationFailed("the user speaks last")
    return own


FIELDS = ("model", "messages", "system", "stream", "stream_options")


async def read(answer: Any) -> Any:
    """The chunks of a stream, which is closed in the end; or a whole answer as its only chunk."""
    if not hasattr(answer, "__aiter__"):
        yield answer
        return
    async with answer:
        hold_stream(answer.response)
        async for chunk in answer:
            yield chunk


def hold_stream(response: Any) -> None:
    """The clients read a page as a stream: that of Anthropic's takes minutes for 10 MB of it."""
    if "event-stream" not in response.headers.get("content-type", ""):
        raise TypeError("it is no stream")


async def tell(pieces: Any, options: Any, key: str) -> Any:
    """The events of pieces of text and, at the end, what is known of the answer."""
    context = options.get("call_context")
    kind = f"{context}_LLM_RESPONSE" if context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS") else "LLM_RESPONSE"
    books = {name: options.get(name) for name in ("thread_id", "session_id")}
    books["trace_id"] = options.get("trace_id") or "own"
    text, end, failure = "", {}, None
    try:
        async with asyncio.timeout((options.get("timeouts") or {}).get("whole_call")), aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, dict):
                    end = piece
                elif piece:
                    text += piece
                    yield {"type": "TOKEN", "text": piece, "token_type": kind, **books}
    except Exception as error:  # noqa: BLE001 - a client lets any error of its HTTP library through
        failure = error
    message = {"role": "assistant", "content": text}
    if failure is None:
        yield {"type": "METADATA", "metadata": end, **books}
        yield {"type": "END", "message": message, "finish": end["stop_reason"], **books}
        return
    yield {"type": "ERROR", "error": describe(failure, key), **books}
    yield {"type": "END", "message": message if text else None, "finish": "error", **books}


def describe(failure: Any, key: str) -> dict[str, Any]:
    status, wait = getattr(failure, "status_code", None), None
    if status is not None:
        wait = failure.response.headers.get("retry-after")
    words = str(failure).replace(key, "***")
    told = {"code": "LLM_PROVIDER_ERROR", "message": words, "provider_message": words, "status": status}
    retryable = status in {408, 409, 429} or (status or 500) >= 500
    return {**told, "retry_after": wait and float(wait), "is_retryable": retryable}


@pytest.mark.parametrize("wrapper", [OpenAIClient, AnthropicClient])
def test_a_wrapper_has_forty_lines_at_most(wrapper: type):
    assert len(inspect.getsource(wrapper).splitlines()) <= 40


def failures(report: Report) -> dict[str, str]:
    assert not report.harness_errors
    return {f"{one.check} {one.scenario}": one.findings[0].message for one in report.failures}


def test_the_official_openai_client_is_certified_as_a_black_box():
    report = certify(OpenAIClient)
    assert failures(report) == {}
    assert (report.adapter.kind, report.is_certified) == ("black box", True)


def test_the_official_anthropic_client_is_certified_as_a_black_box():
    report = certify(AnthropicClient)
    assert failures(report) == {}
    assert (report.adapter.kind, report.is_certified) == ("black box", True)
