"""Response: every method that calls the provider gives the same answer, and an unknown finish reason is not a stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.checks.additions import PLAIN_ANSWER, with_new_reason, wrong_end
from art_compliance.checks.answerers import cutting, refusing
from art_compliance.checks.base import check
from art_compliance.checks.limits import LATE_ANSWER, LATE_ANSWER_LIMIT
from art_compliance.checks.replies import differences, makes_ids
from art_compliance.checks.requirements import NotApplicable, require_read
from art_compliance.checks.streamed import options_for, whole_and_streamed
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Pause, Response, Send, answering_with
from art_compliance.quoting import show
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Refused, Reply, raised


@check(
    "response.call-methods-agree",
    clause="If the adapter has `call_sync`, `complete` or `complete_sync`, they give the same answer as `call`.",
    finding_class="contract",
)
def call_methods_agree(trial: Trial) -> Iterator[Problem]:
    """People test with one of them and ship another."""
    whole = trial.answered
    for method in other_methods(trial):
        answered = _answer_by(trial, method)
        if not isinstance(answered, Answered):
            yield Problem(f"{method} raised {raised(answered)}")
            continue
        for difference in relevant_differences(method, answered, whole, own_ids=makes_ids(trial)):
            yield difference.after(f"{method} and call differ in ")


def other_methods(trial: Trial) -> list[str]:
    """The adapter's methods besides `call`. Raises NotApplicable if it has none."""
    methods: list[str] = [method for method in _METHODS if method in trial.subject.methods]
    if not methods:
        raise NotApplicable("the adapter has no other method than call")
    return methods


_METHODS: Final = ("call_sync", "complete", "complete_sync")
_ONLY_IN_EVENTS: Final = ("the text of the tokens", "the calls of TOOL_CALL")
_THINKING: Final = "the thinking of the tokens"


def _answer_by(trial: Trial, method: str) -> Reply:
    prompt, options = trial.scenario.prompt, trial.scenario.call_options()
    return trial.subject.call_by(method, prompt, options, answering_with(trial.written))


def relevant_differences(method: str, answered: Answered, whole: Answered, *, own_ids: bool) -> Iterator[Problem]:
    """How the answer by another method differs from that of `call`, as far as the method can show it."""
    is_folded = method != "call_sync"
    hidden: tuple[str, ...] = _ONLY_IN_EVENTS if is_folded else ()
    if is_folded and "TOKEN" not in answered.kinds:
        hidden = (*hidden, _THINKING)
    found = differences(answered, whole, own_ids=own_ids)
    return (one for one in found if not one.message.startswith(hidden))


@check(
    "response.call-sync-marks-its-events",
    clause="The events of `call_sync` carry the ids and the context of the call, like those of `call`.",
    finding_class="contract",
    requires=("dialect", "call", "sent"),
    once=True,
    on_every_prompt=True,
)
def call_sync_marks_its_events(trial: Trial) -> Iterator[Problem]:
    """What the other methods return does not show them."""
    if "call_sync" not in trial.subject.methods:
        raise NotApplicable("the adapter has no call_sync")
    options = {**trial.scenario.call_options(), **_MARKS, "call_context": _CONTEXT}
    answered = require_read(
        trial.subject.call_by("call_sync", trial.scenario.prompt, options, answering_with(PLAIN_ANSWER))
    )
    for name, value in _MARKS.items():
        found = {show(event.get(name)) for event in answered.events}
        if found != {show(value)}:
            yield Problem(f"the {name} of the call is {show(value)}, that of its events {', '.join(sorted(found))}")
    types = {str(event.get("token_type")) for event in answered.of_kind("TOKEN")}
    if wrong := sorted(one for one in types if not one.startswith(_CONTEXT)):
        yield Problem(f"with the call context {_CONTEXT}, tokens have the type {', '.join(wrong)}")


_MARKS: Final = {"thread_id": "thread-marked", "trace_id": "trace-marked", "session_id": "session-marked"}
_CONTEXT: Final = "AGENT_THOUGHT"


@check(
    "response.call-methods-send-the-same",
    clause="Whichever method is called, with JSON data or typed values, it sends the same request as `call`.",
    finding_class="contract",
    requires=("dialect", "call", "sent"),
    once=True,
    on_every_prompt=True,
)
def call_methods_send_the_same(trial: Trial) -> Iterator[Problem]:
    """An option that only one of them sends is found in production."""
    system = {"role": "system", "content": "You answer in one word."}
    prompt = [*([system] if "system" in trial.subject.capabilities else []), *trial.scenario.prompt]
    options = {"temperature": 0.4, "max_tokens": 77, "model": "another-model"}
    for streamed in whole_and_streamed(can_stream="streaming" in trial.subject.capabilities):
        given = {**options_for(trial, streamed=streamed), **options}
        wanted = _arrived(trial, partial(trial.subject.use_method, "call", prompt, given))
        for way, ask in _other_ways(trial, prompt, given):
            found = _arrived(trial, ask)
            kind = " streamed" if streamed else ""
            if len(found) != len(wanted):
                yield Problem(f"{way} sends {len(found)} requests where{kind} call sends {len(wanted)}")
            elif found != wanted:
                yield Problem(f"{way} sends a different request than{kind} call")


def _other_ways(
    trial: Trial, prompt: list[dict[str, Any]], options: dict[str, Any]
) -> Iterator[tuple[str, Callable[[], object]]]:
    """The other methods, and every method with typed values, for an adapter that takes these."""
    others = other_methods(trial)
    for method in others:
        yield method, partial(trial.subject.use_method, method, prompt, options)
    for method in ("call", *others) if trial.subject.takes_types else ():
        given = {"prompt": prompt, "options": options, "method": method}
        yield f"{method} with typed values", partial(trial.subject.attempt, "call_typed", **given)


def _arrived(trial: Trial, ask: Callable[[], object]) -> list[Any]:
    """What arrives when the adapter is called so: method, target and body of each request."""
    before = trial.subject.request_count
    with trial.subject.answering(answering_with(PLAIN_ANSWER)):
        ask()
    return [(one.method, one.target, one.body) for one in trial.subject.seen_since(before)]


@check(
    "response.call-methods-fail-alike",
    clause="If `call` ends with an error, so does `call_sync`, and `complete` and `complete_sync` raise it.",
    finding_class="contract",
    requires=("dialect", "call", "sent"),
    once=True,
    on_every_prompt=True,
)
def call_methods_fail_alike(trial: Trial) -> Iterator[Problem]:
    """Half an answer, or none, must not look like a good one in any of them."""
    for what, answerer, more in _FAILURES if "streaming" in trial.subject.capabilities else _FAILURES[:-1]:
        options = {**trial.scenario.call_options(), **more}
        reply = trial.subject.call(trial.scenario.prompt, options, answerer)
        if not isinstance(reply, Answered) or reply.error is None:
            continue  # another check's business
        for method in other_methods(trial):
            with trial.subject.answering(answerer):
                found = _failure_by(trial, method, [*trial.scenario.prompt], options)
            if found is None:
                yield Problem(f"{what}: call ends with an error, {method} with a good answer", finding_class="loss")
            elif found != (reply.error.get("code"), reply.error.get("status")):
                code, status = found
                text = f"{what}: {method} fails with {show(code)} and the status {show(status)}"
                yield Problem(f"{text}, call with {show(reply.error.get('code'))}, {show(reply.error.get('status'))}")


def _failure_by(trial: Trial, method: str, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Any:
    """The code and the status of the error, or None where there is none."""
    found = trial.subject.use_method(method, prompt, options)
    if isinstance(found, Refused):
        return found.code, found.status
    if isinstance(found, Crashed):
        return found.error.partition(":")[0], None
    if found.error is None:
        return None
    return found.error.get("code"), found.error.get("status")


def _late(asked: Asked) -> Response:
    response = asked.answer(PLAIN_ANSWER)
    return replace(response, steps=(Pause(LATE_ANSWER), *(response.steps or (Send(response.body),))))


_FAILURES: Final[tuple[tuple[str, Answerer, dict[str, Any]], ...]] = (
    ("answered 503", refusing(503), {}),
    (
        f"no answer within the time limit of {LATE_ANSWER_LIMIT} s",
        _late,
        {"timeouts": {"first_byte": LATE_ANSWER_LIMIT}},
    ),
    ("a stream that was cut off", cutting(PLAIN_ANSWER), {"stream": True}),
)


@check(
    "response.unknown-finish-is-other",
    clause="An answer with an unknown finish reason ends with the finish `other`, and its text is whole.",
    once=True,
)
def unknown_finish_is_other(trial: Trial) -> Iterator[Problem]:
    """Providers add such reasons, and so far each of them meant that something went wrong."""
    change = with_new_reason(trial.dialect.streams.finish_fields)
    require_read(trial.call(PLAIN_ANSWER))
    yield from wrong_end(trial.call(PLAIN_ANSWER, change=change), is_translated=trial.subject.is_translated)
