"""Translation, by decoding: every prompt has an outcome, and everything in it is in the decoded request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.base import Check, check
from art_compliance.checks.requirements import NotApplicable, is_json
from art_compliance.checks.trial import Trial
from art_compliance.comparison import Difference, Slot
from art_compliance.dialects import DecodeFailed
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.subject.observations import Crashed, Refused, Sent


@check(
    "translation.is-total",
    clause="For every well-formed prompt, translate returns JSON data or raises PROMPT_TRANSLATION_FAILED.",
)
def is_total(trial: Trial) -> Iterator[Problem]:
    """Never a KeyError."""
    seen = trial.observation
    if isinstance(seen, Crashed):
        yield Problem(str(seen))
    elif isinstance(seen, Refused) and seen.code not in _REFUSALS:
        yield Problem(f"raised {seen.code} for a well-formed prompt: {seen.message}")
    elif isinstance(seen, Sent) and not is_json(seen.payload):
        yield Problem("the payload is not JSON data, or has NaN or infinity")


_REFUSALS: Final = frozenset({"PROMPT_TRANSLATION_FAILED"})


@check(
    "translation.request-is-of-its-dialect",
    clause="The request can be decoded in the adapter's dialect.",
    requires=("sent", "dialect"),
)
def request_is_of_its_dialect(trial: Trial) -> Iterator[Problem]:
    """Otherwise the suite cannot judge it further."""
    try:
        trial.decode(trial.sent)
    except DecodeFailed as error:
        name = trial.dialect.name
        text = f"the request cannot be decoded as {name}: {error}"
        yield Problem(text, pointer=error.pointer)


@check(
    "translation.outcome-is-right",
    clause="The outcome is one that the scenario allows for the dialect: exact, a declared repair, or a refusal.",
    requires=("declared", "dialect"),
)
def outcome_is_right(trial: Trial) -> Iterator[Problem]:
    """There are only these three outcomes."""
    seen = trial.observation
    right = trial.scenario.outcomes_for(trial.dialect.name)
    if isinstance(seen, Refused):
        came = {f"refused:{seen.code}"}
        why = f": {seen.message}"
    else:
        came = {f"repair:{repair}" for repair in trial.comparison.repairs} or {"exact"}
        why = ""
    wrong = sorted(came - set(right) - _allowed_instead(trial, right))
    if wrong:
        yield Problem(f"the outcome is {', '.join(wrong)}; expected {' or '.join(right)}{why}")


def _allowed_instead(trial: Trial, right: tuple[str, ...]) -> set[str]:
    """Where `exact` is right, so is any declared repair; but a late system message moves only on request."""
    if "exact" not in right:
        return set()
    declared = {f"repair:{repair}" for repair in trial.declared_repairs}
    may_hoist = trial.scenario.options.get("late_system") == "hoist"
    return declared if may_hoist else declared - {"repair:hoists_late_system"}


@check(
    "translation.undeclared-use-is-refused",
    clause="The adapter refuses prompts that need a capability it does not declare.",
)
def undeclared_use_is_refused(trial: Trial) -> Iterator[Problem]:
    """Working silently is wrong, and so is dropping silently."""
    if not trial.undeclared:
        raise NotApplicable("the adapter declares all that the scenario needs")
    if isinstance(trial.observation, Sent):
        names = ", ".join(trial.undeclared)
        yield Problem(f"the adapter does not declare {names}, but sends the prompt; declare it, or refuse the prompt")


@check(
    "translation.repairs-are-declared",
    clause="The adapter declares as repairs what it changes so that the provider accepts the prompt.",
)
def repairs_are_declared(trial: Trial) -> Iterator[Problem]:
    """Undeclared repairs surprise the caller."""
    for repair in sorted(trial.comparison.repairs - trial.declared_repairs):
        what = repair.replace("_", " ")
        yield Problem(f"the adapter {what} without declaring it; add {repair!r} to its repairs, or stop doing it")


def _survives(name: str, slot: Slot, clause: str) -> Check:
    """The check that one kind of slot survives."""

    @check(name, clause=clause)
    def survives(trial: Trial) -> Iterator[Problem]:
        for difference in trial.comparison.differences:
            if difference.slot == slot and difference.loss not in trial.subject.losses:
                yield as_problem(difference)

    return survives


def as_problem(difference: Difference) -> Problem:
    """The problem of a difference, with the advice to declare the loss."""
    advice = f"; declare the loss {difference.loss!r} if the provider has no place for it" if difference.loss else ""
    return Problem(difference.message + advice, path=difference.path, pointer=difference.pointer)


system_text_survives = _survives(
    "translation.system-text-survives",
    "system-text",
    "Every system text is in the request once, character for character.",
)
user_text_survives = _survives(
    "translation.user-text-survives", "user-text", "Every user text is in the request once, character for character."
)
images_survive = _survives(
    "translation.images-survive",
    "image",
    "Every image is in the request once, at its place between the texts, with its type and its data or URL.",
)
assistant_text_survives = _survives(
    "translation.assistant-text-survives",
    "assistant-text",
    "Every assistant text is in the request once, character for character.",
)
message_names_survive = _survives(
    "translation.message-names-survive",
    "message-name",
    "A message's name is in the request, or the loss message_name is declared.",
)
extensions_survive = _survives(
    "translation.extensions-survive",
    "extensions",
    "What the provider wants back with an assistant message is sent unchanged; another provider's is not sent.",
)
turns_keep_their_order = _survives(
    "translation.turns-keep-their-order", "turns", "The turns are in the request in the prompt's order."
)
calls_survive = _survives(
    "translation.calls-survive", "call", "Every call is in the request once, in its turn, with the tool's name."
)
call_ids_survive = _survives("translation.call-ids-survive", "call-id", "Call ids are unchanged, or mapped one to one.")
arguments_survive = _survives(
    "translation.arguments-survive",
    "arguments",
    "A call's arguments are equal as JSON values, integers exact at any size.",
)
results_survive = _survives(
    "translation.results-survive", "result", "Every result is in the request once, with the call that it answers."
)
result_status_survives = _survives(
    "translation.result-status-survives",
    "result-status",
    "A failed result is marked as failed, or the loss result_status is declared.",
)
tools_survive = _survives(
    "translation.tools-survive", "tool", "Every tool is in the request with its name, description and schemas."
)


@check(
    "translation.options-survive",
    clause="Every option of the call is in the request, the provider's own fields included.",
)
def options_survive(trial: Trial) -> Iterator[Problem]:
    """Dropping an option silently changes the answer."""
    for difference in trial.comparison.differences:
        if difference.slot == "option" and difference.loss not in trial.subject.losses:
            yield as_problem(difference)
    sent = {pointer: leaf for place, value in trial.decoded.opaque.items() for pointer, leaf in leaves(value, place)}
    for pointer, leaf in leaves(trial.provider_fields):
        if pointer not in sent or sent[pointer] != leaf:
            text = f"the provider's own field {pointer} = {leaf!r} is lost"
            path = f"options.provider[{trial.dialect.name!r}]"
            yield Problem(text, path=path, pointer=pointer)


@check(
    "translation.nothing-is-invented",
    clause="Beyond the prompt and options.provider, a request has only constants that carry no text.",
)
def nothing_is_invented(trial: Trial) -> Iterator[Problem]:
    """An adapter must not add instructions of its own."""
    for difference in trial.comparison.differences:
        if difference.slot == "invented":
            yield as_problem(difference)
    known = dict(leaves(trial.provider_fields))
    for place, value in trial.decoded.opaque.items():
        for pointer, leaf in leaves(value, place):
            if not _is_constant(leaf, trial) and known.get(pointer) != leaf:
                text = f"text that is not in the prompt: {leaf!r}"
                yield Problem(text, pointer=pointer)
    yield from _invented_options(trial)


def _invented_options(trial: Trial) -> Iterator[Problem]:
    for option, value in trial.decoded.options.items():
        is_harmless = option in _OWN_TO_CHOOSE or value in _DEFAULTS.get(option, ())
        if option not in trial.scenario.options and not is_harmless:
            place = trial.decoded.places.get(f"options/{option}")
            yield Problem(f"the option {option} = {value!r} is sent, but the call does not set it", pointer=place)


_OWN_TO_CHOOSE: Final = frozenset({"model", "max_tokens"})
"""Some providers require them, so the adapter must choose where the caller does not."""

_DEFAULTS: Final[dict[str, tuple[Any, ...]]] = {"tool_choice": ("auto",), "stream": (False,)}
"""The providers' own defaults."""

_OWN_BOOKS: Final = ("thread_id", "trace_id", "session_id", "user_id", "call_context")
"""Options for the caller's own records, which are not sent."""

_CONSTANT: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,24}")


def _is_constant(leaf: object, trial: Trial) -> bool:
    """A number, a flag, or one short word that is not the caller's: `ephemeral` is a setting, a sentence is text."""
    if not isinstance(leaf, str):
        return True
    options = trial.scenario.call_options()
    return bool(_CONSTANT.fullmatch(leaf)) and leaf not in [options.get(name) for name in _OWN_BOOKS]
