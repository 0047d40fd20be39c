"""What a provider's answers look like in every other form that they may come in, to the letter.

The checks of other forms read what is written here. Kept by syrupy; after a change that is meant,
`pytest compliance/tests/test_written_variations.py --snapshot-update`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from art_compliance.dialects import DIALECTS, Dialect
from art_compliance.dialects.variations import Variation
from art_compliance.scenarios import WrittenAnswer
from art_sdk import FunctionCall, ToolCall
from test_written_answers import STATUSES, as_text

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # other tests run the same lines

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

CALLS = (ToolCall("c1", FunctionCall("look", '{"at":"one side"}')), ToolCall("c2", FunctionCall("find", "{}")))
TEXT = WrittenAnswer(content="said here", input_tokens=70, output_tokens=9)
ANSWERS = {
    "text": TEXT,
    "one letter": WrittenAnswer(content="a", input_tokens=70, output_tokens=9),
    "calls": WrittenAnswer(content="said", tool_calls=CALLS, finish="tool_calls", input_tokens=70, output_tokens=9),
    "calls alone": WrittenAnswer(tool_calls=CALLS, finish="tool_calls"),
}

every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


def streamed(events: tuple[bytes, ...]) -> list[str]:
    return [as_text(one) for one in events]


def forms_of(dialect: Dialect, variation: Variation) -> Iterator[tuple[str, Any, Any]]:
    """The answers in their usual form and in this one: whole, and as the stream that a check sends."""
    write = dialect.streams.write_body
    for name, answer in ANSWERS.items():
        body, events = json.loads(dialect.answers.write(answer)), dialect.streams.write(answer)
        if variation.whole is not None:
            yield name, body, variation.whole(body)
        if variation.events is not None:
            yield f"{name}, streamed", streamed(events), streamed(variation.events(events))
        elif variation.whole is not None and write is not None:
            yield f"{name}, streamed", streamed(events), streamed(write(variation.whole(body)))


USERS: dict[str, list[tuple[Dialect, Variation]]] = {}
for each in DIALECTS.values():
    for form in each.answers.variations:
        USERS.setdefault(form.words, []).append((each, form))


@pytest.mark.parametrize("words", USERS)
def test_another_form_is_another_one_for_some_dialect_and_answer(words: str):
    assert any(other != usual for user in USERS[words] for _, usual, other in forms_of(*user))


def changed(usual: Any, other: Any) -> Any:
    """What is not as usual: the fields of a body; the events of a stream, and the places of its usual ones."""
    if isinstance(other, dict):
        return {name: other.get(name) for name in {**usual, **other} if other.get(name) != usual.get(name)}
    return [usual.index(event) if event in usual else event for event in other]


@every_dialect
def test_other_forms_are_kept_to_the_letter(dialect: Dialect, snapshot: SnapshotAssertion):
    found: dict[str, Any] = {}
    for variation in dialect.answers.variations:
        others = {name: changed(usual, other) for name, usual, other in forms_of(dialect, variation) if other != usual}
        found[f"{variation.words}; back: {', '.join(variation.goes_back)}"] = others
    assert found == snapshot(extension_class=JSONSnapshotExtension)


@every_dialect
def test_errors_in_other_forms_are_kept_to_the_letter(dialect: Dialect, snapshot: SnapshotAssertion):
    answers = dialect.answers
    found: dict[str, Any] = {
        f"{form.words}, {status}": json.loads(form.write(status, "no"))
        for form in answers.error_forms
        for status in STATUSES
    }
    found |= {f"headers of {status}": answers.error_headers(status, "no") for status in STATUSES}
    assert {name: value for name, value in found.items() if value} == snapshot(extension_class=JSONSnapshotExtension)


@every_dialect
def test_several_answers_and_mixed_calls_are_kept_to_the_letter(dialect: Dialect, snapshot: SnapshotAssertion):
    several, mix = dialect.answers.several, dialect.streams.interleave_calls
    found: dict[str, Any] = {
        "models": dialect.answers.models.gather(tuple(map(dialect.answers.models.describe, ["m-1"])))
    }
    for name, answer in ANSWERS.items():
        if mix is not None and answer.tool_calls:
            events = dialect.streams.write(answer)
            found[f"{name}, mixed"] = changed(streamed(events), streamed(mix(events)))
        if several is not None:
            one, other = json.loads(dialect.answers.write(TEXT)), json.loads(dialect.answers.write(answer))
            found[f"a text and {name}"] = changed(one, several.whole(one, other))
            first, second = dialect.streams.write(TEXT), dialect.streams.write(answer)
            found[f"a text and {name}, streamed"] = changed(streamed(first), streamed(several.events(first, second)))
    assert found == snapshot(extension_class=JSONSnapshotExtension)


@every_dialect
def test_each_letter_comes_alone_however_few_come_together(dialect: Dialect):
    usual = dialect.streams.write(WrittenAnswer(content="abcdef"))  # usually two and two
    for variation in dialect.answers.variations:
        if variation.words.startswith("one letter per ") and variation.events is not None:
            letters = as_text(b"".join(variation.events(usual)))
            assert [letters.count(f'"{letter}"') for letter in "abcdef"] == [1] * 6
