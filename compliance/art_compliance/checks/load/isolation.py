"""Load: adapters, calls and events do not affect those that come before or after them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.checks.answerers import cutting, giving, refusing
from art_compliance.checks.base import check
from art_compliance.checks.load.numbered import ask_number, echo
from art_compliance.checks.replies import names_of
from art_compliance.checks.requirements import NotApplicable, require_read
from art_compliance.checks.streamed import whole_and_streamed
from art_compliance.checks.trial import Trial
from art_compliance.checks.ways import Way, ways_of
from art_compliance.dialects.base import Service
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Request, Response, answering_with
from art_compliance.quoting import show, show_both
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.access import ENVIRONMENT_LOGIN, ENVIRONMENT_PATH
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Watched
from art_sdk import FunctionCall, ToolCall
from art_sdk.json_data import is_object


@check(
    "load.adapters-are-isolated",
    clause="Two adapters with different keys and URLs each use their own, whichever is called first.",
    finding_class="contract",
    requires=("dialect", "call", "sent", "own_settings"),
    once=True,
)
def adapters_are_isolated(trial: Trial) -> Iterator[Problem]:
    """A service has one adapter per customer. The environment has a third key and URL meanwhile, for none of them.

    So has the user's netrc file, which some HTTP clients read by themselves.
    """
    service = trial.dialect.service
    path = _OTHER_PATH + (service.base_path if service.foreign_base_path is None else service.foreign_base_path)
    before = trial.subject.request_count
    methods = trial.subject.call_methods
    with trial.subject.opening_another(key=trial.subject.keys.other, path=path) as other:
        for method in methods:
            for number, call in enumerate((trial.subject.call_by, other, trial.subject.call_by)):
                call(method, *ask_number(trial, number), echo)
    requests = trial.subject.seen_since(before)
    posts = [one for one in requests if one.method == "POST"]
    is_in_order = len(posts) == len(_wanted(trial)) * len(methods)
    mixed = _mixed_up(trial, posts) if is_in_order else _with_another_key(trial, requests)
    mixed = mixed or _half_alike(trial, path)
    yield from map(Problem, mixed)
    if not (is_in_order or mixed):
        raise NotApplicable("a call sends no request, or several: see translation.one-call-one-request")
    if service.foreign_base_path is not None and is_in_order:
        yield from _misplaced(posts[0], posts[1], service)


def _mixed_up(trial: Trial, requests: Sequence[Request]) -> list[str]:
    """What is strange about the requests by the first method of which one is: by the next, it is the same again."""
    wanted = _wanted(trial)
    for at, method in enumerate(trial.subject.call_methods):
        by = "" if method == "call" else f"by {method}, "
        seen = zip(requests[at * len(wanted) :], wanted, strict=False)
        wrong = [f"{by}{which} {text}" for one, (which, key, path) in seen for text in strange(trial, one, key, path)]
        if wrong:
            return wrong
    return []


def _with_another_key(trial: Trial, requests: Sequence[Request]) -> list[str]:
    """What is strange about requests that are more or fewer than the calls: each URL has a key of its own."""
    for one in requests:
        is_other = one.target.startswith(_OTHER_PATH)
        which, key, path = _wanted(trial)[is_other]
        wrong = [f"{which}, in a {one.method}, {text}" for text in strange(trial, one, key, path)]
        if wrong:
            return wrong
    return []


def _half_alike(trial: Trial, other_path: str) -> list[str]:
    """What is strange about the first request of an adapter that shares its URL with the first one, or its key."""
    keys = trial.subject.keys
    others = (
        ("an adapter with another key, at the same base_url,", keys.other, trial.dialect.service.base_path, ""),
        ("an adapter with the same key, at another base_url,", keys.own, other_path, _OTHER_PATH),
    )
    for which, key, path, place in others:
        before = trial.subject.request_count
        with trial.subject.opening_another(key=key, path=path) as call:
            call("call", *ask_number(trial, 0), echo)
        wrong = [
            f"{which} {text}" for one in trial.subject.seen_since(before) for text in strange(trial, one, key, place)
        ]
        if wrong:
            return wrong
    return []


_OTHER_PATH: Final = "/another"


def _wanted(trial: Trial) -> tuple[tuple[str, str, str], ...]:
    """The adapters in the order of their calls, with the key and the first part of the path of each."""
    keys = trial.subject.keys
    return (
        ("the first adapter", keys.own, ""),
        ("a second one", keys.other, _OTHER_PATH),
        ("the first adapter, called again,", keys.own, ""),
    )


def _misplaced(own: Request, other: Request, service: Service) -> Iterator[Problem]:
    """That the second adapter's requests have another path after their base URL than the first one's."""
    wanted = f"{_OTHER_PATH}{service.foreign_base_path}{own.target.removeprefix(service.base_path)}"
    if other.target.startswith(_OTHER_PATH) and other.target != wanted:
        text = f"a second one calls {show(other.target)}; with its base_url, that must be {show(wanted)}"
        yield Problem(text)


def strange(trial: Trial, request: Request, key: str, path: str) -> Iterator[str]:
    """What is strange about a request: the key of another adapter, a URL that is not under the path of its own."""
    keys = trial.subject.keys
    login = b64encode(f"{ENVIRONMENT_LOGIN}:{keys.environment}".encode()).decode()  # as a header has it
    sent = f"{request.target} {request.headers}"
    if key not in sent:
        instead = ", but a login of the user's netrc file" if login in sent else ""
        yield f"does not send its own key{instead}"
    elif keys.environment in sent or login in sent:
        yield "sends a key of the environment besides its own"
    if (keys.other if key == keys.own else keys.own) in sent:
        yield "sends the key of the other adapter"
    is_from_environment = request.target.startswith(ENVIRONMENT_PATH)
    if is_from_environment or request.target.startswith(_OTHER_PATH) != bool(path):
        yield f"calls {show(request.target)}, which is not under its own base_url"


@check(
    "load.calls-are-isolated",
    clause="Nothing leaks from one call into the next: no model, id, tool or token count.",
    finding_class="contract",
    requires=("dialect", "call", "sent"),
    once=True,
)
def calls_are_isolated(trial: Trial) -> Iterator[Problem]:
    """What sticks to an adapter reaches another user."""
    kinds = whole_and_streamed(can_stream="streaming" in trial.subject.capabilities)
    plain = [_watch(trial, number, streamed=streamed) for number, streamed in enumerate(kinds)]
    before = trial.subject.request_count
    trial.subject.call(_plain(trial)[0], _full_options(trial), answering_with(_COUNTED))
    between = trial.subject.seen_since(before)
    again = [_watch(trial, number + len(kinds), streamed=streamed) for number, streamed in enumerate(kinds)]
    for first, second in zip(plain, again, strict=True):
        yield from _different_requests(first.requests, second.requests)
    for one, other in zip(plain[0].requests, between, strict=False):
        yield from _same_headers(one, other)
    yield from _shared_facts(trial.ids("one"), require_read(plain[0].reply), require_read(again[0].reply))
    if "renames_tools" in trial.subject.repairs:
        yield from _names_of_before(trial)
    if trial.subject.speaks is None:  # a gateway cannot be made once more
        yield from _sticking(trial)
    if trial.subject.bridged is None and trial.subject.speaks is None:  # where lists are lists
        yield from _sent_before(trial)


def _names_of_before(trial: Trial) -> Iterator[Problem]:
    """That a tool which a later call of the same thread adds comes back under the name that was sent for it."""
    named = [{"name": name, "description": "Senses.", "inputSchema": {"type": "object"}} for name in _ODD]
    earlier, later = ({**_plain(trial)[1], "thread_id": trial.id_of("tools"), "tools": named[:many]} for many in (1, 2))
    trial.subject.call(_plain(trial)[0], earlier, answering_with(_SHORT))
    call = ToolCall("call_added", FunctionCall(_ODD[-1], "{}"))
    answer = answering_with(WrittenAnswer(tool_calls=(call,), finish="tool_calls"))
    reply = trial.subject.call(_plain(trial)[0], later, trial.subject.with_sent_names(answer, later))
    if not isinstance(reply, Answered) or reply.error is not None:
        return  # names that it refuses
    found = names_of(reply.calls)
    if found != [_ODD[-1]]:
        text = f"a tool that a thread's second call adds comes back as {show(found)}, not as {show([_ODD[-1]])}"
        yield Problem(text, finding_class="loss")


_ODD: Final = ("look.at", "listen/to")
"""Names of tools that most providers do not take as they are."""


def _sticking(trial: Trial) -> Iterator[Problem]:
    """That fields of the provider's own, given to one call of a new adapter, are sent by its next call, too."""
    fields = trial.dialect.requests.own_fields
    if not fields or "provider_fields" not in trial.subject.capabilities:
        return
    prompt, options = _plain(trial)
    before = trial.subject.request_count
    with trial.subject.opening_another(key=trial.subject.keys.other, path=trial.dialect.service.base_path) as call:
        for has_fields in _FIELDS_IN:
            own = {"provider": {trial.dialect.name: fields}} if has_fields else {}
            call("call", prompt, {**options, **own}, answering_with(_SHORT))
    bodies = [request.body for request in trial.subject.seen_since(before)]
    if len(bodies) == len(_FIELDS_IN) and bodies[0] != bodies[-1]:
        yield Problem("a call without fields of the provider's own sends another request after a call that had some")


_FIELDS_IN: Final = (False, True, False)
"""Which of some calls have such fields."""


def _sent_before(trial: Trial) -> Iterator[Problem]:
    """What a call sends of a list of messages that changed after the call before it."""
    prompt, changed = [*_LONG_TALK, {"role": "user", "content": "Is it 41?"}], {"role": "user", "content": "Is it 42?"}
    before = trial.subject.request_count
    with trial.subject.answering(answering_with(_SHORT)):
        trial.subject.attempt(
            "call_again", prompt=prompt, options=_plain(trial)[1], index=len(_LONG_TALK), message=changed
        )
    requests = trial.subject.seen_since(before)
    if len(requests) > 1 and changed["content"].encode() not in requests[-1].body:
        yield Problem("after the caller changed a message of its list, the call sends the message of the call before")


def _different_requests(some: Iterable[Request], others: Iterable[Request]) -> Iterator[Problem]:
    if any((one.target, one.body) != (other.target, other.body) for one, other in zip(some, others, strict=False)):
        yield Problem("after a call with a model, ids, tools and options, the same call sends a different request")


def _same_headers(one: Request, other: Request) -> Iterator[Problem]:
    for name in _ONCE_ONLY:
        if name in one.headers and one.headers[name] == other.headers.get(name):
            yield Problem(f"two calls send the same {name}: the provider mistakes the second for the first")


def _shared_facts(ids: Mapping[str, str], first: Answered, reply: Answered) -> Iterator[Problem]:
    """What the later reply has of calls before it, one of which had these ids.

    Raises NotApplicable where there are no events.
    """
    if not (first.events and reply.events):
        raise NotApplicable("there are no events: see the checks named events-keep-their-order")
    request_id = reply.metadata.get("request_id")
    if request_id is not None and request_id == first.metadata.get("request_id"):
        yield Problem(f"two answers with different ids have the same request_id: {show(request_id)}")
    if (trace := reply.events[0].get("trace_id")) == first.events[0].get("trace_id"):
        yield Problem(f"two calls without a trace_id have the same one in their events: {show(trace)}")
    for name, value in ids.items():
        if any(event.get(name) == value for event in reply.events):
            yield Problem(f"after a call with the {name} {show(value)}, the events of another call have it, too")
    for name in ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens"):
        wanted, found = first.metadata.get(name), reply.metadata.get(name)
        if (wanted or None) != (found or None):
            now, before = show_both(found, wanted)
            yield Problem(f"after another call, {name} is {now}; it was {before} before")


def _watch(trial: Trial, number: int, *, streamed: bool) -> Watched:
    """A call whose answer has ids of this number, in its head and in its body."""
    own = f"of-answer-{number}"

    def answer(asked: Asked) -> Response:
        response = asked.answer(_SHORT, lambda body: _with_ids(body, own))
        return replace(response, headers=tuple((name, own) for name in _ID_HEADERS))

    prompt, options = _plain(trial)
    with trial.subject.answering(answer):
        return trial.subject.watch(prompt, {**options, **({"stream": True} if streamed else {})})


def _with_ids(body: Any, own: str) -> Any:
    """The body, or an event of a stream, with this id; Anthropic's streams have it in a message."""
    changed = {name: own for name in ("id", "responseId") if name in body}
    return {**body, **changed, **({"message": {**body["message"], "id": own}} if "message" in body else {})}


def _full_options(trial: Trial) -> dict[str, Any]:
    """Options that another call does not have."""
    full: dict[str, Any] = {
        **trial.ids("one"),
        "model": "a-model-of-one-call",
        "temperature": 0.9,
        "max_tokens": 77,
    }
    if "stop" in trial.subject.capabilities:
        full["stop"] = ["HALT"]
    if "tools" in trial.subject.capabilities:
        full |= {"tools": [{"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}]}
    return full


_ID_HEADERS: Final = ("x-request-id", "request-id")
_ONCE_ONLY: Final = ("idempotency-key", "x-idempotency-key")
_SHORT: Final = WrittenAnswer(content="It is noon.")
_COUNTED: Final = WrittenAnswer(
    content="counted", input_tokens=901, output_tokens=902, thinking_tokens=93, cached_tokens=94
)
_LONG_TALK: Final[tuple[dict[str, Any], ...]] = (
    {"role": "user", "content": "What is it?"},
    {"role": "assistant", "content": "A number."},
) * 70
"""Long enough for adapters that remember how they translated a conversation."""


def _plain(trial: Trial) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A question with few options."""
    return [{"role": "user", "content": "What is the time?"}], {"thread_id": trial.id_of("apart"), "top_p": 0.5}


@check(
    "response.events-do-not-change",
    clause="Events do not change once they are yielded, and no method changes the caller's prompt or options.",
    finding_class="contract",
    requires=("dialect", "call", "sent", "python"),
    once=True,
    on_every_prompt=True,
)
def events_do_not_change(trial: Trial) -> Iterator[Problem]:
    """Applications keep events, hand them to other tasks, and use a list of messages again."""
    usual = Way("call", "streaming" in trial.subject.capabilities)
    for way, answerer in _answered_in_each_way(trial, usual):
        prompt, options = ask_number(trial, 3, streamed=way.streamed)
        with trial.subject.answering(answerer):
            kept = trial.subject.attempt("keep", prompt=prompt, options=options, method=way.method)
        if is_object(kept):
            found = [*_changed(kept)]
            yield from (Problem(text if way == usual else f"by {way}, {text}") for text in found)
            if found:
                return
        elif way == usual:
            raise NotApplicable("the answer is not read: see the checks named answer-is-read")


def _changed(kept: dict[str, Any]) -> Iterator[str]:
    """What a call changed of what is not its own any more."""
    if kept["arguments"]:
        yield "reading the answer changed the prompt or the options; work on a copy"
    if changed := kept["events"]:
        yield f"the events {show(changed[:9])} changed after they were yielded; create a new object for each"
    elif kept["earlier"]:
        yield "the events of a call changed when the next call was made; create new objects in each"


def _answered_in_each_way(trial: Trial, usual: Way) -> Iterator[tuple[Way, Answerer]]:
    """In the usual way every answer; in each other way a good one, and one of those that fail."""
    failing = (refusing(400), refusing(403), refusing(503), giving(Response(200, b"<html>")), cutting(_TEXT))
    for answerer in (answering_with(_TEXT), answering_with(_CALLS), *failing):
        yield usual, answerer
    others = [way for way in ways_of(trial) if way != usual]
    for way, answerer in zip(others, cycle(failing), strict=False):
        yield way, answering_with(_TEXT)
        yield way, answerer


_TEXT: Final = WrittenAnswer(content="One answer, of several words, in several pieces.")
_CALLS: Final = WrittenAnswer(
    tool_calls=(
        ToolCall("call_k1", FunctionCall("look", '{"at": "one"}')),
        ToolCall("call_k2", FunctionCall("look", '{"at": "two"}')),
    ),
    finish="tool_calls",
)
