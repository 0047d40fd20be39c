"""Long streams in several formats, and a loopback server that streams each call's own message back."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Self

from art_compliance.dialects.aws_events import write_message

HEAD: Final = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
WORDS: Final = (" the", " quick", " brown", " fox", " jümps", ' "over"', "\n", " lazy", " dog", ".")


def chat_stream(size: int) -> bytes:
    """A streamed answer in OpenAI's format with about this many bytes."""
    base = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "system_fingerprint": None,
    }

    def chunk(choices: list[Any], **more: Any) -> bytes:
        return f"data: {json.dumps(base | {'choices': choices} | more, ensure_ascii=False)}\n\n".encode()

    def delta(delta: Any, finish: str | None = None) -> bytes:
        return chunk([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}], usage=None)

    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    end = delta({}, "stop") + chunk([], usage=usage) + b"data: [DONE]\n\n"
    return delta({"role": "assistant", "content": ""}) + _filled(size, lambda word: delta({"content": word})) + end


def response_stream(size: int) -> bytes:
    """A streamed answer in the format of OpenAI's Responses API with about this many bytes."""
    number = 0

    def event(kind: str, **more: Any) -> bytes:
        nonlocal number
        number += 1
        data = {"type": kind} | more | {"sequence_number": number}
        return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()

    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}

    def delta(word: str) -> bytes:
        return event("response.output_text.delta", delta=word, logprobs=[], **place)

    def message(text: str, status: str) -> Any:
        part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        return {"id": "msg_1", "type": "message", "status": status, "role": "assistant", "content": [part]}

    base: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "tools": [],
        "tool_choice": "auto",
    }
    base |= {"parallel_tool_calls": True, "error": None, "incomplete_details": None}
    usage: dict[str, Any] = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    start = event("response.created", response=base | {"status": "in_progress", "output": []})
    start += event("response.output_item.added", output_index=0, item=message("", "in_progress") | {"content": []})
    start += event("response.content_part.added", part=message("", "")["content"][0], **place)
    deltas = _filled(size, delta)
    text = "".join(WORDS) * (deltas.count(b"\n\n") // len(WORDS))
    done = message(text, "completed")
    end = event("response.output_text.done", text=text, logprobs=[], **place)
    end += event("response.content_part.done", part=done["content"][0], **place)
    end += event("response.output_item.done", output_index=0, item=done)
    last = base | {"status": "completed", "output": [done], "usage": usage}
    return start + deltas + end + event("response.completed", response=last)


def message_stream(size: int) -> bytes:
    """A streamed answer in Anthropic's format with about this many bytes."""

    def event(kind: str, **more: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind} | more, ensure_ascii=False)}\n\n".encode()

    def delta(word: str) -> bytes:
        return event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})

    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    message |= {"stop_sequence": None, "usage": {"input_tokens": 5, "output_tokens": 1}}
    start = event("message_start", message=message)
    start += event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    end = event("content_block_stop", index=0)
    end += event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 7})
    return start + _filled(size, delta) + end + event("message_stop")


def cohere_stream(size: int) -> bytes:
    """A streamed answer of Cohere's with about this many bytes."""

    def event(kind: str, **more: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind} | more, ensure_ascii=False)}\n\n".encode()

    def part(kind: str, **content: str) -> bytes:
        return event(kind, index=0, delta={"message": {"content": content}})

    empty: dict[str, Any] = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    start = event("message-start", id="m", delta={"message": empty}) + part("content-start", type="text", text="")
    tokens = {"input_tokens": 5, "output_tokens": 7}
    ended = {"finish_reason": "COMPLETE", "usage": {"billed_units": tokens, "tokens": tokens}}
    end = event("content-end", index=0) + event("message-end", delta=ended) + b"data: [DONE]\n\n"
    return start + _filled(size, lambda word: part("content-delta", text=word)) + end


def converse_stream(size: int) -> bytes:
    """A streamed answer of Bedrock's with about this many bytes."""

    def delta(word: str) -> bytes:
        return write_message("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": word}, "p": "abcdefgh"})

    usage = {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12}
    start = write_message("messageStart", {"role": "assistant"})
    end = write_message("contentBlockStop", {"contentBlockIndex": 0})
    end += write_message("messageStop", {"stopReason": "end_turn"})
    return start + _filled(size, delta) + end + write_message("metadata", {"usage": usage, "metrics": {"latencyMs": 9}})


def lines_stream(size: int) -> bytes:
    """A streamed answer of Ollama's with about this many bytes."""
    base = {"model": "m", "created_at": "2026-08-13T09:45:30.391699Z"}

    def line(content: str, **more: Any) -> bytes:
        message = {"role": "assistant", "content": content}
        return f"{json.dumps(base | {'message': message, 'done': False} | more, ensure_ascii=False)}\n".encode()

    end = line("", done=True, done_reason="stop", total_duration=9, prompt_eval_count=5, eval_count=7)
    return _filled(size, line) + end


def _filled(size: int, write: Callable[[str], bytes]) -> bytes:
    deltas = [write(word) for word in WORDS]
    times = size // sum(map(len, deltas)) + 1
    return b"".join(deltas * times)


STREAMS: Final[Mapping[str, Any]] = {
    "openai": chat_stream,
    "openai-responses": response_stream,
    "anthropic": message_stream,
    "bedrock": converse_stream,
    "cohere": cohere_stream,
    "ollama-chat": lines_stream,
}


class StreamServer:
    """Answers each request with a stream of tokens: its last message and the time of sending."""

    def __init__(self, tokens: int, *, pause: float) -> None:
        self._tokens, self._pause = tokens, pause
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(5)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _run(self) -> None:
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=500))
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        self._loop.run_forever()
        server.close()
        self._loop.run_until_complete(self._cancel_tasks())
        self._loop.close()

    async def _cancel_tasks(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.1)  # for the transports to close

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
                message = json.loads(await reader.readexactly(length))["messages"][-1]["content"]
                writer.write(HEAD)
                for frame in self._frames(message):
                    body = frame()
                    writer.write(b"%x\r\n%s\r\n" % (len(body), body))
                    await writer.drain()
                    await asyncio.sleep(self._pause)
                writer.write(b"0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _frames(self, message: str) -> Iterator[Any]:
        def token() -> bytes:
            content = f"{message}@{time.perf_counter()};"
            return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': content}}]})}\n\n".encode()

        yield from [token] * self._tokens
        yield lambda: b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
