"""The settings that every adapter is made with."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

import httpx2
import pytest

from art_sdk import (
    BUILT_IN,
    ARTError,
    BaseAdapter,
    ErrorEvent,
    InvalidConfig,
    LLMProviderError,
    OpenAIAdapter,
    Timeouts,
)
from networked import BOTH, adapter_to, gather
from row_tables import table

OPTIONS = {"thread_id": "t"}
USER: dict[str, Any] = {"role": "user", "content": "hello"}


@table(
    ("settings", "words"),
    [
        ({"api_key": ""}, "the API key must be a non-empty string"),
        ({"api_key": None}, "the API key must be a non-empty string"),
        ({"api_key": 5}, "the API key must be a non-empty string"),
        ({"api_key": b"k"}, "the API key must be a non-empty string"),
        ({"api_key": "s3cret key"}, "the API key has whitespace"),
        ({"api_key": "s3cret\n"}, "the API key has whitespace"),
        ({"api_key": "s3crät"}, "non-ASCII characters"),
        ({"api_key": "s3cret\ud800"}, "non-ASCII characters"),
        ({"base_url": "acme.test"}, "base_url must begin with http:// or https://, not 'acme.test'"),
        ({"base_url": "file:///etc"}, "base_url must begin with"),
        ({"base_url": 5}, "base_url must begin with"),
        ({"base_url": "http://"}, "base_url must be a URL with a valid host"),
        ({"base_url": "https:///v1"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://[bad"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://acme.test:99999"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://ac me.test"}, "base_url must not contain spaces or invisible characters"),
        ({"base_url": "http://acme.test\n"}, "base_url must not contain spaces or invisible characters: 'http"),
        ({"base_url": "http://\ud800"}, "base_url must not contain spaces or invisible characters"),
        ({"base_url": "http://a..b/v1"}, "base_url must be a URL with a valid host"),
        ({"base_url": f"http://{'a' * 64}.test"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://acme\\.test"}, "base_url must be a URL with a valid host"),
        ({"base_url": "https://user:s3cret@acme.test/v1"}, "base_url must not contain a user name or password"),
        ({"base_url": "https//user:s3cret@acme..test"}, "base_url must not contain a user name or password"),
        ({"base_url": "https://acme.test/v1?key=1"}, "base_url must not have a query or fragment"),
        ({"base_url": "https://acme.test/v1#top"}, "base_url must not have a query or fragment"),
        ({"base_url": 10**5000}, "base_url must begin with http:// or https://, not a number"),
        ({"model": 10**5000}, "the model's name must be valid Unicode text, not a number"),
        ({"retries": 10**5000 * -1}, "retries must be a whole number, 0 or more, not a number"),
        ({"headers": {"Content-Length": "5"}}, "the header 'Content-Length' is set by the adapter"),
        ({"headers": {"a b": "5"}}, "the header 'a b' must have"),
        ({"headers": {10**5000: "5"}}, "the header a number must have"),
        ({"headers": "x: y"}, "headers must be a mapping of names to values, not a string"),
        ({"headers": 5}, "headers must be a mapping of names to values, not a number"),
        ({"size_limits": {"answer": 0}}, "bad size_limits: $.answer: Expected `int` >= 1"),
        ({"size_limits": {"answers": 5}}, "bad size_limits: $.answers: unknown field"),
        ({"model": "\ud800"}, "the model's name must be valid Unicode text"),
        ({"model": 5}, "the model's name must be valid Unicode text"),
        ({"headers": {"x": "s3crät"}}, "the header 'x' must have"),
        ({"headers": {"x": "s3cret\r\ny: z"}}, "the header 'x' must have"),
        ({"headers": {"x": 5}}, "the header 'x' must have"),
        ({"headers": {5: "x"}}, "the header 5 must have"),
        ({"timeouts": Timeouts(connect=-1)}, "bad timeouts: $.connect: Expected `float` > 0"),
        ({"timeouts": Timeouts(whole_call=float("nan"))}, "bad timeouts: $.whole_call"),
        ({"timeouts": Timeouts(whole_call=1e30)}, "bad timeouts: $.whole_call: Expected `float` <="),
        ({"timeouts": 5}, "bad timeouts: $: Expected `object`"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused(make: type[BaseAdapter], settings: Any, words: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        make(**{"api_key": "k"} | settings)
    assert caught.value.message.startswith(f"{make.provider_name}: ")
    assert words in caught.value.message
    assert (
        "s3cr" not in f"{caught.value!r} {caught.value.details} {caught.value.__cause__!r} {caught.value.__context__!r}"
    )


BAD_URLS = {
    "acme.test/openai/v1": "base_url must begin with http:// or https://, not 'acme.test/openai/v1'",
    "//acme.test/openai/v1": "base_url must begin with http:// or https://",
    " https://acme.test/openai/v1": "base_url must begin with http:// or https://",
    "https://acme.test/open ai/v1": "base_url must not contain spaces or invisible characters",
    "https://acme.test/openai/v1\n": "base_url must not contain spaces or invisible characters",
    "https://acme.test:port/openai/v1": "base_url must be a URL with a valid host and port",
    "https://[::1/openai/v1": "base_url must be a URL with a valid host and port",
    "https://::1/openai/v1": "base_url must be a URL with a valid host and port",
    "https://s3cret@acme.test/openai/v1": "base_url must not contain a user name or password; pass the key as api_key",
    "https://acme.test/openai/v1?api-version=1": "base_url must not have a query or fragment",
    "https://acme.test/openai/v1/chat/completions/": "is the URL of an endpoint; pass https://acme.test/openai/v1",
    "https://acme.test/v1/messages": "is the URL of an endpoint; pass https://acme.test/v1",
    "https://acme.test/v1beta/models/g:streamGenerateContent": "is the URL of an endpoint; pass https://acme.test/v1beta",
}
GOOD_URLS = {
    "https://acme.test/openai/v1///": "https://acme.test/openai/v1",
    "http://[::1]:8000/openai/v1/": "http://[::1]:8000/openai/v1",
    "https://b\u00fccher.test/openai/v1": "https://b\u00fccher.test/openai/v1",
    "http://10.0.0.1/gateway//openai/v1": "http://10.0.0.1/gateway//openai/v1",
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_adapter_takes_and_refuses_the_same_urls(name: str) -> None:
    make = resolve_name(BUILT_IN[name])
    assert {url: make(api_key="k", model="m", base_url=url).base_url for url in GOOD_URLS} == GOOD_URLS
    for url, words in BAD_URLS.items():
        with pytest.raises(InvalidConfig) as caught:
            make(api_key="k", model="m", base_url=url)
        assert words in caught.value.message
        assert "s3cret" not in caught.value.message


def test_an_adapter_is_made_with_its_defaults(make: type[BaseAdapter]) -> None:
    adapter = make(api_key="k3y", base_url=None, model=None)
    assert (adapter.model, adapter.base_url) == (make.default_model, make.default_base_url)
    assert repr(adapter) == f"{make.__name__}(model={adapter.model!r}, base_url={adapter.base_url!r})"
    assert "k3y" not in repr(adapter) + str(adapter)


def test_settings_take_the_place_of_defaults(make: type[BaseAdapter]) -> None:
    adapter = make(api_key="k", base_url="http://acme.test/v9///", model="m", headers={"x-own": "a", "accept": "b"})
    request = adapter.prepare([USER], OPTIONS).request
    assert request.url.startswith("http://acme.test/v9/")
    assert (request.method, request.headers["x-own"], request.headers["accept"]) == ("POST", "a", "b")
    assert request.headers["content-type"] == "application/json"


def test_the_key_goes_into_a_header_and_nowhere_else(make: type[BaseAdapter]) -> None:
    prepared = make(api_key="k3y").prepare([USER], OPTIONS)
    assert [value for value in prepared.request.headers.values() if "k3y" in value]
    assert "k3y" not in prepared.request.url + prepared.request.body.decode() + repr(prepared)


def test_a_header_is_sent_once_however_its_name_is_written() -> None:
    adapter = OpenAIAdapter(api_key="k", headers={"Accept": "text/x", "AUTHORIZATION": "Basic x", "X-Own": "1"})
    headers = adapter.prepare([USER], OPTIONS).request.headers
    assert headers == {
        "content-type": "application/json",
        "accept": "text/x",
        "authorization": "Bearer k",
        "x-own": "1",
    }


class Words(str):
    """A string, as StrEnum members and the texts of some libraries are."""

    __slots__ = ()


class Count(int):
    """A number with its own class."""


def test_values_of_a_subclass_are_sent_as_what_they_are() -> None:
    adapter = OpenAIAdapter(api_key=Words("k"), base_url=Words("http://acme.test"), model=Words("m"))
    prompt = [{"role": "user", "content": Words("hello")}]
    options = {"thread_id": "t", "stop": [Words("x")], "provider": {"openai-chat": {"n": Count(2)}}}
    assert (
        adapter.prepare(prompt, options).request
        == OpenAIAdapter(api_key="k", base_url="http://acme.test", model="m")
        .prepare([USER], {"thread_id": "t", "stop": ["x"], "provider": {"openai-chat": {"n": 2}}})
        .request
    )


class Unruly(list[Any]):
    """A list that cannot be iterated."""

    def __iter__(self) -> Any:
        raise RuntimeError("no")

    def __len__(self) -> int:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("prompt", "options", "code"),
    [
        (Unruly([5]), OPTIONS, "PROMPT_VALIDATION_FAILED"),
        ([USER], Unruly(), "INVALID_CONFIG"),
        ([USER], {"thread_id": "t", "max_tokens": 10**5000}, "INVALID_CONFIG"),
        ([USER], {"thread_id": "t", "provider": {"openai-chat": {"x": 10**5000}}}, "INVALID_CONFIG"),
        ([{**USER, "content": 10**5000}], OPTIONS, "PROMPT_VALIDATION_FAILED"),
    ],
)
def test_odd_values_are_refused_with_an_error_of_ours(prompt: Any, options: Any, code: str) -> None:
    with pytest.raises(ARTError) as caught:
        OpenAIAdapter(api_key="k").prepare(prompt, options)
    assert caught.value.code == code


@BOTH
def test_a_key_does_not_follow_a_redirect_even_with_a_client_that_follows_them(is_async: bool) -> None:  # noqa: FBT001
    seen: list[httpx2.Request] = []

    def redirect(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(307, headers={"location": "https://evil.test/v1?token=s3cret"})

    mock = httpx2.MockTransport(redirect)
    client: Any = (httpx2.AsyncClient if is_async else httpx2.Client)(transport=mock, follow_redirects=True)
    events = gather(adapter_to("http://acme.test/v1", http_client=client), "asyncio" if is_async else "sync", client)
    [error] = [event.error for event in events if isinstance(event, ErrorEvent)]
    assert isinstance(error, LLMProviderError)
    assert error.message == (
        "openai answered 307, a redirect to 'https://evil.test/v1', which is not followed; correct base_url"
    )
    assert (error.status, error.is_retryable, len(seen)) == (307, False, 1)
