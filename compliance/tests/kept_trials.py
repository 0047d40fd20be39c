"""What each check asks of an adapter, what it answers, and what it says then.

As a script, this prints all of it, one trial a line: compare its output before and after a change of a check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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


def saying(*scripts: Script) -> Factory:
    """The factory of an adapter that translates rightly, but asks nobody: each call gives the next of the scripts."""
    waiting = cycle(scripts)

    def say(prompt: Any, options: Any) -> Iterable[Event]:
        script = next(waiting)
        if isinstance(script, Exception):
            raise script
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


ODD_SENDING: Final[tuple[Callable[[Any], Any], ...]] = (
    _with_messages(lambda messages: messages[::-1]),
    _with_messages(lambda messages: messages[1:]),
    _with_messages(lambda messages: [one for message in messages for one in (message, message)]),
    _refuse,
    _with_messages(lambda messages: [{**one, "content": None} for one in messages]),
    lambda payload: {**payload, "temperature": 2.5, "tools": [], "user": "someone"},
    _crash,
    _with_messages(lambda messages: [{**one, "role": "user"} for one in messages]),
    lambda payload: {name: value for name, value in payload.items() if name in {"model", "messages"}},
    lambda payload: [payload],
    _with_messages(lambda messages: [*messages, {"role": "user", "content": "Be brief."}]),
)
_CALLS: Final = [call_of("c1", "look", '{"at": 1}'), call_of("c1", "see", '{"at": '), call_of("", "look", "[]")]
ODD_SAYING: Final[tuple[Script, ...]] = (
    answer_events("said", thinking="thought", calls=[call_of()]),
    failure_events(),
    answer_events("said", tokens="sa", end_finish="length", metadata={"input_tokens": -1, "output_tokens": 1.5}),
    failure_events("said", tokens="sai", status=429, is_retryable=False, retry_after="soon", provider_code=7),
    answer_events(None, calls=_CALLS, call_events=_CALLS[1:], finish="tool_calls"),
    ValueError("this adapter is broken"),
    answer_events("said")[:-1],
    [*answer_events("said"), token_event("more")],
    answer_events("", metadata={"total_generation_time_ms": "7", "time_to_first_token_ms": -7}),
    PromptTranslationFailed("not this prompt"),
    [{"type": "END", "finish": "stop", "message": {"role": "user", "content": [{"type": "text", "text": "said"}]}}],
    [],
    failure_events(code="", message=None, status="500", is_retryable="yes", retry_after=-1, provider_code=None),
    answer_events("said", calls=[call_of("c2")], call_events=[call_of("c3")], finish="content_filter"),
    [{"type": "SURPRISE"}, {"type": "TOKEN", "token_type": "OTHER", "text": None}, *answer_events("said")],
    [{**event, "thread_id": "another", "trace_id": None} for event in answer_events("said")],
)

ADAPTERS: Final[dict[str, Callable[[], Factory]]] = {
    "right": lambda: OpenAIAdapter,
    "right-with-reasoning": lambda: AnthropicAdapter,
    "sends-shorter-texts": lambda: translating(lambda payload, *_: shorter(payload)),
    "sends-something-else-each-time": lambda: sending_in_turn(*ODD_SENDING),
    "reads-shorter-texts": lambda: spoiled(lambda adapter: change_events(adapter, misread)),
    "asks-nobody": lambda: saying(answer_events("said", thinking="thought", calls=[call_of()])),
    "says-something-else-each-time": lambda: saying(*ODD_SAYING),
    "always-says-too-much": lambda: saying(
        [*answer_events("said", thinking="thought", calls=_CALLS), token_event("more")]
    ),
    "always-fails": lambda: saying(failure_events(code="", status="500", is_retryable="yes")),
    "always-refuses": lambda: saying(PromptTranslationFailed("not this prompt")),
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
SENDING: Final = ("load.memory", "translation.demanding", "translation.options-survive-together")
AT_ONCE: Final = ("load", "faults.end", "translation.same-prompt")
LEFT_OUT: Final = {
    "right": LONG,
    "right-with-reasoning": WAITING,
    "sends-shorter-texts": WAITING,
    "reads-shorter-texts": WAITING,
    "sends-something-else-each-time": AT_ONCE,
    "says-something-else-each-time": (*SENDING, *AT_ONCE),
}
"""How the names of checks begin that take long with this adapter, or whose threads race for what comes next."""
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
    r"\b[0-9a-f]{32}\b|\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT|(?<=localhost:)\d+|(?<=127.0.0.1:)\d+"
    r"|\d+(\.\d+)?(?= (ms|s|seconds|milliseconds)\b)"
)
"""Trace ids, dates, ports and times of this run."""


def trials_of(name: str) -> Iterator[Kept]:
    """Every check on the greeting, or on each of the scenarios that it applies to."""
    scenarios = list(map(suite_scenario, SCENARIOS))
    left_out = LEFT_OUT.get(name, SENDING)
    with open_subject(ADAPTERS[name](), name="adapter") as subject:
        for check in CHECKS.values():
            if check.stage.name not in ELSEWHERE and not check.id.startswith(left_out):
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
