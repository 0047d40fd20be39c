"""What a bridge adds to a call: the same adapter in this process, and behind `examples/bridges/bridge.py`.

Both ask the same provider, in turns. On the clock, the fastest calls are compared: what else runs only adds. CPU time
is the mean of all, of both processes together.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest

from art_compliance.provider import LoopbackProvider
from art_compliance.subject.bridged import Bridge, BridgedAdapter
from art_sdk import OpenAIAdapter
from benchmarks.conftest import Note
from benchmarks.conversation import make_prompt

BRIDGE = Path(__file__).resolve().parents[1] / "examples" / "bridges" / "bridge.py"
BLOCKS = 15
CALLS = 20
"""Calls in a row by one of the two."""
AIM = 0.001
"""Seconds that a bridge may add to a call."""


@pytest.mark.parametrize("messages", [1, 100])
@pytest.mark.parametrize("stream", [False, True])
def test_what_a_bridge_adds_to_a_call(note: Note, messages: int, stream: bool):  # noqa: FBT001 - a parameter
    prompt: Any = [{"role": "user", "content": "hello"}] if messages == 1 else make_prompt(messages)
    options = {"thread_id": "t", "stream": stream}
    with LoopbackProvider() as server:
        near = OpenAIAdapter(api_key="key", base_url=server.url)
        far = Bridge([sys.executable, str(BRIDGE), "art_sdk:OpenAIAdapter"])(api_key="key", base_url=server.url)
        wall, cpu = asyncio.run(measure(near, far, prompt, options))
    how = f"{'a stream' if stream else 'a call'}, {messages} messages, behind a bridge"
    note(f"{how}: ms more", f"{wall * 1000:.2f}")
    note(f"{how}: CPU, ms more", f"{cpu * 1000:.2f}")
    assert wall < AIM


async def measure(near: OpenAIAdapter, far: BridgedAdapter, prompt: Any, options: Any) -> tuple[float, float]:
    """The seconds that a call takes more behind the bridge: on the clock, and of CPU."""
    fastest, spent = {"near": inf, "far": inf}, {"near": 0.0, "far": 0.0}
    for block in range(BLOCKS + 1):
        for name, call in (("near", near.call), ("far", far.call)):
            cpu = cpu_of_both(far.pid)
            for _ in range(CALLS):
                began = time.perf_counter()
                assert await count(call, prompt, options) > 2
                fastest[name] = min(fastest[name], time.perf_counter() - began)
            spent[name] += cpu_of_both(far.pid) - cpu if block else 0.0  # the first is for warming up
    await near.aclose()
    await far.aclose()
    return fastest["far"] - fastest["near"], (spent["far"] - spent["near"]) / (BLOCKS * CALLS)


async def count(call: Callable[..., Any] | None, prompt: Any, options: Any) -> int:
    assert call is not None
    return len([event async for event in call(prompt, options)])


def cpu_of_both(bridge: int) -> float:
    """The CPU seconds of this process and of the bridge's."""
    tasks = Path(f"/proc/{bridge}/task").glob("*/schedstat")
    return time.process_time() + sum(int(task.read_text().split()[0]) for task in tasks) / 1e9
