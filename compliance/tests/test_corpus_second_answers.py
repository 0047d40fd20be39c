"""The second corpus: answers and requests that our adapters once got wrong.

A good answer is read without an error, by an adapter at the host that was recorded, and as the official client reads
it; a decoded request is built again with the same meaning. Every exception says what the recording shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import pytest

from art_compliance.checks.replay.recorded import read_recorded
from art_sdk import Completion, ErrorEvent, OpenAIAdapter, PromptTranslationFailed, ResponseHead, StreamEvent, fold
from official_calls import ASK_UNSTREAMED
from recorded_readings import INFO, ending, kind_of, value_of
from recorded_traffic import (
    DECLARED_REPAIRS,
    READERS_OF_STREAMS,
    SECOND_FOLDER,
    SHAPES,
    Recorded,
    open_reader,
    place_of,
    reader_of,
    rebuild,
    recorded_files,
    replaying,
)

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # recorded traffic says the same to every Python

ERRORS: Final[Mapping[str, tuple[str, str]]] = {
    "azure/error-on-200-3a66b809": ("The response was filtered", "the body is an error, of a prompt that was filtered"),
    "groq/error-on-200-9a175d06": ("Tool call validation failed", "an `event: error` ends the stream"),
    "openai/error-on-200-0a8a2761": (
        "the end mark in the state 'answering'",
        "a masked host: the chunks name Novita as their provider, and their ids begin with `gen-`, as OpenRouter's do",
    ),
    "openai/error-on-200-25b1d19e": ("the end mark in the state 'answering'", "the same masked host"),
}
"""What is read as an error: what it says, and why that is right."""

TWO_TURNS_OF_CALLS: Final = "two assistant messages in a row call tools; the format wants the results in between"
REFUSED: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic/rebuilt-9a57ab60": ("has no result before", TWO_TURNS_OF_CALLS),
    "anthropic/rebuilt-9ef568b5": ("has no result before", TWO_TURNS_OF_CALLS),
    "gemini/rebuilt-2ec29c30": ("has no result before", TWO_TURNS_OF_CALLS),
    "gemini/rebuilt-5bdcee70": ("has no result before", TWO_TURNS_OF_CALLS),
    "anthropic/refused-3a347e5b": ("is used twice", "the format wants an id once in a prompt: results refer to it"),
    "anthropic/refused-855f6b75": (
        "no earlier call has the id",
        "a result for no call, taken in 2024 by a model now gone",
    ),
    "ollama/refused-1d62ce52": ("has no result at the end", "a local engine; OpenAI wants a result for each call"),
    "mistral/rebuilt-7f70776f": (
        "tool_choice is only allowed with tools",
        "Mistral ignored it; adapters refuse what has no effect",
    ),
    "mistral/rebuilt-4c2f7f7f": ("it has no parts", "all that the message has is a document, which has no slot"),
    "openai/rebuilt-30e6e225": ("it has no parts", "all that the message has is a file, which has no slot"),
}
"""Which decoded requests our adapters refuse to build: the reason that they give, and why that is right."""

is_absent: Final = not SECOND_FOLDER.is_dir()
needs_second = pytest.mark.skipif(is_absent, reason=f"no recorded traffic: shared/{SECOND_FOLDER.name} is not there")


def good(shapes: Mapping[str, Any]) -> list[Recorded]:
    """The good answers of the shapes. Those of Claude at Bedrock have Anthropic's."""
    taken = [one for one in recorded_files(SECOND_FOLDER) if one.status == 200]
    at_bedrock = {"bedrock_invoke": "anthropic_messages"}
    named = [msgspec.structs.replace(one, shape=at_bedrock.get(one.shape, one.shape)) for one in taken]
    return [one for one in named if one.shape in shapes]


def cases(shapes: Mapping[str, Any]) -> Any:
    found: list[Any] = [pytest.param(None, marks=needs_second, id="absent")] if is_absent else []
    return pytest.mark.parametrize("one", found + [pytest.param(one, id=one.name) for one in good(shapes)])


def read(one: Recorded, answer: bytes) -> list[StreamEvent]:
    """The events, by an adapter whose `base_url` is that of the recorded host."""
    adapter = open_reader(reader_of(one), **place_of(one) if one.shape == "chat_completions" else {})
    if one.data is not None:
        return list(adapter.read_response(ResponseHead(200, {}), answer, INFO))
    reader = adapter.stream_reader(ResponseHead(200, kind_of(type(adapter))), INFO)
    return [*reader.feed(answer), *reader.close()]


def error_in(events: list[StreamEvent]) -> str | None:
    return next((event.error.message for event in events if isinstance(event, ErrorEvent)), None)


@cases(READERS_OF_STREAMS)
def test_a_good_answer_is_read_and_an_error_is_one(one: Recorded):
    message = error_in(read(one, one.answer))
    if one.name in ERRORS:
        assert message is not None
        assert ERRORS[one.name][0] in message
    else:
        assert message is None
        assert ending(read(one, one.answer)).message is not None


@pytest.mark.parametrize("name", [name for name, (_, why) in ERRORS.items() if "masked" in why])
@needs_second
def test_a_stream_of_a_masked_host_is_whole_at_the_host_that_sent_it(name: str):
    [one] = [one for one in good(READERS_OF_STREAMS) if one.name == name]
    reader = OpenAIAdapter(api_key="no-key", base_url="https://openrouter.ai/api/v1").stream_reader(
        ResponseHead(200, kind_of(OpenAIAdapter)), INFO
    )
    completion = fold([*reader.feed(one.answer), *reader.close()])
    assert [call.function.name for call in completion.message.tool_calls] == ["llm_version"]
    assert completion.metadata.raw_stop_reason is None


@cases(READERS_OF_STREAMS)
def test_a_stream_that_is_cut_before_its_end_is_an_error(one: Recorded):
    if one.data is not None or one.name in ERRORS:
        return
    ends = (b'"finish_reason":"', b"[DONE]", b"message_stop", b'"finishReason"')
    last = next(at for at, frame in enumerate(one.frames) if any(end in frame for end in ends))
    for at in range(last + 1):
        cut = b"".join(one.frames[:at]) + one.frames[at][: len(one.frames[at]) // 2]
        assert error_in(read(one, cut)) is not None, at


def read_by_official(one: Recorded) -> Any:
    with replaying(one.answer, {"content-type": "application/json"}) as http_client:
        return ASK_UNSTREAMED[one.shape](http_client)


def calls_of(completion: Completion) -> list[tuple[str, Any]]:
    called = [call.function for call in completion.message.tool_calls]
    return [(function.name, value_of(function.arguments)) for function in called]


@cases({"chat_completions": None})
def test_a_whole_answer_says_what_the_official_client_reads(one: Recorded):
    if one.data is None or one.name in ERRORS:
        return
    message, completion = read_by_official(one).choices[0].message, fold(read(one, one.answer))
    if isinstance(message.content, str | None):  # the client passes on what its types do not have
        assert (completion.message.content or "") == (message.content or "")
    older = [message.function_call] if message.function_call else []
    called = [*older, *(call.function for call in message.tool_calls or () if call.type == "function")]
    assert calls_of(completion) == [(function.name, value_of(function.arguments)) for function in called]


@cases(SHAPES)
def test_the_judge_of_replays_reads_an_answer_as_our_adapter_does(one: Recorded):
    if one.name in ERRORS:
        return
    completion, recorded = fold(read(one, one.answer)), read_recorded(one.spoken, one.answer)
    assert "".join(recorded.texts.values()) == (completion.message.content or "")
    assert [(call.name, call.value) for call in recorded.calls.values()] == calls_of(completion)


@cases(SHAPES)
def test_a_decoded_request_is_built_again_with_the_same_meaning(one: Recorded):
    if one.name in REFUSED:
        with pytest.raises(PromptTranslationFailed, match=REFUSED[one.name][0]):
            rebuild(one)
        return
    rebuilt = rebuild(one)
    assert rebuilt.compared.differences == ()
    assert rebuilt.compared.repairs <= DECLARED_REPAIRS[one.dialect]


@needs_second
def test_every_exception_is_about_a_recording():
    assert {*ERRORS, *REFUSED} <= {one.name for one in good(READERS_OF_STREAMS)}
    assert len(good(READERS_OF_STREAMS)) >= 65
