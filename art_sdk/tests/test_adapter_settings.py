"""The settings that every adapter is made with."""

from __future__ import annotations

from typing import Any

import pytest

from art_sdk import (
    BaseAdapter,
    InvalidConfig,
    Timeouts,
)

OPTIONS = {"thread_id": "t"}
USER: dict[str, Any] = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"api_key": ""}, "the API key must be a non-empty string"),
        ({"api_key": None}, "the API key must be a non-empty string"),
        ({"api_key": 5}, "the API key must be a non-empty string"),
        ({"api_key": b"k"}, "the API key must be a non-empty string"),
        ({"api_key": "s3cret key"}, "the API key has white space"),
        ({"api_key": "s3cret\n"}, "the API key has white space"),
        ({"api_key": "s3crät"}, "characters outside ASCII"),
        ({"api_key": "s3cret\ud800"}, "characters outside ASCII"),
        ({"base_url": "acme.test"}, "base_url must begin with http:// or https://, is 'acme.test'"),
        ({"base_url": "file:///etc"}, "base_url must begin with"),
        ({"base_url": 5}, "base_url must begin with"),
        ({"base_url": "http://"}, "base_url must be a URL with a valid host"),
        ({"base_url": "https:///v1"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://[bad"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://acme.test:99999"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://ac me.test"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://acme.test\n"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://\ud800"}, "base_url must be a URL with a valid host"),
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
