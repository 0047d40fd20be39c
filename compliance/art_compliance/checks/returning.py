"""What of an answer goes back with the next request, as its provider wants it: all of it, in its order, and no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from art_compliance.checks.kinds import TOOLS
from art_compliance.checks.trial import Trial
from art_compliance.dialects.variations import Variation
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered, next_turn
from art_compliance.subject.observations import Sent
from art_sdk.json_data import is_array, is_object


def kept_back(trial: Trial, reply: Answered, variation: Variation, answer: WrittenAnswer) -> Iterator[Problem]:
    """What the provider wants back and the next request does not have, or has in another order."""
    signed = variation.goes_back[: len(answer.tool_calls) or None]
    wanted = (*signed, *variation.text_goes_back(answer.content or ""))
    if not _is_in(variation, answer) or not (wanted or variation.goes_back_in or variation.lacks):
        return
    options = {**trial.options, **({"tools": TOOLS} if answer.tool_calls else {})}
    seen = trial.observe([*trial.scenario.prompt, reply.message, *next_turn(reply.calls)], options)
    found = [*leaves(seen.payload)] if isinstance(seen, Sent) else []
    places = {text: _place(pointer) for pointer, text in reversed(found) if isinstance(text, str)}
    names = {*_names_in(seen.payload if isinstance(seen, Sent) else None)}
    for text in wanted:
        if text not in places:
            yield Problem(f"{show(text)} is not sent back with the message that it came with")
    for name in variation.goes_back_in:
        if name not in names:
            yield Problem(f"{name} is not sent back with the message that it came with")
    for name in variation.lacks:
        if name in names:
            yield Problem(f"{name} is sent back, which the answer did not have")
    order = [places[text] for text in _in_order(variation, answer, wanted) if text in places]
    if order != sorted(order):
        yield Problem("what the provider wants back is sent back in another order than it came in")


def _in_order(variation: Variation, answer: WrittenAnswer, wanted: tuple[str, ...]) -> Iterable[str]:
    """What goes back, with the ids of the calls that it stands before."""
    if not variation.before_calls:
        return wanted
    return [text for pair in zip(wanted, answer.tool_calls, strict=False) for text in (pair[0], pair[1].id)]


def _is_in(variation: Variation, answer: WrittenAnswer) -> bool:
    """Whether the form has a place for what goes back: a signature at each call needs calls."""
    return bool(answer.tool_calls) or "call" not in variation.words


def _names_in(value: Any) -> Iterator[str]:
    """The names of all fields, of those with nothing in them, too."""
    if is_object(value):
        yield from value
    for item in value.values() if is_object(value) else value if is_array(value) else ():
        yield from _names_in(item)


def _place(pointer: str) -> tuple[int, ...]:
    """The place of a leaf in the lists around it: the fields of an object have no order."""
    return tuple(int(step) for step in pointer.split("/") if step.isdecimal())


def _kept(variation: Variation) -> tuple[str, ...]:
    return (*variation.goes_back, *variation.may_go_back)


def left_over(reply: Answered, variation: Variation, variations: Sequence[Variation]) -> Iterator[Problem]:
    """What an answer in another form had, and this one has not: it goes back with a message that it is not part of."""
    others = {text for one in variations for text in _kept(one)}.difference(_kept(variation))
    texts = [leaf for _, leaf in leaves(reply.message) if isinstance(leaf, str)]
    yield from (
        Problem(f"END's message has {show(text)}, which was in an earlier answer")
        for text in sorted(others)
        if any(text in leaf for leaf in texts)
    )
