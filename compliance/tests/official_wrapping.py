"""What the wrappers of official clients share: a prompt read, an answer watched for mistakes, events written."""

from __future__ import annotations

import asyncio
import codecs
import json
import re
import ssl
import time
from contextlib import aclosing, suppress
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

import cohere
import httpx
import httpx2
import openai

from art_sdk import PromptTranslationFailed
from art_sdk.adapters.failures import read_retry_after

SAMPLING = {"temperature", "topP", "maxOutputTokens"}


INPUTS = {"user": "input_text", "system": "input_text", "assistant": "output_text"}


def whole(count: float | None) -> int | None:
    """The client reads counts as floats."""
    return None if count is None else int(count)


def total(*counts: int | None) -> int | None:
    """None where no count is given."""
    given = [count for count in counts if count is not None]
    return sum(given) if given else None


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


async def in_time(pieces: Any, seconds: float | None) -> Any:
    """The pieces, which may take so long together. What the reader does between two of them is its own business."""
    spent = 0.0
    async with aclosing(pieces):
        while True:
            began = time.monotonic()
            try:
                async with asyncio.timeout(None if seconds is None else seconds - spent):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            spent += time.monotonic() - began
            yield piece


async def write_events(pieces: Any, options: Any, key: str) -> Any:
    """The events for pieces of text and, at the end, the metadata of the answer."""
    context = options.get("call_context")
    kind = f"{context}_LLM_RESPONSE" if context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS") else "LLM_RESPONSE"
    books = {name: options.get(name) for name in ("thread_id", "session_id")}
    books["trace_id"] = options.get("trace_id") or uuid4().hex
    text, end, failure = "", {}, None
    try:
        async with aclosing(in_time(pieces, (options.get("timeouts") or {}).get("whole_call"))) as timed:
            async for piece in timed:
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
        headers = failure.response.headers if hasattr(failure, "response") else getattr(failure, "headers", None) or {}
        wait = read_retry_after(headers)
    words = str(failure).replace(key, "***")
    error = {"code": "LLM_PROVIDER_ERROR", "message": words, "provider_message": words, "status": status}
    answered = getattr(getattr(failure, "response", None), "status_code", 200)  # Anthropic's client knows no other
    retryable = answered in {408, 409, 429} or not 400 <= answered < 500
    return {**error, "retry_after": wait, "is_retryable": retryable}
