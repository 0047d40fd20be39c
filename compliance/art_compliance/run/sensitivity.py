"""Which faults a run would find: it puts each miniature's fault into an author's own adapter, one after the other.

A fault is caught if a check that it names fails with it and passes without it. A fault does not apply if it changes
neither a request nor a reply of this adapter, or if none of its checks passes on the adapter as it is.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct, structs

from art_compliance.checks import Check
from art_compliance.comparison.normal_form import same_json
from art_compliance.findings import HarnessError
from art_compliance.generating.profiles import Profile, Search
from art_compliance.generating.requests import Request
from art_compliance.generating.searching import make_requests
from art_compliance.miniatures import MINIATURES, Miniature
from art_compliance.provider.composing import write
from art_compliance.run.selection import Plan, Selection, with_own_cassettes
from art_compliance.run.session import Session
from art_compliance.scenarios import Scenario, WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.factories import Factory, name_of
from art_compliance.subject.observations import Sent
from art_compliance.subject.opening import open_subject
from art_compliance.subject.subject import Subject
from art_sdk.json_data import is_object

Outcome = Literal["caught", "missed", "not applicable"]

_SEARCH: Final = Search(profile=Profile(name="sensitivity", examples=100, seconds=5.0, shrink_seconds=0.1))
_FAILS: Final = frozenset({"fail", "harness error"})


class FaultOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of one fault: `by` is the check and the scenario that caught it, or why it does not apply."""

    miniature: str
    wrong: str
    outcome: Outcome
    by: str


def measure_sensitivity(
    make: Factory,
    *,
    name: str,
    dialect: str | None = None,
    selection: Selection = Selection(),  # noqa: B008 - frozen
    seed: int = 0,
    on_outcome: Callable[[FaultOutcome], None] | None = None,
) -> list[FaultOutcome]:
    """Which faults a run of the selection would find. Raises HarnessError for an adapter that cannot be made."""
    selection = structs.replace(with_own_cassettes(selection, name_of(make)), preview=True)
    plan = selection.plan()
    outcomes: list[FaultOutcome] = []
    with open_subject(make, name=name, dialect=dialect, seed=seed) as subject:
        right = Session(subject, seed, _SEARCH, selection)
        for miniature in MINIATURES:
            outcomes.append(_try_fault(miniature, right, plan, selection))
            if on_outcome is not None:
                on_outcome(outcomes[-1])
    return outcomes


def _try_fault(miniature: Miniature, right: Session, plan: Plan, selection: Selection) -> FaultOutcome:
    known = right.subject
    if not any(check.id in miniature.fails for check, _ in plan):
        return _outcome(miniature, "not applicable", f"{', '.join(sorted(miniature.fails))} is not run")
    only = Search(profile=_SEARCH.profile, only=miniature.fails)
    try:
        make = miniature.of(known.make)
        opening = open_subject(make, name=known.name, dialect=known.requested_dialect, seed=right.seed)
        with _silenced(), opening as subject:
            return _compare(miniature, Session(subject, right.seed, only, selection), right, plan)
    except HarnessError as error:
        why = f"it cannot be applied to this adapter: {str(error).partition(': ')[2]}"
        return _outcome(miniature, "not applicable", why)


@contextmanager
def _silenced() -> Generator[None]:
    """Hides what a wrong adapter prints on purpose, such as the key."""
    sink = io.StringIO()
    with redirect_stdout(sink), redirect_stderr(sink):
        yield


def _compare(miniature: Miniature, wrong: Session, right: Session, plan: Plan) -> FaultOutcome:
    chosen = [(check, scenario) for check, scenario in plan if check.id in miniature.fails]
    for check, scenario in chosen:
        failed = wrong.run(check, scenario).verdict in _FAILS
        if failed and right.run(check, scenario).verdict not in _FAILS:
            return _outcome(miniature, "caught", f"{check.id} on {scenario.id}")
    if not chosen:
        return _outcome(miniature, "not applicable", f"{', '.join(sorted(miniature.fails))} does not apply to it")
    if not _changes_anything(wrong.subject, right.subject, chosen, right.seed):
        return _outcome(miniature, "not applicable", "it changes nothing on this adapter")
    silent = all(right.run(*one).verdict != "pass" for one in chosen)
    if silent:
        return _outcome(miniature, "not applicable", f"{', '.join(sorted(miniature.fails))} does not apply to it")
    return _outcome(miniature, "missed", ", ".join(sorted(miniature.fails)))


def _changes_anything(wrong: Subject, right: Subject, chosen: Plan, seed: int) -> bool:
    """Whether the fault changes a request or a reply; if that cannot be observed, it is assumed."""
    return any(_changes_one(wrong, right, check, scenario, seed) for check, scenario in chosen)


def _changes_one(wrong: Subject, right: Subject, check: Check, scenario: Scenario, seed: int) -> bool:
    if check.once or check.stage.name in ("faults", "load", "replay"):
        return True
    requests = [Request(scenario.prompt, scenario.call_options())]
    if check.families:
        requests = list(make_requests(scenario.id, seed, _SEARCH.profile.count_of(scenario.id)))
    answers = [one for request in requests for one in _answers(request, scenario)]
    if any(_differs(wrong, right, request) for request in requests):
        return True
    can_call = wrong.has_call and right.has_call
    return can_call and any(_reply(wrong, *one) != _reply(right, *one) for one in answers)


Asking = tuple[list[dict[str, Any]], dict[str, Any], WrittenAnswer]


def _answers(request: Request, scenario: Scenario) -> Iterator[Asking]:
    """Calls and their answers, whole and streamed: as the first call, and after an earlier answer."""
    generated = [msgspec.convert(turn["answer"], WrittenAnswer) for turn in request.turns[:1]]
    for answer in generated or ([scenario.answer] if scenario.answer else []):
        for before in ([], _BEFORE) if generated else ([],):
            for more in ({}, {"stream": True}):
                yield [*before, *request.prompt], {**request.options, **more}, answer


_BEFORE: Final = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hello"}]


def _reply(subject: Subject, prompt: list[dict[str, Any]], options: dict[str, Any], answer: WrittenAnswer) -> Any:
    """The events without times, or what was raised."""
    known = {"trace_id": "sensitivity", **options}
    reply = subject.call(prompt, known, lambda asked: write(asked, answer, lambda said, _: asked.answer(said)))
    return list(map(_timeless, reply.events)) if isinstance(reply, Answered) else str(reply)


def _timeless(event: dict[str, Any]) -> dict[str, Any]:
    metadata = event.get("metadata")
    if not is_object(metadata):
        return event
    return {**event, "metadata": {name: one for name, one in metadata.items() if "time" not in name.lower()}}


def _differs(wrong: Subject, right: Subject, request: Request) -> bool:
    one, other = (subject.translate(request.prompt, request.options) for subject in (wrong, right))
    if isinstance(one, Sent) and isinstance(other, Sent):
        return not same_json(one.payload, other.payload)
    return type(one) is not type(other)


def _outcome(miniature: Miniature, outcome: Outcome, by: str) -> FaultOutcome:
    return FaultOutcome(miniature=miniature.id, wrong=miniature.wrong, outcome=outcome, by=by)


def describe_outcomes(outcomes: list[FaultOutcome]) -> Iterator[str]:
    """The faults that were missed, those that do not apply, and how many were caught."""
    for outcome in ("missed", "not applicable"):
        for one in outcomes:
            if one.outcome == outcome:
                yield f"  {outcome:<14}  {one.miniature}: {one.wrong} ({one.by})"
    caught = sum(one.outcome == "caught" for one in outcomes)
    missed = sum(one.outcome == "missed" for one in outcomes)
    apart = len(outcomes) - caught - missed
    yield f"sensitivity: {caught} of {caught + missed} faults would have been caught; {apart} do not apply"
