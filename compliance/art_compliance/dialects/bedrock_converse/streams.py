"""Writes Bedrock's streams: what `write_response` says, as the events of streams recorded in 2025 and 2026.

A text begins with its first delta, a call with `contentBlockStart`. Each event has padding, `p`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.aws_events import write_message
from art_compliance.dialects.bedrock_converse.answers import name_error, write_response
from art_compliance.dialects.framing import pieces, to_json
from art_compliance.dialects.writing import with_object_arguments
from art_compliance.scenarios import WrittenAnswer

UNKNOWN_EVENT: Final = write_message("weatherReport", {"sun": True})

_PADDING: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_IN_STREAM: Final = frozenset(
    {
        "InternalServerException",
        "ModelStreamErrorException",
        "ServiceUnavailableException",
        "ThrottlingException",
        "ValidationException",
    }
)
"""The exceptions among the events: `ConverseStreamOutput` of botocore 1.44."""


def write_stream(answer: WrittenAnswer, payload: object = None) -> tuple[bytes, ...]:
    """A streamed answer. Raises CannotWrite as `write_response` does; arguments cut by length may be any text."""
    del payload
    body = json.loads(write_response(with_object_arguments(answer)))
    return _framed(body, [call.function.arguments for call in answer.tool_calls])


def write_body(body: dict[str, Any]) -> tuple[bytes, ...]:
    """The stream that says what this body says."""
    blocks = body["output"]["message"]["content"]
    return _framed(body, [to_json(block["toolUse"]["input"]) for block in blocks if "toolUse" in block])


def write_stream_error(status: int, message: str) -> bytes:
    """An exception after the status 200."""
    name = name_error(status, message)
    name = name if name in _IN_STREAM else "InternalServerException" if status >= 500 else "ValidationException"
    return write_message(name[0].lower() + name[1:], {"message": message}, kind="exception")


def _framed(body: dict[str, Any], all_arguments: list[str]) -> tuple[bytes, ...]:
    return tuple(
        write_message(name, {**event, "p": _PADDING[: 1 + at % len(_PADDING)]})
        for at, (name, event) in enumerate(_events(body, all_arguments))
    )


def _events(body: dict[str, Any], all_arguments: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "messageStart", {"role": "assistant"}
    arguments = iter(all_arguments)
    for index, block in enumerate(body["output"]["message"]["content"]):
        start, deltas = _streamed(block, next(arguments) if "toolUse" in block else "")
        if start:
            yield "contentBlockStart", {"contentBlockIndex": index, "start": start}
        yield from (("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}) for delta in deltas)
        yield "contentBlockStop", {"contentBlockIndex": index}
    yield "messageStop", {"stopReason": body["stopReason"]}
    yield "metadata", {"metrics": body["metrics"], "usage": body["usage"]}


def _streamed(block: dict[str, Any], arguments: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """How a block starts, if it says so, and the deltas that fill it. Arguments have at least one piece."""
    if "text" in block:
        return {}, [{"text": piece} for piece in pieces(block["text"])]
    if "toolUse" in block:
        start = {name: value for name, value in block["toolUse"].items() if name != "input"}
        return {"toolUse": start}, [{"toolUse": {"input": piece}} for piece in [*pieces(arguments)] or [""]]
    if "citationsContent" in block:
        cited = block["citationsContent"]
        texts = [{"text": piece} for part in cited["content"] for piece in pieces(part["text"])]
        return {}, [*texts, *({"citation": one} for one in cited["citations"])]
    reasoning = block["reasoningContent"]
    if "redactedContent" in reasoning:
        return {}, [{"reasoningContent": reasoning}]
    thought = reasoning["reasoningText"]
    deltas = [{"reasoningContent": {"text": piece}} for piece in pieces(thought["text"])]
    signed = [{"reasoningContent": {"signature": thought["signature"]}}] if "signature" in thought else []
    return {}, [*deltas, *signed]
