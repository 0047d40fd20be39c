"""What a stream and an unstreamed answer say, read by a few lines per format: the tests compare the two."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from art_compliance.dialects.aws_events import is_messages, read_messages


def items(events: tuple[bytes, ...]) -> Iterator[Any]:
    for event in events:
        if event.startswith(b"{"):
            assert event.endswith(b"\n")
            yield json.loads(event)
            continue
        if is_messages(event):
            (message,) = read_messages(event)
            data = json.loads(message.payload)
            yield {message.name: data} if message.kind == "event" else data
            continue
        assert event.endswith((b"\n\n", b"\r\n\r\n"))
        if event.startswith(b":"):
            continue
        (data,) = [line.removeprefix(b"data: ") for line in event.splitlines() if line.startswith(b"data: ")]
        if data != b"[DONE]":
            yield json.loads(data)


def texts_of(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """The texts of a field, which is a text or Mistral's list of parts, each with what it is."""
    if isinstance(value, list):
        for part in value:
            kind = {"text": name}.get(part["type"], part["type"])
            yield from texts_of(kind, part[part["type"]])
    elif value:
        yield name, value


def joined_chat(events: tuple[bytes, ...]) -> Any:
    whole: dict[str, Any] = {"texts": {}, "calls": {}}
    for chunk in items(events):
        whole["usage"] = chunk.get("usage") or whole.get("usage")
        for choice in chunk["choices"]:
            whole["finish"] = choice["finish_reason"]
            for name in ("content", "refusal", "reasoning", "reasoning_content"):
                piece = choice["delta"].get(name)
                for kind, text in texts_of(name, piece):
                    whole["texts"][kind] = whole["texts"].get(kind, "") + text
            for call in choice["delta"].get("tool_calls", ()):
                known = whole["calls"].setdefault(call["index"], {"arguments": ""})
                known |= {"id": call["id"], "name": call["function"]["name"]} if "id" in call else {}
                known["arguments"] += call["function"]["arguments"]
    return whole


def read_chat(body: Any) -> Any:
    message = body["choices"][0]["message"]
    calls = [{"id": call["id"], **call["function"]} for call in message.get("tool_calls") or ()]
    names = ("content", "refusal", "reasoning", "reasoning_content")
    return {
        "texts": dict(pair for name in names for pair in texts_of(name, message.get(name))),
        "calls": dict(enumerate(calls)),
        "usage": body["usage"],
        "finish": body["choices"][0]["finish_reason"],
    }


def joined_anthropic(events: tuple[bytes, ...]) -> Any:
    blocks: list[dict[str, Any]] = []
    usage: dict[str, Any] = {}
    finish = None
    for event in items(events):
        match event:
            case {"type": "message_start", "message": message}:
                usage |= message["usage"]
            case {"type": "content_block_start", "content_block": block}:
                blocks.append({**block, "input": ""} if "input" in block else dict(block))
            case {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}:
                assert index == len(blocks) - 1
                ((_, piece),) = delta.items()
                field = {"input_json_delta": "input"}.get(kind, kind.removesuffix("_delta"))
                blocks[index][field] += piece
            case {"type": "message_delta", "usage": last, "delta": {"stop_reason": finish}}:
                usage |= last
            case _:
                pass
    for block in blocks:
        if "input" in block:
            block["input"] = json.loads(block["input"] or "{}")
    return {"content": blocks, "usage": usage, "finish": finish}


def read_anthropic(body: Any) -> Any:
    """Without what is null, which streams leave out."""
    blocks = [_without_null(block) for block in body["content"]]
    return {"content": blocks, "usage": _without_null(body["usage"]), "finish": body["stop_reason"]}


def _without_null(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if value is not None}


def joined_gemini(events: tuple[bytes, ...]) -> Any:
    parts: list[dict[str, Any]] = []
    last: Any = None
    for chunk in items(events):
        last = chunk
        for part in chunk.get("candidates", [{"content": {"parts": []}}])[0]["content"]["parts"]:
            same = parts and {*parts[-1]} - {"thoughtSignature"} == {*part} - {"thoughtSignature"} and "text" in part
            if same or (parts and part.get("text") == ""):
                parts[-1] |= {**part, "text": parts[-1]["text"] + part["text"]} if "text" in parts[-1] else {}
            else:
                parts.append(dict(part))
    candidate = last.get("candidates", [{}])[0]
    return {"parts": parts, "usage": last["usageMetadata"], "finish": candidate.get("finishReason")}


def read_gemini(body: Any) -> Any:
    candidate = body.get("candidates", [{"content": {"parts": []}}])[0]
    parts = candidate["content"].get("parts", [{"text": ""}])  # without parts, a whole answer is empty
    return {"parts": parts, "usage": body["usageMetadata"], "finish": candidate.get("finishReason")}


def joined_ollama(events: tuple[bytes, ...]) -> Any:
    *pieces, last = items(events)
    messages = [piece["message"] for piece in pieces]
    message = {name: "".join(one.get(name, "") for one in messages) for name in ("content", "thinking")}
    message["tool_calls"] = [call for one in messages for call in one.get("tool_calls", ())]
    return {**last, "message": message}


def read_ollama(body: Any) -> Any:
    message = {"content": "", "thinking": "", "tool_calls": [], **body["message"]}
    del message["role"]
    return {**body, "message": message}


def joined_responses(events: tuple[bytes, ...]) -> Any:
    found: list[dict[str, Any]] = []
    last: Any = None
    for event in items(events):
        match event:
            case {"type": "response.output_item.added", "item": item, "output_index": index}:
                assert index == len(found)
                found.append({"type": item["type"], "said": item.get("arguments", "")})
            case {"delta": piece, "output_index": index}:
                found[index]["said"] += piece
            case {"response": response}:
                last = response
            case _:
                pass
    return {"items": found, "usage": last["usage"], "finish": (last["status"], last["incomplete_details"])}


def read_responses(body: Any) -> Any:
    found = [{"type": item["type"], "said": "".join(_said(item))} for item in body["output"]]
    return {"items": found, "usage": body["usage"], "finish": (body["status"], body["incomplete_details"])}


def _said(item: dict[str, Any]) -> Iterator[str]:
    yield item.get("arguments", "")
    for part in (*item.get("summary", ()), *item.get("content", ())):
        yield part.get("text") or part.get("refusal") or ""


def joined_bedrock(events: tuple[bytes, ...]) -> Any:
    blocks: list[dict[str, Any]] = []
    usage, finish = None, None
    for event in items(events):
        match event:
            case {"contentBlockStart": {"start": {"toolUse": use}}}:
                blocks.append({"toolUse": {**use, "input": ""}})
            case {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}:
                blocks += [{}] if index == len(blocks) else []
                _join_bedrock(blocks[index], delta)
            case {"messageStop": {"stopReason": finish}}:
                pass
            case {"metadata": {"usage": usage}}:
                pass
            case _:
                pass
    for block in blocks:
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
    return {"content": blocks, "usage": usage, "finish": finish}


def _join_bedrock(block: dict[str, Any], delta: dict[str, Any]) -> None:
    if "text" in delta:
        block["text"] = block.get("text", "") + delta["text"]
    elif "toolUse" in delta:
        block["toolUse"]["input"] += delta["toolUse"]["input"]
    else:
        thought = block.setdefault("reasoningContent", {}).setdefault("reasoningText", {"text": ""})
        for name, piece in delta["reasoningContent"].items():
            thought[name] = thought.get(name, "") + piece


def read_bedrock(body: Any) -> Any:
    return {"content": body["output"]["message"]["content"], "usage": body["usage"], "finish": body["stopReason"]}


def joined_cohere(events: tuple[bytes, ...]) -> Any:
    message: dict[str, Any] = {"content": [], "tool_calls": []}
    last: Any = None
    for event in items(events):
        match event:
            case {"type": "content-start", "delta": {"message": {"content": part}}}:
                message["content"].append(part)
            case {"type": "content-delta", "index": index, "delta": {"message": {"content": piece}}}:
                for name, text in piece.items():
                    message["content"][index][name] += text
            case {"type": "tool-call-start", "delta": {"message": {"tool_calls": call}}}:
                message["tool_calls"].append(call)
            case {"type": "tool-call-delta", "index": index, "delta": {"message": {"tool_calls": piece}}}:
                message["tool_calls"][index]["function"]["arguments"] += piece["function"]["arguments"]
            case {"type": "message-end", "delta": last}:
                pass
            case _:
                pass
    for call in message["tool_calls"]:
        call["function"]["arguments"] = call["function"]["arguments"] or "{}"
    return {**message, **last}


def read_cohere(body: Any) -> Any:
    message = {"content": [], "tool_calls": [], **body["message"]}
    del message["role"]
    return {**message, "finish_reason": body["finish_reason"], "usage": body["usage"]}


READINGS: dict[str, Any] = {
    "openai-responses": (joined_responses, read_responses),
    "ollama-chat": (joined_ollama, read_ollama),
    "bedrock-converse": (joined_bedrock, read_bedrock),
    "cohere-chat-v2": (joined_cohere, read_cohere),
    "anthropic-messages": (joined_anthropic, read_anthropic),
    "gemini-generate": (joined_gemini, read_gemini),
}
