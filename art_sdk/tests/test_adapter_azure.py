"""Azure OpenAI: two APIs, told apart by the URL and the version; what is missing is said before a call."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from art_sdk import (
    AzureOpenAIAdapter,
    CallInfo,
    InvalidConfig,
    OpenAICompatibleAdapter,
    ResponseHead,
    parse_options,
    parse_prompt,
)
from streamed import SSE, sse

INFO = CallInfo(thread_id="t", trace_id="r", model="m")
RESOURCE = "https://mine.openai.azure.com"
GOOD: dict[str, Any] = {"api_key": "0-k3y-0", "base_url": f"{RESOURCE}/openai/v1", "model": "my-gpt"}
DATED = GOOD | {"base_url": f"{RESOURCE}/openai", "api_version": "2024-10-21"}


def requested(settings: dict[str, Any], **options: Any) -> Any:
    adapter = AzureOpenAIAdapter(**settings)
    parsed = parse_options({"thread_id": "t", **options})
    return adapter.request(adapter.translate(parse_prompt([{"role": "user", "content": "hi"}]), parsed), parsed)


@pytest.mark.parametrize(
    ("settings", "options", "url"),
    [
        (GOOD, {}, f"{RESOURCE}/openai/v1/chat/completions"),
        (GOOD | {"api_version": ""}, {}, f"{RESOURCE}/openai/v1/chat/completions"),
        (GOOD | {"base_url": "https://gateway.test/v1"}, {}, "https://gateway.test/v1/chat/completions"),
        (DATED, {}, f"{RESOURCE}/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"),
        (DATED, {"model": "a/b"}, f"{RESOURCE}/openai/deployments/a%2Fb/chat/completions?api-version=2024-10-21"),
    ],
)
def test_the_deployment_is_in_the_path_of_the_dated_api_alone(settings, options, url):
    request = requested(settings, **options)
    assert request.url == url
    assert (request.headers["api-key"], "authorization" in request.headers) == ("0-k3y-0", False)


def test_a_stream_of_azure_s_ends_with_its_mark_and_another_host_s_need_not():
    chunk = {"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}
    endings = {}
    for base_url in (GOOD["base_url"], "https://gateway.test/openai/v1"):
        reader = AzureOpenAIAdapter(**GOOD | {"base_url": base_url}).stream_reader(ResponseHead(200, SSE), INFO)
        *_, end = [*reader.feed(sse([chunk])), *reader.close()]
        endings[base_url] = end.finish
    assert [*endings.values()] == ["error", "stop"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"base_url": None}, "azure: base_url is missing; pass https://RESOURCE.openai.azure.com/openai/v1, or "),
        ({"model": None}, "azure: model is missing; pass the name of your deployment"),
        ({"base_url": RESOURCE}, "azure: api_version is missing; pass one, such as 2024-10-21, or the base_url "),
        ({"base_url": f"{RESOURCE}/openai"}, "azure: api_version is missing; pass one, such as 2024-10-21, or "),
        ({"api_version": "2024-10-21"}, "azure: with an api_version, base_url must end with /openai, as "),
        ({"api_version": 20241021, "base_url": f"{RESOURCE}/openai"}, "azure: api_version must be a string, such as "),
        ({"base_url": f"{RESOURCE}/openai/deployments/d"}, "d' names a deployment; pass its name as model, and "),
        ({"base_url": "mine.openai.azure.com"}, "azure: base_url must begin with http:// or https://"),
    ],
)
def test_what_is_missing_is_said_before_a_call(change, said):
    with pytest.raises(InvalidConfig) as caught:
        AzureOpenAIAdapter(**GOOD | change)
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"base_url": None},
            "openai-compatible: base_url is missing; pass the server's URL with its version",
        ),
        (
            {"base_url": "http://box:8000"},
            "box:8000: base_url 'http://box:8000' has no path; pass the server's URL",
        ),
        ({"model": ""}, "box:8000: model is missing; pass the name of a model that it serves"),
        ({"capabilities": "tools"}, "box:8000: capabilities must be a list of words, not a string"),
        ({"capabilities": [["tools"]]}, "box:8000: unknown word an array in capabilities; known words: images, "),
        ({"image_types": ["image/*"]}, "box:8000: unknown word 'image/*' in image_types; known words: image/gif, "),
        ({"provider": {"kept": ["reasoning"]}}, "box:8000: provider must be a ChatProvider, not an object"),
        ({"name": 5}, "openai-compatible: the name must be a string, not 5"),
        ({"capabilities": ["tools", "magic"]}, "box:8000: unknown word 'magic' in capabilities; known words: images, "),
    ],
)
def test_a_compatible_server_says_what_to_give(change, said):
    given: dict[str, Any] = {"api_key": "0-k3y-0", "base_url": "http://box:8000/v1", "model": "m"}
    with pytest.raises(InvalidConfig) as caught:
        OpenAICompatibleAdapter(**given | change)
    assert said in caught.value.message


@pytest.mark.parametrize("make", [AzureOpenAIAdapter, OpenAICompatibleAdapter])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"base_url": "http://box:8000", "model": "m"},
        {"base_url": "nonsense", "model": "m"},
        {"base_url": "http://box/openai/v1", "model": "m", "headers": {"x-own": "0-k3y-0\n"}},
        {"base_url": "http://box/openai/v1", "model": "m", "retries": -1},
        {"base_url": "http://box/openai/v1", "model": "m", "no_such_setting": 1},
    ],
)
def test_no_frame_of_a_refused_setting_shows_the_key(make, settings):
    with pytest.raises((InvalidConfig, TypeError)) as caught:
        make(api_key="0-k3y-0", **settings)
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True).stack
    assert all("0-k3y-0" not in str(frame.locals) for frame in frames if "art_sdk/adapters" in frame.filename)
