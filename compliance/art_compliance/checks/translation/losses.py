"""What is wrong with the request for a prompt that is not a scenario's: what it lacks, and rules that it breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from art_compliance.checks.translation.conservation import as_problem, lost_fields, undeclared_repairs
from art_compliance.checks.trial import Trial
from art_compliance.dialects import DecodeFailed
from art_compliance.findings import Problem
from art_compliance.judging.rulebook import judge_rules
from art_compliance.subject.observations import Crashed, Sent


def losses_of(
    trial: Trial, prompt: list[dict[str, Any]], options: dict[str, Any], *, ruled: bool = False
) -> Iterator[Problem]:
    """What is lost of this prompt and these options. What is repaired undeclared, too; nothing where it refuses.

    With `ruled`, also the rules of the provider that the request breaks.
    """
    seen = trial.observe(prompt, options)
    if isinstance(seen, Crashed):
        yield Problem(str(seen), finding_class="contract")
    if not isinstance(seen, Sent):
        return
    try:
        decoded = trial.decode(seen)
    except DecodeFailed as error:
        yield Problem(f"the request cannot be decoded: {error}", pointer=error.pointer, finding_class="refused")
        return
    found = trial.compare(decoded, prompt, options, seen)
    yield from undeclared_repairs(trial, found)
    for difference in found.differences:
        if difference.loss not in trial.subject.losses:
            yield as_problem(difference)
    name = trial.dialect.name
    if ruled:
        broken = judge_rules(trial.dialect.name, seen.payload, url=seen.url, version=seen.version)
        yield from (Problem.of(finding) for finding in broken if finding.severity == "reject")
    yield from lost_fields(decoded, name, options.get("provider", {}).get(name, {}))
