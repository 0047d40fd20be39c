"""Translation, by comparing requests: a longer conversation begins as the shorter one was sent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from art_compliance.checks.base import check
from art_compliance.checks.limits import PREFIXES
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.translation import laws
from art_compliance.checks.translation.conservation import CAUSES
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import normal_form, same_json
from art_compliance.comparison.repairs import without_fillers
from art_compliance.dialects import DecodeFailed
from art_compliance.findings import Problem
from art_compliance.pointers import look_up
from art_compliance.subject.observations import Sent
from art_sdk import parse_prompt
from art_sdk.json_data import is_array, is_object


@check(
    "translation.prefix-is-stable",
    clause="Appending a message changes no earlier one, except that the last turn may be closed or extended.",
    finding_class="contract",
    requires=("dialect", "sendable", "sent"),
    leaves_to=(laws.same_prompt_same_request, *CAUSES),
)
def prefix_is_stable(trial: Trial) -> Iterator[Problem]:
    """The providers' prompt caches depend on this. Declared fillers may go, declared hoisting may move a message."""
    prompt, longer = trial.scenario.prompt, _history(trial, trial.sent)
    if longer is None:
        raise NotApplicable(f"the request has no list at {trial.dialect.requests.history}")
    for length in _prefix_lengths(prompt):
        seen = trial.observe(prompt[:length])
        shorter = _history(trial, seen) if isinstance(seen, Sent) else None
        if shorter is None or not isinstance(seen, Sent):
            continue
        at = _first_rewritten(shorter, longer)
        if at is not None and not _is_declared(trial, seen, length):
            text = f"this turn is different when the prompt has only its first {length} messages"
            yield Problem(text, pointer=f"{trial.dialect.requests.history}/{at}")
            return


def _prefix_lengths(prompt: list[dict[str, Any]]) -> list[int]:
    """Lengths of shorter prompts, at most a few for a long prompt."""
    lengths = list(range(1, len(prompt)))
    return lengths[:: max(len(lengths) // PREFIXES, 1)]


def _history(trial: Trial, sent: Sent) -> list[Any] | None:
    """The turns of a request without their cache marks, or None where it has no list of them."""
    turns = look_up(sent.payload, trial.dialect.requests.history)
    return [_said(turn, trial.dialect.requests.marks) for turn in turns] if is_array(turns) else None


def _is_declared(trial: Trial, shorter: Sent, length: int) -> bool:
    """Whether the beginnings agree without the fillers and the moved system messages that the adapter declares."""
    prompt = trial.scenario.prompt
    sides = [_parted(trial, sent, part) for sent, part in ((shorter, prompt[:length]), (trial.sent, prompt))]
    return all(_first_rewritten(one, other) is None for one, other in zip(*sides, strict=True))


def _parted(trial: Trial, sent: Sent, prompt: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """The turns without declared fillers; system messages stand apart where the adapter declares that it moves them."""
    fillers = _places_of_fillers(trial, sent, prompt) if "adds_filler_turn" in trial.declared_repairs else ()
    turns = [turn for at, turn in enumerate(_history(trial, sent) or ()) if at not in fillers]
    is_apart = [_moves_system(trial) and is_object(turn) and turn.get("role") in _SYSTEM_ROLES for turn in turns]
    talk = [turn for turn, apart in zip(turns, is_apart, strict=True) if not apart]
    return talk, [turn for turn, apart in zip(turns, is_apart, strict=True) if apart]


_SYSTEM_ROLES: Final = frozenset({"system", "developer"})


def _moves_system(trial: Trial) -> bool:
    is_asked_to = trial.scenario.options.get("late_system") == "hoist"
    always = {"always_hoists_late_system", "delays_late_system"} & trial.declared_repairs
    return bool(always) or (is_asked_to and "hoists_late_system" in trial.declared_repairs)


def _places_of_fillers(trial: Trial, sent: Sent, prompt: list[dict[str, Any]]) -> set[int]:
    """The places of the adapter's fillers among the request's turns."""
    try:
        decoded = trial.decode(sent)
    except DecodeFailed:
        return set()
    found = normal_form(decoded.prompt)
    kept = without_fillers(normal_form(parse_prompt(prompt)), found, trial.subject.constants)
    history = trial.dialect.requests.history
    pointers = [decoded.places.get(f"prompt/{one.path[2:-1]}", "") for one in found if one not in kept]
    steps = (pointer.removeprefix(f"{history}/").partition("/")[0] for pointer in pointers)
    return {int(step) for step in steps if step.isdigit()}


def _said(turn: Any, marks: Collection[str]) -> Any:
    """The turn without cache marks. A plain text becomes a list of one part, as it is written to carry a mark."""
    if not is_object(turn):
        return turn
    plain, content = _unmarked(turn, marks), turn.get("content")
    if isinstance(content, str):
        plain["content"] = [{"type": "text", "text": content}]
    elif is_array(content):
        plain["content"] = [_unmarked(part, marks) if is_object(part) else part for part in content]
    return plain


def _unmarked(value: dict[str, Any], marks: Collection[str]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name not in marks}


def _first_rewritten(shorter: Sequence[Any], longer: Sequence[Any]) -> int | None:
    """The first turn that differs; the last turn of the shorter list may have grown."""
    for at, (one, other) in enumerate(zip(shorter, longer, strict=False)):
        grown = at == len(shorter) - 1 and _extends(one, other)
        if not (same_json(one, other) or grown):
            return at
    return len(longer) if len(shorter) > len(longer) else None


def _extends(one: Any, other: Any) -> bool:
    """Whether the other turn begins with this one: lists and texts may have grown at their end."""
    if is_object(one) and is_object(other):
        return all(key in other and _extends(one[key], other[key]) for key in one)
    if is_array(one) and is_array(other):
        last = len(one) - 1
        return last < 0 or (
            last < len(other) and same_json(one[:last], other[:last]) and _extends(one[last], other[last])
        )
    return same_json(one, other) or (isinstance(one, str) and isinstance(other, str) and other.startswith(one))
