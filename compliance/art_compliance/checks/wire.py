"""Wire: the request against the schema that is made from the provider's own published types."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.checks.base import check
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.judging.wire import judge_wire


@check(
    "wire.request-is-of-the-schema",
    clause="Every field of the request is one that the provider's published types know, of a type that they allow.",
)
def is_of_the_schema(trial: Trial) -> Iterator[Problem]:
    """Fields that are not known are refused by most providers, and silently dropped by the rest."""
    yield from map(Problem.of, judge_wire(trial.dialect.name, trial.sent.payload, url=trial.sent.url))
