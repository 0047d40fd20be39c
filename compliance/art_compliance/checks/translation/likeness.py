"""Translation of requests that are almost the same: what is remembered of one must not be sent for another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from typing import Any, Final

from msgspec import Struct

from art_compliance.checks.base import check
from art_compliance.checks.limits import SHOWN_OF_A_PROMPT
from art_compliance.checks.translation import laws
from art_compliance.checks.translation.conservation import CAUSES
from art_compliance.checks.translation.losses import losses_of
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_sdk import Capability

Prompt = list[dict[str, Any]]
Options = dict[str, Any]


class Pair(Struct, frozen=True, kw_only=True):
    """Two requests, the values that `make` is given for each, and what is the same in both, as a finding says it."""

    words: str
    values: tuple[Any, Any]
    make: Callable[[Any, str], tuple[Prompt, Options]]
    """Makes a request of a value, and of a text that is random, but the same in both."""
    needs: tuple[Capability, ...] = ()


@check(
    "translation.similar-requests-do-not-mix",
    clause="A request depends only on its own prompt and options, not on almost equal ones before it.",
    requires=("dialect", "sent"),
    once=True,
    leaves_to=(*CAUSES, laws.same_prompt_same_request),
)
def similar_requests_do_not_mix(trial: Trial) -> Iterator[Problem]:
    """Caches of converted prompts need all of the prompt as their key: joined texts and short hashes are not enough."""
    for pair in _PAIRS:
        if not trial.subject.capabilities.issuperset(pair.needs):
            continue
        same = Random(f"{trial.seed} {pair.words}").randbytes(6).hex()
        for value in pair.values:
            prompt, options = pair.make(value, same)
            found = losses_of(trial, prompt, {"thread_id": trial.id_of("alike"), **options})
            yield from (
                problem.after(f"one of two requests with {pair.words}: ")
                for problem in islice(found, SHOWN_OF_A_PROMPT)
            )


def _said(value: str, same: str) -> tuple[Prompt, Options]:
    return [{"role": "user", "content": f"{same} {value} {same}"}], {}


def _said_in_the_middle(value: str, same: str) -> tuple[Prompt, Options]:
    return [{"role": "user", "content": f"{same * 1000}{value}{same * 1000}"}], {}


def _said_before(value: str, same: str) -> tuple[Prompt, Options]:
    turns = [("user", value), ("assistant", "So it is."), ("user", same)]
    return [{"role": role, "content": text} for role, text in turns], {}


def _said_by_turns(value: tuple[str, str, str], same: str) -> tuple[Prompt, Options]:
    first, second, third = value
    turns = [("user", f"{same} {first}"), ("assistant", second), ("user", f"{third} {same}")]
    return [{"role": role, "content": text} for role, text in turns], {}


def _stopped_at(value: list[str], same: str) -> tuple[Prompt, Options]:
    return [{"role": "user", "content": same}], {"stop": value}


def _with_a_tool(at: dict[str, Any], same: str, *, does: str = "Looks.") -> tuple[Prompt, Options]:
    schema = {"type": "object", "properties": {"at": at}}
    tool = {"name": "look", "description": does, "inputSchema": schema}
    return [{"role": "user", "content": same}], {"tools": [tool]}


def _described(value: str, same: str) -> tuple[Prompt, Options]:
    return _with_a_tool({"type": "string"}, same, does=value)


def _of_type(value: str, same: str) -> tuple[Prompt, Options]:
    return _with_a_tool({"type": value, "description": "Where."}, same)


def _with_a_value(value: Any, same: str) -> tuple[Prompt, Options]:
    return _with_a_tool({"enum": [value]}, same)


def _answered_with(value: str, same: str) -> tuple[Prompt, Options]:
    schema = {
        "title": "Place",
        "type": "object",
        "properties": {"at": {"type": value, "description": "Where."}},
        "required": ["at"],
        "additionalProperties": False,
    }
    return [{"role": "user", "content": same}], {"response_schema": schema}


_PAIRS: Final = (
    Pair(words="the same CRC-32", values=("plumless", "buckeroo"), make=_said),
    Pair(words="the same letters", values=("a dial", "a laid"), make=_said),
    Pair(words="the same beginning, end and length", values=("here", "gone"), make=_said_in_the_middle),
    Pair(words="the same last message", values=("It is late.", "It is soon."), make=_said_before),
    Pair(words="the same texts, joined", values=(("a", "b", "cd"), ("ab", "c", "d")), make=_said_by_turns),
    Pair(words="as many stop sequences", values=(["HALT"], ["STOP"]), make=_stopped_at, needs=("stop",)),
    Pair(words="tools of the same names", values=("Looks.", "Sees."), make=_described, needs=("tools",)),
    Pair(words="properties of the same names", values=("string", "integer"), make=_of_type, needs=("tools",)),
    Pair(
        words="response schemas of the same title and names",
        values=("string", "integer"),
        make=_answered_with,
        needs=("response_schema",),
    ),
    Pair(words="values that are equal in Python", values=(1, True), make=_with_a_value, needs=("tools",)),
    Pair(words="values of the same hash in Python", values=(-1, -2), make=_with_a_value, needs=("tools",)),
)
"""Arguments that were joined without a mark between them had one key: https://github.com/HKUDS/LightRAG/issues/3392."""
