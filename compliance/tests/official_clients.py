"""The providers' official clients, each as an adapter in at most 40 lines. `official_wrapping` has what they share.

They accept conversations of texts and refuse everything else. Where a client misses a mistake, its wrapper must catch
it: each such line says so, and without it the suite reports a failure.
"""

from __future__ import annotations

import re
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

import anthropic
import cohere
import httpx
import ollama
import openai
from google import genai
from google.genai.types import GenerateContentResponseUsageMetadata

from art_sdk import PromptTranslationFailed
from official_wrapping import (
    as_events,
    as_stream,
    blocks,
    blocks_of,
    check_end,
    check_failure,
    check_fields,
    check_systems,
    client,
    patience,
    read,
    read_google,
    read_options,
    said,
    texts,
    total,
    type_of,
    watch,
    watch_events,
    watch_lines,
    whole,
    write_events,
)

FINISHES = {"stop": "stop", "length": "length", "content_filter": "content_filter"}


ROLES = {"user": "user", "assistant": "model"}


BLOCKED = ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION")


STATUSES = {"completed": "stop", "max_output_tokens": "length", "content_filter": "content_filter"}


ENDS = {"STOP": "stop", "MAX_TOKENS": "length", **dict.fromkeys(BLOCKED, "content_filter")}


COHERE_ENDS = {"COMPLETE": "stop", "STOP_SEQUENCE": "stop", "MAX_TOKENS": "length", "ERROR": "error"}


REASONS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "refusal": "content_filter"}


class OpenAIClient:
    """`openai.AsyncOpenAI`."""

    dialect, capabilities = "openai-chat", ("system", "late_system", "streaming", "provider_fields")
    tokens, most = "max_completion_tokens", (2, 1)

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.client = openai.AsyncOpenAI(api_key=api_key, base_url=base_url, max_retries=0, http_client=client())
        self.model = model or "gpt-4.1-mini"

    async def aclose(self) -> None:
        await self.client.close()

    def call(self, prompt: Any, options: Any) -> Any:
        given, own = read_options(self, prompt, options)
        messages = [
            {name: message[name] for name in ("role", "content", "name") if name in message} for message in prompt
        ]
        if not all(re.fullmatch(r"[^\s<|\\/>]+", message.get("name", "none")) for message in messages):
            raise PromptTranslationFailed("such names are not accepted")
        request = {"model": options.get("model") or self.model, "messages": messages, **given, "extra_body": own}
        request["timeout"] = patience(options)
        if options.get("stream"):
            request |= {"stream": True, "stream_options": {"include_usage": True}}
        return write_events(self.pieces(request), options, self.client.api_key)

    async def pieces(self, request: Any) -> Any:
        finish = usage = None
        async for chunk in read(await self.client.chat.completions.create(**request)):
            usage = chunk.usage or usage
            for choice in (one for one in chunk.choices if not one.index):
                part, finish = choice.delta if "stream" in request else choice.message, choice.finish_reason or finish
                yield part.content or part.refusal or ""
        check_end(finish)
        known = {"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens} if usage else {}
        cached = usage and usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens
        yield {**known, "cached_tokens": cached, "stop_reason": FINISHES.get(finish, "other")}


class ResponsesClient(OpenAIClient):
    """`openai.AsyncOpenAI`, by its Responses API."""

    dialect, capabilities = "openai-responses", ("system", "late_system", "streaming", "provider_fields")
    losses, repairs, tokens, most = ("message_name",), ("joins_turns",), "max_output_tokens", (2, 1)

    def call(self, prompt: Any, options: Any) -> Any:
        given, own = read_options(self, prompt, options)
        if given.get("max_output_tokens", 16) < 16 or own.keys() & {"input", "previous_response_id"}:
            raise PromptTranslationFailed("such options are not accepted")
        items = [{"role": one["role"], "content": said(one)} for one in prompt]
        request = {"model": options.get("model") or self.model, "input": items, "store": False, **given}
        request |= {"stream": bool(options.get("stream")), "extra_body": own, "timeout": patience(options)}
        return write_events(self.pieces(request), options, self.client.api_key)

    async def pieces(self, request: Any) -> Any:
        answer, kinds = None, set()
        async for event in read(await self.client.responses.create(**request)):
            answer = getattr(event, "response", None if request["stream"] else event)
            check_failure(answer or event)
            kinds.add(getattr(event, "type", None))
            if getattr(event, "type", None) in PIECES:
                yield event.delta
        check_end(None if answer is None or answer.status in {"queued", "in_progress"} else answer.status)
        messages = [item for item in answer.output if type_of(item) == "message" and not kinds & PIECES]
        for part in (part for message in messages for part in message.content):
            kinds.add(f"response.{part.type}.delta")
            yield "" + (part.refusal if part.type == "refusal" else part.text)
        usage, reason = answer.usage, answer.incomplete_details and answer.incomplete_details.reason
        known = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens} if usage else {}
        end = "content_filter" if "response.refusal.delta" in kinds else STATUSES.get(reason or answer.status, "other")
        yield {**known, "cached_tokens": usage and usage.input_tokens_details.cached_tokens, "stop_reason": end}


PIECES = {"response.output_text.delta", "response.refusal.delta"}
"""The events of the Responses API with pieces of the text, which some servers leave out."""

BLOCKS = ("content_block", "delta")
"""Where an event of Anthropic's has text: a block may begin with some of it."""


class AnthropicClient:
    """`anthropic.AsyncAnthropic`. It adds `/v1` itself; its own version of the API has no sampling options."""

    dialect, capabilities, losses = "anthropic-messages", ("system", "streaming", "provider_fields"), ("message_name",)
    repairs, tokens, most = ("hoists_late_system", "drops_blank_text"), "max_tokens", (1, 1)

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        settings = {"max_retries": 0, "http_client": client(), "default_headers": {"anthropic-version": "2023-06-01"}}
        url = base_url and base_url.removesuffix("/v1")
        self.client = anthropic.AsyncAnthropic(api_key=api_key, base_url=url, **settings)
        self.model = model or "claude-haiku-4-5"

    async def aclose(self) -> None:
        await self.client.close()

    def call(self, prompt: Any, options: Any) -> Any:
        given, own = read_options(self, prompt, options)
        if {*given} >= {"temperature", "top_p"}:
            raise PromptTranslationFailed("temperature and top_p cannot be combined")
        turns = [(message["role"], blocks(message["content"])) for message in prompt]
        check_systems(turns, options)
        request = {"max_tokens": given.pop("max_tokens", 4096), "extra_body": own | given, "timeout": patience(options)}
        request |= {"messages": [{"role": role, "content": parts} for role, parts in turns if role != "system"]}
        request |= {"system": [part for role, parts in turns if role == "system" for part in parts]}
        request |= {"model": options.get("model") or self.model, "stream": bool(options.get("stream"))}
        return write_events(self.pieces(request), options, self.client.api_key)

    async def pieces(self, request: Any) -> Any:
        usage, reason = {}, None
        async for event in read(await self.client.messages.create(**request)):
            owner = event.message if event.type == "message_start" else event
            usage |= {name: value for name, value in vars(getattr(owner, "usage", owner)).items() if value is not None}
            reason = getattr(getattr(event, "delta", event), "stop_reason", None) or reason
            for block in [*getattr(event, "content", ()), *(getattr(event, name, None) for name in BLOCKS)]:
                if getattr(block, "type", None) in {"text", "text_delta"}:
                    yield "" + block.text  # the client accepts a text block without text
        check_end(reason)
        cached, written = (usage.get(f"cache_{one}_input_tokens", 0) for one in ("read", "creation"))
        known = {"input_tokens": usage["input_tokens"] + cached + written, "cached_tokens": cached}
        yield {**known, "output_tokens": usage["output_tokens"], "stop_reason": REASONS.get(reason, "other")}


class GeminiClient:
    """`google.genai.Client`. It adds the version itself."""

    dialect, capabilities, losses = "gemini-generate", ("system", "streaming", "provider_fields"), ("message_name",)
    repairs, tokens, most = ("hoists_late_system", "drops_blank_text"), "max_output_tokens", (2, 1)

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        http = {"base_url": base_url and base_url.removesuffix("/v1beta"), "api_version": "v1beta"}
        self.http = client(event_hooks={"response": [watch]})
        http |= {"retry_options": {"attempts": 1}, "httpx_async_client": self.http}
        self.key, self.client = api_key, genai.Client(api_key=api_key, http_options=http)
        self.model, self.aclose = model or "gemini-2.5-flash", self.http.aclose

    def call(self, prompt: Any, options: Any) -> Any:
        given, own = read_options(self, prompt, options)
        check_fields(given, own)
        given_texts = [(message["role"], texts(message["content"])) for message in prompt]
        turns = [(role, [{"text": text} for text in parts if text or role == "system"]) for role, parts in given_texts]
        check_systems(turns, options)
        system = [part for role, parts in turns if role == "system" for part in parts]
        http = {"timeout": int(1000 * patience(options).read), "extra_body": own or None}
        config = {**given, "http_options": http, "system_instruction": {"parts": system} if system else None}
        request = {"model": quote(options.get("model") or self.model, safe=":@"), "config": config}
        request |= {"contents": [{"role": ROLES[role], "parts": parts} for role, parts in turns if role in ROLES]}
        return write_events(self.pieces(request, streamed=bool(options.get("stream"))), options, self.key)

    async def pieces(self, request: Any, *, streamed: bool) -> Any:
        models, usage, reason = self.client.aio.models, GenerateContentResponseUsageMetadata(), None
        ask = models.generate_content_stream if streamed else models.generate_content
        async for chunk in read_google(ask(**request)):
            usage = chunk.usage_metadata or usage
            for candidate in (one for one in chunk.candidates or () if not one.index):
                reason = candidate.finish_reason or reason
                for part in (candidate.content and candidate.content.parts) or ():
                    yield "" if part.thought else part.text or ""
            reason = "SAFETY" if chunk.prompt_feedback and chunk.prompt_feedback.block_reason else reason
        check_end(reason)
        known = {"input_tokens": total(usage.prompt_token_count, usage.tool_use_prompt_token_count)}
        known |= {"output_tokens": total(usage.candidates_token_count, usage.thoughts_token_count)}
        yield {**known, "cached_tokens": usage.cached_content_token_count, "stop_reason": ENDS.get(reason, "other")}


class OllamaClient:
    """`ollama.AsyncClient`, which is over the older httpx, and adds `/api` itself."""

    dialect, capabilities, losses = "ollama-chat", ("system", "late_system", "streaming"), ("message_name",)
    repairs, tokens, most = ("joins_turns",), "num_predict", ()

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.model, self.url = api_key, model or "qwen3:8b", base_url and base_url.removesuffix("/api")

    def call(self, prompt: Any, options: Any) -> Any:
        given, own = read_options(self, prompt, options)
        if own:
            raise PromptTranslationFailed("the client has no place for further fields")
        turns = [{"role": one["role"], "content": text} for one in prompt for text in texts(one["content"])]
        request = {"model": options.get("model") or self.model, "messages": turns, "options": given}
        request["stream"] = bool(options.get("stream"))
        return write_events(self.pieces(request, patience(options).as_dict()), options, self.key)

    async def pieces(self, request: Any, limits: Any) -> Any:
        settings = {"timeout": httpx.Timeout(**limits), "headers": {"authorization": f"Bearer {self.key}"}}
        async with ollama.AsyncClient(self.url, event_hooks={"response": [watch_lines]}, **settings) as client:
            answer = await client.chat(**request)
            chunks = answer if request["stream"] else as_stream(answer)
            async with aclosing(chunks):
                async for last in chunks:
                    yield last.message.content or ""
        check_end(last.done and last.done_reason)
        known = {"input_tokens": last.prompt_eval_count, "output_tokens": last.eval_count}
        yield {**known, "stop_reason": FINISHES.get(last.done_reason, "other")}


class CohereClient:
    """`cohere.AsyncClientV2`, which is over the older httpx, and adds `/v2` itself."""

    dialect, capabilities, losses = "cohere-chat-v2", ("system", "late_system", "streaming"), ("message_name",)
    tokens, most = "max_tokens", (1, 0.99)

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.model = api_key, model or "command-a-03-2025"
        self.url = base_url and base_url.removesuffix("/v2")

    def call(self, prompt: Any, options: Any) -> Any:
        given, own = read_options(self, prompt, options)
        if own or given.get("top_p", 0.5) < 0.01 or not all(any(texts(one["content"])) for one in prompt):
            raise PromptTranslationFailed("further fields, a small top_p and empty messages are not accepted")
        turns = [{"role": one["role"], "content": blocks_of(one["content"])} for one in prompt]
        request = {"model": options.get("model") or self.model, "messages": turns}
        request |= {"p" if name == "top_p" else name: value for name, value in given.items()}
        request["request_options"] = {"timeout": httpx.Timeout(**patience(options).as_dict())}
        return write_events(self.pieces(request, streamed=bool(options.get("stream"))), options, self.key)

    async def pieces(self, request: Any, *, streamed: bool) -> Any:
        last = None
        async with httpx.AsyncClient(event_hooks={"response": [watch_events]}) as http:
            client = cohere.AsyncClientV2(self.key, base_url=self.url, max_retries=0, httpx_client=http)
            events = client.chat_stream(**request) if streamed else as_events(client.chat(**request))
            async with aclosing(events):
                async for event in events:
                    if event.type == "content-delta" and event.delta.message.content.text:
                        yield event.delta.message.content.text
                    last = event.delta if event.type == "message-end" else last
        if last is None or last.error:
            raise RuntimeError(last.error if last else "the answer has no end")
        check_end(last.finish_reason)
        usage = last.usage or cohere.Usage()
        tokens = usage.tokens or cohere.UsageTokens()
        known = {"input_tokens": tokens.input_tokens, "output_tokens": tokens.output_tokens}
        known = {name: whole(count) for name, count in {**known, "cached_tokens": usage.cached_tokens}.items()}
        yield {**known, "stop_reason": COHERE_ENDS.get(last.finish_reason, "other")}
