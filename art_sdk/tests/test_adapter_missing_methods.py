"""An adapter that lacks a method says so to its author; what its methods cannot read becomes an ERROR event."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from art_sdk import Answer, ArtStandardPrompt, BaseAdapter, CallInfo, CallOptions, ResponseHead, Text, Thinking
from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.http.framing import Frame

USER = [{"role": "user", "content": "hello"}]
BODY = b'{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}'
SYNC_OR_ASYNC = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


class Bare(BaseAdapter):
    """Translates, and nothing else."""

    provider_name, dialect = "bare", "bare-chat"
    default_model, default_base_url = "m", "http://bare.test"
    capabilities = CAPABILITIES

    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> dict[str, Any]:
        self.check(prompt, options)
        return {"model": self.model}


class Sends(Bare):
    """Sends requests, and cannot read answers."""

    def endpoint(self, options: CallOptions) -> str:
        return "/chat"


def _answer(request: httpx2.Request) -> httpx2.Response:
    kind = request.headers["accept"]
    return httpx2.Response(200, headers={"content-type": kind}, content=b"data: {}\n\n" if "stream" in kind else BODY)


def _call(make: type[BaseAdapter], *, is_async: bool, **options: Any) -> list[Any]:
    mock = httpx2.MockTransport(_answer)
    prepared: dict[str, Any] = {"thread_id": "t"} | options
    if not is_async:
        return list(make(api_key="k", http_client=httpx2.Client(transport=mock)).call_sync(USER, prepared))

    async def run() -> list[Any]:
        adapter = make(api_key="k", http_client=httpx2.AsyncClient(transport=mock))
        return [event async for event in adapter.call(USER, prepared)]

    return asyncio.run(run())


@SYNC_OR_ASYNC
@pytest.mark.parametrize(
    ("make", "stream", "missing"),
    [
        (Bare, False, "Bare must define endpoint"),
        (Bare, True, "Bare must define endpoint"),
        (Sends, False, "Sends must define parse_answer"),
        (Sends, True, "Sends must define answer_stream"),
    ],
)
def test_a_call_raises_the_name_of_the_missing_method(
    make: type[BaseAdapter],
    stream: bool,  # noqa: FBT001
    missing: str,
    is_async: bool,  # noqa: FBT001
) -> None:
    with pytest.raises(NotImplementedError, match=f"^{missing}$"):
        _call(make, stream=stream, is_async=is_async)


def test_an_adapter_without_translate_cannot_be_made() -> None:
    class Empty(BaseAdapter):
        pass

    with pytest.raises(TypeError, match="translate"):
        Empty(api_key="k")  # type: ignore[abstract] # that is the mistake


def test_the_faults_of_a_provider_are_events_even_if_the_adapter_cannot_read_good_answers() -> None:
    mock = httpx2.MockTransport(lambda _: httpx2.Response(500))
    for stream in (False, True):
        adapter = Sends(api_key="k", http_client=httpx2.Client(transport=mock))
        events = list(adapter.call_sync(USER, {"thread_id": "t", "stream": stream}))
        assert [type(event).__name__ for event in events] == ["ErrorEvent", "EndEvent"]


class Careless(Sends):
    """Takes whatever is in the answer for its text."""

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        return Answer(pieces=(self.piece,), stop_reason="stop", raw_stop_reason=None)

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> Any:
        return self

    def take(self, frame: Frame) -> list[Any]:
        return [Text("so far, "), self.piece]

    def extensions(self) -> None:
        return None


@SYNC_OR_ASYNC
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("piece", "found"), [(Text(["a", "list"]), "list"), (Thinking({}), "dict"), (Text(None), "NoneType")], ids=str
)
def test_what_is_no_text_is_an_error_and_no_token(piece: Any, found: str, *, stream: bool, is_async: bool):
    made = type("Made", (Careless,), {"piece": piece})
    *tokens, error, end = _call(made, is_async=is_async, stream=stream)
    assert [token.text for token in tokens] == (["so far, "] if stream else [])
    assert f"expected text, got {found}" in error.error.message
    assert end.finish == "error"
    assert (None if end.message is None else end.message.content) == ("so far, " if stream else None)
