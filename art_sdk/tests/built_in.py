"""Every built-in adapter, with a good answer of its provider: a text and a call, whole and as a stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any

from art_sdk import BUILT_IN, BaseAdapter, CallInfo, ResponseHead, StreamEvent
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from aws_messages import message
from streamed import KEY, sse

Data = dict[str, Any]

INFO = CallInfo(thread_id="t", trace_id="r", model="m")
SETTINGS = {
    "azure": {"base_url": "https://r.openai.azure.com/openai/v1", "model": "d"},
    "openai-compatible": {"base_url": "http://gpu/v1", "model": "m"},
}


def adapter_of(name: str) -> BaseAdapter:
    adapter: BaseAdapter = resolve_name(BUILT_IN[name])(api_key=KEY, **SETTINGS.get(name, {}))
    return adapter


def answer_of(adapter: BaseAdapter, *, streamed: bool, tool: str = "f") -> list[Data]:
    """The answer, which calls the tool: the objects of its stream, or the one of its body."""
    if isinstance(adapter, ChatCompletionsAdapter):
        return [_chat(adapter, "delta" if streamed else "message", tool)]
    whole, stream = ANSWERS[adapter.provider_name]
    return stream(tool) if streamed else [whole(tool)]


def read(adapter: BaseAdapter, answer: list[Any], *, streamed: bool, info: CallInfo = INFO) -> list[StreamEvent]:
    """The events of an answer, even of one that is not a list of objects."""
    if not streamed:
        return list(adapter.read_response(ResponseHead(200, {}), json.dumps(answer[0]).encode(), info))
    end = sse(["[DONE]"]) if isinstance(adapter, ChatCompletionsAdapter) else b""
    reader = adapter.stream_reader(ResponseHead(200, {"content-type": adapter.stream_type}), info)
    return [*reader.feed(b"".join(map(FRAMES[adapter.stream_type], answer)) + end), *reader.close()]


def _chat(adapter: ChatCompletionsAdapter, field: str, tool: str) -> Data:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    own: Data = dict.fromkeys((*adapter.provider.reasoning, *adapter.provider.kept), "hm")
    own |= {"reasoning_details": [{"type": "reasoning.text"}]} if "reasoning_details" in own else {}
    said = {"content": "hi", "refusal": None, "tool_calls": [call], **own}
    choice = {"index": 0, field: said, "finish_reason": "tool_calls"}
    return {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}


def _message(tool: str) -> Data:
    return {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "content": [{"type": "text", "text": "hi"}, _tool_use(tool)],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }


def _tool_use(tool: str) -> Data:
    return {"type": "tool_use", "id": "c", "name": tool, "input": {}}


def _events(tool: str) -> list[Data]:
    return [
        {"type": "message_start", "message": _message(tool) | {"content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": _tool_use(tool)},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]


def _ollama(tool: str) -> Data:
    """A whole answer, which is the only line of its stream."""
    calls = [{"function": {"name": tool, "arguments": {}}}]
    message = {"role": "assistant", "content": "hi", "thinking": "hm", "tool_calls": calls}
    return {"message": message, "done": True, "done_reason": "stop", "prompt_eval_count": 1, "eval_count": 2}


def _cohere(tool: str) -> Data:
    said = {"content": [{"type": "text", "text": "hi"}], "tool_calls": [_called(tool, "{}")]}
    return {
        "id": "m",
        "message": {"role": "assistant", **said},
        "finish_reason": "TOOL_CALL",
        "usage": {"tokens": {"input_tokens": 1, "output_tokens": 2}},
    }


def _called(tool: str, arguments: str) -> Data:
    return {"id": "c", "type": "function", "function": {"name": tool, "arguments": arguments}}


def _cohere_events(tool: str) -> list[Data]:
    ended = {name: value for name, value in _cohere(tool).items() if name in ("finish_reason", "usage")}
    return [
        {"type": "message-start", "id": "m", "delta": {"message": {"role": "assistant", "content": []}}},
        _part("content-start", {"content": {"type": "text", "text": ""}}),
        _part("content-delta", {"content": {"text": "hi"}}),
        {"type": "content-end", "index": 0},
        _part("tool-call-start", {"tool_calls": _called(tool, "")}),
        _part("tool-call-delta", {"tool_calls": {"function": {"arguments": "{}"}}}),
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": ended},
    ]


def _part(kind: str, message: Data) -> Data:
    return {"type": kind, "index": 0, "delta": {"message": message}}


def _gemini(tool: str) -> Data:
    parts = [{"text": "hi"}, {"functionCall": {"id": "c", "name": tool, "args": {}}}]
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2},
        "responseId": "g",
    }


def _response(tool: str) -> Data:
    return {
        "id": "resp",
        "status": "completed",
        "error": None,
        "output": _items(tool),
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }


def _items(tool: str) -> list[Data]:
    thought = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]}
    said = {"type": "message", "id": "msg", "content": [{"type": "output_text", "text": "hi"}]}
    called = {"type": "function_call", "id": "fc", "call_id": "c", "name": tool, "arguments": "{}"}
    return [thought | {"encrypted_content": "ZW5jcnlwdGVk"}, said, called]


def _response_events(tool: str) -> list[Data]:
    thought, said, called = _items(tool)
    return [
        {"type": "response.created", "response": {"id": "resp", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": thought | {"summary": []}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "hm"},
        {"type": "response.output_item.done", "output_index": 0, "item": thought},
        {"type": "response.output_item.added", "output_index": 1, "item": said | {"content": []}},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "hi"},
        {"type": "response.output_text.done", "output_index": 1, "content_index": 0, "text": "hi"},
        {"type": "response.output_item.done", "output_index": 1, "item": said},
        {"type": "response.output_item.added", "output_index": 2, "item": called | {"arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{}"},
        {"type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{}"},
        {"type": "response.output_item.done", "output_index": 2, "item": called},
        {"type": "response.completed", "response": _response(tool)},
    ]


def _converse(tool: str) -> Data:
    content = [{"text": "hi"}, {"toolUse": {"toolUseId": "c", "name": tool, "input": {}}}]
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3},
    }


def _converse_events(tool: str) -> list[Data]:
    start = {"toolUse": {"toolUseId": "c", "name": tool}}
    return [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "hi"}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"contentBlockStart": {"contentBlockIndex": 1, "start": start}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "{}"}}}},
        {"contentBlockStop": {"contentBlockIndex": 1}},
        {"messageStop": {"stopReason": "tool_use"}},
        {"metadata": {"usage": _converse(tool)["usage"], "metrics": {"latencyMs": 1}}},
    ]


def _message_of(event: Any) -> bytes:
    """An event named by its only field; anything else is the payload of a delta."""
    name, payload = next(iter(event.items())) if isinstance(event, dict) and event else ("contentBlockDelta", event)
    return message(str(name), payload)


def _line(event: Any) -> bytes:
    return f"{json.dumps(event)}\n".encode()


def _event(event: Any) -> bytes:
    return sse([event if isinstance(event, dict) else json.dumps(event)])


FRAMES: Mapping[str, Callable[[Any], bytes]] = {
    "application/vnd.amazon.eventstream": _message_of,
    "application/x-ndjson": _line,
    "text/event-stream": _event,
}
"""What frames the objects of a stream, by its content type."""

ANSWERS: Mapping[str, tuple[Callable[[str], Data], Callable[[str], list[Data]]]] = {
    "anthropic": (_message, _events),
    "bedrock": (_converse, _converse_events),
    "cohere": (_cohere, _cohere_events),
    "gemini": (_gemini, lambda tool: [_gemini(tool)]),
    "ollama-chat": (_ollama, lambda tool: [_ollama(tool)]),
    "openai-responses": (_response, _response_events),
}
"""What writes the body and the events of an answer, by the provider; one row per wire format."""
