"""Whether each time limit ends the calls that it is for, and no others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from art_sdk import CAPABILITIES
from trials import Event, answer_events, assert_each_has, failure_events, messages_of, reason_of, scripted

IN_TIME = "faults.end-in-time"
UNSTREAMED = CAPABILITIES - {"streaming"}
WAITS = "hang-mid-body (unstreamed), with the time limit whole_call"
BETWEEN = "hang-mid-body (unstreamed), with the time limit between_bytes"
STEADY = "steady (unstreamed), with the time limit first_byte"
PAUSED = "paused (streamed), with the time limit connect"
UNLIMITED = "late (unstreamed), without time limits"


Give = Callable[[str], Iterable[Event] | None]


def waiting(give: Give, *, streams: bool = False) -> Any:
    """An adapter that ends in time as it should, but for the calls that `give` gives something for."""

    def call(prompt: Any, options: Any) -> Iterable[Event]:
        name = prompt[0]["content"]
        is_to_be_good = "timeouts" not in options or name.startswith(("steady", "paused"))
        return give(name) or (answer_events() if is_to_be_good else failure_events())

    return scripted(call, capabilities=CAPABILITIES if streams else UNSTREAMED)


def late(name: str, events: list[Event], times: int = 9) -> Give:
    """The call of that name takes its time, the first times."""
    left = [times]

    def give(called: str) -> Iterable[Event] | None:
        if called != name or not left[0]:
            return None
        left[0] -= 1
        return slowly(events)

    return give


def slowly(events: list[Event]) -> Iterator[Event]:
    *others, last = events
    yield from others
    time.sleep(2.0)  # a busy machine is given more than a quarter of a second
    yield last


def only(name: str, events: list[Event]) -> Give:
    return lambda called: events if called == name else None


@pytest.mark.parametrize(
    ("give", "fragments"),
    [
        (lambda _: None, []),
        (only(WAITS, answer_events()), [f"{WAITS} = 0.4 s: expected tokens and calls"]),
        (only(WAITS, failure_events(code="X")), [f'{WAITS} = 0.4 s: the error\'s code is "X"']),
        (late(WAITS, failure_events("The moon")), [f"{WAITS} = 0.4 s: the call took 2."]),
        (late(WAITS, failure_events(), times=1), []),
        (late(BETWEEN, failure_events()), []),
        (only(STEADY, answer_events(metadata={"input_tokens": 9})), [f"{STEADY} = 0.4 s: input_tokens"]),
        (only(STEADY, answer_events("other")), [f"{STEADY} = 0.4 s: the message", f"{STEADY} = 0.4 s: the text"]),
        (late(STEADY, answer_events()), []),
        (only(UNLIMITED, failure_events()), [f"{UNLIMITED} after a call with all: an ERROR event"]),
    ],
)
def test_a_call_that_waits_ends_in_time_and_a_steady_one_whole(give: Any, fragments: list[str]):
    assert_each_has(messages_of(IN_TIME, waiting(give)), fragments)


def test_a_stream_that_ends_at_its_pause_is_found():
    def give(called: str) -> Iterable[Event] | None:
        return failure_events() if called == PAUSED else answer_events() if called.startswith("kept") else None

    assert_each_has(messages_of(IN_TIME, waiting(give, streams=True)), [f"{PAUSED} = 0.4 s: an ERROR event"])


def test_a_steady_call_that_raises_is_found():
    def give(name: str) -> list[Event] | None:
        if name == STEADY:
            raise OSError("no line")
        return None

    assert_each_has(messages_of(IN_TIME, waiting(give)), ["OSError: no line"])


LIMITS = {
    "hang-before-head": {"first_byte", "whole_call"},
    "hang-after-head": {"between_bytes", "whole_call"},
    "hang-mid-body": {"between_bytes", "whole_call"},
    "trickle": {"whole_call"},
    "endless-announcements": {"whole_call"},
    "slow-head": {"whole_call"},
    "steady": {"first_byte", "between_bytes"},
    "paused": {"connect"},
    "kept-alive": {"between_bytes"},
}
KINDS = {"kept-alive": {"streamed"}, "paused": {"streamed"}}


@pytest.mark.parametrize(
    ("dialect", "streams"), [("openai-chat", True), ("openai-chat", False), ("gemini-generate", True)]
)
def test_one_limit_of_a_call_is_short_and_the_others_are_long(dialect: str, *, streams: bool):
    seen: dict[str, Any] = {}

    def call(prompt: Any, options: Any) -> list[Event]:
        if "timeouts" in options:
            seen[prompt[0]["content"]] = options
        return (
            answer_events()
            if prompt[0]["content"].startswith(("steady", "paused", "kept", "late", "hello"))
            else failure_events()
        )

    can = CAPABILITIES if streams else UNSTREAMED
    assert messages_of(IN_TIME, scripted(call, dialect=dialect, capabilities=can)) == []
    prompt = next(name for name in seen if "limit" not in name)  # the call before those without limits
    assert seen.pop(prompt)["timeouts"] == dict.fromkeys(("connect", "first_byte", "between_bytes", "whole_call"), 0.4)
    fails_at_comments = dialect == "gemini-generate"  # Google's own client does
    kinds = {"streamed", "unstreamed"} if streams else {"unstreamed"}
    assert set(seen) == {
        f"{fault} ({kind}), with the time limit {limit}"
        for fault, limits in LIMITS.items()
        for limit in limits
        for kind in kinds
        if kind in KINDS.get(fault, kinds) and not (fault == "kept-alive" and fails_at_comments)
    }
    for name, options in seen.items():
        limits = dict.fromkeys(("connect", "first_byte", "between_bytes", "whole_call"), 60)
        assert options["timeouts"] == {**limits, name.rsplit(" ", 1)[1]: 0.4}
        assert options.get("stream", False) is ("(streamed)" in name)


class Refusal(Exception):
    code = "NO_TIMEOUTS"


def test_adapters_that_reject_timeouts_skip_the_timing_checks():
    def call(_: Any, options: Any) -> list[Event]:
        if "timeouts" in options:
            raise Refusal("why")
        return answer_events()

    assert "NO_TIMEOUTS" in reason_of(IN_TIME, scripted(call))
