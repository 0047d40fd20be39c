"""Recorded streams are read as the official clients read them, however their bytes are cut.

Each official client runs whole, over a transport that answers with the recorded bytes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from art_compliance.cassettes.corpus import Found
from art_compliance.checks.replay.recorded import read_recorded
from art_compliance.dialects.aws_events import is_messages
from art_sdk import (
    EndEvent,
    ErrorEvent,
    LLMProviderError,
    TokenEvent,
    ToolCallEvent,
    fold,
)
from official_calls import cohere_client, converse_client, ollama_client
from recorded_readings import (
    ending,
    has_error,
    kind_of,
    read_stream,
    recorded_streams,
    shown,
    sum_of,
    thoughts_of,
    value_of,
)
from recorded_traffic import (
    Recorded,
    accepted_in_packages,
    needs_traffic,
    official,
    params,
    reader_of,
    replaying,
)

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # recorded traffic says the same to every Python

EVERY = pytest.mark.parametrize("one", params(recorded_streams()))


GOOD = pytest.mark.parametrize("one", params(one for one in recorded_streams() if not has_error(one)))


@needs_traffic
def test_the_corpus_has_no_fewer_streams_than_before() -> None:
    shapes = [one.shape for one in recorded_streams()]
    assert {shape: shapes.count(shape) >= least for shape, least in LEAST.items()} == dict.fromkeys(LEAST, True)
    assert sum(has_error(one) for one in recorded_streams()) >= 2


LEAST = {
    "chat_completions": 25,
    "responses": 9,
    "anthropic_messages": 7,
    "gemini_generate": 9,
    "vertex_raw": 1,
    "ollama_chat": 2,
    "bedrock_converse": 3,
    "cohere_v2_chat": 2,
}


class Facts(NamedTuple):
    """What a stream says, by our definitions."""

    text: str
    thinking: str
    calls: tuple[tuple[str | None, str, Any], ...]
    finish: str | None
    input_tokens: int | None
    output_tokens: int | None


def our_reading(one: Recorded) -> Facts:
    events = read_stream(reader_of(one), [one.answer])
    completion = fold(events)
    message, metadata = completion.message, completion.metadata
    tokens = [event.text for event in events if isinstance(event, TokenEvent) and event.token_type.endswith("RESPONSE")]
    assert "".join(tokens) == (message.content or "")
    assert tuple(event.call for event in events if isinstance(event, ToolCallEvent)) == message.tool_calls
    calls = tuple((call.id, call.function.name, value_of(call.function.arguments)) for call in message.tool_calls)
    counts = metadata.input_tokens, metadata.output_tokens
    return Facts(message.content or "", completion.thinking, calls, metadata.raw_stop_reason, *counts)


def wire(one: Recorded) -> Any:
    return replaying(one.answer, kind_of(reader_of(one)))


def ask_openai(http_client: Any) -> Facts:
    client = official("openai").OpenAI(api_key="no-key", http_client=http_client, max_retries=0)
    text, thinking, finish, usage = "", "", None, None
    calls: list[list[str]] = []
    begun: dict[int, list[str]] = {}
    for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
        usage = chunk.usage or groq_usage(chunk) or usage
        for choice in (choice for choice in chunk.choices if choice.index == 0):
            delta, more = choice.delta, choice.delta.model_extra
            text += delta.content or delta.refusal or ""
            thinking += more.get("reasoning_content") or more.get("reasoning") or ""
            finish = choice.finish_reason or finish
            for call in delta.tool_calls or ():
                if call.id and (call.index not in begun or begun[call.index][0] != call.id):  # Mistral: each is 0
                    begun[call.index] = [call.id, call.function.name, ""]
                    calls.append(begun[call.index])
                begun[call.index][2] += call.function.arguments or ""
    facts = tuple((call_id, name, value_of(arguments)) for call_id, name, arguments in calls)
    return Facts(text, thinking, facts, finish, *counts_of(usage))


def groq_usage(chunk: Any) -> Any:
    """Groq counts in its own field, which OpenAI's client keeps as it came."""
    facts = (chunk.model_extra.get("x_groq") or {}).get("usage")
    return None if facts is None else official("openai.types").CompletionUsage.model_validate(facts)


def counts_of(usage: Any) -> tuple[int | None, int | None]:
    """What went in and what came out. OpenAI counts a stream only on request."""
    if usage is None:
        return None, None
    thoughts = usage.completion_tokens_details.reasoning_tokens if usage.completion_tokens_details else 0
    beside = usage.total_tokens == usage.prompt_tokens + usage.completion_tokens + (thoughts or 0)  # xAI
    return usage.prompt_tokens, usage.completion_tokens + (thoughts or 0) * beside


def ask_anthropic(http_client: Any) -> Facts:
    client = official("anthropic").Anthropic(api_key="no-key", http_client=http_client, max_retries=0)
    with client.messages.stream(model="m", messages=[], max_tokens=1) as stream:
        message = stream.get_final_message()
    usage = message.usage
    taken = usage.input_tokens + (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return Facts(
        "".join(block.text for block in message.content if block.type == "text"),
        "".join(block.thinking for block in message.content if block.type == "thinking"),
        tuple((block.id, block.name, block.input) for block in message.content if block.type == "tool_use"),
        message.stop_reason,
        taken,
        usage.output_tokens,
    )


def ask_ollama(http_client: Any) -> Facts:
    chunks = list(ollama_client(http_client).chat(model="m", stream=True))
    last = chunks[-1]
    calls = [call.function for chunk in chunks for call in chunk.message.tool_calls or ()]
    return Facts(
        "".join(chunk.message.content or "" for chunk in chunks),
        "".join(chunk.message.thinking or "" for chunk in chunks),
        tuple((f"call_{number}", call.name, call.arguments) for number, call in enumerate(calls, 1)),
        last.done_reason,
        last.prompt_eval_count,
        last.eval_count,
    )


def ask_responses(http_client: Any) -> Facts:
    """By the client's own state machine, which is strict about the order of events."""
    client = official("openai").OpenAI(api_key="no-key", http_client=http_client, max_retries=0)
    with client.responses.stream(model="m", input=[]) as stream:
        *_, last = stream
    answer = last.response  # of an answer that is incomplete, too
    parts = [part for item in answer.output if item.type == "message" for part in item.content]
    calls = [item for item in answer.output if item.type == "function_call"]
    return Facts(
        "".join(part.text if part.type == "output_text" else part.refusal for part in parts),
        "".join(part.text for item in answer.output if item.type == "reasoning" for part in thoughts_of(item)),
        tuple((call.call_id, call.name, value_of(call.arguments)) for call in calls),
        answer.incomplete_details.reason if answer.incomplete_details else answer.status,
        answer.usage.input_tokens,
        answer.usage.output_tokens,
    )


def ask_google(http_client: Any) -> Facts:
    genai = official("google.genai")
    client = genai.Client(api_key="no-key", http_options=genai.types.HttpOptions(httpx_client=http_client))
    chunks = list(client.models.generate_content_stream(model="m", contents="hello"))
    parts = [part for chunk in chunks for part in (chunk.candidates[0].content.parts or ())]
    usage = chunks[-1].usage_metadata
    calls = [part.function_call for part in parts if part.function_call]
    return Facts(
        "".join(part.text for part in parts if part.text and not part.thought),
        "".join(part.text for part in parts if part.text and part.thought),
        tuple((call.id or f"call_{number}", call.name, call.args) for number, call in enumerate(calls, 1)),
        chunks[-1].candidates[0].finish_reason.value,
        sum_of(usage.prompt_token_count, usage.tool_use_prompt_token_count),
        sum_of(usage.candidates_token_count, usage.thoughts_token_count),
    )


def ask_bedrock(http_client: Any) -> Facts:
    text, thinking, finish, usage, calls = "", "", None, {}, {}
    for event in converse_client(http_client).converse_stream(modelId="m", messages=[])["stream"]:
        finish = event.get("messageStop", {}).get("stopReason", finish)
        usage = event.get("metadata", {}).get("usage", usage)
        at = event.get("contentBlockStart") or event.get("contentBlockDelta") or {}
        if "start" in at:
            calls[at["contentBlockIndex"]] = [at["start"]["toolUse"]["toolUseId"], at["start"]["toolUse"]["name"], ""]
        delta = at.get("delta", {})
        text += delta.get("text", "")
        thinking += delta.get("reasoningContent", {}).get("text", "")
        if "toolUse" in delta:
            calls[at["contentBlockIndex"]][2] += delta["toolUse"]["input"]
    facts = tuple((call_id, name, value_of(arguments)) for call_id, name, arguments in calls.values())
    taken = sum(usage.get(name, 0) for name in ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"))
    return Facts(text, thinking, facts, finish, taken, usage["outputTokens"])


def ask_cohere(http_client: Any) -> Facts:
    text, thinking, finish, tokens, calls = "", "", None, None, {}
    for event in cohere_client(http_client).chat_stream(model="m", messages=[]):
        match event.type:
            case "content-delta":
                content = event.delta.message.content
                text, thinking = text + (content.text or ""), thinking + (content.thinking or "")
            case "tool-plan-delta":
                thinking += event.delta.message.tool_plan
            case "tool-call-start":
                begun = event.delta.message.tool_calls
                calls[event.index] = [begun.id, begun.function.name, begun.function.arguments]
            case "tool-call-delta":
                calls[event.index][2] += event.delta.message.tool_calls.function.arguments
            case "message-end":
                finish, tokens = event.delta.finish_reason, event.delta.usage.tokens
            case _:
                pass
    facts = tuple((call_id, name, value_of(arguments or "{}")) for call_id, name, arguments in calls.values())
    return Facts(text, thinking, facts, finish, tokens.input_tokens, tokens.output_tokens)


ASK: Mapping[str, Callable[[Any], Facts]] = {
    "chat_completions": ask_openai,
    "responses": ask_responses,
    "anthropic_messages": ask_anthropic,
    "vertex_raw": ask_anthropic,
    "gemini_generate": ask_google,
    "ollama_chat": ask_ollama,
    "bedrock_converse": ask_bedrock,
    "cohere_v2_chat": ask_cohere,
}


@GOOD
def test_a_stream_is_read_as_the_official_client_reads_it(one: Recorded) -> None:
    with wire(one) as http_client:
        theirs = ASK[one.shape](http_client)
    assert theirs.text or theirs.calls or one.name == "anthropic/anthropic-messages_stream_01"
    assert our_reading(one) == theirs


@pytest.mark.parametrize("one", params(filter(has_error, recorded_streams())))
def test_an_error_in_a_stream_is_what_the_official_client_raises(one: Recorded) -> None:
    with wire(one) as http_client, pytest.raises(official("openai").APIError) as raised:
        ask_openai(http_client)
    *_, failed, end = read_stream(reader_of(one), [one.answer])
    assert isinstance(failed, ErrorEvent)
    assert isinstance(failed.error, LLMProviderError)
    assert failed.error.provider_message == raised.value.message
    assert isinstance(end, EndEvent)
    assert end.finish == "error"


@EVERY
def test_however_the_bytes_are_cut_the_events_are_the_same(one: Recorded) -> None:
    wanted = shown(read_stream(reader_of(one), [one.answer]))
    assert shown(read_stream(reader_of(one), [one.answer[at : at + 1] for at in range(len(one.answer))])) == wanted
    chance = random.Random(one.name)
    for _ in range(5):
        at = [0, *sorted(chance.choices(range(len(one.answer)), k=40)), len(one.answer)]
        assert shown(read_stream(reader_of(one), [one.answer[a:b] for a, b in pairwise(at)])) == wanted


STREAMED = {
    "chatlas": 261,
    "crewai": 43,
    "langchain-anthropic": 21,
    "langchain-aws": 8,
    "langchain-openai": 3,
    "langsmith": 89,
    "magentic": 165,
    "mirascope": 439,
    "openinference-instrumentation-google-genai": 9,
    "opentelemetry-instrumentation-anthropic": 37,
    "opentelemetry-instrumentation-bedrock": 12,
    "opentelemetry-instrumentation-botocore": 14,
    "opentelemetry-instrumentation-cohere": 4,
    "opentelemetry-instrumentation-groq": 3,
    "opentelemetry-instrumentation-langchain": 44,
    "opentelemetry-instrumentation-mistralai": 6,
    "opentelemetry-instrumentation-ollama": 6,
    "opentelemetry-instrumentation-openai": 95,
    "opentelemetry-instrumentation-openai-agents": 15,
    "opentelemetry-instrumentation-openai-v2": 13,
}
"""How many streamed good answers in our dialects a package has."""


def packaged_streams(packaged: tuple[Found, ...]) -> list[Recorded]:
    """Without those of Anthropic's models at Bedrock, whose events are wrapped: no adapter here calls them."""
    found = [one for one in accepted_in_packages(packaged) if one.data is None]
    return [one for one in found if one.shape == "bedrock_converse" or not is_messages(one.answer)]


SILENT = re.compile(r".*/(test_anthropic_empty_response|openai_gpt_5_mini_completions/(async_)?stream)-0")
"""Streams of answers without text and calls."""


def test_a_package_has_as_many_streams_as_before(packaged: tuple[Found, ...]) -> None:
    assert len(packaged_streams(packaged)) == STREAMED.get(packaged[0].package, 0)


def test_a_stream_that_others_recorded_is_read_as_the_official_client_reads_it(packaged: tuple[Found, ...]) -> None:
    differ: dict[str, Any] = {}
    for one in packaged_streams(packaged):
        with wire(one) as http_client:
            theirs = ASK[one.shape](http_client)
        ours = our_reading(one)
        assert theirs.text or theirs.calls or SILENT.fullmatch(one.name), one.name
        if ours != theirs:
            differ[one.name] = ours, theirs
    assert differ == {}


def test_a_stream_that_others_recorded_is_read_the_same_however_it_is_cut(packaged: tuple[Found, ...]) -> None:
    for one in packaged_streams(packaged):
        wanted = shown(read_stream(reader_of(one), [one.answer]))
        assert (
            shown(read_stream(reader_of(one), [one.answer[at : at + 1] for at in range(len(one.answer))])) == wanted
        ), one.name


def test_a_stream_that_others_recorded_is_an_error_where_it_is_cut_short(packaged: tuple[Found, ...]) -> None:
    for one in packaged_streams(packaged):
        for tenth in range(10):
            cut = one.answer[: len(one.answer) * tenth // 10]
            assert ending(read_stream(reader_of(one), [cut])).finish == "error", (one.name, tenth)


def test_the_judge_of_replays_reads_a_stream_as_our_adapter_does(packaged: tuple[Found, ...]) -> None:
    for one in packaged_streams(packaged):
        ours, facts = our_reading(one), read_recorded(one.spoken, one.answer)
        assert "".join(facts.texts.values()) == ours.text, one.name
        wanted = [(name, arguments or {}) for _, name, arguments in ours.calls]
        assert [(call.name, call.value) for call in facts.calls.values()] == wanted, one.name
        assert tuple(facts.counts.values()) == (ours.input_tokens or 0, ours.output_tokens or 0), one.name
