"""Wire: the request against the provider's published types, and against the rules that types cannot state."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.checks.base import check
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.judging.rulebook import judge_rules
from art_compliance.judging.wire import judge_wire


@check(
    "wire.request-is-of-the-schema",
    clause="Every field of the request exists in the provider's published types and has a type that they allow.",
    requires=("dialect", "sent"),
)
def is_of_the_schema(trial: Trial) -> Iterator[Problem]:
    """Most providers refuse fields that they do not know, and the rest drop them silently."""
    yield from map(Problem.of, judge_wire(trial.dialect.name, trial.sent.payload, url=trial.sent.url))


@check(
    "wire.no-rule-is-broken",
    clause="The request breaks no rule of its provider: nothing in it is known to be rejected.",
    requires=("dialect", "sent"),
)
def no_rule_is_broken(trial: Trial) -> Iterator[Problem]:
    """What a provider ignores, and what is only suspected, is reported and fails nothing."""
    yield from map(Problem.of, judge_rules(trial.dialect.name, trial.sent.payload, url=trial.sent.url))
