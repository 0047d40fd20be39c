"""The conversation that every benchmark translates: of any length, about 209 bytes per message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, Final

from art_sdk import CallOptions, parse_options

Message = dict[str, Any]

MODEL: Final = "some-model"
SIZES: Final = (10, 100, 1_000)
LONGEST: Final = 10_000
BYTES_PER_MESSAGE: Final = 209

TOOLS: Final[list[dict[str, Any]]] = [
    {
        "name": name,
        "description": f"{purpose} Ask for one shipment at a time.",
        "inputSchema": {
            "type": "object",
            "properties": {"shipment": {"type": "string"}, "at_most": {"type": "integer"}},
            "required": ["shipment"],
        },
    }
    for name, purpose in (
        ("find_shipment", "Says where a shipment is."),
        ("read_customs", "Reads the customs papers."),
        ("plan_route", "Plans the rest of the way."),
    )
]


def make_prompt(messages: int) -> list[Message]:
    """A system message, rounds of question, call, result and answer, and a last question: `messages` in all.

    `messages` is even. If a last round of four would be too many, it is a question and an answer without a call.
    """
    prompt = [_system()]
    numbers = count()
    while (missing := messages - 1 - len(prompt)) >= 4:
        prompt += _looked_up(next(numbers))
    if missing >= 2:
        prompt += _known(next(numbers))
    return [*prompt, {"role": "user", "content": "That was all I wanted to know. What shall we look at tomorrow?"}]


def last_turn(prompt: list[Message]) -> int:
    """Where the last turn begins: with the assistant's answer to the last question before the prompt's own."""
    questions = [at for at, message in enumerate(prompt) if message["role"] == "user"]
    return questions[-2] + 1


def make_options(*, stream: bool = False) -> CallOptions:
    """The options of every call: a model and three tools."""
    return parse_options({"thread_id": "benchmark", "model": MODEL, "tools": TOOLS, "stream": stream})


def _system() -> Message:
    text = "You keep the books of a small harbour. Say what you know, look up what you do not, and never guess a date. "
    return {"role": "system", "content": text * 2}


def _looked_up(number: int) -> Iterator[Message]:
    tool = TOOLS[number % len(TOOLS)]["name"]
    call_id = f"call_{number:08d}"
    arguments = {"shipment": f"S-{number:06d}", "at_most": 5 + number % 40, "ports": ["Ystad", "Gdynia"], "whole": True}
    result = {"shipment": f"S-{number:06d}", "state": "at sea", "due": "2031-05-17", "tons": 12.75, "legs": [3, 1, 4]}
    call = {"id": call_id, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    yield _question(number)
    yield {"role": "assistant", "content": None, "tool_calls": [call]}
    yield {"role": "tool_result", "tool_call_id": call_id, "name": tool, "content": json.dumps(result)}
    yield _answer(number)


def _known(number: int) -> Iterator[Message]:
    yield _question(number)
    yield _answer(number)


def _question(number: int) -> Message:
    text = f"Shipment S-{number:06d} was promised for May. Where is it now, who holds its papers, "
    return {
        "role": "user",
        "content": text + "and on which day can we expect it at the eastern quay, at the very latest?",
    }


def _answer(number: int) -> Message:
    text = f"Shipment S-{number:06d} is at sea between Ystad and Gdynia, its papers are in order, "
    return {"role": "assistant", "content": text + "and it is due at the eastern quay on the seventeenth of May."}
