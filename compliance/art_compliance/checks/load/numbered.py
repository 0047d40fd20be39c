"""Numbered questions: each has an answer of its own, by which a call that gets another one's is found."""

from __future__ import annotations

import re
from itertools import cycle, islice
from typing import Any, Final

from art_compliance.checks.replies import why_unread
from art_compliance.checks.trial import Trial
from art_compliance.checks.ways import ways_of
from art_compliance.provider import Asked, Response
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply
from art_compliance.subject.subject import AskingBy

_MARK: Final = re.compile(r"question number (\d+)\.")


def ask_number(
    trial: Trial, number: int, *, streamed: bool | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Prompt and options of a call with a number. Unless it is said, three out of four of them are streamed."""
    streams = "streaming" in trial.subject.capabilities and (number % 4 if streamed is None else streamed)
    prompt = [{"role": "user", "content": f"question number {number}."}]
    return prompt, {**trial.options, **trial.ids(f"{number}"), **({"stream": True} if streams else {})}


def in_every_way(trial: Trial, least: int) -> list[AskingBy]:
    """At least so many calls, numbered from 0: by each method one, and where it can stream, one that is streamed."""
    ways = ways_of(trial)
    numbered = enumerate(islice(cycle(ways), max(least, len(ways))))
    return [(*ask_number(trial, number, streamed=way.streamed), way.method) for number, way in numbered]


def echo(asked: Asked) -> Response:
    """The answer to the number that the request has."""
    return asked.answer(WrittenAnswer(content=answer_to(number_in(asked))))


def number_in(asked: Asked) -> int:
    """The number of the call that a request is of; -1 if it has none."""
    found = _MARK.search(str(asked.payload))
    return int(found[1]) if found else -1


def answer_to(number: int) -> str:
    """The text of the answer to a number."""
    return f"This is the answer to the question number {number}, and to no other question than {number}."


def why_not_its_own(number: int, reply: Reply) -> str | None:
    """What is wrong with a reply that should be the answer to this number."""
    reason = why_unread(reply)
    if reason is None and isinstance(reply, Answered) and reply.text != answer_to(number):
        return "the answer is not its own"
    return reason
