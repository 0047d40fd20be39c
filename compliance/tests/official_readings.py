"""Answers as each provider's official client reads them, and as our adapter does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from art_sdk import TokenEvent, fold
from official_calls import ASK_UNSTREAMED
from recorded_readings import read_answer, sum_of, thoughts_of, value_of
from recorded_traffic import Recorded, official, reader_of, replaying

REQUEST_ID_HEADERS = {
    "chat_completions": "x-request-id",
    "responses": "x-request-id",
    "anthropic_messages": "request-id",
    "bedrock_converse": "x-amzn-requestid",
}
"""Where the official client of the shape finds the request's id. Google's has no such place."""


class Call(NamedTuple):
    id: str | None
    name: str
    arguments: Any


class Facts(NamedTuple):
    """What an answer says, by our definitions: `input_tokens` and `output_tokens` are all that went in and came out.

    They include cached and thinking tokens. `total_tokens` is the provider's own sum.
    """

    text: str
    thinking: str
    calls: tuple[Call, ...]
    finish: str | None
    request_id: str | None
    input_tokens: int | None
    output_tokens: int | None
    thinking_tokens: int | None
    cached_tokens: int | None
    total_tokens: int | None


def our_reading(one: Recorded, headers: Mapping[str, str]) -> Facts:
    events = read_answer(reader_of(one), one.answer, headers=headers)
    completion = fold(events)
    message, metadata = completion.message, completion.metadata
    texts = [e.text for e in events if isinstance(e, TokenEvent) and e.token_type.endswith("RESPONSE")]
    assert "".join(texts) == (message.content or "")
    return Facts(
        text=message.content or "",
        thinking=completion.thinking,
        calls=tuple(
            Call(call.id, call.function.name, value_of(call.function.arguments)) for call in message.tool_calls
        ),
        finish=metadata.raw_stop_reason,
        request_id=metadata.request_id,
        input_tokens=metadata.input_tokens,
        output_tokens=metadata.output_tokens,
        thinking_tokens=metadata.thinking_tokens,
        cached_tokens=metadata.cached_tokens,
        total_tokens=sum_of(metadata.input_tokens, metadata.output_tokens),
    )


def official_reading(one: Recorded, headers: Mapping[str, str]) -> Facts:
    with replaying(one.answer, {"content-type": "application/json", **headers}, status=one.status) as http_client:
        return READINGS[one.shape](ASK_UNSTREAMED[one.shape](http_client))


def uncounted() -> Any:
    """The usage of a server that counts nothing."""
    return official("openai.types").CompletionUsage.model_construct(
        prompt_tokens=None, completion_tokens=None, total_tokens=None
    )


def text_of(content: Any) -> str:
    """Cloudflare answers with an object where it was asked for JSON."""
    return json.dumps(content, separators=(",", ":")) if isinstance(content, dict) else content or ""


def openai_reading(answer: Any) -> Facts:
    choice, usage = answer.choices[0], answer.usage or uncounted()
    message = choice.message or official("openai.types.chat").ChatCompletionMessage(
        role="assistant"
    )  # Azure filtered it
    extra = message.model_extra or {}  # the relatives' thinking, for which OpenAI's type has no field
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    thoughts = completion.reasoning_tokens if completion else None
    counted_beside = usage.total_tokens == sum_of(usage.prompt_tokens, usage.completion_tokens, thoughts)  # xAI
    return Facts(
        text=text_of(message.content) or message.refusal or "",
        thinking=extra.get("reasoning_content") or extra.get("reasoning") or "",
        calls=tuple(
            Call(call.id, call.function.name, value_of(call.function.arguments)) for call in message.tool_calls or ()
        )
        + function_call(message),
        finish=choice.finish_reason,
        request_id=answer._request_id or answer.id,  # noqa: SLF001 - public, in spite of its name
        input_tokens=usage.prompt_tokens,
        output_tokens=sum_of(usage.completion_tokens, thoughts) if counted_beside else usage.completion_tokens,
        thinking_tokens=thoughts,
        cached_tokens=prompt.cached_tokens if prompt else None,
        total_tokens=usage.total_tokens,
    )


def function_call(message: Any) -> tuple[Call, ...]:
    """The call in OpenAI's older field, which has no id: ours is numbered."""
    called = message.function_call
    return (Call("call_1", called.name, value_of(called.arguments)),) if called and called.name else ()


def responses_reading(answer: Any) -> Facts:
    usage, items = answer.usage, answer.output
    parts = [part for item in items if item.type == "message" for part in item.content]
    thoughts = [part.text for item in items if item.type == "reasoning" for part in thoughts_of(item)]
    calls = [item for item in items if item.type == "function_call"]
    return Facts(
        text="".join(part.text if part.type == "output_text" else part.refusal for part in parts),
        thinking="".join(thoughts),
        calls=tuple(Call(call.call_id, call.name, value_of(call.arguments)) for call in calls),
        finish=answer.incomplete_details.reason if answer.incomplete_details else answer.status,
        request_id=answer._request_id or answer.id,  # noqa: SLF001 - public, in spite of its name
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        thinking_tokens=usage.output_tokens_details.reasoning_tokens,
        cached_tokens=usage.input_tokens_details.cached_tokens,
        total_tokens=usage.total_tokens,
    )


def anthropic_reading(answer: Any) -> Facts:
    usage = answer.usage
    # Anthropic's input_tokens leave out what was read from the cache and what was written into it.
    taken = sum_of(usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
    return Facts(
        text="".join(block.text for block in answer.content if block.type == "text"),
        thinking="".join(block.thinking for block in answer.content if block.type == "thinking"),
        calls=tuple(Call(block.id, block.name, block.input) for block in answer.content if block.type == "tool_use"),
        finish=answer.stop_reason,
        request_id=answer._request_id or answer.id,  # noqa: SLF001 - public, in spite of its name
        input_tokens=taken,
        output_tokens=usage.output_tokens,
        thinking_tokens=usage.output_tokens_details.thinking_tokens if usage.output_tokens_details else None,
        cached_tokens=usage.cache_read_input_tokens,
        total_tokens=sum_of(taken, usage.output_tokens),  # it states no sum of its own
    )


def google_reading(answer: Any) -> Facts:
    candidate, usage = answer.candidates[0], answer.usage_metadata
    parts = candidate.content.parts
    return Facts(
        text="".join(part.text for part in parts if part.text and not part.thought),
        thinking="".join(part.text for part in parts if part.text and part.thought),
        calls=tuple(
            Call(part.function_call.id, part.function_call.name, part.function_call.args)
            for part in parts
            if part.function_call
        ),
        finish=candidate.finish_reason.value,
        request_id=answer.response_id,
        # Gemini counts what its own tools read beside the prompt's tokens, and thoughts beside the candidates'.
        input_tokens=sum_of(usage.prompt_token_count, usage.tool_use_prompt_token_count),
        output_tokens=sum_of(usage.candidates_token_count, usage.thoughts_token_count),
        thinking_tokens=usage.thoughts_token_count,
        cached_tokens=usage.cached_content_token_count,
        total_tokens=usage.total_token_count or sum_of(usage.candidates_token_count, usage.thoughts_token_count),
    )


def ollama_reading(answer: Any) -> Facts:
    calls = answer.message.tool_calls or ()
    return Facts(
        text=answer.message.content or "",
        thinking=answer.message.thinking or "",
        calls=tuple(Call(None, call.function.name, call.function.arguments) for call in calls),
        finish=answer.done_reason,
        request_id=None,
        input_tokens=answer.prompt_eval_count,
        output_tokens=answer.eval_count,
        thinking_tokens=None,
        cached_tokens=None,
        total_tokens=sum_of(answer.prompt_eval_count, answer.eval_count),  # it states no sum of its own
    )


BEDROCK_INPUT = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


def bedrock_reading(answer: Any) -> Facts:
    """Calls that Bedrock carries out itself are none of the caller's."""
    blocks, usage = answer["output"]["message"]["content"], answer["usage"]
    uses = [block["toolUse"] for block in blocks if "toolUse" in block]
    thoughts = [block["reasoningContent"]["reasoningText"]["text"] for block in blocks if "reasoningContent" in block]
    cited = [block.get("citationsContent", {"content": [block]})["content"] for block in blocks]
    return Facts(
        text="".join(part.get("text", "") for parts in cited for part in parts),
        thinking="".join(thoughts),
        calls=tuple(
            Call(use["toolUseId"], use["name"], use["input"]) for use in uses if use.get("type") != "server_tool_use"
        ),
        finish=answer["stopReason"],
        request_id=answer["ResponseMetadata"].get("RequestId"),
        input_tokens=sum(usage.get(name, 0) for name in BEDROCK_INPUT),
        output_tokens=usage["outputTokens"],
        thinking_tokens=None,
        cached_tokens=usage.get("cacheReadInputTokens"),
        total_tokens=usage["totalTokens"],
    )


def cohere_reading(answer: Any) -> Facts:
    message, tokens = answer.message, answer.usage.tokens
    said = message.content or ()
    thoughts = [message.tool_plan or "", *(part.thinking for part in said if part.type == "thinking")]
    return Facts(
        text="".join(part.text for part in said if part.type == "text"),
        thinking="".join(thoughts),
        calls=tuple(
            Call(call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()
        ),
        finish=answer.finish_reason,
        request_id=answer.id,
        input_tokens=tokens.input_tokens,
        output_tokens=tokens.output_tokens,
        thinking_tokens=None,
        cached_tokens=answer.usage.cached_tokens,
        total_tokens=tokens.input_tokens + tokens.output_tokens,  # it states no sum of its own
    )


READINGS: Mapping[str, Callable[[Any], Facts]] = {
    "chat_completions": openai_reading,
    "responses": responses_reading,
    "anthropic_messages": anthropic_reading,
    "gemini_generate": google_reading,
    "ollama_chat": ollama_reading,
    "bedrock_converse": bedrock_reading,
    "cohere_v2_chat": cohere_reading,
}
