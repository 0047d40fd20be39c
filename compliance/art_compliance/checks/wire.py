"""Wire: the request against its dialect, the provider's published types, and the rules that types cannot state."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.checks.base import Check, check, leave_to
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import Trial
from art_compliance.dialects import DecodeFailed
from art_compliance.findings import Problem
from art_compliance.judging.rulebook import judge_rules
from art_compliance.judging.wire import judge_wire
from art_compliance.pointers import look_up
from art_sdk.json_data import is_array


@check(
    "translation.request-matches-its-dialect",
    clause="The request can be decoded in the adapter's dialect.",
    finding_class="refused",
    requires=("sent", "dialect"),
)
def request_matches_its_dialect(trial: Trial) -> Iterator[Problem]:
    """Otherwise the suite cannot judge it further. Where types or rules refuse it, that says more."""
    if _has_history(trial):
        leave_to(trial, is_of_the_schema, no_rule_is_broken)
    try:
        trial.decode(trial.sent)
    except DecodeFailed as error:
        name = trial.dialect.name
        text = f"the request cannot be decoded as {name}: {error}"
        yield Problem(text, pointer=error.pointer)


@check(
    "wire.request-matches-the-schema",
    clause="Every field of the request exists in the provider's published types, with a type that they allow.",
    requires=("dialect", "declared", "sent"),
)
def is_of_the_schema(trial: Trial) -> Iterator[Problem]:
    """Most providers reject fields that they do not know, and the rest drop them silently.

    Where a rule is broken, that has the provider's own words. A request of another format is one finding.
    """
    if not _has_history(trial):
        leave_to(trial, request_matches_its_dialect)
    found = judge_wire(trial.dialect.name, trial.sent.payload, url=trial.sent.url)
    ruled = refused_places(trial, no_rule_is_broken)
    yield from (Problem.of(finding) for finding in found if finding.pointer not in ruled)


@check(
    "wire.no-rule-is-broken",
    clause="The request breaks no known rule of its provider.",
    requires=("dialect", "declared", "sent"),
)
def no_rule_is_broken(trial: Trial) -> Iterator[Problem]:
    """What a provider ignores, and what is only suspected, is reported and fails nothing."""
    if not _has_history(trial):
        leave_to(trial, request_matches_its_dialect)
    sent = trial.sent
    yield from map(Problem.of, judge_rules(trial.dialect.name, sent.payload, url=sent.url, version=sent.version))


def refused_places(trial: Trial, *checks: Check) -> set[str]:
    """The places in the payload that the provider rejects: by its types, or by a rule."""
    found: set[str] = set()
    for one in checks or (is_of_the_schema, no_rule_is_broken):
        try:
            findings = trial.once(one).findings
        except NotApplicable:
            continue
        found |= {finding.pointer for finding in findings if finding.pointer and finding.severity == "reject"}
    return found


def _has_history(trial: Trial) -> bool:
    """Whether the request has a list of turns where its dialect has it."""
    return is_array(look_up(trial.sent.payload, trial.dialect.requests.history))
