"""Whole calls of every adapter: events, completions, faults, and leaving early."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from art_sdk import (
    ArtStandardPrompt,
    AssistantMessage,
    BaseAdapter,
    CallOptions,
    EndEvent,
    ErrorEvent,
    LLMProviderError,
    StreamEvent,
    TokenEvent,
    parse_options,
    parse_prompt,
)

OPTIONS = {"thread_id": "t"}
USER: dict[str, Any] = {"role": "user", "content": "hello"}
BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


def _client(handler: Callable[[httpx2.Request], httpx2.Response], *, is_async: bool) -> Any:
    mock = httpx2.MockTransport(handler)
    return httpx2.AsyncClient(transport=mock) if is_async else httpx2.Client(transport=mock)


def _events(adapter: BaseAdapter, prompt: Any, options: Any, *, is_async: bool) -> list[StreamEvent]:
    if not is_async:
        return list(adapter.call_sync(prompt, options))

    async def run() -> list[StreamEvent]:
        events = [event async for event in adapter.call(prompt, options)]
        await adapter.aclose()
        return events

    return asyncio.run(run())


def _complete(adapter: BaseAdapter, prompt: Any, options: Any, *, is_async: bool) -> Any:
    return asyncio.run(adapter.complete(prompt, options)) if is_async else adapter.complete_sync(prompt, options)


@BOTH
def test_a_good_answer_comes_as_events(make: type[BaseAdapter], good_body: dict[str, bytes], is_async: bool) -> None:  # noqa: FBT001
    body = good_body[make.provider_name]
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, content=body)

    adapter = make(api_key="k", http_client=_client(answer, is_async=is_async))
    options = OPTIONS | {"trace_id": "r", "session_id": "s"}
    events = _events(adapter, [USER], options, is_async=is_async)
    assert [type(event).__name__ for event in events] == ["TokenEvent", "MetadataEvent", "EndEvent"]
    assert {(event.thread_id, event.trace_id, event.session_id) for event in events} == {("t", "r", "s")}
    assert isinstance(events[0], TokenEvent)
    assert events[0].text == "hi"
    [request] = seen
    assert json.loads(request.content) == adapter.translate(parse_prompt([USER]), parse_options(OPTIONS))


@BOTH
def test_a_complete_answer_is_its_message(make: type[BaseAdapter], good_body: dict[str, bytes], is_async: bool) -> None:  # noqa: FBT001
    body = good_body[make.provider_name]
    client = _client(lambda request: httpx2.Response(200, content=body), is_async=is_async)
    answer = _complete(make(api_key="k", http_client=client), [USER], OPTIONS, is_async=is_async)
    assert (answer.message, answer.finish) == (AssistantMessage("hi"), "stop")
    assert answer.metadata.total_generation_time_ms > 0


def _refuse(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("no", request=request)


@BOTH
@pytest.mark.parametrize(
    ("handler", "status"),
    [(_refuse, None), (lambda r: httpx2.Response(500), 500), (lambda r: httpx2.Response(200, text="<p>"), 200)],
)
def test_the_provider_s_fault_is_an_event_of_call_and_raised_by_complete(
    make: type[BaseAdapter],
    handler: Any,
    status: int | None,
    is_async: bool,  # noqa: FBT001
) -> None:
    adapter = make(api_key="k3y-of-mine", http_client=_client(handler, is_async=is_async))
    error, end = _events(adapter, [USER], OPTIONS, is_async=is_async)
    assert isinstance(error, ErrorEvent)
    assert isinstance(error.error, LLMProviderError)
    assert error.error.status == status
    assert isinstance(end, EndEvent)
    assert (end.message, end.finish) == (None, "error")
    with pytest.raises(LLMProviderError) as caught:
        _complete(adapter, [USER], OPTIONS, is_async=is_async)
    assert "k3y" not in repr((caught.value, vars(caught.value), caught.value.__cause__))


@BOTH
def test_leaving_the_events_early_leaves_no_open_answer(
    make: type[BaseAdapter],
    good_body: dict[str, bytes],
    is_async: bool,  # noqa: FBT001
) -> None:
    answers: list[httpx2.Response] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        answers.append(httpx2.Response(200, content=good_body[make.provider_name]))
        return answers[-1]

    adapter = make(api_key="k", http_client=_client(answer, is_async=is_async))

    async def leave_async() -> StreamEvent:
        events = adapter.call([USER], OPTIONS)
        first = await anext(events)
        await events.aclose()
        return first

    def leave() -> StreamEvent:
        events = adapter.call_sync([USER], OPTIONS)
        first = next(events)
        events.close()
        return first

    assert isinstance(asyncio.run(leave_async()) if is_async else leave(), TokenEvent)
    assert [one.is_closed for one in answers] == [True]


def test_nothing_is_sent_before_the_first_event_is_requested(make: type[BaseAdapter]) -> None:
    sent: list[httpx2.Request] = []
    adapter = make(api_key="k", http_client=_client(sent.append, is_async=False))  # type: ignore[arg-type]
    adapter.call_sync([USER], OPTIONS).close()
    adapter.close()
    assert not sent


def test_no_log_record_of_a_call_shows_the_key(
    make: type[BaseAdapter], good_body: dict[str, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client = _client(lambda r: httpx2.Response(200, content=good_body[make.provider_name]), is_async=False)
    make(api_key="k3y-of-mine", http_client=client).complete_sync([USER], OPTIONS)
    assert caplog.records
    assert "k3y" not in caplog.text + repr([vars(record) for record in caplog.records])


def test_an_adapter_needs_translate_and_nothing_else_to_translate() -> None:
    class Bare(BaseAdapter):
        provider_name = "bare"
        dialect = "bare"
        default_model = "m"
        default_base_url = "http://acme.test"

        def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> dict[str, Any]:
            return {"n": len(self.check(prompt, options).turns)}

    adapter = Bare(api_key="k3y")
    prompt = parse_prompt([USER])
    assert adapter.translate(prompt, CallOptions(thread_id="t")) == {"n": 1}
    assert adapter.map_call_ids(prompt) == {}
    assert adapter.auth_headers() == {"authorization": "Bearer k3y"}
    with pytest.raises(TypeError, match="abstract"):
        BaseAdapter(api_key="k")  # type: ignore[abstract]
