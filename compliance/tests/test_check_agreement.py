"""What is wrong with errors after status 200 that differ, and with keys that follow redirects."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from art_compliance.miniatures.base import Events, as_data, change_events
from art_compliance.miniatures.streams import change_streams
from art_compliance.subject.access import TEST_KEY
from art_sdk import CAPABILITIES, AnthropicAdapter, BaseAdapter, GeminiAdapter, OpenAIAdapter
from trials import answer_events, assert_each_has, messages_of, reason_of, scripted, spoiled

AGREE, STAYS = "faults.errors-in-answers-agree", "faults.key-stays-at-its-host"
ADAPTERS = (OpenAIAdapter, AnthropicAdapter, GeminiAdapter)


class Unstreamed(OpenAIAdapter):
    capabilities = CAPABILITIES - {"streaming"}


def with_error(**changes: Any) -> Any:
    def change(events: Events) -> Events:
        return [{**one, "error": one["error"] | changes} if one["type"] == "ERROR" else one for one in events]

    return change


@pytest.mark.parametrize("make", ADAPTERS)
@pytest.mark.parametrize(
    ("changes", "fragments"),
    [
        ({}, []),
        ({"is_retryable": True}, ["is_retryable of an error 400", "false unstreamed, true streamed"]),
        ({"is_retryable": False}, ["is_retryable of an error 503", "true unstreamed, false streamed"]),
        ({"message": "other words", "raw_body": ""}, []),
    ],
)
def test_errors_that_differ_are_found(make: type[BaseAdapter], changes: dict[str, Any], fragments: list[str]):
    messages = messages_of(AGREE, spoiled(lambda adapter: change_streams(adapter, with_error(**changes)), make))
    assert len(messages) == bool(fragments)
    assert all(fragment in message for message in messages for fragment in fragments)


def test_codes_that_differ_are_found_for_each_status():
    other = spoiled(lambda adapter: change_streams(adapter, with_error(provider_code="own")))
    assert_each_has(messages_of(AGREE, other), ["provider_code of an error 503", "provider_code of an error 400"])


def test_an_adapter_that_tells_no_error_is_left_to_other_checks():
    def change(events: Events) -> Events:
        return [one for one in events if one["type"] != "ERROR"]

    assert messages_of(AGREE, spoiled(lambda adapter: change_events(adapter, change))) == []


def test_an_adapter_that_does_not_stream_has_nothing_to_compare():
    assert reason_of(AGREE, Unstreamed) == "the adapter does not stream"


def follow(*statuses: int, headers: bool, where: str = "") -> Any:
    """An adapter that follows these redirects, with or without its headers."""

    def spoil(adapter: Any) -> None:
        own = adapter.call

        async def call(prompt: Any, options: Any) -> Any:
            request = adapter.prepare(as_data(prompt), as_data(options)).request
            with httpx2.Client(verify=False, timeout=60) as client:
                answer = client.post(request.url, content=request.body, headers=request.headers)
                if answer.status_code in statuses:
                    client.post(answer.headers["location"] + where, headers=request.headers if headers else {})
            async for event in own(prompt, options):
                yield event

        adapter.call = call

    return spoiled(spoil)


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (OpenAIAdapter, []),
        (AnthropicAdapter, []),
        (GeminiAdapter, []),
        (scripted(answer_events(), dialect="openai-chat"), []),
        (follow(302, 307, headers=False), []),
        (
            follow(302, headers=True),
            ["a port of another server, to which a 302 answer r", "the host of another server"],
        ),
        (
            follow(302, 307, headers=True),
            ["a 302 answer r", "a 302 answer of a stream", "a 307 answer r", "a 307 answer of"],
        ),
        (
            follow(307, headers=False, where=f"?key={TEST_KEY}"),
            ["a 307 answer r", "a 307 answer of a stream"],
        ),
    ],
)
def test_a_key_that_follows_a_redirect_is_found(make: Any, fragments: list[str]):
    assert_each_has(messages_of(STAYS, make), fragments)
