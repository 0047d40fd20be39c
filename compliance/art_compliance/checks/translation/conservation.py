"""Translation, by decoding: every prompt has an outcome, and everything in it is in the decoded request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from art_compliance.checks import wire
from art_compliance.checks.base import Check, check, leave_to
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.translation.unasked import unasked_settings, unasked_texts
from art_compliance.checks.trial import Trial
from art_compliance.comparison import Comparison, Difference, Slot
from art_compliance.dialects import Decoded
from art_compliance.findings import FindingClass, Problem
from art_compliance.pointers import ends
from art_compliance.quoting import show
from art_compliance.scenarios import Scenario
from art_compliance.subject.observations import Crashed, Refused, Sent
from art_sdk import ArtStandardPrompt, ErrorCode, PromptValidationFailed, ToolResultMessage, parse_prompt
from art_sdk.sendable import find_unsendable


@check(
    "translation.is-total",
    clause="For every well-formed prompt, translate returns JSON data or raises PROMPT_TRANSLATION_FAILED.",
    finding_class="contract",
)
def is_total(trial: Trial) -> Iterator[Problem]:
    """Never a KeyError."""
    seen = trial.observation
    if isinstance(seen, Crashed):
        yield Problem(str(seen))
    elif isinstance(seen, Refused) and not _is_right(trial, seen):
        if _rejects_timeouts(trial, seen):
            raise NotApplicable("the adapter rejects the option timeouts")
        yield Problem(f"raised {seen.code} for a well-formed prompt: {seen.message}")
    elif isinstance(seen, Sent) and (found := find_unsendable(seen.payload)) and not found.is_too_deep:
        yield Problem(f"the payload cannot be sent as JSON: {found.path}: {found.reason}")


def _is_right(trial: Trial, refused: Refused) -> bool:
    """Whether the code is the one for refusals, or that with which `art_sdk` itself refuses a broken conversation."""
    if refused.code != ErrorCode.PROMPT_VALIDATION_FAILED:
        return refused.code == ErrorCode.PROMPT_TRANSLATION_FAILED
    try:
        parse_prompt(trial.scenario.prompt, conversation=True)
    except PromptValidationFailed:
        return True
    return False


@check(
    "translation.outcome-is-right",
    clause="The outcome is one that the scenario allows for the dialect: exact, a declared repair, or a refusal.",
    finding_class="contract",
    requires=("declared", "dialect"),
)
def outcome_is_right(trial: Trial) -> Iterator[Problem]:
    """There are only these three outcomes."""
    leave_to(trial, *CAUSES)
    seen = trial.observation
    right = trial.scenario.outcomes_for(trial.dialect.name)
    if isinstance(seen, Refused) and _rejects_timeouts(trial, seen):
        raise NotApplicable("the adapter rejects the option timeouts")
    refuses = isinstance(seen, Refused) and _is_right(trial, seen)
    if refuses and (loss := _refused_loss(trial)) is not None:
        raise NotApplicable(f"the adapter refuses what it would lose: it does not declare {loss}")
    if refuses and _must_move(trial, right):
        raise NotApplicable("the adapter refuses to move a system message: it does not declare hoists_late_system")
    if isinstance(seen, Refused) and trial.subject.speaks is not None and seen.status is None:
        raise NotApplicable(f"its client cannot express this in {trial.subject.speaks}")
    if isinstance(seen, Refused):
        came = {f"refused:{ErrorCode.PROMPT_TRANSLATION_FAILED if refuses else seen.code}"}
        why = f" ({seen.message})"
    else:
        came = {f"repair:{repair}" for repair in trial.comparison.repairs} or {"exact"}
        why = ""
    wrong = sorted(came - set(right) - _allowed_instead(trial, right, came))
    if wrong:
        text = f"the outcome is {', '.join(wrong)}{why}; expected {' or '.join(right)}"
        if isinstance(seen, Refused) and right == (_MAPS_IDS,):
            text += ", as a conversation that began at another provider must go on"
        yield Problem(text, finding_class=_class_of_outcome(trial, right))


_MAPS_IDS: Final = "repair:maps_call_ids"
_HOISTS: Final = "repair:hoists_late_system"


def _refused_loss(trial: Trial) -> str | None:
    """A loss that the adapter does not declare, and that the format makes inevitable for this prompt."""
    undeclared = trial.dialect.requests.lacks - set(trial.subject.losses)
    return next((loss for loss in sorted(undeclared) if _HAS[loss](trial.scenario)), None)


def _must_move(trial: Trial, right: tuple[str, ...]) -> bool:
    """Whether only a system message that moves makes the prompt fit, as the call asks for, and the adapter moves none.

    One that declares to take late system messages has to take them.
    """
    never = "hoists_late_system" not in trial.declared_repairs and "late_system" not in trial.subject.capabilities
    return never and _HOISTS in right and all(outcome.startswith("repair:") for outcome in right)


_NAME: Final = "message_name"
_HAS: Final[Mapping[str, Callable[[Scenario], bool]]] = {
    _NAME: lambda one: any(message.get("name") is not None and "tool_call_id" not in message for message in one.prompt),
    "tool_output_schema": lambda one: any("outputSchema" in tool for tool in one.options.get("tools", ())),
}
"""Whether a prompt or its tools have what is lost."""


def _rejects_timeouts(trial: Trial, refused: Refused) -> bool:
    """Whether without `timeouts`, which adapters may reject, the prompt is sent, or refused for another reason."""
    options = trial.options
    if options.pop("timeouts", None) is None:
        return False
    seen = trial.observe(trial.scenario.prompt, options)
    is_for_another = isinstance(seen, Refused) and seen.code != refused.code and _is_right(trial, seen)
    return isinstance(seen, Sent) or is_for_another


def _class_of_outcome(trial: Trial, right: tuple[str, ...]) -> FindingClass:
    """A prompt that should have been refused may have got results that nobody gave. Other checks find what is lost."""
    seen = trial.observation
    if not isinstance(seen, Sent) or not all(outcome.startswith("refused:") for outcome in right):
        return "contract"
    found, given = (sum(isinstance(one, ToolResultMessage) for one in prompt) for prompt in _prompts(trial))
    return "loss" if found > given else "contract"


def _prompts(trial: Trial) -> tuple[ArtStandardPrompt, ArtStandardPrompt]:
    """The prompt as the request has it, and as it was given."""
    return trial.decoded.prompt, parse_prompt(trial.scenario.prompt)


def _allowed_instead(trial: Trial, right: tuple[str, ...], came: set[str]) -> set[str]:
    """The declared repairs, unless a refusal is right and none of them mends the prompt.

    A late system message moves to the front only on request, or if the adapter declares that it always does. Names
    that the provider would reject need not be refused by an adapter that declares to leave names out.
    """
    always = {_HOISTS} if "always_hoists_late_system" in trial.subject.repairs else set[str]()
    may_hoist = bool(always) or trial.scenario.options.get("late_system") == "hoist"
    declared = {f"repair:{repair}" for repair in trial.declared_repairs} - (set() if may_hoist else {_HOISTS})
    must_be_refused = all(outcome.startswith("refused:") for outcome in right)
    if must_be_refused and _leaves_names_out(trial):
        return declared | {"exact"}
    is_repaired = not must_be_refused or came & declared & (_CURES | always)
    return declared if is_repaired else set()


def _leaves_names_out(trial: Trial) -> bool:
    """Whether the prompt has names, and the request has none, as the adapter declares."""
    if _NAME not in trial.subject.losses or not isinstance(trial.observation, Sent):
        return False
    senders = (one for one in trial.decoded.prompt if not isinstance(one, ToolResultMessage))
    return _HAS[_NAME](trial.scenario) and all(getattr(one, "name", None) is None for one in senders)


_CURES: Final = frozenset(
    {
        "repair:delays_late_system",
        "repair:demotes_late_system",
        "repair:demotes_system",
        "repair:fills_blank_text",
        "repair:renames_tools",
        "repair:trims_prefill",
        "repair:wraps_arguments",
    }
)
"""Repairs that show only where the prompt has what they mend."""


@check(
    "translation.undeclared-use-is-refused",
    clause="The adapter refuses prompts that need a capability it does not declare.",
    finding_class="contract",
)
def undeclared_use_is_refused(trial: Trial) -> Iterator[Problem]:
    """Working silently is wrong, and so is dropping silently."""
    if not trial.undeclared:
        raise NotApplicable("the adapter declares all capabilities that the scenario needs")
    if isinstance(trial.observation, Sent):
        names = ", ".join(trial.undeclared)
        yield Problem(f"the adapter does not declare {names}, but sends the prompt; declare it, or refuse the prompt")


@check(
    "translation.repairs-are-declared",
    clause="The adapter declares as repairs whatever it changes so that the provider accepts the prompt.",
    finding_class="contract",
    requires="sendable",
)
def repairs_are_declared(trial: Trial) -> Iterator[Problem]:
    """Undeclared repairs surprise the caller. Where something is lost as well, that is the worse part of one cause."""
    leave_to(trial, *_OF_CONTENT)
    yield from undeclared_repairs(trial, trial.comparison)


def undeclared_repairs(trial: Trial, comparison: Comparison) -> Iterator[Problem]:
    """The repairs that explain what was sent, and that the adapter does not declare."""
    for repair in sorted(comparison.repairs - trial.declared_repairs):
        what = repair.replace("_", " ")
        text = f"the adapter {what} without declaring it; add {repair!r} to its repairs, or stop doing it"
        yield Problem(text, finding_class="contract")


def _survives(name: str, slot: Slot, clause: str, *leaves_to: Check) -> Check:
    """The check that one kind of slot survives."""

    @check(name, clause=clause, requires="declared", leaves_to=leaves_to)
    def survives(trial: Trial) -> Iterator[Problem]:
        yield from (as_problem(difference) for difference in _losses(trial) if difference.slot == slot)

    return survives


def _losses(trial: Trial) -> tuple[Difference, ...]:
    """What is lost undeclared. Of a prompt that must be refused, the first loss: the others follow from it."""
    found = tuple(one for one in trial.comparison.differences if one.loss not in trial.subject.losses)
    if trial.why_unsendable() is None:
        return found
    leave_to(trial, wire.is_of_the_schema, wire.no_rule_is_broken)
    return found[:1]


def as_problem(difference: Difference) -> Problem:
    """The problem of a difference, with the advice to declare the loss."""
    advice = f"; declare the loss {difference.loss!r} if the provider has no place for it" if difference.loss else ""
    return Problem(
        difference.message + advice,
        path=difference.path,
        pointer=difference.pointer,
        finding_class=class_of(difference),
    )


def class_of(difference: Difference) -> FindingClass:
    """Options are not content, and nobody can say which value of a repeated key was meant."""
    return "contract" if difference.slot == "option" or difference.is_last_of_keys else "loss"


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
    call_ids_survive,
)
results_survive = _survives(
    "translation.results-survive",
    "result",
    "Every result is in the request once, with the call that it answers.",
    call_ids_survive,
)
result_status_survives = _survives(
    "translation.result-status-survives",
    "result-status",
    "A failed result is marked as failed, or the loss result_status is declared.",
)


@check(
    "translation.tools-survive",
    clause="Every tool is in the request with its name, description and schemas.",
    requires="declared",
)
def tools_survive(trial: Trial) -> Iterator[Problem]:
    """Also as the model sees it: a provider may change a schema that the request does not protect."""
    lost = [as_problem(difference) for difference in _losses(trial) if difference.slot == "tool"]
    rewritten = trial.dialect.requests.find_rewritten(trial.sent.payload)
    yield from lost or (Problem(one.message, pointer=one.pointer, source=one.source) for one in rewritten)


@check(
    "translation.options-survive",
    clause="Every option of the call is in the request, the provider's own fields included.",
    finding_class="contract",
    requires="sendable",
)
def options_survive(trial: Trial) -> Iterator[Problem]:
    """Dropping an option silently changes the answer."""
    refused = wire.refused_places(trial)
    for difference in trial.comparison.differences:
        is_allowed = difference.loss in trial.subject.losses or difference.pointer in refused
        if difference.slot == "option" and not is_allowed:
            yield as_problem(difference)
    yield from lost_fields(trial.decoded, trial.dialect.name, trial.provider_fields)


def lost_fields(decoded: Decoded, dialect: str, fields: dict[str, Any]) -> Iterator[Problem]:
    """Which of the provider's own fields of a call the request does not have."""
    sent = {pointer: end for place, value in decoded.opaque.items() for pointer, end in ends(value, place)}
    for pointer, end in ends(fields) if fields else ():
        if pointer not in sent or sent[pointer] != end:
            text = f"the provider's own field {pointer} = {show(end)} is lost"
            yield Problem(text, path=f"options.provider[{dialect!r}]", pointer=pointer)


_OF_CONTENT: Final[tuple[Check, ...]] = (
    system_text_survives,
    user_text_survives,
    assistant_text_survives,
    images_survive,
    turns_keep_their_order,
    calls_survive,
    call_ids_survive,
    arguments_survive,
    results_survive,
)


@check(
    "translation.nothing-is-invented",
    clause="Beyond the prompt and the options, a request has only constants that carry no text and change no answer.",
    requires="sendable",
    leaves_to=(call_ids_survive,),
)
def nothing_is_invented(trial: Trial) -> Iterator[Problem]:
    """An adapter must not add instructions of its own, nor settings that change what is generated."""
    for difference in trial.comparison.differences:
        if difference.slot == "invented":
            yield as_problem(difference)
    yield from unasked_texts(trial)
    yield from unasked_settings(trial)


CAUSES: Final[tuple[Check, ...]] = (
    is_total,
    wire.request_matches_its_dialect,
    wire.is_of_the_schema,
    wire.no_rule_is_broken,
    system_text_survives,
    user_text_survives,
    images_survive,
    assistant_text_survives,
    message_names_survive,
    extensions_survive,
    turns_keep_their_order,
    calls_survive,
    call_ids_survive,
    arguments_survive,
    results_survive,
    result_status_survives,
    tools_survive,
    options_survive,
    nothing_is_invented,
    repairs_are_declared,
)
"""What explains a wrong outcome: the translation fails, the provider rejects the request, or its content changed."""
