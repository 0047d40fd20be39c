"""How well a run would see: the miniatures' faults put around an author's own adapter, one after the other.

A fault is caught where a check that it names fails with it and passes without it. One that changes
neither a request nor what is read out of an answer has nothing to be wrong about on this adapter: it
does not apply, and neither does one whose checks are all silent or failing on the adapter as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal

from msgspec import Struct

from art_compliance.checks import CHECKS, Check
from art_compliance.factories import Factory
from art_compliance.findings import HarnessError
from art_compliance.miniatures import MINIATURES, Miniature
from art_compliance.normal_form import same_json
from art_compliance.profiles import Profile, Search
from art_compliance.runner import GREETING_SCENARIO, Selection, Session
from art_compliance.scenarios import Scenario
from art_compliance.subjects import Sent, Subject

Sight = Literal["caught", "missed", "not applicable"]

_SEARCH: Final = Search(profile=Profile(name="sensitivity", examples=100, seconds=5.0, shrink_seconds=0.1))
_FAILS: Final = frozenset({"fail", "harness error"})


class Seen(Struct, frozen=True, kw_only=True):
    """What became of one fault: `by` is the check and the scenario that caught it, or why it does not apply."""

    miniature: str
    wrong: str
    sight: Sight
    by: str


def look(
    make: Factory,
    *,
    name: str,
    dialect: str | None = None,
    selection: Selection = Selection(),  # noqa: B008 - frozen
    seed: int = 0,
    on_seen: Callable[[Seen], None] | None = None,
) -> list[Seen]:
    """What a run of the selection would see of every fault. Raises HarnessError for an adapter that cannot be made."""
    plan = selection.plan()
    told: list[Seen] = []
    with Subject(make, name=name, dialect=dialect) as subject:
        right = Session(subject, seed, _SEARCH)
        for miniature in MINIATURES:
            told.append(_look(miniature, right, plan, dialect))
            if on_seen is not None:
                on_seen(told[-1])
    return told


def _look(miniature: Miniature, right: Session, plan: list[tuple[Check, Scenario]], dialect: str | None) -> Seen:
    try:
        with Subject(miniature.of(right.subject.make), name=right.subject.name, dialect=dialect) as subject:
            return _compare(miniature, Session(subject, right.seed, _SEARCH), right, plan)
    except HarnessError as error:
        why = f"it cannot be put around this adapter: {str(error).partition(': ')[2]}"
        return _seen(miniature, "not applicable", why)


def _compare(miniature: Miniature, wrong: Session, right: Session, plan: list[tuple[Check, Scenario]]) -> Seen:
    chosen = [(check, scenario) for check, scenario in plan if check.id in miniature.fails]
    for check, scenario in chosen:
        failed = wrong.run(check, scenario).verdict in _FAILS
        if failed and right.run(check, scenario).verdict not in _FAILS:
            return _seen(miniature, "caught", f"{check.id} on {scenario.id}")
    if not _bites(wrong.subject, right.subject, chosen):
        return _seen(miniature, "not applicable", "it changes nothing on this adapter")
    silent = not chosen or all(right.run(*one).verdict != "pass" for one in chosen)
    if silent:
        return _seen(miniature, "not applicable", f"{', '.join(sorted(miniature.fails))} has nothing to say of it")
    return _seen(miniature, "missed", ", ".join(sorted(miniature.fails)))


def _bites(wrong: Subject, right: Subject, chosen: list[tuple[Check, Scenario]]) -> bool:
    """Whether the fault shows at all, in what is sent or in what is read."""
    if (wrong.capabilities, wrong.losses, wrong.repairs) != (right.capabilities, right.losses, right.repairs):
        return any(_differs(wrong, right, scenario) for scenario in _scenarios(chosen))
    is_response = any(CHECKS[check.id].stage == "response" for check, _ in chosen)
    return is_response or any(_differs(wrong, right, scenario) for scenario in _scenarios(chosen))


def _scenarios(chosen: list[tuple[Check, Scenario]]) -> Iterator[Scenario]:
    known = {scenario.id: scenario for _, scenario in chosen}
    yield from (known or {GREETING_SCENARIO.id: GREETING_SCENARIO}).values()


def _differs(wrong: Subject, right: Subject, scenario: Scenario) -> bool:
    given = scenario.prompt, scenario.call_options()
    one, other = wrong.translate(*given), right.translate(*given)
    if isinstance(one, Sent) and isinstance(other, Sent):
        return not same_json(one.payload, other.payload)
    return type(one) is not type(other)


def _seen(miniature: Miniature, sight: Sight, by: str) -> Seen:
    return Seen(miniature=miniature.id, wrong=miniature.wrong, sight=sight, by=by)


def describe_sight(told: list[Seen]) -> Iterator[str]:
    """The faults that were missed, those that do not apply, and how many were caught."""
    for sight in ("missed", "not applicable"):
        for one in told:
            if one.sight == sight:
                yield f"  {sight:<14}  {one.miniature}: {one.wrong} ({one.by})"
    caught = sum(one.sight == "caught" for one in told)
    missed = sum(one.sight == "missed" for one in told)
    apart = len(told) - caught - missed
    yield f"sensitivity: {caught} of {caught + missed} faults would have been caught; {apart} do not apply"
