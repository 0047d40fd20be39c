"""Numbered calls, and the ways to make them: by each method of the adapter, whole and streamed."""

from __future__ import annotations

from typing import Any

from art_compliance.checks.streamed import whole_and_streamed
from art_compliance.checks.trial import Trial
from art_compliance.subject.facts import METHODS
from art_compliance.subject.subject import AskingBy


def methods_of(trial: Trial) -> list[str]:
    """The methods by which the adapter can be called, `call` first."""
    return [name for name in METHODS if name != "translate" and name in trial.subject.methods]


def in_every_way(trial: Trial, least: int) -> list[AskingBy]:
    """At least so many calls, numbered from 0: by each method one, and where it can stream, one that is streamed."""
    kinds = whole_and_streamed(can_stream="streaming" in trial.subject.capabilities)
    ways = [(method, streamed) for streamed in kinds for method in methods_of(trial)]
    numbers = range(max(least, len(ways)))
    return [(*ask_number(trial, at, streamed=ways[at % len(ways)][1]), ways[at % len(ways)][0]) for at in numbers]


def ask_number(
    trial: Trial, number: int, *, streamed: bool | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Prompt and options of a call with a number. Unless it is said, three out of four of them are streamed."""
    streams = "streaming" in trial.subject.capabilities and (number % 4 if streamed is None else streamed)
    ids = {"thread_id": f"thread-{number}", "trace_id": f"trace-{number}", "session_id": f"session-{number}"}
    prompt = [{"role": "user", "content": f"question number {number}."}]
    return prompt, {**trial.scenario.call_options(), **ids, **({"stream": True} if streams else {})}
