"""Wire, by the providers' rules: what types cannot say, and a provider answers with 400 all the same."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.checks.base import check
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.judging.rulebook import judge_rules


@check(
    "wire.no-rule-is-broken",
    clause="The request breaks no rule of its provider: nothing in it is known to be refused.",
)
def no_rule_is_broken(trial: Trial) -> Iterator[Problem]:
    """What a provider ignores, and what is only suspected, is reported and fails nothing."""
    yield from map(Problem.of, judge_rules(trial.dialect.name, trial.sent.payload, url=trial.sent.url))
