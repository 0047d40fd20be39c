"""Many calls that are closed midway: what fails, what is left, and what cannot be closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from art_compliance.checks.load.numbered import answer_to
from trials import answer_events, messages_of, reason_of, scripted

pytestmark = pytest.mark.once

CHECK = "load.closed-calls-free-their-resources"


def closable(
    begin: Callable[[int], object] = lambda _: None, close: Callable[[], object] = lambda: None
) -> Callable[[Any, Any], Iterator[Any]]:
    """A call that does something with its number when it begins, and something when it is closed."""
    calls = iter(range(1_000))

    def call(*_: Any) -> Iterator[Any]:
        begin(next(calls))
        try:
            yield from answer_events(answer_to(2))
        finally:
            close()

    return call


def adapter(call: Callable[..., Any], call_sync: Callable[..., Any] | None = None) -> type[Any]:
    """An adapter with these ways to call."""
    made: Any = scripted([])
    made.call = lambda _, prompt, options: call(prompt, options)
    if call_sync is not None:
        made.call_sync = lambda _, prompt, options: call_sync(prompt, options)
    return made  # type: ignore[no-any-return]  # it is a class


def fail_at(number: int) -> Callable[[int], None]:
    """Raises in the call of this number."""

    def begin(at: int) -> None:
        if at == number:
            raise OSError("no place is free")

    return begin


def test_calls_that_give_everything_back_pass():
    assert messages_of(CHECK, adapter(closable(), closable())) == []


@pytest.mark.parametrize(("method", "of"), [("call", ""), ("call_sync", " of call_sync")])
def test_a_call_that_fails_after_others_were_closed_is_found(method: str, of: str):
    failing, right = closable(fail_at(40)), closable()
    make = adapter(*((failing, right) if method == "call" else (right, failing)))
    expected = f"after some of 52 closed calls{of}, the next one raised OSError: no place is free"
    assert messages_of(CHECK, make) == [expected]


@pytest.mark.parametrize(("method", "of"), [("call", ""), ("call_sync", " of call_sync")])
def test_the_call_after_them_must_give_its_answer(method: str, of: str):
    failing, right = closable(fail_at(52)), closable()
    make = adapter(*((failing, right) if method == "call" else (right, failing)))
    [message] = messages_of(CHECK, make)
    assert message.startswith(f"after 52 closed calls{of}, the next one gives ")
    assert "no place is free" in message


@pytest.mark.parametrize(("method", "of"), [("call", ""), ("call_sync", " of call_sync")])
def test_what_closed_calls_leave_is_counted(method: str, of: str, resting: Callable[[], None]):
    leaving, right = closable(close=resting), closable()
    make = adapter(*((leaving, right) if method == "call" else (right, leaving)))
    assert messages_of(CHECK, make) == [f"after 52 closed calls{of} there are 52 more threads than before"]


def test_events_that_nobody_can_close_are_not_judged():
    assert "cannot be closed" in reason_of(CHECK, adapter(lambda *_: answer_events(answer_to(2))))


def test_only_call_sync_may_give_events_that_nobody_can_close():
    assert messages_of(CHECK, adapter(closable(), lambda *_: answer_events(answer_to(2)))) == []
