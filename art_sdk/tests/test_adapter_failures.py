from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk import BaseAdapter, CallInfo, EndEvent, ErrorEvent, LLMProviderError, OpenAIAdapter, ResponseHead
from art_sdk.adapters.failures import RETRYABLE_STATUSES, read_retry_after, read_words
from row_tables import table

Heads = Callable[..., ResponseHead]


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"error": {"message": "m", "type": "t", "param": None, "code": "c"}}, "c", "m"),
        ({"error": {"message": "m", "type": "t", "code": None}}, "t", "m"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "overloaded_error", "m"),
        ({"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}, "RESOURCE_EXHAUSTED", "m"),
        ([{"error": {"code": 400, "message": "m"}}], "400", "m"),
        ({"message": "m"}, None, "m"),
        ({"object": "error", "message": "m", "type": "t", "code": 1500}, "t", "m"),
        ({"detail": [{"loc": ["a"], "msg": "x"}]}, None, '[{"loc":["a"],"msg":"x"}]'),
        ({"error": {"code": 402, "message": "m", "metadata": {}}}, "402", "m"),
        ({"error": "m"}, None, "m"),
        ({"error": ["m"]}, None, '["m"]'),
        ({"error": {"message": ""}}, None, None),
        ({"error": {"message": 10**30, "code": ""}}, None, str(10**30)),
        ({"message": "m", "id": "i", "error_type": "t"}, "t", "m"),
        ({"Message": "m"}, None, "m"),
        ({"code": "c", "error": "m"}, "c", "m"),
        ({}, None, None),
        ([], None, None),
        ("m", None, "m"),
        ("", None, None),
        (None, None, None),
        ([[]], None, None),
    ],
)
def test_the_provider_s_own_words_are_found(body: Any, code: str | None, message: str | None) -> None:
    assert read_words(json.dumps(body).encode()) == (code, message)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"upstream connect error\n", "upstream connect error"),
        (b"no\nhealthy\n upstream", "no healthy upstream"),
        (b"<html><head><title>502 Bad Gateway</title></head><body><h1>no</h1></body></html>", "502 Bad Gateway"),
        (b"<HTML>\n<H1 class='x'>\nBad Request\n</H1>", "Bad Request"),
        (b"<html><title> </title></html>", None),
        (b"<html><titles>no</titles><body>no</body></html>", None),
        (b"<" * 1_000_000, None),
        (b"<title" * 100_000, None),
        (b"no \xff text", None),
        (b"no \x00 text", None),
        (b'{"error": ', None),
        (b"[1, ", None),
        (b" \n", None),
    ],
)
def test_the_error_of_a_proxy_in_front_of_a_provider_is_read(body: bytes, message: str | None) -> None:
    assert read_words(body) == (None, message)


@pytest.mark.parametrize(
    ("header", "body", "code"),
    [
        ("ValidationException:http://internal.amazon.com/coral/", {"message": "m"}, "ValidationException"),
        ("ThrottlingException", {"message": "m"}, "ThrottlingException"),
        ("ThrottlingException", {"message": "m", "code": "c"}, "c"),
        ("", {"message": "m"}, None),
    ],
)
def test_a_code_in_a_header_is_read(
    adapter: BaseAdapter, header: str, body: Any, code: str | None, head: Heads
) -> None:
    error = adapter.read_error(head(400, x_amzn_errortype=header), json.dumps(body).encode())
    assert (error.provider_code, error.provider_message) == (code, "m")


@pytest.mark.parametrize("template", [b'{"error": {"message": "%s", "code": "%s"}}', b"%s"])
def test_words_without_end_are_cut_and_no_half_of_the_key_is_left(
    adapter: BaseAdapter, template: bytes, key: str, head: Heads
) -> None:
    for before in (4090, 10_000):
        long = b"x" * before + key.encode()
        error = adapter.read_error(head(401), template.replace(b"%s", long))
        assert error.provider_message == ("x" * before + "[api key]")[:4096]
        assert len(error.provider_code or "") <= 4096


BROKEN = {
    "nothing": b"",
    "HTML": b"<html><body>Bad Gateway</body></html>",
    "half": b'{"error": {"message": "x',
    "bad UTF-8": b'{"error": {"message": "\xff"}}',
    "NaN": b'{"error": NaN}',
    "a lone surrogate": b'{"error": {"message": "\\ud800"}}',
    "a depth bomb": b'{"error":' * 100_000,
    "closed depth": b'{"error":' + b"[" * 980 + b"]" * 980 + b"}",
    "big": b"x" * 10_000_000,
    "null": b"null",
    "array": b"[]",
    "number": b"1",
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN.keys())
@table("status", [200, 204, 302, 400, 503])
def test_a_broken_body_is_an_error_and_never_an_empty_success(
    adapter: BaseAdapter, status: int, body: bytes, head: Heads, info: Callable[..., CallInfo]
) -> None:
    events = list(adapter.read_response(head(status, x_request_id="q"), body, info()))
    assert [type(event) for event in events] == [ErrorEvent, EndEvent]
    error = events[0].error
    assert isinstance(error, LLMProviderError)
    assert (error.provider, error.status, error.raw_body) == (adapter.provider_name, status, body[:4096])
    assert (events[1].message, events[1].finish) == (None, "error")
    assert error.is_retryable is (status == 503)
    assert (error.__cause__ is not None) is (status < 300)
    assert error.message.startswith(f"{adapter.provider_name} answered {status}")
    assert len(error.message) < 10_000


@table("status", range(300, 600))
def test_only_what_may_pass_is_retryable(adapter: BaseAdapter, status: int, head: Heads) -> None:
    assert adapter.read_error(head(status), b"").is_retryable is (status in RETRYABLE_STATUSES)


def test_an_error_has_status_words_request_id_and_wait(adapter: BaseAdapter, head: Heads) -> None:
    body = b'{"error": {"code": "slow_down", "message": "wait"}}'
    named = {adapter.request_id_header.replace("-", "_"): "q"}
    error = adapter.read_error(head(429, **named, retry_after="2"), body)
    assert str(error) == f"LLM_PROVIDER_ERROR: {adapter.provider_name} answered 429: wait"
    assert error.details == {
        "provider": adapter.provider_name,
        "status": 429,
        "provider_code": "slow_down",
        "provider_message": "wait",
        "request_id": "q",
        "retry_after": 2.0,
        "is_retryable": True,
    }
    assert error.raw_body == body


def test_an_unreadable_answer_names_its_content_type(
    adapter: BaseAdapter, head: Heads, info: Callable[..., CallInfo]
) -> None:
    for more, words in (({"content_type": "text/html"}, "(text/html): "), ({}, "(no content type): ")):
        event = next(adapter.read_response(head(200, **more), b"<html>", info()))
        assert words in event.error.message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 99999 07:28:00 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 +99999999999999"}, None),
    ],
)
def test_how_long_to_wait_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers) == seconds


def test_a_date_is_read_as_seconds_from_now() -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    seconds = read_retry_after({"retry-after": when})
    assert seconds is not None
    assert 90 < seconds <= 100


def _spellings(key: str) -> dict[str, str]:
    """How JSON writers spell a key: as it is, or with escapes for what HTML and scripts dislike."""
    return {
        "plain": key,
        "slashes": key.replace("/", "\\/"),
        "equals signs": key.replace("=", "\\u003d"),
    }


@pytest.mark.parametrize("spelling", ["plain", "slashes", "equals signs"])
@pytest.mark.parametrize("status", [200, 401])
@table(
    "template",
    [
        b'{"error": {"message": "bad key KEY", "code": "KEY"}}',
        b'{"detail": [{"input": "KEY"}]}',
        b"<html>KEY</html>",
        b"\xffKEY",
        b'{"choices": "KEY\xff"}',
        b'{"candidates": [{"finishReason": "KEY\xff',
        b'{"choices":[{"message":{"content":"KEY \xff"},"finish_reason":"stop"}]}',
        b'{"candidates":[{"content":{"parts":[{"text":"KEY \xff"}]},"finishReason":"STOP"}]}',
        b"x" * 4090 + b"KEY",
        b'{"choices":[{"message":{"content":["KEY"]}}]}',
    ],
)
def test_no_part_of_an_error_shows_the_key(
    adapter: BaseAdapter,
    template: bytes,
    status: int,
    spelling: str,
    key: str,
    head: Heads,
    info: Callable[..., CallInfo],
) -> None:
    body = template.replace(b"KEY", _spellings(key)[spelling].encode())
    answer_head = head(status, content_type=f"text/{key}", x_request_id=key)
    error = next(adapter.read_response(answer_head, body, info())).error
    shown = [str(error), repr(error), repr(error.details), repr(vars(error)), repr(error.args)]
    cause = error.__cause__
    while cause is not None:
        shown += [str(cause), repr(cause), repr(vars(cause)), repr(cause.args)]
        cause = cause.__cause__ or cause.__context__
    assert not [text for text in shown if key in text]
    assert key.encode() not in error.raw_body


class _Renewed(OpenAIAdapter):
    """An adapter whose key is renewed, as access tokens are."""

    def renew(self, key: str) -> None:
        self._api_key = key


def test_a_renewed_key_is_removed_from_errors(head: Heads) -> None:
    adapter = _Renewed(api_key="old")
    adapter.renew("sk-renewed")
    error = adapter.read_error(head(401, x_request_id="r-sk-renewed"), b'{"error": "bad key: sk-renewed"}')
    assert (error.message, error.request_id) == ("openai answered 401: bad key: [api key]", "r-[api key]")
    assert b"sk-renewed" not in (error.raw_body or b"")


def test_what_of_an_answer_is_not_the_key_is_kept(adapter: BaseAdapter, key: str, head: Heads) -> None:
    error = adapter.read_error(head(401), json.dumps({"error": {"message": f"bad key {key}!"}}).encode())
    assert error.provider_message == "bad key [api key]!"
    assert error.raw_body == b'{"error": {"message": "bad key [api key]!"}}'


def test_a_placeholder_for_a_server_that_takes_any_key_is_a_word_like_others(head: Heads) -> None:
    adapter = OpenAIAdapter(api_key="ollama")
    error = adapter.read_error(head(404), b'{"error": {"message": "model ollama/llama not found"}}')
    assert error.provider_message == "model ollama/llama not found"


@given(status=st.integers(100, 599), body=st.binary() | st.text().map(str.encode), retry=st.text(), kind=st.text())
def test_reading_an_answer_never_raises(status: int, body: bytes, retry: str, kind: str) -> None:
    from art_sdk import GeminiAdapter, OpenAIAdapter  # noqa: PLC0415

    head = ResponseHead(status, {"retry-after": retry, "content-type": kind})
    info = CallInfo(thread_id="t", trace_id="r", model="m")
    for make in (OpenAIAdapter, GeminiAdapter):
        events = list(make(api_key="a key of mine".replace(" ", "-")).read_response(head, body, info))
        assert isinstance(events[0], ErrorEvent)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "choices", "candidates", "finish_reason", "content", "parts"]),
            children,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(status=st.sampled_from([200, 400]), data=JSON)
def test_reading_json_never_raises(status: int, data: Any) -> None:
    from art_sdk import GeminiAdapter, OpenAIAdapter  # noqa: PLC0415

    info = CallInfo(thread_id="t", trace_id="r", model="m")
    for make in (OpenAIAdapter, GeminiAdapter):
        events = list(make(api_key="k").read_response(ResponseHead(status, {}), json.dumps(data).encode(), info))
        assert isinstance(events[-1], EndEvent)
