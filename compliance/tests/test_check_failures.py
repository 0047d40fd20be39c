"""Which broken answers an adapter is given, and what of an error it may not keep to itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from msgspec import structs

from art_compliance.miniatures.base import Events, change_events
from art_compliance.pointers import look_up
from art_compliance.provider import WRITTEN_TEXT
from art_compliance.subject.access import TEST_KEY
from art_sdk import OpenAIAdapter
from trials import Script, answer_events, assert_each_has, failure_events, findings_of, messages_of, scripted, spoiled


class Came(NamedTuple):
    """An answer as it came."""

    status: int
    retry_after: str | None
    content_type: str
    body: bytes


def noting(events: Events | None = None, make: type[OpenAIAdapter] = OpenAIAdapter) -> tuple[Any, list[Came]]:
    """An adapter that notes what it is answered, and gives these events in place of what it reads, where given."""
    came: list[Came] = []

    def spoil(adapter: Any) -> None:
        own = adapter.read_response

        def read_response(head: Any, body: bytes, info: Any) -> Any:
            came.append(Came(head.status, head.headers.get("retry-after"), head.headers["content-type"], body))
            return own(head, body, info)

        adapter.read_response = read_response
        if events is not None:
            change_events(adapter, lambda given: [{**given[-1], **event} for event in events])

    return spoiled(spoil, make), came


ERROR_ANSWER = "response.error-answer-is-an-error"
STATUSES = [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 520, 524, 529]


def tells(status: int, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """An adapter that tells another error than it read, of the answers with this status."""

    def change_error(events: Events) -> Events:
        error, end = events
        return [{**error, "error": change(error["error"])}, end] if error["error"]["status"] == status else events

    return spoiled(lambda adapter: change_events(adapter, change_error))


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("status", "changes", "fragments"),
    [
        (500, {}, []),
        (500, {"provider_message": None, "message": "a written error 500"}, []),
        (500, {"status": 502}, ["the error's status is 502"]),
        (500, {"status": 429}, ["the error's status is 429"]),
        (500, {"provider_message": None, "message": "no"}, ['"written error 500"']),
        (500, {"provider_message": "x", "message": "written error 500"}, ['"written error 500"']),
        (429, {"retry_after": 2.0}, ["retry_after is 2.0; the answer says 1 s"]),
        (429, {"retry_after": None}, ["retry_after is null; the answer says 1 s"]),
        (429, {"is_retryable": False}, ["is_retryable is false"]),
        (429, {"is_retryable": None}, ["is_retryable is null"]),
        (400, {"is_retryable": True}, ["is_retryable is true"]),
        (500, {"is_retryable": False}, ["is_retryable is false"]),
        (401, {"is_retryable": True}, ["is_retryable is true"]),
        (503, {"retry_after": 7.0}, []),
        (503, {"code": "OWN"}, ['"OWN"']),
        (503, {"code": "BUSY"}, ['"BUSY"']),
    ],
)
def test_what_an_error_does_not_say_is_found(status: int, changes: dict[str, Any], fragments: list[str]):
    found = messages_of(ERROR_ANSWER, tells(status, lambda error: {**error, **changes}))
    assert_each_has(found, fragments)
    assert all(one.startswith(f"answered {status}: ") for one in found)


def test_these_statuses_are_answered_and_one_of_them_says_how_long_to_wait():
    adapter, came = noting()
    assert messages_of(ERROR_ANSWER, adapter) == []
    in_other_letters, in_few_and_in_many_words, an_answer_and_a_page = [400], [400, 400], [200, 200, 502]
    whole_streamed_and_without_a_loop = [status for status in STATUSES for _ in range(3)]
    expected = [*whole_streamed_and_without_a_loop, *in_other_letters, *in_few_and_in_many_words, *an_answer_and_a_page]
    assert [one.status for one in came] == expected
    assert [(one.status, one.retry_after) for one in came if one.retry_after] == [(429, "1")] * 3


def uncoded(statuses: list[int]) -> Any:
    """An adapter whose errors of these statuses have no field for the provider's code."""

    def change(events: Events) -> Events:
        return [{**one, "error": without_code(one["error"], statuses)} if "error" in one else one for one in events]

    return spoiled(lambda adapter: change_events(adapter, change))


def without_code(error: dict[str, Any], statuses: list[int]) -> dict[str, Any]:
    kept = {name: value for name, value in error.items() if name != "provider_code"}
    return kept if error["status"] in statuses else error


def test_an_error_has_a_code_as_the_others_have_and_none_at_all_is_a_note():
    (found,) = findings_of(ERROR_ANSWER, uncoded([422]))
    assert (found.message[:14], found.severity, "no provider_code" in found.message) == (
        "answered 422: ",
        "reject",
        True,
    )
    (found,) = findings_of(ERROR_ANSWER, uncoded(STATUSES))
    assert (found.severity, found.message[:33]) == ("note", "no ERROR has a provider_code, alt")


def asking(times: int) -> Any:
    """An adapter that asks so often before it tells what it was answered."""

    def spoil(adapter: Any) -> None:
        own = adapter.call

        async def call(prompt: Any, options: Any) -> Any:
            for _ in range(times - 1):
                async for _ in own(prompt, options):
                    pass
            async for event in own(prompt, options):
                yield event

        adapter.call = call

    return spoiled(spoil)


@pytest.mark.parametrize("times", [1, 2])
def test_a_request_that_is_refused_for_good_is_sent_once(times: int):
    finals = [400, 401, 402, 403, 404, 413, 422] if times != 1 else []
    found = messages_of(ERROR_ANSWER, asking(times))
    assert [one.partition(":")[0] for one in found] == [f"answered {status}" for status in finals]
    assert all(f"sent {times} requests" in one for one in found)


def test_an_adapter_that_sends_no_request_is_found():
    found = messages_of(ERROR_ANSWER, scripted(failure_events(), dialect="openai-chat"))
    assert len([one for one in found if "sent 0 requests" in one]) == 7


BROKEN = "response.broken-answer-is-an-error"


class Toolless(OpenAIAdapter):
    capabilities = frozenset({"streaming"})


def broken_answers(make: type[OpenAIAdapter] = OpenAIAdapter) -> dict[str, Came]:
    """The broken answers by their names: those that are found where an adapter takes all of them for good ones."""
    adapter, came = noting(answer_events("good"), make)
    names = [one.partition(": expected")[0] for one in messages_of(BROKEN, adapter)]
    greeting = WRITTEN_TEXT.encode("ascii", "ignore")
    return dict(zip(names, (one for one in came if greeting not in one.body), strict=True))


@pytest.fixture(scope="module")
def broken() -> dict[str, Came]:
    return broken_answers()


def test_answers_are_broken_in_each_listed_way(broken: dict[str, Came]):
    assert {one.status for one in broken.values()} == {200}
    whole = json.loads(broken["text that is not UTF-8"].body.replace(b"wr\xff\xfeitten", b"written"))
    assert whole["choices"][0]["message"]["content"] == "This answer was written."
    half = broken["half of an answer"].body
    assert len(half) == len(broken["text that is not UTF-8"].body.replace(b"\xff\xfe", b"")) // 2
    assert broken["a page"].content_type == "text/html"
    short = {
        name: (one.body, one.content_type) for name, one in broken.items() if len(one.body) < 60 and name[0] != "/"
    }
    assert short == {
        "an empty body": (b"", "application/json"),
        "a page": (b"<!DOCTYPE html><title>502</title><h1>Bad gateway</h1>", "text/html"),
        **{f"the body {text}": (text.encode(), "application/json") for text in ("null", "[]", "{}", '"text"', "7")},
    }
    assert broken["the body [[[[[[[[[["].body == b"[" * 100_000


def test_each_required_field_of_an_answer_is_broken_in_four_forms(broken: dict[str, Came]):
    named = {name: json.loads(one.body) for name, one in broken.items() if name.startswith("/")}
    assert named
    for pointer in {name.partition(" ")[0] for name in named}:
        parent, _, step = pointer.rpartition("/")
        assert step not in look_up(named[f"{pointer} missing"], parent)
        values = [look_up(named[f"{pointer} {what}"], parent)[step] for what in ("null", "a number", "a flag")]
        assert values == [None, 7, True]
        missing = named[f"{pointer} missing"]
        look_up(missing, parent)[step] = None
        assert missing == named[f"{pointer} null"]
    assert len(named) == 4 * len({name.partition(" ")[0] for name in named})


def test_answers_with_calls_are_broken_where_tools_are_declared(broken: dict[str, Came]):
    without = broken_answers(Toolless)
    assert {name for name in broken if "tool_calls" in name}
    assert {name for name in without if "tool_calls" in name} == set()
    assert {name for name in without if "choices" in name}


def test_an_adapter_that_raises_is_found():
    raising = scripted(OSError("no line"), dialect="openai-chat")
    assert all("OSError: no line" in one for one in messages_of(BROKEN, raising))


@pytest.mark.parametrize(
    ("script", "place"),
    [
        (failure_events(message=f"no {TEST_KEY}"), "event /0/error/message"),
        (OSError(f"no {TEST_KEY}"), "the exception"),
        (OSError("no"), None),
    ],
)
def test_each_place_that_shows_the_key_is_found(script: Script, place: str | None):
    found = messages_of("response.key-is-never-shown", scripted(script, dialect="openai-chat"))
    forms = ("with an error", "200 and an error", "with a text")
    assert_each_has(found, [f"{way}, {place}" for way in forms if place])


def test_the_provider_repeats_the_key_in_its_errors():
    adapter, came = noting()
    assert messages_of("response.key-is-never-shown", adapter) == []
    assert [one.status for one in came] == [401, 200, 200]
    assert [TEST_KEY.encode() in one.body for one in came] == [True, True, False]
    assert [b"invalid_api_key" in one.body for one in came] == [True, True, False]


class ShowsItsKey(OpenAIAdapter):
    def __repr__(self) -> str:
        return f"Adapter(api_key={TEST_KEY!r})"


def test_a_repr_that_shows_the_key_is_found():
    assert_each_has(messages_of("response.key-is-never-shown", ShowsItsKey), ["repr"])


def requesting(change: Callable[[Any], Any]) -> Any:
    """An adapter whose HTTP request is changed so."""

    class Requesting(OpenAIAdapter):
        def request(self, payload: Any, options: Any) -> Any:
            return change(super().request(payload, options))

    return Requesting


def changed(**fields: Any) -> Callable[[Any], Any]:
    return lambda request: structs.replace(request, **{name: make(request) for name, make in fields.items()})


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        (lambda request: request, []),
        (changed(headers=lambda request: {**request.headers, "authorization": "none"}), ["no header"]),
        (changed(url=lambda request: f"{request.url}?key={TEST_KEY}"), ["URL or body"]),
        (changed(body=lambda request: request.body[:-1] + f',"user":"{TEST_KEY}"}}'.encode()), ["URL or body"]),
    ],
)
def test_the_key_goes_in_a_header_and_nowhere_else(change: Any, fragments: list[str]):
    found = findings_of("response.key-goes-in-a-header", requesting(change))
    assert_each_has([one.message for one in found], fragments)


def test_a_broken_answer_taken_for_a_good_one_is_a_loss_unless_official_clients_take_it_so():
    classes = {
        one.message.partition(": ")[0]: one.finding_class
        for one in findings_of(BROKEN, noting(answer_events("good"))[0])
    }
    read = {name for name, of in classes.items() if of == "contract"}
    assert read == {name for name in classes if name[0] == "/" or name == "text that is not UTF-8"}
    assert {"an empty body", "a page", "half of an answer"} <= classes.keys() - read
