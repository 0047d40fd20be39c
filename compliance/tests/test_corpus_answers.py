"""The readers' exam: what real providers answered is read as the official clients read it, and what breaks is seen.

Each official client is run whole, over a transport that answers with the recorded bytes. Every
difference between its reading and ours falls under one of the reasons below, or is a failure.
A new adapter is one line in recorded_traffic.py.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from art_compliance.cassettes.corpus import Found
from art_compliance.checks.replay.recorded import read_recorded
from art_sdk import (
    CallInfo,
    EndEvent,
    ErrorEvent,
    LLMProviderError,
    MetadataEvent,
    ResponseHead,
    StreamEvent,
    TokenEvent,
    fold,
)
from art_sdk.adapters.failures import RETRYABLE_STATUSES
from art_sdk.stream import follow
from recorded_traffic import (
    READERS,
    Recorded,
    accepted,
    accepted_elsewhere,
    listed_refusals,
    needs_traffic,
    official,
    params,
    recorded_files,
    replaying,
)

REQUEST_ID_HEADERS = {"chat_completions": "x-request-id", "anthropic_messages": "request-id"}
"""Where the official client of the shape finds the request's id. Google's has no such place."""


# What was recorded.


def recorded_errors() -> list[Recorded]:
    """The errors of the files, and those of the list, which has more."""
    return [one for one in recorded_files() if one.status >= 400 and one.data is not None] + list(listed_refusals())


def whole_answers(shapes: Iterable[str] = READERS) -> list[Recorded]:
    """The unstreamed good answers of the shapes, of every provider that speaks them."""
    return [one for one in accepted() if one.shape in shapes and one.data is not None and not one.has_numbers_for_enums]


each = pytest.mark.parametrize("one", params(whole_answers()))


# One answer, as we read it and as its official client does.


class Call(NamedTuple):
    id: str | None
    name: str
    arguments: Any


class Told(NamedTuple):
    """What an answer tells, by our definitions: `input_tokens` and `output_tokens` are all that went in and came out.

    Cached and thinking tokens are parts of these. `total_tokens` is the provider's own sum.
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


def json_value(text: str) -> Any:
    """A call's arguments as JSON value, or the text itself where it was cut short."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def sum_of(*counts: int | None) -> int | None:
    """None where nothing is counted, which is not the same as nothing."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


INFO = CallInfo(thread_id="t", trace_id="r", model="m")


def read(shape: str, body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> list[StreamEvent]:
    adapter = READERS[shape](api_key="no-key")
    return list(adapter.read_response(ResponseHead(status, headers or {}), body, INFO))


def our_reading(one: Recorded, headers: Mapping[str, str]) -> Told:
    events = read(one.shape, one.answer, headers=headers)
    completion = fold(events)
    message, metadata = completion.message, completion.metadata
    texts = [e.text for e in events if isinstance(e, TokenEvent) and e.token_type.endswith("RESPONSE")]
    assert "".join(texts) == (message.content or "")
    return Told(
        text=message.content or "",
        thinking=completion.thinking,
        calls=tuple(
            Call(call.id, call.function.name, json_value(call.function.arguments)) for call in message.tool_calls
        ),
        finish=metadata.raw_stop_reason,
        request_id=metadata.request_id,
        input_tokens=metadata.input_tokens,
        output_tokens=metadata.output_tokens,
        thinking_tokens=metadata.thinking_tokens,
        cached_tokens=metadata.cached_tokens,
        total_tokens=sum_of(metadata.input_tokens, metadata.output_tokens),
    )


def wire(one: Recorded, headers: Mapping[str, str]) -> Any:
    return replaying(one.answer, {"content-type": "application/json", **headers}, status=one.status)


def ask_openai(http_client: Any) -> Any:
    client = official("openai").OpenAI(api_key="no-key", http_client=http_client, max_retries=0)
    return client.chat.completions.create(model="m", messages=[])


def ask_anthropic(http_client: Any) -> Any:
    client = official("anthropic").Anthropic(api_key="no-key", http_client=http_client, max_retries=0)
    return client.messages.create(model="m", messages=[], max_tokens=1)


def ask_google(http_client: Any) -> Any:
    genai = official("google.genai")
    options = genai.types.HttpOptions(httpx_client=http_client)
    return genai.Client(api_key="no-key", http_options=options).models.generate_content(model="m", contents="hello")


ASK: Mapping[str, Callable[[Any], Any]] = {
    "chat_completions": ask_openai,
    "anthropic_messages": ask_anthropic,
    "gemini_generate": ask_google,
}


def openai_reading(answer: Any) -> Told:
    choice, usage = answer.choices[0], answer.usage
    message = choice.message or official("openai.types.chat").ChatCompletionMessage(
        role="assistant"
    )  # Azure filtered it
    extra = message.model_extra or {}  # the relatives' thinking, for which OpenAI's type has no field
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    thoughts = completion.reasoning_tokens if completion else None
    counted_beside = usage.total_tokens == sum_of(usage.prompt_tokens, usage.completion_tokens, thoughts)  # xAI
    return Told(
        text=message.content or message.refusal or "",
        thinking=extra.get("reasoning_content") or extra.get("reasoning") or "",
        calls=tuple(
            Call(call.id, call.function.name, json_value(call.function.arguments)) for call in message.tool_calls or ()
        ),
        finish=choice.finish_reason,
        request_id=answer._request_id or answer.id,
        input_tokens=usage.prompt_tokens,
        output_tokens=sum_of(usage.completion_tokens, thoughts) if counted_beside else usage.completion_tokens,
        thinking_tokens=thoughts,
        cached_tokens=prompt.cached_tokens if prompt else None,
        total_tokens=usage.total_tokens,
    )


def anthropic_reading(answer: Any) -> Told:
    usage = answer.usage
    # Anthropic's input_tokens leave out what was read from the cache and what was written into it.
    taken = sum_of(usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
    return Told(
        text="".join(block.text for block in answer.content if block.type == "text"),
        thinking="".join(block.thinking for block in answer.content if block.type == "thinking"),
        calls=tuple(Call(block.id, block.name, block.input) for block in answer.content if block.type == "tool_use"),
        finish=answer.stop_reason,
        request_id=answer._request_id or answer.id,
        input_tokens=taken,
        output_tokens=usage.output_tokens,
        thinking_tokens=usage.output_tokens_details.thinking_tokens if usage.output_tokens_details else None,
        cached_tokens=usage.cache_read_input_tokens,
        total_tokens=sum_of(taken, usage.output_tokens),  # it states no sum of its own
    )


def google_reading(answer: Any) -> Told:
    candidate, usage = answer.candidates[0], answer.usage_metadata
    parts = candidate.content.parts
    return Told(
        text="".join(part.text for part in parts if part.text and not part.thought),
        thinking="".join(part.text for part in parts if part.text and part.thought),
        calls=tuple(
            Call(part.function_call.id, part.function_call.name, part.function_call.args)
            for part in parts
            if part.function_call
        ),
        finish=candidate.finish_reason.value,
        request_id=answer.response_id,
        input_tokens=usage.prompt_token_count,
        # Gemini counts thoughts beside the candidates' tokens.
        output_tokens=sum_of(usage.candidates_token_count, usage.thoughts_token_count),
        thinking_tokens=usage.thoughts_token_count,
        cached_tokens=usage.cached_content_token_count,
        total_tokens=usage.total_token_count,
    )


READINGS: Mapping[str, Callable[[Any], Told]] = {
    "chat_completions": openai_reading,
    "anthropic_messages": anthropic_reading,
    "gemini_generate": google_reading,
}


def official_reading(one: Recorded, headers: Mapping[str, str]) -> Told:
    with wire(one, headers) as http_client:
        return READINGS[one.shape](ASK[one.shape](http_client))


# Where the two readings may differ.


def only_ids_were_given(ours: Any, theirs: Any) -> bool:
    """Gemini sends calls without ids; ours are numbered, so that results find their calls."""
    return all(call.id is None for call in theirs) and ours == tuple(
        call._replace(id=f"call_{number}") for number, call in enumerate(theirs, 1)
    )


REASONS: Mapping[tuple[str, str], Callable[[Any, Any], bool]] = {
    ("gemini_generate", "calls"): only_ids_were_given,
}
"""By shape and field, the difference that is meant. Nothing else may differ."""


def differences(one: Recorded, headers: Mapping[str, str]) -> dict[str, tuple[Any, Any]]:
    ours, theirs = our_reading(one, headers)._asdict(), official_reading(one, headers)._asdict()
    return {field: (ours[field], theirs[field]) for field in Told._fields if ours[field] != theirs[field]}


@each
def test_an_answer_is_read_as_the_official_client_reads_it(one: Recorded):
    unexplained = {
        field: pair
        for field, pair in differences(one, {}).items()
        if not REASONS.get((one.shape, field), lambda *_: False)(*pair)
    }
    assert unexplained == {}


@each
def test_the_header_names_the_request_before_the_body_does(one: Recorded):
    header = REQUEST_ID_HEADERS.get(one.shape)
    headers = {header: "the-request"} if header else {}
    told = our_reading(one, headers)
    assert told.request_id == official_reading(one, headers).request_id
    assert (told.request_id == "the-request") is bool(headers)


@each
def test_an_answer_ends_with_tool_calls_where_it_has_calls_and_nowhere_else(one: Recorded):
    end = read(one.shape, one.answer)[-1]
    assert isinstance(end, EndEvent)
    assert end.message is not None
    assert (end.finish == "tool_calls") is bool(end.message.tool_calls)


@needs_traffic
@pytest.mark.parametrize("shape", READERS)
def test_every_reason_for_a_difference_is_needed(shape: str):
    found = {(shape, field) for one in whole_answers([shape]) for field in differences(one, {})}
    assert found == {reason for reason in REASONS if reason[0] == shape}


@each
def test_the_judge_is_not_blind(one: Recorded):
    told = official_reading(one, {})
    assert told.text or told.calls or told.finish == "length" or one.data.get("content") == []
    assert told.input_tokens
    assert told.output_tokens


@needs_traffic
def test_an_answer_with_enums_as_numbers_is_an_error():
    chosen = [one for one in accepted() if one.has_numbers_for_enums]
    assert [ending(read(one.shape, one.answer)).finish for one in chosen] == ["error"]


@needs_traffic
def test_the_corpus_holds_what_it_held():
    assert len(whole_answers()) >= 61
    assert len(recorded_errors()) >= 156


# What others recorded and publish in their source distributions.


READ_OTHERWISE: Mapping[str, Callable[[Any], bool]] = {
    "Azure filtered the prompt: its error has the status 200": lambda data: "choices" not in data,
    "a function_call, which is not asked for since there are tools": lambda data: (
        data["choices"][0]["finish_reason"] == "function_call"
    ),
}
"""Chat completions that are told as an error, and why. The first that fits counts."""


def packaged_answers(packaged: tuple[Found, ...]) -> list[Recorded]:
    """The unstreamed good answers."""
    return [one for one in accepted_elsewhere(packaged) if one.data is not None]


def test_an_answer_that_others_recorded_is_read_as_the_official_client_reads_it(packaged: tuple[Found, ...]):
    unexplained: dict[str, Any] = {}
    for one in packaged_answers(packaged):
        if one.shape == "chat_completions" and any(fits(one.data) for fits in READ_OTHERWISE.values()):
            assert isinstance(read(one.shape, one.answer)[0], ErrorEvent), one.name
            continue
        told = differences(one, {})
        wrong = {field: pair for field, pair in told.items() if not REASONS.get((one.shape, field), never)(*pair)}
        if wrong:
            unexplained[one.name] = wrong
    assert unexplained == {}


def test_the_judge_of_replays_reads_an_answer_as_our_adapter_does(packaged: tuple[Found, ...]):
    for one in packaged_answers(packaged):
        if one.shape == "chat_completions" and any(fits(one.data) for fits in READ_OTHERWISE.values()):
            continue
        ours, told = our_reading(one, {}), read_recorded(one.dialect, one.answer)
        assert "".join(told.texts.values()) == ours.text, one.name
        assert [(call.name, call.value) for call in told.calls.values()] == [call[1:] for call in ours.calls], one.name
        assert tuple(told.counts.values()) == (ours.input_tokens or 0, ours.output_tokens or 0), one.name


def never(*_: object) -> bool:
    return False


# What providers say when they refuse.


def spoken(data: Any) -> tuple[str | None, str]:
    """Code and message of an error, read by the shapes that were recorded. A new shape is a failure."""
    match data:
        case {"error": {"message": str(message), "status": str(code)}}:  # Gemini, Vertex
            said = code, message
        case {"error": {"message": str(message), "code": str(code)}}:  # OpenAI and most relatives
            said = code, message
        case {"error": {"message": str(message), "type": str(code)}}:  # Anthropic; Ollama, Perplexity
            said = code, message
        case {"error": {"message": str(message), "code": int(code)}}:  # OpenRouter
            said = str(code), message
        case {"error": str(message), "code": str(code)}:  # xAI
            said = code, message
        case {"error": str(message)}:  # Ollama
            said = None, message
        case {"message": str(message), "error_type": str(code)}:  # Cohere
            said = code, message
        case {"message": str(message)}:  # Bedrock, whose code is a header; Cohere
            said = None, message
        case {"detail": str(message)}:  # Mistral, Voyage
            said = None, message
        case _:
            pytest.fail(f"an error of a shape that this reading does not know: {data}")
    return said


def failures(one: Recorded) -> Iterator[LLMProviderError]:
    """The error as each adapter reads it: the reader is shared."""
    headers = {} if one.retry_after is None else {"retry-after": one.retry_after}
    for shape in READERS:
        first, last = read(shape, one.answer, status=one.status, headers=headers)
        assert isinstance(first, ErrorEvent)
        assert isinstance(last, EndEvent)
        assert (last.message, last.finish) == (None, "error")
        assert isinstance(first.error, LLMProviderError)
        yield first.error


@pytest.mark.parametrize("one", params(recorded_errors()))
def test_an_error_is_read_with_its_provider_s_own_words(one: Recorded):
    code, message = spoken(one.data)
    assert message
    for error in failures(one):
        assert error.code == "LLM_PROVIDER_ERROR"
        assert (error.status, error.provider_code, error.provider_message) == (one.status, code, message)
        assert error.is_retryable is (one.status in RETRYABLE_STATUSES)
        assert error.retry_after == (None if one.retry_after is None else float(one.retry_after))
        assert message in str(error)
        assert error.raw_body == one.answer[:4096]


def openai_words(error: Any) -> tuple[int, str | None, str | None]:
    words = error.body
    return error.status_code, words.get("code") or words.get("type"), words.get("message")


def anthropic_words(error: Any) -> tuple[int, str | None, str | None]:
    words = error.body["error"]
    return error.status_code, words["type"], words["message"]


def google_words(error: Any) -> tuple[int, str | None, str | None]:
    return error.code, error.status, error.message


WORDS: Mapping[str, tuple[str, str, Callable[[Any], tuple[int, str | None, str | None]]]] = {
    "chat_completions": ("openai", "APIStatusError", openai_words),
    "anthropic_messages": ("anthropic", "APIStatusError", anthropic_words),
    "gemini_generate": ("google.genai.errors", "APIError", google_words),
}
"""By shape, the error that the official client raises, and what it says."""


def is_of_the_client_s_own_provider(one: Recorded) -> bool:
    """The relatives' words stand elsewhere, where the official client does not look."""
    return one.provider in {"openai", "azure", "anthropic", "gemini", "vertex"}


@pytest.mark.parametrize(
    "one", params(one for one in recorded_errors() if one.shape in WORDS and is_of_the_client_s_own_provider(one))
)
def test_an_error_says_what_the_official_client_raises(one: Recorded):
    package, name, words = WORDS[one.shape]
    with wire(one, {}) as http_client, pytest.raises(getattr(official(package), name)) as raised:
        ASK[one.shape](http_client)
    for error in failures(one):
        assert (error.status, error.provider_code, error.provider_message) == words(raised.value)


# What no provider sends, made of what they sent.

Steps = tuple[str | int, ...]


def places(value: Any, at: Steps = ()) -> Iterator[Steps]:
    """Every place below the root."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in inside:
        yield (*at, step)
        yield from places(inner, (*at, step))


def retyped(value: Any) -> Any:
    """A value of another type, as empty as can be where that is what a careless reader takes for nothing."""
    match value:
        case str():
            return 7
        case dict():
            return []
        case list():
            return {}
        case _:
            return "x"


def mutants(data: Any) -> Iterator[tuple[str, bytes]]:
    """The answer with one place removed, nulled or of another type, for each place."""
    for path in places(data):
        for how in ("removed", "null", "retyped"):
            whole = copy.deepcopy(data)
            holder = whole
            for step in path[:-1]:
                holder = holder[step]
            if how == "removed":
                del holder[path[-1]]
            else:
                holder[path[-1]] = None if how == "null" else retyped(holder[path[-1]])
            yield f"/{'/'.join(map(str, path))} {how}", json.dumps(whole).encode()


def ending(events: list[StreamEvent]) -> EndEvent:
    """The end of events in good order: a good answer, or an error that says so."""
    state: Any = "answering"
    for event in events:
        state = follow(state, event)
    end = events[-1]
    assert state == "ended"
    assert isinstance(end, EndEvent)
    if any(isinstance(event, ErrorEvent) for event in events):
        assert end.finish == "error"
    else:
        assert isinstance(events[-2], MetadataEvent)
        assert end.finish != "error"
    return end


def is_empty_success(end: EndEvent) -> bool:
    message = end.message
    says_nothing = message is None or not (message.content or message.tool_calls)
    return end.finish in {"stop", "tool_calls"} and says_nothing


EMPTY_BY_RIGHT = {
    "gemini_generate": r"/candidates/0/content/parts(/0)? removed",  # protobuf's JSON leaves empty lists out
    "anthropic_messages": r"/content/\d+ removed",  # recorded: an empty content, with end_turn
}
"""What is left then is an empty answer, as the provider itself writes one."""


@each
def test_an_answer_with_one_place_broken_is_never_an_empty_success(one: Recorded):
    if is_empty_success(ending(read(one.shape, one.answer))):
        return
    silent = [where for where, body in mutants(one.data) if is_empty_success(ending(read(one.shape, body)))]
    assert [where for where in silent if not re.fullmatch(EMPTY_BY_RIGHT.get(one.shape, "-"), where)] == []


@each
def test_an_answer_cut_short_is_an_error(one: Recorded):
    body = one.answer
    for tenth in range(10):
        assert ending(read(one.shape, body[: len(body) * tenth // 10])).finish == "error"


@each
def test_bytes_that_are_no_utf8_never_become_text(one: Recorded):
    body = one.answer
    for tenth in range(11):
        at = len(body) * tenth // 10
        end = ending(read(one.shape, body[:at] + b"\xff" + body[at:]))
        assert end.message is None or "\ufffd" not in (end.message.content or "")


PADDING = 10_000_000


@needs_traffic
@pytest.mark.parametrize("shape", READERS)
def test_ten_megabytes_around_and_inside_an_answer_change_nothing(shape: str):
    one = whole_answers([shape])[0]
    wanted = ending(read(shape, one.answer))
    blank = b" " * PADDING
    more = json.dumps({**one.data, "padding": "x" * PADDING}).encode()
    for body in (blank + one.answer, one.answer + blank, more):
        assert ending(read(shape, body)) == wanted


NO_ANSWER = {
    "nothing": b"",
    "HTML": b"<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>",
    "blanks": b" " * PADDING,
    "null": b"null",
    "an empty object": b"{}",
    "an empty list": b"[]",
}


@pytest.mark.parametrize("body", NO_ANSWER.values(), ids=NO_ANSWER)
@pytest.mark.parametrize("shape", READERS)
def test_what_is_no_answer_is_an_error(shape: str, body: bytes):
    assert ending(read(shape, body)).finish == "error"
