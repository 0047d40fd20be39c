"""An adapter to any server that speaks chat completions takes its data from the caller, and assumes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import CallInfo, InvalidConfig, OpenAICompatibleAdapter, ResponseHead, fold
from art_sdk.adapters.chat_completions.provider import ChatProvider

Make = Callable[..., Any]
URL = "http://127.0.0.1:8000/v1"
USER = {"role": "user", "content": "hello"}
CUT = [USER, {"role": "assistant", "content": None, "tool_calls": []}]
INFO = CallInfo(thread_id="t", trace_id="r", model="m", clock=lambda: 2.5)


def server(**settings: Any) -> OpenAICompatibleAdapter:
    return OpenAICompatibleAdapter(**{"api_key": "no-key", "base_url": URL, "model": "m"} | settings)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"base_url": None}, "openai-compatible: base_url is missing; pass the server's URL with its version"),
        ({"base_url": ""}, "base_url is missing"),
        ({"model": None}, "127.0.0.1:8000: model is missing; pass the name of a model that it serves"),
        ({"base_url": "http://gpu:8000"}, "gpu:8000: base_url 'http://gpu:8000' has no path; pass the server's URL"),
        ({"base_url": "gpu:8000/v1"}, "base_url must begin with http:// or https://"),
        ({"base_url": "https://user:s3cret@gpu/v1"}, "gpu: base_url must not contain a user name or password"),
        ({"capabilities": {"tols"}}, "unknown word 'tols' in capabilities; known words: images, late_system"),
        ({"api_key": ""}, "127.0.0.1:8000: the API key must be a non-empty string"),
    ],
)
def test_a_setting_that_is_missing_or_wrong_says_what_to_give(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        server(**settings)
    assert text in caught.value.message
    assert "s3cret" not in caught.value.message


@pytest.mark.parametrize("url", ["http://gpu:8000/", "https://api.perplexity.ai", "https://api.deepseek.com/"])
def test_a_server_without_a_version_ends_with_a_slash_or_is_known(url: str) -> None:
    assert server(base_url=url).base_url == url.rstrip("/")


def test_no_limit_is_assumed(translate: Make) -> None:
    tools = [{"name": "a.b/c", "description": "d", "inputSchema": {"type": "object"}}] * 1
    payload = translate(server(), [USER], tools=tools, temperature=9.0, stop=list("abcdefg"), max_tokens=5)
    assert (payload["temperature"], len(payload["stop"]), payload["max_tokens"]) == (9.0, 7, 5)
    assert payload["tools"][0]["function"]["name"] == "a.b/c"


def test_the_caller_says_how_the_server_differs(translate: Make, refusal: Make) -> None:
    own = ChatProvider(reasoning=("thoughts",), kept=("thoughts",), max_tokens_field="max_new_tokens")
    adapter = server(provider=own, capabilities={"reasoning"})
    body = json.dumps({"choices": [{"message": {"content": "hi", "thoughts": "hm"}, "finish_reason": "stop"}]}).encode()
    completion = fold(adapter.read_response(ResponseHead(200, {}), body, INFO))
    assert completion.thinking == "hm"
    payload = translate(adapter, [USER, completion.message, USER], max_tokens=5)
    assert (payload["messages"][1]["thoughts"], payload["max_new_tokens"]) == ("hm", 5)
    assert "does not declare 'streaming'" in refusal(adapter, [USER], stream=True).message


def test_refusals_and_errors_name_the_server(refusal: Make) -> None:
    here, there = server(), server(name="gpu-7")
    assert refusal(here, CUT).message.startswith(
        "Adapter 'OpenAICompatibleAdapter' (127.0.0.1:8000) cannot translate message with role 'assistant' at $[1]: "
    )
    assert refusal(there, CUT).details["provider"] == "gpu-7"
    assert there.read_error(ResponseHead(404, {}), b'{"detail": "no"}').message == "gpu-7 answered 404: no"
