"""A floor counts only if its request means the same: both bodies decode to the same prompt, tools and options."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_compliance import decode
from art_compliance.comparison import Expected, compare
from art_compliance.dialects import Decoded
from art_sdk import parse_prompt
from benchmarks.conversation import BYTES_PER_MESSAGE, MODEL, make_options, make_prompt
from benchmarks.floors import CONTESTS, FAMILY, Contest

ALL = {**CONTESTS, **FAMILY}


@pytest.mark.parametrize("messages", [10, 100])
@pytest.mark.parametrize("provider", ALL)
def test_floor_and_adapter_send_the_same(provider: str, messages: int):
    prompt, contest = make_prompt(messages), ALL[provider]
    ours = contest.adapter.prepare(prompt, make_options()).request.body
    bare, full = (_decode(contest, body) for body in (contest.floor(prompt), ours))
    assert _meaning(bare) == _meaning(full)
    dialect = contest.adapter.dialect
    expected = Expected(
        dialect=dialect, prompt=parse_prompt(prompt), tools=make_options().tools, options=_sent_options(full)
    )
    found, losses = compare(expected, full).differences, contest.adapter.losses
    assert compare(expected, bare).differences == found
    assert [one for one in found if one.loss not in losses] == []


@pytest.mark.parametrize("messages", [10, 100, 1_000])
def test_the_conversation_has_the_requested_length(messages: int):
    prompt = make_prompt(messages)
    assert len(prompt) == messages
    assert abs(len(json.dumps(prompt)) / messages - BYTES_PER_MESSAGE) < 10


def _decode(contest: Contest, body: bytes) -> Decoded:
    return decode(contest.adapter.dialect, json.loads(body))


def _meaning(decoded: Decoded) -> tuple[Any, ...]:
    return decoded.prompt, decoded.tools, decoded.options, decoded.opaque


def _sent_options(decoded: Decoded) -> dict[str, Any]:
    """The model, if the dialect has it in the body instead of the URL."""
    return {"model": MODEL} if "model" in decoded.options else {}
