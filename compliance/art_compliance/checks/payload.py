"""Payload: the request against the canonical one that is kept for the scenario in its dialect.

A reference adapter writes the canonical payloads, so it is held to them to the letter. For any other
a difference is a note: it may be legal, and what is not is found by the laws.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.translation.laws import first_difference
from art_compliance.checks.trial import Trial
from art_compliance.comparison import Difference, Expected, compare
from art_compliance.comparison.normal_form import same_json
from art_compliance.dialects import DecodeFailed
from art_compliance.findings import Problem
from art_compliance.resources import data_folder


@check(
    "payload.is-canonical",
    clause="The request says what the canonical payload of the scenario says; a reference adapter's is equal to it.",
    requires=("dialect", "sent"),
)
def is_canonical(trial: Trial) -> Iterator[Problem]:
    """What everybody can read as documentation."""
    kept, sent = canonical(trial.dialect.name, trial.scenario.id), trial.sent
    if kept is None:
        message = "no canonical payload is kept for it"
        raise NotApplicable(message)
    if not trial.subject.is_reference:
        for difference in _differences(trial, kept):
            yield Problem(difference.message, severity="note", pointer=difference.pointer)
    elif not same_json(kept, sent.payload):
        pointer = first_difference(kept, sent.payload)
        yield Problem("it is not equal to the canonical payload", pointer=pointer)


@cache
def canonical(dialect: str, scenario: str) -> Any:
    """The canonical payload, or None where none is kept: the reference refuses it, or it is too long to be read."""
    path = data_folder("fixtures") / "payloads" / dialect / f"{scenario}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _differences(trial: Trial, kept: Any) -> tuple[Difference, ...]:
    """By their meaning: model and token limit are everybody's own choice."""
    try:
        wanted, found = trial.dialect.requests.decode(kept), trial.decoded
    except DecodeFailed as error:
        message = "the request cannot be decoded: see translation.request-is-of-its-dialect"
        raise NotApplicable(message) from error
    options = {name: value for name, value in wanted.options.items() if name not in ("model", "max_tokens")}
    expected = Expected(dialect=trial.dialect.name, prompt=wanted.prompt, tools=wanted.tools, options=options)
    return compare(expected, found).differences
