"""How payloads, answers and streams are read that differ a little from good and from wrong ones.

As a script, this prints all readings, one a line: compare its output before and after a change of a judge.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from art_compliance import DecodeFailed, decode
from art_compliance.checks.replay.recorded import read_recorded
from art_compliance.dialects import DIALECTS, CannotWrite, Dialect
from art_compliance.dialects.framing import change_payloads
from art_compliance.judging.examples import load_examples, unfold
from art_compliance.judging.rulebook import judge_rules
from art_compliance.scenarios import WrittenAnswer
from test_kept_readings import URLS, cases
from test_written_answers import ANSWERS
from varied_json import variations

Reading = tuple[str, str, Any]
"""What was varied, how, and what is read and said then."""

_LONGEST: Final = 5_000
"""Longer payloads, in characters, show limits of length, and would take most of the time."""


def of_payloads(dialect: Dialect) -> Iterator[Reading]:
    """What is decoded, and what the rules say."""
    for name, payload, url in _payloads(dialect.name):
        for words, varied in variations(f"{dialect.name} {name}", payload, 12):
            found = [f"{one.pointer}: {one.message}" for one in judge_rules(dialect.name, varied, url=url)]
            yield name, words, [_decoded(dialect, varied, url), *found]


def _decoded(dialect: Dialect, payload: Any, url: str | None) -> Any:
    """All that is decoded, or the error."""
    try:
        return msgspec.to_builtins(decode(dialect.name, payload, url=url), order="deterministic")
    except DecodeFailed as error:
        return f"{error.pointer}: {error}"


def _payloads(dialect: str) -> Iterator[tuple[str, Any, str | None]]:
    """Good and wrong payloads, and the examples of the rules: each with its name and URL."""
    for kind in ("good", "wrong"):
        for case in cases(dialect, kind):
            yield case["id"], case["payload"], URLS.get(dialect)
    for name, example in load_examples(dialect).items():
        payload = unfold(example.breaks)
        if len(str(payload)) < _LONGEST:
            yield name, payload, example.url


def of_answers(dialect: Dialect) -> Iterator[Reading]:
    """What a recorded answer says."""
    for name, answer in _answers(dialect):
        body = json.loads(dialect.answers.write(answer))
        for words, varied in variations(f"{dialect.name} {name}", body, 30):
            yield name, words, _said(dialect, json.dumps(varied).encode())


def _answers(dialect: Dialect) -> Iterator[tuple[str, WrittenAnswer]]:
    for name, answer in ANSWERS.items():
        try:
            dialect.answers.write(answer)
        except CannotWrite:
            continue
        yield name, answer


def of_streams(dialect: Dialect) -> Iterator[Reading]:
    """What a recorded stream says, and what is wrong with the order of its events."""
    for name, answer in _answers(dialect):
        events = list(dialect.streams.write(answer))
        for words, stream in _varied_streams(f"{dialect.name} {name}", events):
            yield name, words, [_said(dialect, stream), *dialect.streams.order.judge(stream)]


def _said(dialect: Dialect, body: bytes) -> Any:
    return msgspec.to_builtins(read_recorded(dialect, body), order="deterministic")


def _varied_streams(name: str, events: list[bytes]) -> Iterator[tuple[str, bytes]]:
    """With an event missing, twice or one place later, and with varied payloads of an event."""
    for at, event in enumerate(events):
        before, behind = events[:at], events[at + 1 :]
        yield f"without event {at}", b"".join([*before, *behind])
        yield f"event {at} twice", b"".join([*before, event, event, *behind])
        yield f"event {at} one place later", b"".join([*before, *behind[:1], event, *behind[1:]])
        for words, varied in _varied_events(f"{name} {at}", event):
            yield f"event {at}: {words}", b"".join([*before, varied, *behind])


def _varied_events(name: str, event: bytes) -> Iterator[tuple[str, bytes]]:
    seen: list[bytes] = []
    try:
        change_payloads(event, lambda payload: seen.append(payload) or payload)
        payload = json.loads(seen[0])
    except ValueError:
        return  # a comment, or [DONE]
    for words, varied in variations(name, payload, 6):
        encoded = json.dumps(varied).encode()
        yield words, change_payloads(event, lambda _, encoded=encoded: encoded)


KINDS: Final[dict[str, Callable[[Dialect], Iterator[Reading]]]] = {
    "payloads": of_payloads,
    "answers": of_answers,
    "streams": of_streams,
}

if __name__ == "__main__":
    for each in DIALECTS.values():
        for kind, readings in KINDS.items():
            for name, words, found in readings(each):
                sys.stdout.write(f"{each.name}, {kind}, {name}, {words}: {json.dumps(found)}\n")
