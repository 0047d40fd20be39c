"""What each check asks of an adapter, what it answers, and what it says then.

As a script, this prints all of it, one trial a line: compare its output before and after a change of a check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
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
from art_sdk import AnthropicAdapter, OpenAIAdapter
from trials import answer_events, call_of, scripted, spoiled, suite_scenario, translating


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


ADAPTERS: Final[dict[str, Factory]] = {
    "right": OpenAIAdapter,
    "right-with-reasoning": AnthropicAdapter,
    "sends-shorter-texts": translating(lambda payload, *_: shorter(payload)),
    "reads-shorter-texts": spoiled(lambda adapter: change_events(adapter, misread)),
    "asks-nobody": scripted(answer_events("said", thinking="thought", calls=[call_of()]), dialect="openai-chat"),
}
ELSEWHERE: Final = ("live", "properties", "replay")
"""Stages whose trials are kept by their own tests, or need more than an adapter."""
LONG: Final = re.compile(
    r"^(faults\.(?!errors|key|retries)|load\.(calls-at|memory|closed|nothing)|response\.call-methods-fail)"
)
"""Checks that make hundreds of calls, or wait: of what they give, other trials have the most."""
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


def trials_of(make: Factory) -> Iterator[Kept]:
    """Every check on the greeting, or on each of the scenarios that it applies to."""
    scenarios = list(map(suite_scenario, SCENARIOS))
    with open_subject(make, name="adapter") as subject:
        for check in CHECKS.values():
            if check.stage.name not in ELSEWHERE and not LONG.match(check.id):
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
    for name, make in ADAPTERS.items():
        for one in trials_of(make):
            print(json.dumps([name, *one]))  # noqa: T201 - what the script is for


if __name__ == "__main__":
    main()
