"""What the tests of Bedrock's adapter share: an adapter without the machine's keys, and reading a stream."""

from __future__ import annotations

from typing import Any

from art_sdk import (
    BedrockConverseAdapter,
    CallInfo,
    ResponseHead,
    StreamEvent,
)

USER = {"role": "user", "content": "hi"}
TOOLS = [{"name": "f", "description": "Looks.", "inputSchema": {"type": "object"}}]
INFO = CallInfo(thread_id="t", trace_id="r", model="m")
STREAM = {"content-type": "application/vnd.amazon.eventstream"}
KEYS = "AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


def adapter(**settings: Any) -> BedrockConverseAdapter:
    return BedrockConverseAdapter(**{"api_key": "key", **settings})


def headers_of(made: BedrockConverseAdapter, **options: Any) -> Any:
    return made.prepare([USER], {"thread_id": "t", **options}).request.headers


def read(*events: bytes) -> list[StreamEvent]:
    reader = adapter().stream_reader(ResponseHead(200, STREAM), INFO)
    return [*reader.feed(b"".join(events)), *reader.close()]
