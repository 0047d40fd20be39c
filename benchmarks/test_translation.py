"""From a prompt as JSON data to request bytes: ours, with all validation, against the floor."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from art_sdk import parse_prompt
from benchmarks.conftest import Cell, Note
from benchmarks.conversation import LONGEST, SIZES, Message, last_turn, make_options, make_prompt
from benchmarks.floors import CONTESTS, FAMILY
from benchmarks.measure import ROUNDS, Pair, Work, compare, spread

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture


@pytest.mark.parametrize("who", ["floor", "ours"])
@pytest.mark.parametrize("messages", SIZES)
@pytest.mark.parametrize("provider", CONTESTS)
@pytest.mark.benchmark(timer=time.process_time, max_time=0.3)
def test_request_body(benchmark: BenchmarkFixture, provider: str, messages: int, who: str):
    benchmark.group = f"{provider}, {messages} messages"
    floor, ours = _both(provider, messages)
    assert benchmark(floor if who == "floor" else ours)


@pytest.mark.parametrize("messages", SIZES)
@pytest.mark.parametrize("provider", CONTESTS)
def test_ratio_to_the_floor(note: Note, provider: str, messages: int):
    pair = compare(*_both(provider, messages))
    note(f"{provider}, {messages} messages: CPU", pair.spread, Cell("translation", provider, f"{messages:,}"))


@pytest.mark.parametrize("messages", SIZES)
@pytest.mark.parametrize("provider", FAMILY)
def test_ratio_of_a_relative_to_its_floor(note: Note, provider: str, messages: int):
    pair = compare(*_both(provider, messages))
    note(f"{provider}, {messages} messages: CPU", pair.spread, Cell("translation", provider, f"{messages:,}"))


@pytest.mark.parametrize("provider", CONTESTS)
def test_growth(note: Note, provider: str):
    """How much longer ten times as many messages take; ten is linear."""
    short, long = _pair(provider, LONGEST // 10), _pair(provider, LONGEST)
    what = f"{provider}, {LONGEST // 10} to {LONGEST} messages: growth"
    note(f"{what} of the floor", f"{long.floor / short.floor:.1f}", Cell("growth", provider, "the floor's"))
    note(f"{what} of ours", f"{long.ours / short.ours:.1f}", Cell("growth", provider, "ours"))
    note(f"{provider}, {LONGEST} messages: CPU", long.spread, Cell("growth", provider, "ours to the floor, at 10,000"))


@pytest.mark.parametrize("parse", [parse_prompt, list], ids=["typed", "data"])
@pytest.mark.parametrize("messages", [200, 1_000])
@pytest.mark.parametrize("provider", CONTESTS)
def test_a_turn_more(note: Note, provider: str, messages: int, parse: Callable[[list[Message]], Any]):
    """A prompt of which all but the last turn was sent before, against the floor of the whole prompt."""
    data, options, contest = make_prompt(messages), make_options(), CONTESTS[provider]
    prompt = parse(data)
    last = last_turn(data)
    before = (prompt[: last_turn(data[:last])], prompt[:last])
    body = contest.adapter.prepare(prompt, options).request.body
    ratios: list[float] = []
    for _ in range(ROUNDS):
        contest.adapter.close()  # it forgets the conversation
        for earlier in before:  # which is kept once it goes on
            contest.adapter.prepare(earlier, options)
        start = time.process_time()
        again = contest.adapter.prepare(prompt, options).request.body
        between = time.process_time()
        contest.floor(data)
        ratios.append((between - start) / (time.process_time() - between))
        assert again == body
    form = "typed values" if parse is parse_prompt else "JSON data"
    ratio = spread(ratios)
    note(f"{provider}, {messages} messages, a turn more, {form}: CPU", ratio, Cell(form, provider, f"{messages:,}"))


def _pair(provider: str, messages: int) -> Pair:
    return compare(*_both(provider, messages), rounds=9)


def _both(provider: str, messages: int) -> tuple[Work, Work]:
    prompt, options, contest = make_prompt(messages), make_options(), {**CONTESTS, **FAMILY}[provider]
    return lambda: contest.floor(prompt), lambda: contest.adapter.prepare(prompt, options).request.body
