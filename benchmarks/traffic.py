"""Traffic for `art audit`, as if recorded, of any size: a line is a request of ten messages and its answer.

    python -m benchmarks.traffic build/traffic --lines 100000                  one file of 340 MB
    python -m benchmarks.traffic build/traffic --lines 100000 --repeat 100     the same file under a hundred names
    art audit build/traffic --out build/traffic-audit

Three wire formats take turns. No two lines of a file have the same text; one in twenty is rejected, and each hundredth
has a client of its own.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.conversation import make_prompt
from benchmarks.floors import CONTESTS

_FIRST: Final = 1_795_000_000
"""Seconds since 1970 of the first request."""

_NUMBERS: Final = ("S-000000", "S-000001")
"""The shipments of a conversation of ten messages: each line has two of its own."""


class _Format(NamedTuple):
    """Where requests of a wire format go, the models they name, and an answer."""

    url: str
    models: tuple[str, ...]
    answer: Mapping[str, Any]


_TEXT: Final = "Tomorrow two ships are due, the first at noon. Their papers are in order, so nothing is left to do."

_FORMATS: Final[Mapping[str, _Format]] = {
    "openai": _Format(
        "https://api.openai.com/v1/chat/completions",
        ("gpt-4.1", "gpt-4.1-mini"),
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": _TEXT}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 731, "completion_tokens": 24, "total_tokens": 755},
        },
    ),
    "anthropic": _Format(
        "https://api.anthropic.com/v1/messages",
        ("claude-opus-4-1", "claude-haiku-4-5"),
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": _TEXT}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 802, "output_tokens": 27},
        },
    ),
    "gemini": _Format(
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
        ("gemini-2.5-flash",),
        {
            "candidates": [{"content": {"role": "model", "parts": [{"text": _TEXT}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 690, "candidatesTokenCount": 22, "totalTokenCount": 712},
        },
    ),
}


def lines(count: int) -> Iterator[str]:
    """The lines, each with its end."""
    names = list(_FORMATS)
    bodies = {name: CONTESTS[name].payload(make_prompt(10)) for name in names}
    for number in range(count):
        name = names[number % len(names)]
        yield json.dumps(_record(_FORMATS[name], bodies[name], number)) + "\n"


def _record(form: _Format, body: Mapping[str, Any], number: int) -> dict[str, Any]:
    text = json.dumps(body)
    for place, shipment in enumerate(_NUMBERS):
        text = text.replace(shipment, f"S-{2 * number + place:06d}")
    request: dict[str, Any] = json.loads(text)
    if "model" in request:
        request["model"] = form.models[number // 3 % len(form.models)]
    is_wrong = number % 20 == 0
    if is_wrong:
        request["tool_choice"] = 7
    answer = (
        {"status": 400, "body": {"error": {"message": "wrong"}}} if is_wrong else {"status": 200, "body": form.answer}
    )
    client = f"guest-{number}" if number % 100 == 0 else f"service-{number % 7}"
    return {"url": form.url, "request": request, "response": answer, "time": _FIRST + number, "client": client}


def write(folder: Path, count: int, repeat: int) -> None:
    """Writes one file, and gives it as many names as it is to be read times: hard links, which take no room."""
    folder.mkdir(parents=True, exist_ok=True)
    first = folder / "traffic-0000.jsonl"
    with first.open("w") as file:
        file.writelines(lines(count))
    for number in range(1, repeat):
        other = folder / f"traffic-{number:04}.jsonl"
        other.unlink(missing_ok=True)
        os.link(first, other)


def main() -> None:
    """Writes the traffic."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lines", type=int, default=60_000, help="lines of the file (%(default)s)")
    parser.add_argument("--repeat", type=int, default=1, help="names of the file (%(default)s)")
    options = parser.parse_args()
    write(options.folder, options.lines, options.repeat)


if __name__ == "__main__":
    main()
