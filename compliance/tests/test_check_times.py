"""Which times in METADATA are possible for an answer that begins with a pause."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.checks.limits import SHARE_OF_PAUSE, SILENCE, TIMES_LENIENCE
from art_compliance.miniatures.base import change_events
from trials import messages_of, spoiled

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

LEAST = SILENCE * 1000 * SHARE_OF_PAUSE
WHOLE, STREAMED = "response.times-are-plausible", "stream.times-are-plausible"
TOTAL, FIRST = "total_generation_time_ms", "time_to_first_token_ms"


@pytest.mark.parametrize(
    ("check", "times", "wrong"),
    [
        (WHOLE, {TOTAL: LEAST}, []),
        (WHOLE, {TOTAL: LEAST - 1}, [TOTAL]),
        (WHOLE, {TOTAL: str(LEAST)}, [TOTAL]),
        (WHOLE, {FIRST: 0}, []),
        (WHOLE, {FIRST: -1}, [FIRST]),
        (STREAMED, {TOTAL: LEAST, FIRST: LEAST}, []),
        (STREAMED, {TOTAL: LEAST - 1, FIRST: LEAST}, [TOTAL]),
        (STREAMED, {FIRST: LEAST - 1}, [FIRST]),
        (STREAMED, {FIRST: True}, [FIRST]),
        (STREAMED, {TOTAL: 60_000 * TIMES_LENIENCE}, [TOTAL]),
    ],
)
def test_a_time_is_no_less_than_the_pause_and_no_more_than_the_call(
    check: str, times: dict[str, Any], wrong: list[str]
):
    def retimed(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {**event, "metadata": {**event["metadata"], **times}} if event["type"] == "METADATA" else event
            for event in events
        ]

    messages = messages_of(check, spoiled(lambda adapter: change_events(adapter, retimed)))
    assert [message.partition(" is ")[0] for message in messages] == wrong
