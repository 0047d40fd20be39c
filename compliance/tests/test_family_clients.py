"""The official clients of the chat completions family read the same as our adapters from the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import httpx
import httpx2
import pytest

from art_compliance.dialects import DIALECTS
from art_compliance.scenarios import WrittenAnswer
from art_sdk import (
    BaseAdapter,
    CallInfo,
    DeepSeekAdapter,
    FunctionCall,
    GroqAdapter,
    MistralAdapter,
    OpenRouterAdapter,
    ResponseHead,
    ToolCall,
    fold,
)
from recorded_readings import has_error
from recorded_traffic import SECOND_FOLDER, Recorded, official, params, recorded_files
from row_tables import table

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # other tests run the same lines

JSON, STREAM = {"content-type": "application/json"}, {"content-type": "text/event-stream"}
INFO = CallInfo(thread_id="t", trace_id="r", model="m")
ASKED: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
CALLS = (ToolCall("callAAAA1", FunctionCall("f", '{"x": 1}')), ToolCall("callAAAA2", FunctionCall("g", "{}")))
ANSWERS = {
    "text": WrittenAnswer(content="said in pieces", input_tokens=7, output_tokens=5),
    "cut": WrittenAnswer(content="said", finish="length", input_tokens=7, output_tokens=5),
    "calls": WrittenAnswer(content="Both.", tool_calls=CALLS, finish="tool_calls", input_tokens=7, output_tokens=5),
    "calls alone": WrittenAnswer(tool_calls=CALLS, finish="tool_calls", input_tokens=7, output_tokens=5),
    "reasoning": WrittenAnswer(content="hi", thinking="Hm. So", thinking_tokens=2, input_tokens=7, output_tokens=5),
}


class Read(NamedTuple):
    """What a reader says of an answer: its calls are id, name and arguments."""

    text: str
    calls: list[tuple[str, str, str]]
    finish: str
    tokens: tuple[int | None, int | None]


class Client(NamedTuple):
    """An official client: its package, the HTTP client below it, our adapter for its provider, and how it is asked."""

    package: str
    http: Any
    adapter: type[BaseAdapter]
    ask: Callable[[Any, dict[str, Any]], Any]


def _groq(http_client: Any, asked: dict[str, Any]) -> Any:
    client = official("groq").Groq(api_key="no-key", http_client=http_client, max_retries=0)
    return client.chat.completions.create(**asked)


def _openai(http_client: Any, asked: dict[str, Any]) -> Any:
    """As DeepSeek's documentation has it: OpenAI's client with another URL."""
    url = DeepSeekAdapter.default_base_url
    client = official("openai").OpenAI(api_key="no-key", base_url=url, http_client=http_client, max_retries=0)
    return client.chat.completions.create(**asked)


def _mistral(http_client: Any, asked: dict[str, Any]) -> Any:
    client = official("mistralai.client").Mistral(api_key="no-key", client=http_client)
    if not asked.pop("stream"):
        return client.chat.complete(**asked)
    return (event.data for event in client.chat.stream(**asked))


def _openrouter(http_client: Any, asked: dict[str, Any]) -> Any:
    client = official("openrouter").OpenRouter(api_key="no-key", client=http_client)
    return client.chat.send(**asked)


CLIENTS = {
    "groq": Client("groq", httpx, GroqAdapter, _groq),
    "mistralai": Client("mistralai", httpx, MistralAdapter, _mistral),
    "openrouter": Client("openrouter", httpx, OpenRouterAdapter, _openrouter),
    "openai, at DeepSeek": Client("openai", httpx2, DeepSeekAdapter, _openai),
}


def said_by_client(pieces: Iterable[Any], part: str) -> Read:
    """What a client's answer or chunks say, joined as its documentation joins them."""
    text, finish, tokens, calls = "", None, (None, None), dict[int, list[str]]()
    for piece in pieces:
        tokens = (piece.usage.prompt_tokens, piece.usage.completion_tokens) if piece.usage else tokens
        for choice in piece.choices:
            said, finish = getattr(choice, part), choice.finish_reason or finish
            text += "".join(_texts(said.content))
            for at, call in enumerate(said.tool_calls or ()):
                joined = calls.setdefault(getattr(call, "index", None) or at, ["", "", ""])
                found = (call.id, call.function.name, call.function.arguments)
                joined[:] = [old + (new or "") for old, new in zip(joined, found, strict=True)]
    return Read(text, [(one[0], one[1], one[2]) for one in calls.values()], str(finish), tokens)


def _texts(content: Any) -> Iterator[str]:
    """Mistral's content may be a list of parts, of which thoughts are not text."""
    for part in [content] if isinstance(content, str) else content or ():
        yield part if isinstance(part, str) else getattr(part, "text", None) or ""


def said_by_adapter(adapter: type[BaseAdapter], answer: bytes, headers: dict[str, str]) -> Read:
    head, one = ResponseHead(200, headers), adapter(api_key="no-key")
    reader = one.stream_reader(head, INFO)
    completion = fold(
        [*reader.feed(answer), *reader.close()] if headers is STREAM else one.read_response(head, answer, INFO)
    )
    message, metadata = completion.message, completion.metadata
    calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls]
    finish = str(metadata.raw_stop_reason)
    return Read(message.content or "", calls, finish, (metadata.input_tokens, metadata.output_tokens))


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", ANSWERS)
@table("client", CLIENTS.values(), ids=CLIENTS)
def test_an_official_client_reads_the_same(client: Client, name: str, *, streamed: bool):
    official(client.package)
    dialect, written = DIALECTS[client.adapter.dialect], ANSWERS[name]
    asked = {"stream": True, "stream_options": {"include_usage": True}}
    answer = b"".join(dialect.streams.write(written, asked)) if streamed else dialect.answers.write(written)
    theirs = read_by_client(client, answer, streamed=streamed)
    assert theirs == said_by_adapter(client.adapter, answer, STREAM if streamed else JSON)
    assert theirs.tokens == (7, 5)


def read_by_client(client: Client, answer: bytes, *, streamed: bool) -> Read:
    headers = STREAM if streamed else JSON
    transport = client.http.MockTransport(lambda _: client.http.Response(200, content=answer, headers=headers))
    with client.http.Client(transport=transport) as http_client:
        found = client.ask(http_client, {**ASKED, "stream": streamed})
        return said_by_client(found if streamed else [found], "delta" if streamed else "message")


BY_PROVIDER = {"groq": "groq", "mistral": "mistralai", "openrouter": "openrouter", "deepseek": "openai, at DeepSeek"}


def recorded() -> list[Recorded]:
    """The good answers of both corpora whose provider has a client here."""
    files = (*recorded_files(), *recorded_files(SECOND_FOLDER))
    known = [one for one in files if one.is_accepted and one.provider in BY_PROVIDER]
    return [one for one in known if one.shape == "chat_completions" and not has_error(one)]


TOO_STRICT = {
    "openrouter/error-on-200-9bfbdc02": "no finish_reason",
    "openrouter/refused-5c956648": "no system_fingerprint",
    "openrouter/refused-c4df578a": "no system_fingerprint",
    "openrouter/refused-d2c8ef97": "no system_fingerprint",
}
"""Answers that OpenRouter's own client cannot read, and what it misses: OpenAI's client is asked instead."""


@table("one", params(recorded()))
def test_a_recorded_answer_is_read_as_the_providers_own_client_reads_it(one: Recorded):
    client, streamed = CLIENTS[BY_PROVIDER[one.provider]], one.data is None
    official(client.package)
    if one.name in TOO_STRICT:
        with pytest.raises(Exception, match=TOO_STRICT[one.name].removeprefix("no ")):
            read_by_client(client, one.answer, streamed=streamed)
        client = CLIENTS["openai, at DeepSeek"]._replace(adapter=client.adapter)
    theirs = read_by_client(client, one.answer, streamed=streamed)
    assert theirs == said_by_adapter(client.adapter, one.answer, STREAM if streamed else JSON)
