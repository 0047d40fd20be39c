"""Bedrock's adapter: answers, streams and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from art_sdk import (
    CallOptions,
    EndEvent,
    ErrorEvent,
    LLMProviderError,
    ResponseHead,
    TokenEvent,
    fold,
)
from aws_messages import message
from bedrock import INFO, TOOLS, USER, adapter, read

pytestmark = pytest.mark.usefixtures("no_aws")

START = message("messageStart", {"role": "assistant", "p": "ab"})
STOP = message("messageStop", {"stopReason": "end_turn", "p": "abc"})
USAGE = {"inputTokens": 5, "outputTokens": 3, "totalTokens": 18, "cacheReadInputTokens": 7, "cacheWriteInputTokens": 3}
METADATA = message("metadata", {"usage": USAGE, "metrics": {"latencyMs": 1}})


def delta(index: int, **said: Any) -> bytes:
    return message("contentBlockDelta", {"contentBlockIndex": index, "delta": said, "p": "abcdef"})


def begin(index: int, **block: Any) -> bytes:
    return message("contentBlockStart", {"contentBlockIndex": index, "start": block})


def stop(index: int) -> bytes:
    return message("contentBlockStop", {"contentBlockIndex": index})


def test_reasoning_goes_back_with_its_signature_and_redacted_blocks(translate: Callable[..., Any]) -> None:
    events = read(
        START,
        *(delta(0, reasoningContent={"text": "hm"}), delta(0, reasoningContent={"signature": "c2ln"}), stop(0)),
        *(delta(1, reasoningContent={"redactedContent": "cmVk"}), stop(1)),
        *(delta(2, text="hello"), stop(2), STOP, METADATA),
    )
    done = fold(events)
    [*_, metadata, end] = events
    assert isinstance(end, EndEvent)
    assert [event.text for event in events if isinstance(event, TokenEvent)] == ["hm", "hello"]
    assert done.metadata.input_tokens == 15
    assert done.metadata.cached_tokens == 7
    payload = translate(adapter(), [USER, msgspec.to_builtins(end.message), USER])
    assert payload["messages"][1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "cmVk"}},
        {"text": "hello"},
    ]
    whole = {"output": {"message": {"content": payload["messages"][1]["content"]}}, "stopReason": "end_turn"}
    [*_, again] = adapter().read_response(ResponseHead(200, {}), json.dumps(whole).encode(), INFO)
    assert isinstance(again, EndEvent)
    assert again.message == end.message
    del metadata


def test_pieces_of_a_signature_and_of_redacted_data_are_joined(translate: Callable[..., Any]) -> None:
    events = read(
        START,
        *(delta(0, reasoningContent=piece) for piece in ({"text": "hm"}, {"signature": "c2"}, {"signature": "ln"})),
        *(stop(0), delta(1, reasoningContent={"redactedContent": "YQ=="})),
        *(delta(1, reasoningContent={"redactedContent": "YmM="}), stop(1)),
        *(delta(2, text="hello"), stop(2), STOP, METADATA),
    )
    payload = translate(adapter(), [USER, msgspec.to_builtins(fold(events).message), USER])
    [signed, redacted, _] = payload["messages"][1]["content"]
    assert signed["reasoningContent"]["reasoningText"] == {"text": "hm", "signature": "c2ln"}
    assert redacted["reasoningContent"] == {"redactedContent": "YWJj"}


def test_pieces_of_redacted_data_that_are_no_base64_are_an_error() -> None:
    pieces = [delta(0, reasoningContent={"redactedContent": piece}) for piece in ("YQ==", "?")]
    [*_, failed, _] = read(START, *pieces, stop(0), STOP, METADATA)
    assert isinstance(failed, ErrorEvent)


def test_what_bedrock_s_own_tools_do_is_no_call_and_goes_back(translate: Callable[..., Any]) -> None:
    use = {"toolUseId": "s", "name": "nova_code_interpreter", "type": "server_tool_use"}
    events = read(
        START,
        *(begin(0, toolUse=use), delta(0, toolUse={"input": '{"snippet": "1"}'}), stop(0)),
        *(
            begin(1, toolResult={"toolUseId": "s", "status": "success"}),
            delta(1, toolResult=[{"json": {"out": 1}}]),
            stop(1),
        ),
        *(begin(2, toolUse={"toolUseId": "c", "name": "f"}), delta(2, toolUse={"input": ""}), stop(2)),
        *(message("messageStop", {"stopReason": "tool_use"}), METADATA),
    )
    end = events[-1]
    assert isinstance(end, EndEvent)
    assert end.message is not None
    assert [made.id for made in end.message.tool_calls] == ["c"]
    prompt = [USER, msgspec.to_builtins(end.message), {"role": "tool_result", "tool_call_id": "c", "content": "7"}]
    content = translate(adapter(), prompt, tools=TOOLS)["messages"][1]["content"]
    assert content[0] == {"toolUse": {**use, "input": {"snippet": "1"}}}
    assert content[1] == {"toolResult": {"toolUseId": "s", "status": "success", "content": [{"json": {"out": 1}}]}}
    assert content[2] == {"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}


BROKEN: dict[str, tuple[tuple[bytes, ...], str]] = {
    "no messageStart": ((delta(0, text="hi"),), "contentBlockDelta in the state 'begun'; messageStart may come here"),
    "a block open at the end": ((START, delta(0, text="hi"), STOP), "messageStop before the block 0 stopped"),
    "an index that was there": ((START, stop(1), delta(0, text="a")), "begins with the index 0, after the index 1"),
    "two kinds in a block": (
        (START, delta(0, text="a"), delta(0, toolUse={"input": ""})),
        "toolUse in a block of text",
    ),
    "a call without its start": (
        (START, delta(0, toolUse={"input": ""}), stop(0)),
        "did not begin with contentBlockStart",
    ),
    "no stopReason": ((START, message("messageStop", {})), "messageStop has no stopReason"),
    "no delta": ((START, message("contentBlockDelta", {"contentBlockIndex": 0})), "contentBlockDelta has no delta"),
    "no index": ((START, message("contentBlockStop", {})), "has no contentBlockIndex"),
    "an early end": ((START, delta(0, text="a"), stop(0)), "it stopped before messageStop"),
    "no metadata": ((START, STOP), "it stopped before metadata"),
    "half a message at the end": ((START, STOP, METADATA, METADATA[:-1]), "it stopped before the end of an event"),
    "a wrong checksum": ((START, STOP[:-1] + b"!"), "the checksum of a message is wrong"),
    "a call that is missing": (
        (START, message("messageStop", {"stopReason": "tool_use"}), METADATA),
        "there are no calls",
    ),
}


@pytest.mark.parametrize(("events", "words"), BROKEN.values(), ids=BROKEN)
def test_a_stream_out_of_order_is_one_clear_error(events: tuple[bytes, ...], words: str) -> None:
    error, end = read(*events)[-2:]
    assert isinstance(error, ErrorEvent)
    assert words in str(error.error)
    assert isinstance(end, EndEvent)


def test_events_and_blocks_that_nobody_knows_are_passed_over() -> None:
    events = read(
        START,
        message("newEvent", {"a": 1}),
        delta(0, text="hi"),
        delta(0, citation={}),
        stop(0),
        stop(3),
        STOP,
        METADATA,
    )
    assert fold(events).message.content == "hi"


@pytest.mark.parametrize(
    ("code", "is_retryable"),
    [
        ("throttlingException", True),
        ("serviceUnavailableException", True),
        ("internalServerException", True),
        ("modelStreamErrorException", True),
        ("validationException", False),
    ],
)
def test_an_exception_in_the_stream_keeps_its_name(code: str, is_retryable: bool) -> None:  # noqa: FBT001 - a row
    events = read(START, delta(0, text="hi"), message(code, {"message": "Too many requests."}, "exception"))
    error = next(event.error for event in events if isinstance(event, ErrorEvent))
    assert isinstance(error, LLMProviderError)
    assert (error.provider_code, error.provider_message) == (code[0].upper() + code[1:], "Too many requests.")
    assert error.is_retryable is is_retryable


@pytest.mark.parametrize(
    ("status", "head", "body", "code", "is_retryable"),
    [
        (
            429,
            {"x-amzn-errortype": "ThrottlingException:http://internal/"},
            {"message": "m"},
            "ThrottlingException",
            True,
        ),
        (
            400,
            {},
            {"__type": "com.amazon.coral.service#ValidationException", "message": "m"},
            "ValidationException",
            False,
        ),
        (424, {"x-amzn-errortype": "ModelErrorException"}, {"message": "m"}, "ModelErrorException", False),
        (408, {"x-amzn-errortype": "ModelTimeoutException"}, {"message": "m"}, "ModelTimeoutException", True),
        (403, {"x-amzn-errortype": "AccessDeniedException"}, {"Message": "m"}, "AccessDeniedException", False),
    ],
)
def test_an_error_answer_has_the_name_of_its_exception(
    status: int,
    head: dict[str, str],
    body: Any,
    code: str,
    is_retryable: bool,  # noqa: FBT001 - a row
) -> None:
    error = adapter().read_error(ResponseHead(status, head), json.dumps(body).encode())
    assert (error.provider_code, error.provider_message, error.is_retryable) == (code, "m", is_retryable)


def test_options_are_checked_once() -> None:
    made = adapter()
    options = CallOptions(thread_id="t")
    assert made.prepare([USER], options).request.body == made.prepare([USER], options).request.body
