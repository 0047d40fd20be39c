"""Translation of what comes beside an option: streaming changes nothing else, and what is not the provider's stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.translation.conservation import CAUSES
from art_compliance.checks.translation.laws import first_difference
from art_compliance.checks.translation.pairs import Call, calls_beside
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import normal_form, same_json
from art_compliance.dialects import DIALECTS, Decoded, DecodeFailed
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.quoting import show
from art_compliance.subject.observations import Sent
from art_sdk.json_data import is_array, is_object


@check(
    "translation.streaming-changes-nothing-else",
    clause="The streamed request says what the unstreamed one says: the same prompt, tools, options and own fields.",
    requires=("dialect", "sent", "streaming"),
    leaves_to=CAUSES,
)
def streaming_changes_nothing_else(trial: Trial) -> Iterator[Problem]:
    """An adapter with two ways to build a request forgets in one what it learned in the other."""
    own = trial.options
    if own.get("stream"):
        raise NotApplicable("the scenario streams")
    streamed = trial.observe(trial.scenario.prompt, {**own, "stream": True})
    if not isinstance(streamed, Sent):
        return  # other checks report that it cannot stream
    whole = trial.sent
    if same_json(besides_streams(whole.payload), besides_streams(streamed.payload)):
        return
    try:
        other = trial.decode(streamed)
    except DecodeFailed as error:
        yield Problem(f"the streamed request cannot be decoded: {error}", pointer=error.pointer)
        return
    if what := _difference(trial, trial.decoded, other):
        pointer = first_difference(besides_streams(whole.payload), besides_streams(streamed.payload))
        yield Problem(f"streamed, the request has {what}", pointer=pointer)


def besides_streams(payload: Any) -> Any:
    """Without the fields that speak of streams."""
    return {name: value for name, value in payload.items() if "stream" not in name} if is_object(payload) else payload


def _difference(trial: Trial, whole: Decoded, streamed: Decoded) -> str:
    """What the streamed request has otherwise; more fields of the provider's own than the other are no difference."""
    if normal_form(whole.prompt) != normal_form(streamed.prompt):
        return "another prompt"
    if whole.tools != streamed.tools:
        return "other tools"
    for name in trial.scenario.options:
        if name in whole.options and not same_json(whole.options[name], streamed.options.get(name)):
            return f"{name} = {show(streamed.options.get(name))}, not {show(whole.options[name])}"
    for pointer, value in whole.opaque.items():
        if "stream" not in pointer and not same_json(value, streamed.opaque.get(pointer)):
            return f"{show(streamed.opaque.get(pointer))} at {pointer}, not {show(value)}"
    return ""


@check(
    "translation.only-the-providers-own-is-sent",
    clause="The caller's own records, and fields for another provider, are not sent, whatever comes beside them.",
    requires=("dialect", "sent"),
    finding_class="contract",
    once=True,
    leaves_to=CAUSES,
)
def only_the_providers_own_is_sent(trial: Trial) -> Iterator[Problem]:
    """A user's name in a provider's records is a leak; another provider's field is refused, or means something else."""
    for beside, prompt, options in _calls(trial):
        seen = trial.observe(prompt, options)
        found = next(_foreign(trial, seen), None) if isinstance(seen, Sent) else None
        if found is not None:
            pointer, what = found
            yield Problem(f"with {beside}: {what} is sent", pointer=pointer)
            return


def _calls(trial: Trial) -> Iterator[Call]:
    """Calls with records, and, beside some fields of the provider's own, or empty ones, with those of another one."""
    records = _records(trial)
    if "provider_fields" not in trial.subject.capabilities:
        yield from calls_beside(trial, records)
        return
    other = next(name for name in DIALECTS if name != trial.dialect.name)
    foreign = {other: {_FIELD: True}, "another-one": {_FIELD: True}}
    own = trial.dialect.requests.own_fields
    yield from calls_beside(trial, {**records, "provider": {**foreign, trial.dialect.name: own}})
    empty = {name: type(value)() for name, value in own.items() if is_object(value) or is_array(value)}
    options = {**records, "provider": {**foreign, trial.dialect.name: empty}}
    yield "empty fields of the provider's own", [{"role": "user", "content": "hello"}], options


def _foreign(trial: Trial, sent: Sent) -> Iterator[tuple[str, str]]:
    """What of that is in the request: where, and what it is."""
    names: Mapping[str, str] = {value: name for name, value in _records(trial).items()}
    for pointer, leaf in leaves(sent.payload):
        if pointer.endswith(f"/{_FIELD}"):
            yield pointer, "a field for another provider"
        elif isinstance(leaf, str) and (name := next((names[one] for one in names if one in leaf), "")):
            yield pointer, f"the caller's {name}"


_FIELD: Final = "field_of_another_provider"


def _records(trial: Trial) -> dict[str, str]:
    """Options that the caller alone needs, each with a value of its own."""
    return {name: trial.id_of("records", name) for name in _NAMES_OF_RECORDS}


_NAMES_OF_RECORDS: Final = ("thread_id", "user_id", "session_id", "trace_id", "call_context")
