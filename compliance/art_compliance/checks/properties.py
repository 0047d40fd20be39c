"""Properties: the laws of translation and wire over prompts that nobody wrote.

A generated prompt is judged as a scenario by the checks of the other stages, so every law is stated
once, there. A prompt that breaks a conversation rule must only satisfy what holds for every well-shaped
one: total, accepted, pure.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from art_compliance.checks import canary, conservation, laws, response, rules, stream, wire
from art_compliance.checks.base import Check, check, checks_of
from art_compliance.checks.conversing import conversations_go_on
from art_compliance.checks.keeping import folder_of, keep, kept_for
from art_compliance.checks.reducing import reduce
from art_compliance.checks.searching import make_requests
from art_compliance.checks.trial import NotApplicable, Trial
from art_compliance.dialects import CannotWrite, Dialect
from art_compliance.elsewhere import Unreachable, digests_elsewhere
from art_compliance.findings import Example, Finding
from art_compliance.generated import FAMILIES, Family, Request, as_scenario
from art_compliance.observing import Sent
from art_compliance.scenarios import Scenario, WrittenAnswer

_WHOLE: Final[Family] = "generated-conversations"
_BROKEN: Final[Family] = "generated-broken-conversations"
_ANSWERS: Final[Family] = "generated-answers"
_DIALOGUES: Final[Family] = "generated-dialogues"
_BOTH: Final = (_WHOLE, _BROKEN)


class Law(Struct, frozen=True):
    """A law, and the checks that judge it on one prompt; `format_free` ones where the dialect is unknown."""

    id: str
    judged_by: tuple[Check, ...]
    format_free: tuple[Check, ...] = ()

    def findings(self, trial: Trial) -> list[Finding] | None:
        """What counts against the adapter on one prompt; None where the law says nothing of it."""
        told: list[Finding] | None = None
        for one in (*self.judged_by, *(self.format_free if trial.subject.dialect is None else ())):
            if set(one.needs) <= set(trial.scenario.needs):
                try:
                    found = one(trial)
                except NotApplicable:
                    continue
                told = [*(told or ()), *(finding for finding in found if finding.severity == "reject")]
        return told


class Exploration(Struct):
    """What became of a family's prompts: how many were judged, by law how many it applied to, and its first failure."""

    made: tuple[Request, ...]
    judged: int = 0
    sent: int = 0
    applied: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    first: dict[str, int] = msgspec.field(default_factory=dict[str, int])


def explore(trial: Trial) -> Exploration:
    """Makes the family's requests and runs every law on each, within the profile's time."""
    profile, family = trial.search.profile, trial.scenario.id
    seen = Exploration(make_requests(family, trial.seed, profile.count_of(family)))
    laws = [law for law in _LAWS_OF[family] if not trial.search.only or law.id in trial.search.only]
    until = time.monotonic() + profile.seconds
    for number, request in enumerate(seen.made):
        if time.monotonic() > until or seen.first.keys() >= {law.id for law in laws}:
            break
        one = _trial_of(trial, request)
        for law in laws:
            _note(seen, law, number, one)
        seen.judged += 1
        seen.sent += isinstance(one.observation, Sent)
    return seen


def _note(seen: Exploration, law: Law, number: int, trial: Trial) -> None:
    if law.id not in seen.first:
        found = law.findings(trial)
        seen.applied[law.id] = seen.applied.get(law.id, 0) + (found is not None)
        if found:
            seen.first[law.id] = number


def _trial_of(trial: Trial, request: Request) -> Trial:
    """The request as a trial; its answer without what the dialect has no form for."""
    family = trial.scenario.id
    scenario = as_scenario(family, request)
    if family == _ANSWERS and scenario.answer is not None and trial.subject.dialect is not None:
        scenario = msgspec.structs.replace(scenario, answer=_sayable(trial.subject.dialect, scenario.answer))
    return Trial(trial.subject, scenario, trial.seed, trial.search, turns=request.turns)


def _sayable(dialect: Dialect, answer: WrittenAnswer) -> WrittenAnswer:
    """The answer, without its reasoning where the dialect has no place for it."""
    try:
        dialect.write_response(answer)
    except CannotWrite:
        return msgspec.structs.replace(answer, thinking="", signature=None, thinking_tokens=None)
    return answer


def _holds(law: Law, trial: Trial) -> Iterator[Finding]:
    """Kept requests first; then what the exploration found, shrunk. Raises NotApplicable where none is of it."""
    family, search = trial.scenario.id, trial.search
    folder = folder_of(search.kept, trial.subject.name) if search.kept else None
    for request in kept_for(folder, law.id, family) if folder else ():
        found = law.findings(_trial_of(trial, request))
        if found:
            yield from _told(law, trial, request)
            return
    seen = trial.once(explore)
    trial.judged[law.id] = seen.applied.get(law.id, 0)
    if law.id in seen.first:
        least = _shrunk(law, trial, seen)
        if folder:
            keep(folder, law.id, family, least)
        yield from _told(law, trial, least, fallback=seen.made[seen.first[law.id]])
    elif family == _WHOLE and not seen.sent:
        message = f"all of {seen.judged} generated prompts were refused"
        raise NotApplicable(message)
    elif not seen.applied.get(law.id):
        message = f"none of {seen.judged} generated prompts is of it"
        raise NotApplicable(message)


def _shrunk(law: Law, trial: Trial, seen: Exploration) -> Request:
    """The least request on which the law fails by the same check as on the first."""
    first = seen.made[seen.first[law.id]]
    by = _failing_checks(law, trial, first)

    def fails(request: Request) -> bool:
        return bool(by & _failing_checks(law, trial, request))

    alone = trial.scenario.id == _BROKEN
    return reduce(first, fails, seconds=trial.search.profile.shrink_seconds, alone=alone)


def _failing_checks(law: Law, trial: Trial, request: Request) -> set[str]:
    """The first check that fails, alone: a law is judged by several, and shrinking must not slip to another."""
    found = law.findings(_trial_of(trial, request))
    return {found[0].check} if found else set()


def _told(law: Law, trial: Trial, request: Request, fallback: Request | None = None) -> Iterator[Finding]:
    """The law's findings on a request, with its prompt and the payload that it gave."""
    one = _trial_of(trial, request)
    found = law.findings(one) or []
    if not found and fallback is not None:
        text = "it failed on a generated prompt, and not when that was tried again: it is not pure"
        found = [Finding(check=law.id, message=text)]
        one = _trial_of(trial, fallback)
    example = _example_of(one)
    for number, finding in enumerate(found):
        text = finding.message if finding.check == law.id else f"{finding.check}: {finding.message}"
        own = None if number else finding.example or example
        yield msgspec.structs.replace(finding, check=law.id, message=text, example=own)


def _example_of(trial: Trial) -> Example:
    seen, answer = trial.observation, trial.scenario.answer
    return Example(
        prompt=trial.scenario.prompt,
        options=trial.scenario.call_options(),
        payload=seen.payload if isinstance(seen, Sent) else str(seen),
        answer=None if answer is None else msgspec.to_builtins(answer),
    )


def _law(
    name: str,
    *judged_by: Check,
    clause: str,
    families: tuple[Family, ...] = (_WHOLE,),
    format_free: tuple[Check, ...] = (),
) -> tuple[Law, Check]:
    law = Law(name, judged_by, format_free)
    return law, check(name, clause=clause, families=families)(lambda trial: _holds(law, trial))


_INVENTED: Final = conservation.nothing_is_invented
_OF_CONSERVATION: Final = frozenset({conservation.is_total.id, conservation.request_is_of_its_dialect.id, _INVENTED.id})

_DECLARED: Final = (
    _law(
        "properties.every-prompt-has-an-outcome",
        conservation.is_total,
        clause="Every generated prompt gives JSON data, or is refused with PROMPT_TRANSLATION_FAILED.",
        families=_BOTH,
    ),
    _law(
        "properties.requests-are-accepted",
        conservation.request_is_of_its_dialect,
        wire.is_of_the_schema,
        rules.no_rule_is_broken,
        clause="The request of every generated prompt is of its dialect, of its schema, and breaks no rule.",
        families=_BOTH,
    ),
    _law(
        "properties.nothing-is-lost",
        *(one for one in checks_of(conservation) if one.id not in _OF_CONSERVATION),
        clause="Every slot of every generated prompt is found in its request, once, in order; repairs are declared.",
        format_free=checks_of(canary),
    ),
    _law(
        "properties.nothing-is-invented",
        _INVENTED,
        clause="The request of a generated prompt holds nothing beyond it but constants that carry no text.",
    ),
    _law(
        "properties.translation-is-pure",
        laws.leaves_its_arguments_alone,
        laws.same_prompt_same_request,
        clause="A generated prompt gives the same request again, beside others, and is left as it was.",
        families=_BOTH,
    ),
    _law(
        "properties.prefix-is-stable",
        laws.prefix_is_stable,
        clause="Appending a message to a generated prompt changes no earlier one in the request.",
    ),
    _law(
        "properties.renaming-is-followed",
        laws.follows_renaming,
        clause="Renaming ids and tools of a generated prompt, or replacing its texts, changes those and nothing else.",
    ),
    _law(
        "properties.order-of-answers-means-nothing",
        laws.order_of_answers_means_nothing,
        clause="Permuting the results of one turn's calls in a generated prompt does not change the request's meaning.",
    ),
    _law(
        "properties.tool-means-tool-result",
        laws.tool_means_tool_result,
        clause="In every generated prompt the roles tool and tool_result give equal requests.",
    ),
    _law(
        "properties.what-is-translated-is-sent",
        laws.sends_what_it_translates,
        laws.one_call_one_request,
        clause="What arrives when the adapter is called with a generated prompt is what translate returns, once.",
    ),
    _law(
        "properties.answers-are-read-whole",
        response.answer_is_read,
        *(one for one in response.HELD_BY_LAWS if one.id != "response.events-carry-their-ids"),
        response.answer_can_be_appended,
        response.signatures_go_back,
        clause="Every generated answer is read: text, calls, reasoning, finish, counts; and it can be appended.",
        families=(_ANSWERS,),
    ),
    _law(
        "properties.streams-say-what-answers-say",
        stream.answer_is_read,
        *(one for one in stream.HELD_BY_LAWS if one.id != "stream.events-carry-their-ids"),
        stream.says_what_the_whole_answer_says,
        clause="Every generated answer, streamed, says what it says whole.",
        families=(_ANSWERS,),
    ),
    _law(
        "properties.chunks-change-nothing",
        stream.cuts_change_nothing,
        clause="However the bytes of a generated answer are cut on their way, the same is read.",
        families=(_ANSWERS,),
    ),
    _law(
        "properties.cut-streams-are-told",
        stream.cut_short_is_told,
        clause="A generated answer that ends too early, wherever, gives what arrived, then ERROR and END.",
        families=(_ANSWERS,),
    ),
    _law(
        conversations_go_on.id,
        conversations_go_on,
        clause=conversations_go_on.clause,
        families=(_DIALOGUES,),
    ),
)


@check(
    "properties.other-processes-agree",
    clause="A generated prompt gives the same request in other processes, under other hash seeds.",
    families=(_WHOLE,),
)
def other_processes_agree(trial: Trial) -> Iterator[Finding]:
    """Pure: nothing depends on the order of a set."""
    requests = make_requests(trial.scenario.id, trial.seed, trial.search.profile.count_of(trial.scenario.id))[
        :_SENT_ELSEWHERE
    ]
    yield from _disagreements(trial, [as_scenario(trial.scenario.id, request) for request in requests])


def _disagreements(trial: Trial, scenarios: list[Scenario]) -> Iterator[Finding]:
    try:
        seen = digests_elsewhere(trial.subject, [(one.prompt, one.call_options()) for one in scenarios])
    except Unreachable as error:
        raise NotApplicable(str(error)) from error
    differing = [one for one, digests in zip(scenarios, seen, strict=True) if len(set(digests)) > 1]
    if differing:
        least = min(differing, key=lambda one: len(str(one.prompt)) + len(str(one.options)))
        example = Example(prompt=least.prompt, options=least.call_options())
        text = f"{len(differing)} of {len(seen)} prompts gave another request under another PYTHONHASHSEED"
        yield Finding(check=other_processes_agree.id, message=text, example=example)


_SENT_ELSEWHERE: Final = 200

LAWS: Final[Mapping[str, Law]] = {law.id: law for law, _ in _DECLARED}
CHECKS: Final[tuple[Check, ...]] = (*(one for _, one in _DECLARED), other_processes_agree)
_LAWS_OF: Final[Mapping[str, tuple[Law, ...]]] = {
    family: tuple(law for law, one in _DECLARED if family in one.families) for family in FAMILIES
}


def judge_alone(one: Check, trial: Trial) -> list[Finding]:
    """What a check finds on a trial of its own: for a law over generated prompts, on this one. Raises NotApplicable."""
    if one.id in LAWS:
        return LAWS[one.id].findings(trial) or []
    if one is other_processes_agree:
        return list(_disagreements(trial, [trial.scenario]))
    return one(trial)
