"""Payload: the request against the scenario's canonical payload in its dialect.

The reference adapters write the canonical payloads, so theirs must be equal. For other adapters a difference is a
note: it may be legal, and the laws find what is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from art_compliance.checks.base import check, leave_to
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.translation.conservation import CAUSES
from art_compliance.checks.translation.laws import first_difference
from art_compliance.checks.trial import Trial
from art_compliance.comparison import Difference, Expected, compare
from art_compliance.comparison.normal_form import same_json
from art_compliance.findings import Problem
from art_compliance.resources import data_folder


@check(
    "payload.is-canonical",
    clause="The request means the same as the scenario's canonical payload; a reference adapter's is equal to it.",
    requires=("dialect", "sendable", "sent"),
)
def is_canonical(trial: Trial) -> Iterator[Problem]:
    """The canonical payloads are documentation, and this keeps them true."""
    sent, kept = trial.sent, _kept(trial)
    if kept is None:
        raise NotApplicable("the scenario has no canonical payload in this dialect")
    if not trial.subject.is_reference:
        leave_to(trial, *CAUSES)
        for difference in _differences(trial, kept):
            yield Problem(difference.message, severity="note", pointer=difference.pointer)
    elif not same_json(kept, sent.payload):
        pointer = first_difference(kept, sent.payload)
        yield Problem("the request is not equal to the canonical payload", pointer=pointer)


def _kept(trial: Trial) -> Any:
    """The canonical payload; for a service its own, if it has one, or the dialect's with its default model."""
    dialect, scenario, service = trial.dialect.name, trial.scenario.id, trial.subject.service
    own = None if service is None else canonical(service.service, scenario)
    kept = canonical(dialect, scenario) if own is None else own
    return kept if service is None or kept is None else with_model_of(trial.sent.payload, kept)


def with_model_of(payload: Any, kept: dict[str, Any]) -> dict[str, Any]:
    """The kept payload with the model of the other."""
    return {**kept, "model": payload["model"]} if "model" in payload and "model" in kept else kept


@cache
def canonical(name: str, scenario: str) -> Any:
    """The canonical payload of a dialect, or of a service where it differs.

    None where the reference adapter refuses the prompt, or the payload is very long.
    """
    path = data_folder("fixtures") / "payloads" / name / f"{scenario}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _differences(trial: Trial, kept: Any) -> tuple[Difference, ...]:
    """In meaning, without declared losses. Each adapter chooses its own model and token limit."""
    wanted, found = trial.dialect.requests.decode(kept), trial.decoded
    options = {name: value for name, value in wanted.options.items() if name not in ("model", "max_tokens")}
    expected = Expected(dialect=trial.dialect.name, prompt=wanted.prompt, tools=wanted.tools, options=options)
    return tuple(one for one in compare(expected, found).differences if one.loss not in trial.subject.losses)
