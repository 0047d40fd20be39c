"""Which broken answers an adapter is given, and what of an error it may not keep to itself."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from art_compliance.checks.response import failures
from art_compliance.checks.response.failures import _broken, _spoiled, _wrong_error
from art_compliance.checks.trial import Trial
from art_compliance.dialects import DIALECTS
from art_compliance.provider import Response
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.subject.access import TEST_KEY
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed
from art_compliance.subject.opening import open_subject
from art_sdk import OpenAIAdapter

WORDS = "written error"
GOOD = {"status": 500, "provider_message": f"the {WORDS}"}
BUSY = {**GOOD, "status": 429, "retry_after": 1.0, "is_retryable": True}
BAD = {**GOOD, "status": 400, "is_retryable": False}


@pytest.mark.parametrize(
    ("error", "status", "wrong"),
    [
        (GOOD, 500, []),
        ({"status": 500, "message": WORDS}, 500, []),
        (BUSY, 429, []),
        (BAD, 400, []),
        ({**GOOD, "status": 502}, 500, ["the error's status is 502"]),
        ({**GOOD, "status": 429}, 500, ["the error's status is 429"]),
        ({"status": 500}, 500, ["the provider's words 'written error' are not told"]),
        (
            {"status": 500, "provider_message": "x", "message": WORDS},
            500,
            ["the provider's words 'written error' are not told"],
        ),
        ({**BUSY, "retry_after": 2.0}, 429, ["retry_after is 2.0; the answer says 1 s"]),
        ({**BUSY, "retry_after": None}, 429, ["retry_after is None; the answer says 1 s"]),
        ({**BUSY, "is_retryable": False}, 429, ["is_retryable is False"]),
        ({**BUSY, "is_retryable": None}, 429, ["is_retryable is None"]),
        ({**BAD, "is_retryable": True}, 400, ["is_retryable is True"]),
        ({**GOOD, "is_retryable": False}, 500, []),
        ({**GOOD, "status": 401, "is_retryable": True}, 401, []),
        ({**GOOD, "status": 503, "retry_after": 7.0}, 503, []),
    ],
)
def test_of_an_error_is_not_told(error: dict[str, Any], status: int, wrong: list[str]):
    assert list(_wrong_error(error, status, WORDS)) == wrong


def test_each_field_that_an_answer_cannot_do_without_is_spoiled_in_four_ways():
    body = {"a": {"b": [{"c": "x"}]}, "d": "y"}
    told = {what: json.loads(one.body) for what, one in _spoiled(body, ("/e", "/a/b/0/c", "/d/x", "/d", "/a/b/7/c"))}
    assert told == {
        "/a/b/0/c missing": {"a": {"b": [{}]}, "d": "y"},
        "/a/b/0/c null": {"a": {"b": [{"c": None}]}, "d": "y"},
        "/a/b/0/c a number": {"a": {"b": [{"c": 7}]}, "d": "y"},
        "/a/b/0/c a flag": {"a": {"b": [{"c": True}]}, "d": "y"},
        "/d missing": {"a": {"b": [{"c": "x"}]}},
        "/d null": {"a": {"b": [{"c": "x"}]}, "d": None},
        "/d a number": {"a": {"b": [{"c": "x"}]}, "d": 7},
        "/d a flag": {"a": {"b": [{"c": "x"}]}, "d": True},
    }
    assert body == {"a": {"b": [{"c": "x"}]}, "d": "y"}
    assert [one.status for _, one in _spoiled(body, ("/d",))] == [200] * 4


def broken(make: type) -> dict[str, Response]:
    with open_subject(make, name="one") as subject:
        return dict(_broken(Trial(subject, GREETING_SCENARIO, 1)))


class Toolless(OpenAIAdapter):
    capabilities = frozenset({"streaming"})


def test_what_is_broken_about_an_answer():
    found = broken(OpenAIAdapter)
    assert {one.status for one in found.values()} == {200}
    whole = json.loads(found["text that is not UTF-8"].body.replace(b"wr\xff\xfeitten", b"written"))
    assert whole["choices"][0]["message"]["content"] == "This answer was written."
    half = found["half of an answer"].body
    assert len(half) == len(found["text that is not UTF-8"].body.replace(b"\xff\xfe", b"")) // 2
    assert 9_900_000 < len(found["a page of 10 MB"].body) <= 10_000_000
    assert {
        what: (one.body, one.content_type) for what, one in found.items() if len(one.body) < 60 and what[0] != "/"
    } == {
        "an empty body": (b"", "application/json"),
        "a page": (b"<!DOCTYPE html><title>502</title><h1>Bad gateway</h1>", "text/html"),
        **{f"the body {text}": (text.encode(), "application/json") for text in ("null", "[]", "{}", '"text"', "7")},
    }
    assert found["the body [[[[[[[[[["].body == b"[" * 100_000


def test_answers_with_calls_are_broken_where_tools_are_declared():
    with_tools, without = broken(OpenAIAdapter), broken(Toolless)
    assert {what for what in with_tools if "tool_calls" in what}
    assert {what for what in without if "tool_calls" in what} == set()
    assert {what for what in without if "choices" in what}


@pytest.mark.parametrize("times", [0, 1, 2])
def test_these_statuses_are_answered_and_the_first_of_them_once(times: int):
    answered: list[tuple[int, tuple[tuple[str, str], ...]]] = []

    class Counting:
        request_count = 0

    def call_with(response: Response) -> Crashed:
        answered.append((response.status, response.headers))
        Counting.request_count += times
        return Crashed("no")

    write_error = lambda status, words: f"{status} {words}".encode()  # noqa: E731 - a stub
    trial: Any = SimpleNamespace(
        subject=Counting, dialect=SimpleNamespace(answers=SimpleNamespace(write_error=write_error)), call_with=call_with
    )
    found = [one.message for one in failures.error_answer_is_told.run(trial)]
    assert [status for status, _ in answered] == [400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529]
    assert [headers for status, headers in answered if status == 429] == [(("retry-after", "1"),)]
    assert {headers for status, headers in answered if status != 429} == {()}
    asked = f"it was asked {times} times; what is refused stays refused"
    odd = [one.partition(":")[0] for one in found if asked in one]
    assert odd == [f"answered {status}" for status in (400, 401, 403, 404, 413, 422) if times != 1]
    assert len(found) == len(answered) + len(odd)


@pytest.mark.parametrize(
    ("heard", "place"),
    [
        (Answered(({"type": "ERROR", "error": {"message": f"no {TEST_KEY}"}},)), "event /0/error/message"),
        (Crashed(f"no {TEST_KEY}"), "the exception"),
        (Crashed("no"), None),
    ],
)
def test_where_the_key_is_shown_is_told(heard: Any, place: str | None):
    answered: list[Response] = []
    subject = SimpleNamespace(adapter="an adapter")
    trial: Any = SimpleNamespace(
        dialect=DIALECTS["openai-chat"],
        subject=subject,
        call_with=lambda response: (answered.append(response), heard)[1],
    )
    told = [one.message for one in failures.key_is_shown_nowhere.run(trial)]
    ways = ("with an error", "200 and an error", "with a text")
    assert told == [f"answered {way}, {place} shows the key" for way in ways if place]
    assert [one.status for one in answered] == [401, 200, 200]
    assert [b"invalid_api_key" in one.body and TEST_KEY.encode() in one.body for one in answered] == [True, True, False]
    subject.adapter = f"Adapter(api_key={TEST_KEY!r})"
    assert "the adapter's repr shows the key" in [one.message for one in failures.key_is_shown_nowhere.run(trial)]
