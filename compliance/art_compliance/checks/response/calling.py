"""Response: every method that calls the provider gives the same answer, and an unknown finish reason is not a stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.checks.additions import PLAIN_ANSWER, with_new_reason, wrong_end
from art_compliance.checks.answerers import ID_HEADERS, cutting, error_stream, giving, half_of, refusing
from art_compliance.checks.base import check, leave_to
from art_compliance.checks.facts import changes, essence_of, facts_of
from art_compliance.checks.limits import (
    LATE_ANSWER,
    LATE_ANSWER_LIMIT,
    OPTIONS_BY_METHOD,
    OTHER_TIME_LIMITS,
    RETRY_AFTER_TOO_LONG,
)
from art_compliance.checks.replies import differences, makes_ids
from art_compliance.checks.requirements import NotApplicable, require_read
from art_compliance.checks.streamed import options_for, whole_and_streamed
from art_compliance.checks.translation import laws
from art_compliance.checks.translation.laws import first_difference, is_sent
from art_compliance.checks.translation.pairs import calls_together
from art_compliance.checks.trial import Trial
from art_compliance.dialects import DecodeFailed
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Drop, Response, Send, answering_with, delayed
from art_compliance.quoting import show
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Observation, Refused, Reply, Sent, raised


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
    if not trial.subject.other_methods:
        raise NotApplicable("the adapter has no other method than call")
    return trial.subject.other_methods


_ONLY_IN_EVENTS: Final = ("the text of the tokens", "the calls of TOOL_CALL")
_THINKING: Final = "the thinking of the tokens"


def _answer_by(trial: Trial, method: str) -> Reply:
    prompt, options = trial.scenario.prompt, trial.options
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
    marks = trial.ids("marked")
    options = {**trial.options, **marks, "call_context": _CONTEXT}
    answered = require_read(
        trial.subject.call_by("call_sync", trial.scenario.prompt, options, answering_with(PLAIN_ANSWER))
    )
    for name, value in marks.items():
        found = {show(event.get(name)) for event in answered.events}
        if found != {show(value)}:
            yield Problem(f"the {name} of the call is {show(value)}, that of its events {', '.join(sorted(found))}")
    types = {str(event.get("token_type")) for event in answered.of_kind("TOKEN")}
    if wrong := sorted(one for one in types if not one.startswith(_CONTEXT)):
        yield Problem(f"with the call context {_CONTEXT}, tokens have the type {', '.join(wrong)}")


_CONTEXT: Final = "AGENT_THOUGHT"


@check(
    "response.call-methods-send-the-same",
    clause="`call` sends what `translate` returns; each method, with JSON data or typed values, what `call` sends.",
    finding_class="contract",
    requires=("dialect", "call", "sent"),
    once=True,
    on_every_prompt=True,
)
def call_methods_send_the_same(trial: Trial) -> Iterator[Problem]:
    """An option, a message or a header that only one of them sends is found in production."""
    failed = set[str]()
    is_translated = trial.subject.kind == "white box"
    if not is_translated:
        other_methods(trial)
    for number, (prompt, options) in enumerate(_asked_for(trial)):
        before = trial.subject.request_count
        seen = _sent_by_call(trial, prompt, options)
        wanted = [essence_of(trial.dialect, one) for one in trial.subject.seen_since(before)]
        if is_translated and isinstance(seen, Sent) and (fault := _untranslated(trial, prompt, options, seen)):
            is_translated = False  # one such call is enough
            yield fault
        for way, ask in _other_ways(trial, prompt, options, number):
            found = _arrived(trial, ask) if way not in failed else wanted
            if found == wanted:
                continue
            failed.add(way)
            kind = " streamed" if options.get("stream") else ""
            if len(found) != len(wanted):
                yield Problem(f"{way} sends {len(found)} requests where{kind} call sends {len(wanted)}")
            elif [one[:3] for one in found] == [one[:3] for one in wanted]:
                yield Problem(f"{way} sends another key, or other required headers, than{kind} call")
            else:
                yield Problem(f"{way} sends a different request than{kind} call")


def _sent_by_call(trial: Trial, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Observation:
    with trial.subject.answering(answering_with(PLAIN_ANSWER)):
        return trial.subject.watch(prompt, options).observation


def _untranslated(trial: Trial, prompt: list[dict[str, Any]], options: dict[str, Any], seen: Sent) -> Problem | None:
    """How what a call sends differs from what `translate` returns: in its body, or in the model that its URL names."""
    kind = "a streamed call" if options.get("stream") else "a call"
    translated = trial.subject.translate(prompt, options)
    if not isinstance(translated, Sent):
        return None
    if not (is_sent(translated, seen) or is_sent(trial.subject.translate(prompt, {**options, "stream": True}), seen)):
        leave_to(trial, laws.sends_what_it_translates)
        pointer = first_difference(translated.payload, seen.payload)
        return Problem(f"{kind} sends another body than translate returns", pointer=pointer)
    try:
        model = trial.decode(seen).options.get("model")
    except DecodeFailed:
        return None  # other checks find that
    if model == options.get("model", model):
        return None
    return Problem(f"{kind} goes to the model {show(model)}; its own is {show(options['model'])}")


def _asked_for(trial: Trial) -> Iterator[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Prompts and options: a few of each, and then whatever the adapter takes, in combinations."""
    system = {"role": "system", "content": "You answer in one word."}
    prompt = [*([system] if "system" in trial.subject.capabilities else []), *trial.scenario.prompt]
    options = {"temperature": 0.4, "max_tokens": 77, "model": "another-model"}
    for streamed in whole_and_streamed(can_stream="streaming" in trial.subject.capabilities):
        yield prompt, {**options_for(trial, streamed=streamed), **options}
    yield _long_talk(trial), {**trial.options, "model": "Another-Model"}
    if "images" in trial.subject.capabilities:
        yield [*prompt[:-1], {"role": "user", "content": _WITH_IMAGE}], trial.options
    if "tools" in trial.subject.capabilities:
        yield prompt, {**trial.options, "tools": _WITH_EQUAL_PARTS}
    yield from calls_together(trial, Random(f"{trial.seed} methods"), OPTIONS_BY_METHOD)


def _long_talk(trial: Trial) -> list[dict[str, Any]]:
    """Several hundred messages, and line ends of Windows in the last ones."""
    begun: list[dict[str, Any]] = [
        {"role": role, "content": f"Word {number}."} for number in range(300) for role in ("user", "assistant")
    ]
    asked = {"role": "user", "content": "One line,\r\nand another."}
    return [*begun, asked, *(_CALLED if "tools" in trial.subject.capabilities else ())]


_CALLED: Final[tuple[dict[str, Any], ...]] = (
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "here\\r\\nthere"}'}}
        ],
    },
    {"role": "tool_result", "tool_call_id": "call_1", "name": "look", "content": "Nothing\r\nat all."},
)

_DATE: Final = {"type": "object", "properties": {"day": {"type": "integer"}}}
_WITH_EQUAL_PARTS: Final[list[dict[str, Any]]] = [
    {
        "name": "book",
        "description": "Books a room.",
        "inputSchema": {"type": "object", "properties": {"begin": _DATE, "end": _DATE}},
    }
]

_WITH_IMAGE: Final = [
    {"type": "text", "text": "What is this?"},
    {
        "type": "image",
        "mime_type": "image/png",
        "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=",
    },
]


def _other_ways(
    trial: Trial, prompt: list[dict[str, Any]], options: dict[str, Any], number: int
) -> Iterator[tuple[str, Callable[[], object]]]:
    """The other methods and, for an adapter that takes typed values, a method with these: each prompt's is the next."""
    others = trial.subject.other_methods
    is_in_python = trial.subject.bridged is None and trial.subject.speaks is None
    if options.get("tools") is _WITH_EQUAL_PARTS and is_in_python:
        given = {"prompt": prompt, "options": options}
        yield "call with one object for equal parts", partial(trial.subject.attempt, "call_with_shared_parts", **given)
    for method in others:
        yield method, partial(trial.subject.use_method, method, prompt, options)
    if trial.subject.takes_types:
        method = ("call", *others)[number % (1 + len(others))]
        given = {"prompt": prompt, "options": options, "method": method}
        yield f"{method} with typed values", partial(trial.subject.attempt, "call_typed", **given)


def _arrived(trial: Trial, ask: Callable[[], object]) -> list[list[Any]]:
    """What arrives when the adapter is called so."""
    before = trial.subject.request_count
    with trial.subject.answering(answering_with(PLAIN_ANSWER)):
        ask()
    return [essence_of(trial.dialect, one) for one in trial.subject.seen_since(before)]


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
    for what, answerer, more in _FAILURES:
        if more.get("stream") and "streaming" not in trial.subject.capabilities:
            continue
        options = {**trial.options, **trial.ids("marked"), **more}
        reply = trial.subject.call(trial.scenario.prompt, options, answerer)
        if not isinstance(reply, Answered) or reply.error is None:
            continue  # another check's business
        for method in other_methods(trial):
            with trial.subject.answering(answerer):
                found = trial.subject.use_method(method, [*trial.scenario.prompt], options)
            yield from (fault.after(f"{what}: ") for fault in _other_failure(method, found, reply))


def _other_failure(method: str, found: Reply, reply: Answered) -> Iterator[Problem]:
    """How another method fails otherwise than `call`, or not at all."""
    error = reply.error or {}
    if isinstance(found, Answered) and found.error is None:
        yield Problem(f"call ends with an error, {method} with a good answer", finding_class="loss")
        return
    if method == "call_sync" and not isinstance(found, Answered):
        yield Problem(f"call ends with ERROR and END, call_sync raised {raised(found)}")
        return
    code, status = _failure_of(found)
    if (code, status) != (error.get("code"), error.get("status")):
        text = f"{method} fails with {show(code)} and the status {show(status)}"
        yield Problem(f"{text}, call with {show(error.get('code'))}, {show(error.get('status'))}")
        return
    is_folded = not isinstance(found, Answered)
    there, here = facts_of(found, own_ids=False), facts_of(reply, own_ids=False)
    hidden = [name for name in here if is_folded and not name.startswith("the error's ")]
    for change in changes(there, here, but=hidden):
        yield change.after(f"{method} and call fail differently in ")


def _failure_of(found: Reply) -> tuple[Any, Any]:
    """The code and the status of the error."""
    if isinstance(found, Refused):
        return found.code, found.status
    if isinstance(found, Crashed):
        return found.error.partition(":")[0], None
    return (found.error or {}).get("code"), (found.error or {}).get("status")


def _late(asked: Asked) -> Response:
    return delayed(asked.answer(PLAIN_ANSWER), LATE_ANSWER)


def _refusing_in_full(asked: Asked) -> Response:
    """A refusal that says which request it was and when to come back; too late for an adapter that tries again."""
    headers = (("retry-after", f"{RETRY_AFTER_TOO_LONG:g}"), *((name, "of-this-refusal") for name in ID_HEADERS))
    return replace(refusing(429)(asked), headers=headers)


def _failing_in_the_middle(asked: Asked) -> Response:
    events = asked.events(PLAIN_ANSWER)
    error = asked.dialect.streams.write_error(503, "written error in the middle")
    steps = (*map(Send, events[: half_of(events)]), Send(error))
    return Response(200, content_type=asked.dialect.streams.content_type, steps=steps)


_FAILURES: Final[tuple[tuple[str, Answerer, dict[str, Any]], ...]] = (
    ("answered 503", refusing(503), {}),
    ("answered 429", _refusing_in_full, {}),
    ("a stream that was refused with 400", refusing(400), {"stream": True}),
    ("a body that cannot be read", giving(Response(200, b'{"half": "of a')), {}),
    ("an answer with an error", lambda asked: replace(refusing(400)(asked), status=200), {}),
    ("a connection that is closed at once", giving(Response(200, steps=(Drop(),))), {}),
    ("a stream with an error in the middle", _failing_in_the_middle, {"stream": True}),
    ("a stream that begins with an error", lambda asked: error_stream(asked.dialect, 503, "written"), {"stream": True}),
    (
        f"no answer within the time limit of {LATE_ANSWER_LIMIT} s",
        _late,
        {"timeouts": {"first_byte": LATE_ANSWER_LIMIT}},
    ),
    ("answered 429 within a time limit", refusing(429), {"timeouts": {"whole_call": OTHER_TIME_LIMITS}}),
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
