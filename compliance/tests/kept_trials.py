"""What each check asks of an adapter, what it answers, and what it says then.

As a script, this prints all of it, one trial a line: compare its output before and after a change of a check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from msgspec import structs

from art_compliance.checks import CHECKS, Check
from art_compliance.miniatures.base import Events, change_events
from art_compliance.provider.script import Response
from art_compliance.provider.server import Served
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.run.session import Session
from art_compliance.scenarios import Scenario
from art_compliance.subject.factories import Factory
from art_compliance.subject.opening import open_subject
from art_compliance.subject.reaching import Near
from art_compliance.subject.subject import Subject
from art_sdk import AnthropicAdapter, OpenAIAdapter, PromptTranslationFailed, parse_options, parse_prompt
from trials import (
    Event,
    Script,
    answer_events,
    call_of,
    failure_events,
    scripted,
    spoiled,
    suite_scenario,
    token_event,
    translating,
    translator,
)


class Kept(NamedTuple):
    """A trial: what was said of it, and all that went to the adapter, in its order where only one call ran."""

    check: str
    scenario: str
    said: list[str]
    given: list[str]


def shorter(value: Any) -> Any:
    """JSON whose longer texts have lost their last character."""
    match value:
        case str():
            return value[:-1] if len(value) > 9 else value
        case dict():
            return {name: shorter(item) for name, item in value.items()}
        case list():
            return [shorter(item) for item in value]
    return value


def misread(events: Events) -> Events:
    """Events whose texts are cut and whose counts are off by one."""
    found = [shorter(event) for event in events if event["type"] != "TOOL_CALL"]
    for event in found:
        for name, value in (event.get("metadata") or {}).items():
            event["metadata"][name] = value + 1 if isinstance(value, int | float) else value
    return found


class Modest(OpenAIAdapter):
    """It is right, and can do little."""

    capabilities = frozenset({"system", "tools"})


def saying(*scripts: Script) -> Factory:
    """The factory of an adapter that translates rightly, but asks nobody: each call gives the next of the scripts."""
    waiting = cycle(scripts)

    def say(prompt: Any, options: Any) -> Iterable[Event]:
        script = next(waiting)
        if isinstance(script, Exception):
            raise type(script)(*script.args)  # a new one, as the traceback of one that is raised again grows
        return script(prompt, options) if callable(script) else script

    return scripted(say, dialect="openai-chat", translate=staticmethod(_translate))


def sending_in_turn(*changes: Callable[[Any], Any]) -> Factory:
    """The factory of an adapter without calls, which makes something else of each prompt: one change after another."""
    waiting = cycle(changes)
    return translator(lambda prompt, options: next(waiting)(_translate(prompt, options)))


def _translate(prompt: Any, options: Any) -> Any:
    return OpenAIAdapter(api_key="k").translate(parse_prompt(prompt), parse_options(options))


def _with_messages(change: Callable[[list[Any]], list[Any]]) -> Callable[[Any], Any]:
    return lambda payload: {**payload, "messages": change(payload["messages"])}


def _refuse(_: Any) -> Any:
    raise PromptTranslationFailed("not this prompt")


def _crash(_: Any) -> Any:
    raise KeyError("messages")


ODD_SENDING: Final[Mapping[str, Callable[[Any], Any]]] = {
    "turns-in-reverse": _with_messages(lambda messages: messages[::-1]),
    "no-first-turn": _with_messages(lambda messages: messages[1:]),
    "no-last-turn": _with_messages(lambda messages: messages[:-1]),
    "each-turn-twice": _with_messages(lambda messages: [one for message in messages for one in (message, message)]),
    "a-refusal": _refuse,
    "no-contents": _with_messages(lambda messages: [{**one, "content": None} for one in messages]),
    "other-options": lambda payload: {**payload, "temperature": 2.5, "tools": [], "user": "someone", "n": 2},
    "a-crash": _crash,
    "users-alone": _with_messages(lambda messages: [{**one, "role": "user"} for one in messages]),
    "no-options": lambda payload: {name: payload[name] for name in payload if name in {"model", "messages"}},
    "a-list": lambda payload: [payload],
    "one-turn-more": _with_messages(lambda messages: [*messages, {"role": "user", "content": "Be brief."}]),
    "one-turn-before": _with_messages(lambda messages: [{"role": "system", "content": "Be brief."}, *messages]),
    "no-calls": _with_messages(lambda messages: [{**one, "tool_calls": None} for one in messages]),
    "other-ids": lambda payload: _renamed(payload, "id", "tool_call_id"),
    "other-names": lambda payload: _renamed(payload, "name", "model"),
    "longer-texts": lambda payload: _renamed(payload, "content", "text", "arguments", "description"),
    "null-for-texts": lambda payload: _renamed(payload, "url", "type", "role"),
}
"""What an adapter without calls makes of the right payload."""


def _renamed(value: Any, *names: str) -> Any:
    """JSON whose texts in these fields have one more character."""
    match value:
        case dict():
            return {
                name: f"{item}x" if name in names and isinstance(item, str) else _renamed(item, *names)
                for name, item in value.items()
            }
        case list():
            return [_renamed(item, *names) for item in value]
    return value


_CALLS: Final = [call_of("c1", "look", '{"at": 1}'), call_of("c1", "see", '{"at": '), call_of("", "look", "[]")]
_COUNTS: Final = {"input_tokens": 901, "output_tokens": 902, "thinking_tokens": 93, "cached_tokens": 94}
ODD_SAYING: Final[Mapping[str, Script]] = {
    "an-answer": answer_events("said", thinking="thought", calls=[call_of()]),
    "a-failure": failure_events(),
    "wrong-tokens": answer_events(
        "said", tokens="sa", end_finish="length", metadata={"input_tokens": -1, "output_tokens": 1.5}
    ),
    "a-failure-with-tokens": failure_events(
        "said", tokens="sai", status=429, is_retryable=False, retry_after="soon", provider_code=7
    ),
    "wrong-calls": answer_events(None, calls=_CALLS, call_events=_CALLS[1:], finish="tool_calls"),
    "an-exception": ValueError("this adapter is broken"),
    "no-end": answer_events("said")[:-1],
    "more-after-the-end": [*answer_events("said"), token_event("more")],
    "wrong-times": answer_events("", metadata={"total_generation_time_ms": "7", "time_to_first_token_ms": -7}),
    "a-refusal": PromptTranslationFailed("not this prompt"),
    "a-user's-message": [
        {"type": "END", "finish": "stop", "message": {"role": "user", "content": [{"type": "text", "text": "said"}]}}
    ],
    "nothing": [],
    "an-error-of-other-types": failure_events(
        code="", message=None, status="500", is_retryable="yes", retry_after=-1, provider_code=None
    ),
    "another-call": answer_events(
        "said", calls=[call_of("c2")], call_events=[call_of("c3")], finish="content_filter", metadata=_COUNTS
    ),
    "other-events": [
        {"type": "SURPRISE"},
        {"type": "TOKEN", "token_type": "OTHER", "text": None},
        *answer_events("said"),
    ],
    "other-ids": [{**event, "thread_id": "another", "trace_id": None} for event in answer_events("said")],
    "text-before-thoughts": [token_event("sa"), token_event("th", "LLM_THINKING"), *answer_events("id")],
    "the-written-answer": answer_events(
        "This answer was written, not generated. \u2713", metadata=_COUNTS, message={"reasoning": "thought"}
    ),
    "a-failure-with-calls": [
        {"type": "TOOL_CALL", "call": _CALLS[0]},
        *failure_events("said", status=503, provider_message="written error 503", is_retryable=True),
    ],
    "an-end-without-a-message": [*answer_events("said")[:-1], {"type": "END", "finish": "other"}],
    "an-end-before-the-error": failure_events("said")[::-1],
}
"""What an adapter that asks nobody says."""

ADAPTERS: Final[dict[str, Callable[[], Factory]]] = {
    "right": lambda: OpenAIAdapter,
    "right-with-reasoning": lambda: AnthropicAdapter,
    "right-with-few-capabilities": lambda: Modest,
    "sends-shorter-texts": lambda: translating(lambda payload, *_: shorter(payload)),
    "sends-something-else-each-time": lambda: sending_in_turn(*ODD_SENDING.values()),
    "reads-shorter-texts": lambda: spoiled(lambda adapter: change_events(adapter, misread)),
    "says-something-else-each-time": lambda: saying(*ODD_SAYING.values()),
    "always-says-too-much": lambda: saying(
        [*answer_events("said", thinking="thought", calls=_CALLS), token_event("more")]
    ),
    **{f"sends-{name}": partial(sending_in_turn, change) for name, change in ODD_SENDING.items()},
    **{f"says-{name}": partial(saying, script) for name, script in ODD_SAYING.items()},
}
"""Makes each anew: some give one thing after another."""

ELSEWHERE: Final = ("live", "properties", "replay")
"""Stages whose trials are kept by their own tests, or need more than an adapter."""
LONG: Final = (
    "load.memory",
    "faults.become",
    "faults.benign",
    "faults.print",
    "faults.leave",
    "faults.show",
    "faults.end",
)
WAITING: Final = (*LONG, "load.calls-at", "load.closed", "load.nothing", "response.call-methods-fail")
SENDING: Final = ("load.memory", "load.nothing", "faults.leave", "translation", "wire", "payload")
AT_ONCE: Final = ("load", "faults.end", "translation.same-prompt", "translation.demanding")
LEFT_OUT: Final = {
    "right": (*LONG, "load.closed"),
    "right-with-reasoning": WAITING,
    "right-with-few-capabilities": (*LONG, "load"),
    "sends-shorter-texts": WAITING,
    "reads-shorter-texts": WAITING,
    "sends-something-else-each-time": AT_ONCE,
    **{f"sends-{name}": ("translation.demanding",) for name in ODD_SENDING},
    **{f"says-{name}": SENDING for name in ODD_SAYING},
    "says-something-else-each-time": (*SENDING, *AT_ONCE),
}
"""How the names of checks begin that take long with this adapter, or whose threads race for what comes next.

Besides, `load.late-chunks` makes more calls on a busy machine, and of the calls of `complete` that `load.closed`
cancels, fewer have sent their requests there.
"""
SCENARIOS: Final = (
    "everything-at-once",
    "streamed-second-round",
    "answer-reasoning-and-call",
    "answer-parallel-calls",
    "answer-text",
    "images-among-texts",
    "late-system-hoisted",
    "after-history",
    "extensions-go-back",
    "odd-names",
)
MADE_UP: Final = re.compile(
    r"\b[0-9a-f]{32}\b|\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT|(?<=localhost:)\d+|(?<=127.0.0.1:)\d+|(?<=\.py:)\d+"
    r"|\d+(\.\d+)?(?= (ms|s|seconds|milliseconds)\b)"
)
"""Trace ids, dates, ports and times of this run, and the lines of code that raise something."""


def trials_of(name: str, wanted: Container[str] = CHECKS) -> Iterator[Kept]:
    """Every check that is wanted, on the greeting or on each of the scenarios that it applies to."""
    scenarios = list(map(suite_scenario, SCENARIOS[::3] if name.startswith("sends-") else SCENARIOS))
    left_out = (*LEFT_OUT.get(name, ("load.memory",)), "load.late-chunks")
    with open_subject(ADAPTERS[name](), name="adapter") as subject:
        _ = subject.constants  # learned once, by whichever check asks first
        for check in CHECKS.values():
            if check.id in wanted and check.stage.name not in ELSEWHERE and not check.id.startswith(left_out):
                for scenario in [GREETING_SCENARIO] if check.once else scenarios:
                    if check.applies_to(scenario):
                        yield keep(check, subject, scenario)


def keep(check: Check, subject: Subject, scenario: Scenario) -> Kept:
    """The check alone on the scenario, without what each run makes up."""
    with recorded() as given:
        result = Session(subject, seed=1).run(structs.replace(check, leaves_to=()), scenario)
    found = [f"{one.finding_class} {one.path} {one.pointer} {one.message}" for one in result.findings]
    if check.stage.name in {"load", "faults"}:
        given.sort()
    said = [result.verdict, result.reason or "", *found]
    return Kept(check.id, scenario.id, *([MADE_UP.sub("...", one) for one in texts] for texts in (said, given)))


@contextmanager
def recorded() -> Iterator[list[str]]:
    """What the adapter is used for, and what it is answered, in the block."""
    found: list[str] = []
    own_use, own_answer = Near.use, Served.answer

    def use(near: Near, verb: str, /, **arguments: Any) -> Any:
        found.append(f"{verb} {json.dumps(arguments, sort_keys=True)}")
        return own_use(near, verb, **arguments)

    def answer(served: Served, response: Response) -> None:
        found.append(f"{served.request.method} {served.request.target} {response}")
        own_answer(served, response)

    with patch.object(Near, "use", use), patch.object(Served, "answer", answer):
        yield found


def main() -> None:
    """Prints the trials with each adapter."""
    for name in ADAPTERS:
        for one in trials_of(name):
            print(json.dumps([name, *one]))  # noqa: T201 - what the script is for


if __name__ == "__main__":
    main()
