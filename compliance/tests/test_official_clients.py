"""Black boxes that nobody here wrote: the providers' official clients, thinly wrapped, judged by their traffic alone.

A wrapper has at most 40 lines; `write_events`, which makes events from what a client returns, serves them all. The
wrappers accept conversations of texts and refuse everything else. Where a client misses a mistake, its wrapper must
catch it: each such line says so, and without it the suite reports a failure.
"""

from __future__ import annotations

import asyncio
import codecs
import inspect
import json
import re
import ssl
from contextlib import aclosing, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import anthropic
import cohere
import httpx
import httpx2
import ollama
import openai
import pytest
from google import genai
from google.genai.types import GenerateContentResponseUsageMetadata

from art_compliance import Report, Selection, certify
from art_compliance.checks import CHECKS
from art_compliance.generating.profiles import PROFILES, Search
from art_sdk import PromptTranslationFailed

QUICK = Search(profile=PROFILES["quick"])
FINISHES = {"stop": "stop", "length": "length", "content_filter": "content_filter"}
ROLES = {"user": "user", "assistant": "model"}
SAMPLING = {"temperature", "topP", "maxOutputTokens"}
BLOCKED = ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION")
INPUTS = {"user": "input_text", "system": "input_text", "assistant": "output_text"}
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
            for choice in chunk.choices:
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
            if getattr(event, "type", None) in {"response.output_text.delta", "response.refusal.delta"}:
                yield event.delta
        check_end(None if answer is None or answer.status in {"queued", "in_progress"} else answer.status)
        messages = [item for item in answer.output if type_of(item) == "message" and not request["stream"]]
        for part in (part for message in messages for part in message.content):
            kinds.add(f"response.{part.type}.delta")
            yield "" + (part.refusal if part.type == "refusal" else part.text)
        usage, reason = answer.usage, answer.incomplete_details and answer.incomplete_details.reason
        known = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens} if usage else {}
        end = "content_filter" if "response.refusal.delta" in kinds else STATUSES.get(reason or answer.status, "other")
        yield {**known, "cached_tokens": usage and usage.input_tokens_details.cached_tokens, "stop_reason": end}


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
        whole = usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]
        known = {"input_tokens": whole, "cached_tokens": usage["cache_read_input_tokens"]}
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
            for candidate in chunk.candidates or ():
                reason = candidate.finish_reason or reason
                for part in (candidate.content and candidate.content.parts) or ():
                    yield "" if part.thought else part.text or ""
            reason = "SAFETY" if chunk.prompt_feedback and chunk.prompt_feedback.block_reason else reason
        check_end(reason)
        known = {"input_tokens": usage.prompt_token_count, "cached_tokens": usage.cached_content_token_count}
        known |= {"output_tokens": (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)}
        yield {**known, "stop_reason": ENDS.get(reason, "other")}


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


def whole(count: float | None) -> int | None:
    """The client reads counts as floats."""
    return None if count is None else int(count)


def blocks_of(content: Any) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts(content)]


async def as_events(asked: Any) -> Any:
    """A whole answer as the events that are read of a stream."""
    answer = await asked
    for part in answer.message.content or ():
        content = cohere.ChatContentDeltaEventDeltaMessageContent(text=part.text if part.type == "text" else None)
        message = cohere.ChatContentDeltaEventDeltaMessage(content=content)
        yield cohere.ContentDeltaV2ChatStreamResponse(delta=cohere.ChatContentDeltaEventDelta(message=message))
    ended = cohere.ChatMessageEndEventDelta(finish_reason=answer.finish_reason, usage=answer.usage)
    yield cohere.MessageEndV2ChatStreamResponse(delta=ended)


async def as_stream(answer: Any) -> Any:
    yield answer


class Events(httpx.AsyncByteStream):
    """Server-sent events whose data is JSON, or an error: the client skips the others with a warning."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.decoder, self.rest = stream, codecs.getincrementaldecoder("utf-8")(), ""
        self.data: list[str] = []

    async def __aiter__(self) -> Any:
        async for data in self.stream:
            text = self.rest + self.decoder.decode(data)
            cut = max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1  # the last character may be half of a line's end
            lines, self.rest = re.split(r"\r\n|\r|\n", text[:cut])[:-1], text[cut:]
            for line in lines:
                self.check(line)
            yield data

    def check(self, line: str) -> None:
        """Takes a line: data may have several, and ends with a blank one."""
        if line.startswith("data:"):
            self.data.append(line[5:])
        elif not line and self.data:
            data, self.data = "\n".join(self.data), []
            if data.strip() != "[DONE]":
                json.loads(data)

    async def aclose(self) -> None:
        await self.stream.aclose()


async def watch_events(answer: httpx.Response) -> None:
    """The client keeps no head of a refusal, and reads a page as events."""
    asked = json.loads(answer.request.content)
    wanted = "event-stream" if asked.get("stream") else "json"
    if answer.status_code < 400 and wanted not in answer.headers.get("content-type", ""):
        raise TypeError(f"expected {wanted}")
    await watch_lines(answer) if answer.status_code >= 400 or wanted == "json" else None
    if wanted == "event-stream" and "content-encoding" not in answer.headers:
        answer.stream = Events(answer.stream)


class Refused(Exception):
    """A refusal with its head: the client keeps the status alone, and of a body that is cut off nothing."""

    def __init__(self, response: httpx.Response, body: bytes) -> None:
        super().__init__(body.decode(errors="replace"))
        self.response, self.status_code = response, response.status_code


async def watch_lines(answer: httpx.Response) -> None:
    if answer.status_code >= 400:
        body = b""
        with suppress(httpx.TransportError):
            async for data in answer.aiter_bytes():
                body += data
        raise Refused(answer, body)
    if "json" not in answer.headers.get("content-type", ""):  # the client reads a page as lines
        raise TypeError("expected JSON")
    if "content-encoding" not in answer.headers:
        answer.stream = OldUtf8(answer.stream)


def client(**more: Any) -> httpx2.AsyncClient:
    """The clients' own serve one event loop, and forget the status of a refusal whose body is cut off."""
    return httpx2.AsyncClient(transport=Alone(), **more)


class Alone(httpx2.AsyncBaseTransport):
    """Each request has its own connection, which ends with its answer."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        transport = httpx2.AsyncHTTPTransport(verify=TRUSTED)
        try:
            answer = await transport.handle_async_request(request)
        except BaseException:
            await transport.aclose()
            raise
        answer.stream = Body(answer.stream, transport, is_refusal=answer.status_code >= 400)
        return answer


TRUSTED = ssl.create_default_context()


class Body(httpx2.AsyncByteStream):
    """The body of an answer; of a refusal, as much of it as arrives."""

    def __init__(self, stream: Any, transport: httpx2.AsyncHTTPTransport, *, is_refusal: bool) -> None:
        self.stream, self.transport, self.is_refusal = stream, transport, is_refusal

    async def __aiter__(self) -> Any:
        try:
            async for data in self.stream:
                yield data
        except httpx2.TransportError:
            if not self.is_refusal:
                raise

    async def aclose(self) -> None:
        await self.stream.aclose()
        await self.transport.aclose()


def read_options(wrapper: Any, prompt: Any, options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options by the provider's names, and the provider's own fields."""
    books = {"thread_id", "trace_id", "session_id", "user_id", "call_context", "timeouts", "late_system", "stream"}
    own = options.get("provider", {}).get(wrapper.dialect, {})
    given = {name: value for name, value in options.items() if value not in (None, [], "")}
    names = {"temperature": "temperature", "top_p": "top_p", "max_tokens": wrapper.tokens}
    named = {names[name]: value for name, value in given.items() if name in names}
    other = given.keys() - books - {"model", "provider", *names}
    too_much = any(not 0 <= given.get(name, 0) <= most for name, most in zip(names, wrapper.most, strict=False))
    if other or too_much or own.keys() & {"model", "messages", "system", "stream", "stream_options", *named}:
        raise PromptTranslationFailed("such options are not accepted")
    for message in prompt:
        known = {"role", "content", "name"} | {name for name, value in message.items() if value == []}
        extended = wrapper.dialect in message.get("extensions", {}) or message.keys() - known - {"extensions"}
        if message["role"] not in {"system", "user", "assistant"} or extended or not texts(message["content"]):
            raise PromptTranslationFailed("only texts are accepted")
    if not prompt or prompt[-1]["role"] == "assistant":
        raise PromptTranslationFailed("answers cannot be continued")
    return named, own


def check_systems(turns: Any, options: Any) -> None:
    """A system message must come first, and not alone. A later one is moved there if the caller requests it."""
    first = next((at for at, (role, _) in enumerate(turns) if role != "system"), len(turns))
    late = options.get("late_system") != "hoist" and any(role == "system" for role, _ in turns[first:])
    if late or first == len(turns) or not all(parts for _, parts in turns):
        raise PromptTranslationFailed("a system message must come first and not alone, and must not be blank")


def patience(options: Any) -> openai.Timeout:
    """Both clients have httpx2's limits, one for every read. `write_events` enforces the limit of the whole call."""
    limits = options.get("timeouts") or {}
    reads = [limits[name] for name in ("first_byte", "between_bytes") if limits.get(name)]
    return openai.Timeout(600, connect=limits.get("connect"), read=min(reads, default=600))


def texts(content: Any) -> list[str]:
    """The texts of a message; none if it has anything else."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    return [part["text"] for part in parts] if all(part["type"] == "text" for part in parts) else []


def said(message: Any) -> list[dict[str, str]]:
    """The texts as parts of an item."""
    return [{"type": INPUTS[message["role"]], "text": text} for text in texts(message["content"])]


def blocks(content: Any) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts(content) if text.strip()]


def check_failure(answer: Any) -> None:
    """The client raises for no error but those that chat completions have."""
    failed = answer if getattr(answer, "type", None) == "error" else getattr(answer, "error", None)
    if failed:
        raise RuntimeError(failed.message)


def type_of(item: Any) -> str:
    """The client accepts an item without a type."""
    if not isinstance(item.type, str):
        raise TypeError("an item has no type")
    return item.type


def check_end(reason: Any) -> None:
    """The clients accept an answer that stops before its end."""
    if not isinstance(reason, str):
        raise TypeError("the answer has no finish reason")


async def read(answer: Any) -> Any:
    """The chunks of a stream, which is closed at the end, or a whole answer as the only chunk."""
    if not hasattr(answer, "__aiter__"):
        yield answer
        return
    async with answer:
        check_stream(answer.response)
        async for chunk in answer:
            yield chunk


ANSWERS: ContextVar[list[httpx2.Response]] = ContextVar("ANSWERS")


async def read_google(asked: Any) -> Any:
    """The chunks of an answer. The client leaves answers that are not read to the end to the garbage collector."""
    ANSWERS.set(answers := [])
    try:
        answer = await asked
        chunks = answer if hasattr(answer, "__aiter__") else read(answer)
        async with aclosing(chunks):
            async for chunk in chunks:
                yield chunk
    finally:
        for response in answers:
            await response.aclose()


def check_fields(given: Any, own: Any) -> None:
    """The client lets an own field replace what it was given."""
    if own.keys() & {"contents", "systemInstruction"} or (given and own.get("generationConfig", {}).keys() & SAMPLING):
        raise PromptTranslationFailed("such fields are not accepted")


async def watch(answer: httpx2.Response) -> None:
    ANSWERS.get().append(answer)
    if "content-encoding" not in answer.headers:
        answer.stream = Utf8(answer.stream)


class Utf8(httpx2.AsyncByteStream):
    """Bytes that are UTF-8, or a UnicodeDecodeError: Google's client accepts any bytes as text."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.decoder = stream, codecs.getincrementaldecoder("utf-8")()

    async def __aiter__(self) -> Any:
        async for data in self.stream:
            self.decoder.decode(data)
            yield data

    async def aclose(self) -> None:
        await self.stream.aclose()


class OldUtf8(Utf8, httpx.AsyncByteStream):
    """The same for the older httpx, whose lines may be any bytes."""


def check_stream(response: Any) -> None:
    """The clients read a page as a stream: Anthropic's takes minutes for 10 MB."""
    if "event-stream" not in response.headers.get("content-type", ""):
        raise TypeError("expected an event stream")


async def write_events(pieces: Any, options: Any, key: str) -> Any:
    """The events for pieces of text and, at the end, the metadata of the answer."""
    context = options.get("call_context")
    kind = f"{context}_LLM_RESPONSE" if context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS") else "LLM_RESPONSE"
    books = {name: options.get(name) for name in ("thread_id", "session_id")}
    books["trace_id"] = options.get("trace_id") or uuid4().hex
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
    known = [getattr(failure, name, None) for name in ("status_code", "code")]
    status, wait = next((one for one in known if isinstance(one, int) and one > 0), None), None
    if status is not None:
        headers = failure.response.headers if hasattr(failure, "response") else failure.headers or {}
        wait = wait_of(headers)
    words = str(failure).replace(key, "***")
    error = {"code": "LLM_PROVIDER_ERROR", "message": words, "provider_message": words, "status": status}
    answered = getattr(getattr(failure, "response", None), "status_code", 200)  # Anthropic's client knows no other
    retryable = answered in {408, 409, 429} or not 400 <= answered < 500
    return {**error, "retry_after": wait, "is_retryable": retryable}


def wait_of(headers: Any) -> float | None:
    """The seconds to wait, of `retry-after-ms` or `retry-after`: a number or a date; None where neither can be read."""
    milliseconds, after = headers.get("retry-after-ms"), headers.get("retry-after")
    for text, unit in ((milliseconds, 1000), (after, 1)):
        with suppress(TypeError, ValueError):
            return float(text) / unit
    with suppress(ValueError):
        return max(0.0, (parsedate_to_datetime(after or "") - datetime.now(UTC)).total_seconds())
    return None


WRAPPERS = (OpenAIClient, ResponsesClient, AnthropicClient, GeminiClient, OllamaClient, CohereClient)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrapper_has_forty_lines_at_most(wrapper: type):
    assert len(inspect.getsource(wrapper).splitlines()) <= 40


def failures(report: Report) -> dict[str, str]:
    assert not report.harness_errors
    return {f"{one.check} {one.scenario}": one.findings[0].message for one in report.failures}


ABANDONED = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""A cancelled call leaves generators of the client to the garbage collector, which may find one that still runs."""


@ABANDONED
@pytest.mark.thorough
def test_an_official_client_is_certified_as_a_black_box():
    report = certify(OpenAIClient, search=QUICK, isolated=False)
    assert failures(report) == {}
    assert (report.adapter.kind, report.is_certified) == ("black box", True)


SHARED = ("load", "properties")
"""The stages that judge what the wrappers have in common: their connections, and what they refuse."""


@ABANDONED
@pytest.mark.once
@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "client",
    [
        AnthropicClient,
        pytest.param(GeminiClient, marks=pytest.mark.thorough),
        pytest.param(OpenAIClient, marks=pytest.mark.thorough),
        pytest.param(OllamaClient, marks=pytest.mark.thorough),
        pytest.param(CohereClient, marks=pytest.mark.thorough),
        pytest.param(ResponsesClient, marks=pytest.mark.thorough),
    ],
)
@pytest.mark.filterwarnings("ignore:.* is not a valid FinishReason")  # how Google's client reports a new one
@pytest.mark.filterwarnings("ignore:The model .* is deprecated")  # how Anthropic's speaks of older models
def test_an_official_client_passes_every_check_of_its_own_code(client: type):
    selection = Selection(checks=tuple(name for name, one in CHECKS.items() if one.stage.name not in SHARED))
    report = certify(client, selection=selection, isolated=False)
    assert failures(report) == {}
    assert report.adapter.kind == "black box"
    stages = {one.check.partition(".")[0] for one in report.results if one.verdict == "pass"}
    assert stages >= {"translation", "wire", "payload", "response", "stream", "faults"}
