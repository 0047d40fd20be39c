"""What the subjects of real libraries share reads prompts, answers and tokens as it says."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from art_sdk import PromptTranslationFailed

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "subjects"
MODULES = ("answering", "chat_form", "turns", "subject")

pytestmark = pytest.mark.once


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(FOLDER)
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    return SimpleNamespace(**{name: import_module(name) for name in MODULES})


def call(call_id: str, arguments: str, name: str = "weather") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "sun", **fields}


def test_a_result_answers_the_latest_call_of_its_id(shared: Any):
    rounds = [{"role": "assistant", "content": None, "tool_calls": [call("a", "{}", name)]} for name in ("old", "new")]
    turns = shared.turns.read_turns([rounds[0], result("a"), rounds[1], result("a", status="error"), result("b")])
    assert [(turns[at].call.name, turns[at].is_failed) for at in (1, 3)] == [("old", False), ("new", True)]
    with pytest.raises(PromptTranslationFailed, match="the result of 'b' has no call"):
        _ = turns[4].call


def test_contents_are_written_in_the_types_of_a_library(shared: Any):
    urls = ("https://example.org/cat.png", "data:image/png;base64,iVBO")
    parts = [{"type": "text", "text": "What?"}, *({"type": "image_url", "image_url": {"url": url}} for url in urls)]
    chats = [{"role": "user", "content": content} for content in ("hi", parts, None)]
    text, listed, none = shared.turns.read_turns(chats)
    assert [one.parts_as(len) for one in (text, none)] == [[2], []]
    assert (text.content_as(len), none.content_as(len)) == ("hi", None)
    assert listed.content_as(str.upper, lambda image: image.is_inline) == ["WHAT?", False, True]
    assert listed.content[2].encoded == ("iVBO", "image/png")
    with pytest.raises(PromptTranslationFailed, match="an image by its URL"):
        _ = listed.content[1].encoded


@pytest.mark.parametrize(
    ("text", "read"), [('{"a": [1]}', {"a": [1]}), (" \n", {}), ("{city: Rome}", None), ("null", None), ("NaN", None)]
)
def test_arguments_are_read_as_an_object(text: str, read: Any, shared: Any):
    one = shared.turns.Call("a", "weather", text)
    assert one.read == read
    if read is None:
        with pytest.raises(PromptTranslationFailed, match="no object"):
            _ = one.arguments


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": [1e400]}'])
def test_arguments_that_an_object_would_change_are_refused(text: str, shared: Any):
    with pytest.raises(PromptTranslationFailed):
        _ = shared.turns.Call("a", "weather", text).read


def test_an_end_has_the_calls_the_reason_and_the_tokens_where_the_library_has_them(shared: Any):
    used = {"in": 3, "details": SimpleNamespace(cached=2)}
    end = shared.answering.end_of([("a", "weather", {"at": 1})], "STOP", used, ("in", "out", "details.cached"))
    tokens = {"input_tokens": 3, "output_tokens": None, "cached_tokens": 2, "thinking_tokens": None}
    assert end.metadata == tokens | {"stop_reason": "tool_calls"}
    assert end.calls == [call("a", '{"at": 1}')]
    with pytest.raises(TypeError, match="no finish reason"):
        shared.answering.end_of([], None, used)


def test_a_callback_is_listened_to_until_its_call_ends_or_nobody_listens(shared: Any):
    ended: list[str] = []

    async def run(tell: Any, seconds: float = 0) -> str:
        await tell("One")
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return "all"

    async def hear() -> list[str]:
        heard = [piece async for piece in shared.answering.listen(run)]
        async with aclosing(shared.answering.listen(lambda tell: run(tell, 60))) as pieces:
            heard.append(await anext(pieces))
        await asyncio.sleep(0)
        return heard + ended  # when the loop is closed, everything is cancelled

    assert asyncio.run(hear()) == ["One", "all", "One", "cancelled"]


def test_a_subject_declares_what_its_format_and_its_missing_options_take_from_it(shared: Any):
    class Own(shared.subject.Subject):
        dialect, losses, missing = "anthropic-messages", ("call_ids",), ("tool_choice",)

        async def answer(self, request: Any) -> Any:
            yield request.messages[0]["content"]
            yield self.end([], "end_turn", {"prompt_tokens": 1})

    own = Own(api_key="k")
    assert set(own.losses) == {"tool_output_schema", "message_name", "call_ids"}
    assert {"stop", "response_schema"} <= set(own.capabilities)
    assert "tool_choice" not in own.capabilities

    async def call_it(**options: Any) -> list[Any]:
        prompt = [{"role": "user", "content": "hi"}]
        return [event async for event in own.call(prompt, {"thread_id": "t", **options})]

    token, metadata, end = asyncio.run(call_it())
    assert (token["text"], metadata["metadata"]["input_tokens"], end["finish"]) == ("hi", 1, "stop")
    with pytest.raises(PromptTranslationFailed, match="tool_choice"):
        asyncio.run(call_it(tools=[{"name": "f", "description": "F", "inputSchema": {}}], tool_choice="none"))
