"""Load: a call changes nothing that all code of the process shares, and goes nowhere but to the provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from art_compliance.checks.base import check
from art_compliance.checks.everything import calls_with_everything, make
from art_compliance.checks.limits import SHOWN_OF_A_PROMPT
from art_compliance.checks.load.numbered import ask_number, echo
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object


@check(
    "load.process-state-is-unchanged",
    clause="Creating and calling an adapter changes no state that the whole process shares.",
    finding_class="contract",
    requires=("dialect", "call", "python"),
    once=True,
)
def process_state_is_unchanged(trial: Trial) -> Iterator[Problem]:
    """The application owns logging, the environment, signal handlers and the seed of its random numbers."""
    trial.once(_watched)
    changed = trial.subject.attempt("changed_surroundings")
    for name in changed if is_array(changed) else ():
        yield Problem(f"the adapter changed {name}, which belongs to the application")
    prompt, options = ask_number(trial, 1)
    with trial.subject.answering(echo):
        drawn = [trial.subject.attempt("random_after", seed=seed, prompt=prompt, options=options) for seed in _SEEDS]
    if isinstance(drawn[0], float) and drawn[0] == drawn[1]:
        yield Problem("a call seeds Python's random number generator, which belongs to the application")


_SEEDS: Final = (1, 2)


@check(
    "load.calls-go-only-to-base-url",
    clause="A call connects only to the host of base_url, and writes no file.",
    finding_class="contract",
    requires=("dialect", "call", "sent", "python"),
    once=True,
)
def calls_go_only_to_base_url(trial: Trial) -> Iterator[Problem]:
    """Prompts are private: telemetry and logs left over from debugging give them to others."""
    seen = trial.once(_watched)
    own = urlsplit(trial.subject.base_url).netloc
    for address in [one for one in seen["connected"] if one != own][:SHOWN_OF_A_PROMPT]:
        yield Problem(f"a call connects to {show(address)}, which is not the host of base_url")
    for path in seen["written"][:SHOWN_OF_A_PROMPT]:
        yield Problem(f"a call writes to the file {show(path)}")


def _watched(trial: Trial) -> dict[str, list[str]]:
    """Where calls with everything connected to, and what they wrote."""
    trial.subject.attempt("watch")
    for call in calls_with_everything(trial):
        make(trial, call)
    seen: Any = trial.subject.attempt("watched")
    return seen if is_object(seen) else {"connected": [], "written": []}
