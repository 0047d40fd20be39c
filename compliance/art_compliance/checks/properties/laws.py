"""Properties: the laws of the other stages over generated prompts, answers and dialogues.

A generated prompt is judged as a scenario by the checks of the other stages, so every law is stated once, there. A
prompt that breaks a conversation rule must satisfy only the laws that hold for every well-formed prompt: total,
accepted, pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from art_compliance.checks import wire
from art_compliance.checks.base import Check, check, checks_of
from art_compliance.checks.limits import PROMPTS_FOR_HASHES
from art_compliance.checks.properties.dialogues import conversations_go_on
from art_compliance.checks.properties.exploring import (
    ANSWERS,
    BROKEN,
    DIALOGUES,
    WHOLE,
    Exploration,
    Law,
    check_law,
    explore,
)
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.response import reading as response
from art_compliance.checks.stream import answers as stream
from art_compliance.checks.translation import canary, conservation, laws, prefixes
from art_compliance.checks.trial import Trial
from art_compliance.findings import Example, Finding, FindingClass, Problem
from art_compliance.generating.processes import ProcessFailed, digests_in_other_processes
from art_compliance.generating.requests import FAMILIES, Family, as_scenario
from art_compliance.generating.searching import make_requests
from art_compliance.scenarios import Scenario

_BOTH: Final = (WHOLE, BROKEN)


def _explore(trial: Trial) -> Exploration:
    return explore(trial, _LAWS_OF[trial.scenario.id])


def _law(
    name: str,
    *judged_by: Check,
    clause: str,
    finding_class: FindingClass = "loss",
    families: tuple[Family, ...] = (WHOLE,),
    format_free: tuple[Check, ...] = (),
) -> tuple[Law, Check]:
    law = Law(name, judged_by, format_free)
    judged = check(name, clause=clause, finding_class=finding_class, families=families)
    return law, judged(lambda trial: check_law(law, trial, _explore))


_INVENTED: Final = conservation.nothing_is_invented
_OF_CONSERVATION: Final = frozenset({conservation.is_total.id, _INVENTED.id})

_DECLARED: Final = (
    _law(
        "properties.every-prompt-has-an-outcome",
        conservation.is_total,
        clause="Every generated prompt becomes JSON data, or is refused with PROMPT_TRANSLATION_FAILED.",
        finding_class="contract",
        families=_BOTH,
    ),
    _law(
        "properties.requests-are-accepted",
        wire.request_matches_its_dialect,
        wire.is_of_the_schema,
        wire.no_rule_is_broken,
        clause="The request of every generated prompt can be decoded, fits its schema, and breaks no rule.",
        finding_class="refused",
        families=_BOTH,
    ),
    _law(
        "properties.nothing-is-lost",
        *(one for one in checks_of(conservation) if one.id not in _OF_CONSERVATION),
        clause="Everything in a generated prompt is in its request, once, in order; repairs are declared.",
        format_free=checks_of(canary),
    ),
    _law(
        "properties.nothing-is-invented",
        _INVENTED,
        clause="The request of a generated prompt adds nothing but constants that carry no text.",
    ),
    _law(
        "properties.translation-is-pure",
        laws.leaves_its_arguments_alone,
        laws.same_prompt_same_request,
        clause="A generated prompt gives the same request again, also next to others, and is not changed.",
        finding_class="contract",
        families=_BOTH,
    ),
    _law(
        "properties.prefix-is-stable",
        prefixes.prefix_is_stable,
        clause="Appending a message to a generated prompt changes no earlier message in the request.",
        finding_class="contract",
    ),
    _law(
        "properties.renaming-is-followed",
        laws.follows_renaming,
        clause="Renaming ids and tools of a generated prompt, or replacing its texts, changes those and nothing else.",
        finding_class="contract",
    ),
    _law(
        "properties.result-order-does-not-matter",
        laws.result_order_does_not_matter,
        clause="Reordering the results of one turn in a generated prompt does not change the request's meaning.",
    ),
    _law(
        "properties.tool-means-tool-result",
        laws.tool_means_tool_result,
        clause="In every generated prompt the roles tool and tool_result give equal requests.",
        finding_class="contract",
    ),
    _law(
        "properties.what-is-translated-is-sent",
        laws.sends_what_it_translates,
        laws.one_call_one_request,
        clause="A call with a generated prompt sends what translate returns, once.",
        finding_class="contract",
    ),
    _law(
        "properties.answers-are-read-whole",
        response.answer_is_read,
        *(one for one in response.LAW_CHECKS if one.id != "response.events-carry-their-ids"),
        response.answer_can_be_appended,
        response.signatures_go_back,
        clause="Every generated answer is read: text, calls, reasoning, finish, counts; and it can be appended.",
        families=(ANSWERS,),
    ),
    _law(
        "properties.streams-equal-answers",
        stream.answer_is_read,
        *(one for one in stream.LAW_CHECKS if one.id != "stream.events-carry-their-ids"),
        stream.equals_the_whole_answer,
        clause="Every generated answer gives the same result, streamed and whole.",
        families=(ANSWERS,),
    ),
    _law(
        "properties.chunks-change-nothing",
        stream.cuts_change_nothing,
        clause="The adapter reads the same answer however the network cuts the bytes of a generated one.",
        families=(ANSWERS,),
    ),
    _law(
        "properties.cut-streams-are-errors",
        stream.cut_short_is_an_error,
        clause="A generated answer that ends too early, at any place, gives what arrived, then ERROR and END.",
        families=(ANSWERS,),
    ),
    _law(
        conversations_go_on.id,
        conversations_go_on,
        clause=conversations_go_on.clause,
        families=(DIALOGUES,),
    ),
)


@check(
    "properties.other-processes-agree",
    clause="A generated prompt gives the same request in other processes, with other hash seeds.",
    finding_class="contract",
    families=(WHOLE,),
)
def other_processes_agree(trial: Trial) -> Iterator[Problem]:
    """Nothing may depend on the order of a set."""
    requests = make_requests(trial.scenario.id, trial.seed, trial.search.profile.count_of(trial.scenario.id))[
        :PROMPTS_FOR_HASHES
    ]
    yield from _disagreements(trial, [as_scenario(trial.scenario.id, request) for request in requests])


def _disagreements(trial: Trial, scenarios: list[Scenario]) -> Iterator[Problem]:
    try:
        seen = digests_in_other_processes(trial.subject, [(one.prompt, one.call_options()) for one in scenarios])
    except ProcessFailed as error:
        raise NotApplicable(str(error)) from error
    differing = [one for one, digests in zip(scenarios, seen, strict=True) if len(set(digests)) > 1]
    if differing:
        least = min(differing, key=lambda one: len(str(one.prompt)) + len(str(one.options)))
        example = Example(prompt=least.prompt, options=least.call_options())
        text = f"{len(differing)} of {len(seen)} prompts gave another request with another PYTHONHASHSEED"
        yield Problem(text, example=example)


LAWS: Final[Mapping[str, Law]] = {law.id: law for law, _ in _DECLARED}
CHECKS: Final[tuple[Check, ...]] = (*(one for _, one in _DECLARED), other_processes_agree)
_LAWS_OF: Final[Mapping[str, tuple[Law, ...]]] = {
    family: tuple(law for law, one in _DECLARED if family in one.families) for family in FAMILIES
}


def judge_alone(one: Check, trial: Trial) -> list[Finding]:
    """What a check finds on one trial; a law over generated prompts judges this prompt alone. Raises NotApplicable."""
    if one.id in LAWS:
        return [problem.found_by(one.id, one.finding_class) for problem in LAWS[one.id].problems(trial)]
    if one is other_processes_agree:
        return [problem.found_by(one.id, one.finding_class) for problem in _disagreements(trial, [trial.scenario])]
    return list(one(trial).findings)
