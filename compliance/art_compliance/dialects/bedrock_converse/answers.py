"""Writes Bedrock's answers, with the fields of answers recorded in 2026."""

from __future__ import annotations

import json
from typing import Any, Final

from art_compliance.dialects.base import Models
from art_compliance.dialects.bedrock_converse.access import NAMES
from art_compliance.dialects.writing import CannotWrite, arguments_of
from art_compliance.scenarios import WrittenAnswer
from art_sdk.messages import ToolCall

ESSENTIAL: Final = (
    "/output/message/content",
    "/stopReason",
    "/output/message/content/0/toolUse/name",
    "/output/message/content/0/toolUse/toolUseId",
)

_FINISH: Final = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
}
_SIGNATURE: Final = "d3JpdHRlbiwgbm90IHNpZ25lZA=="


def write_response(answer: WrittenAnswer) -> bytes:
    """An unstreamed answer. Raises CannotWrite for arguments that are not an object, and for calls without ids."""
    if answer.without_ids:
        raise CannotWrite("every call of a Bedrock message needs an id")
    body = {
        "metrics": {"latencyMs": 1},
        "output": {"message": {"content": _content(answer), "role": "assistant"}},
        "stopReason": _FINISH[answer.finish],
        "usage": _usage(answer),
    }
    return json.dumps(body, ensure_ascii=False).encode()


def _content(answer: WrittenAnswer) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    if answer.thinking:
        thought = {"text": answer.thinking, "signature": answer.signature or _SIGNATURE}
        content.append({"reasoningContent": {"reasoningText": thought}})
    if answer.content:
        content.append({"text": answer.content})
    return content + [_call(call) for call in answer.tool_calls]


def _call(call: ToolCall) -> dict[str, Any]:
    return {"toolUse": {"input": arguments_of(call), "name": call.function.name, "toolUseId": call.id}}


def _usage(answer: WrittenAnswer) -> dict[str, Any]:
    """`inputTokens` leaves out what came from a cache and what went into one."""
    read, written = answer.cached_tokens or 0, answer.cache_write_tokens or 0
    return {
        "inputTokens": answer.input_tokens - read - written,
        "outputTokens": answer.output_tokens,
        "totalTokens": answer.input_tokens + answer.output_tokens,
        "cacheReadInputTokens": read,
        "cacheWriteInputTokens": written,
    }


_EXCEPTIONS: Final = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}
"""By their statuses: `errors` of Converse in botocore 1.44."""

_CLOCK: Final = "Signature "


def name_error(status: int, message: str) -> str:
    """The name of the exception with this status and message; of other statuses, that of a class of them."""
    if message.startswith(_CLOCK):
        return "InvalidSignatureException"
    usual = "ValidationException" if status < 500 else "InternalServerException"
    return NAMES.get(message) or _EXCEPTIONS.get(status, usual)


def error_headers(status: int, message: str) -> tuple[tuple[str, str], ...]:
    """The header with the exception's name, which the body has not: recorded."""
    return (
        ("x-amzn-errortype", f"{name_error(status, message)}:http://internal.amazon.com/coral/com.amazon.bedrock/"),
    )


def write_error(status: int, message: str) -> bytes:
    """An error answer, in the form of recorded ones."""
    del status
    return json.dumps({"message": message}).encode()


def _describe_model(name: str) -> dict[str, Any]:
    """As `FoundationModelSummary` of `bedrock` in botocore 1.44, whose ListFoundationModels is at another host."""
    arn = f"arn:aws:bedrock:us-east-1::foundation-model/{name}"
    return {"modelArn": arn, "modelId": name, "modelName": name, "providerName": "written"}


def _gather_models(models: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    return {"modelSummaries": list(models)}


MODELS: Final = Models(
    names=("anthropic.claude-haiku-4-5-20251001-v1:0", "amazon.nova-lite-v1:0"),
    describe=_describe_model,
    gather=_gather_models,
    others=(
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "meta.llama3-1-8b-instruct-v1:0",
        "mistral.mistral-large-2402-v1:0",
        "cohere.command-r-v1:0",
        "us.deepseek.r1-v1:0",
        "openai.gpt-oss-120b-1:0",
    ),
)
