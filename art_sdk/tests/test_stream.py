from __future__ import annotations

import itertools
from typing import Any, get_args

import pytest

from art_sdk import AssistantMessage, FunctionCall, LLMProviderError, ToolCall
from art_sdk.stream import (
    AFTER,
    EndEvent,
    ErrorEvent,
    LLMMetadata,
    MetadataEvent,
    OutOfOrder,
    State,
    StreamEvent,
    TokenEvent,
    ToolCallEvent,
    fold,
    follow,
)

ERROR = LLMProviderError("no", provider="acme")
METADATA = LLMMetadata(stop_reason="stop", raw_stop_reason="STOP", total_generation_time_ms=1.0)
MESSAGE = AssistantMessage("hi", (ToolCall("c", FunctionCall("f", "{}")),))
T = TokenEvent(thread_id="t", text="hi", token_type="LLM_RESPONSE")
C = ToolCallEvent(thread_id="t", call=MESSAGE.tool_calls[0])
M = MetadataEvent(thread_id="t", metadata=METADATA)
X = ErrorEvent(thread_id="t", error=ERROR)
E = EndEvent(thread_id="t", message=MESSAGE, finish="stop")
KINDS: dict[str, StreamEvent] = {"T": T, "C": C, "M": M, "X": X, "E": E}
GOOD = {"ME", "TME", "CME", "TTCTCME"}
FAILED = {"XE", "TXE", "TCXE"}


def _events(letters: str) -> list[StreamEvent]:
    return [KINDS[letter] for letter in letters]


@pytest.mark.parametrize("letters", sorted(GOOD))
def test_a_good_answer_folds_to_its_message(letters: str) -> None:
    answer = fold(iter(_events(letters)))
    assert (answer.message, answer.finish, answer.metadata, answer.thinking) == (MESSAGE, "stop", METADATA, "")


@pytest.mark.parametrize("letters", sorted(FAILED))
def test_the_error_of_a_failed_answer_is_raised(letters: str) -> None:
    with pytest.raises(LLMProviderError) as caught:
        fold(_events(letters))
    assert caught.value is ERROR


def test_every_other_order_is_out_of_order() -> None:
    for length in range(5):
        for letters in map("".join, itertools.product("TCMXE", repeat=length)):
            head = letters.rstrip("E").rstrip("MX").strip("TC")
            is_good = head == "" and letters[-2:] in ("ME", "XE") and letters[:-2].strip("TC") == ""
            if is_good or letters == "".join(c for c in letters if c in "TC") + "X":
                continue
            with pytest.raises(OutOfOrder):
                fold(_events(letters))


def test_an_error_without_an_end_is_raised() -> None:
    with pytest.raises(LLMProviderError):
        fold([T, X])


@pytest.mark.parametrize("letters", ["", "T", "M", "TM"])
def test_events_without_an_end_are_out_of_order(letters: str) -> None:
    with pytest.raises(OutOfOrder, match="the events end in the state"):
        fold(_events(letters))


def test_an_end_without_a_message_is_out_of_order() -> None:
    with pytest.raises(OutOfOrder, match="an END with a message"):
        fold([M, EndEvent(thread_id="t", message=None, finish="stop")])


def test_only_reasoning_is_thinking() -> None:
    kinds = ["LLM_THINKING", "LLM_RESPONSE", "AGENT_THOUGHT_LLM_THINKING", "FINAL_SYNTHESIS_LLM_THINKING"]
    tokens = [TokenEvent(thread_id="t", text=kind[0], token_type=kind) for kind in kinds]  # type: ignore[arg-type]
    assert fold([*tokens, M, E]).thinking == "LAF"


@pytest.mark.parametrize(
    ("state", "event", "may"),
    [
        ("answering", E, "expected TokenEvent or ToolCallEvent or MetadataEvent or ErrorEvent"),
        ("answered", T, "expected EndEvent"),
        ("failed", M, "expected EndEvent"),
        ("ended", E, "expected no more events"),
    ],
)
def test_an_event_out_of_order_names_the_expected_ones(state: State, event: StreamEvent, may: str) -> None:
    with pytest.raises(OutOfOrder, match=f"^{type(event).__name__} in the state '{state}'; {may}$"):
        follow(state, event)


def test_a_value_that_is_not_an_event_is_out_of_order() -> None:
    nothing: Any = "TOKEN"
    with pytest.raises(OutOfOrder, match="str in the state"):
        fold([nothing])


def test_the_table_knows_every_event_and_ends_in_every_state() -> None:
    states = set(get_args(State))
    assert {kind for _, kind in AFTER} == set(get_args(StreamEvent))
    assert {state for state, _ in AFTER} == states - {"ended"}
    assert set(AFTER.values()) == states


def test_metadata_is_dumped_in_camel_case() -> None:
    import msgspec  # noqa: PLC0415

    assert msgspec.to_builtins(METADATA) == {
        "stopReason": "stop",
        "rawStopReason": "STOP",
        "totalGenerationTimeMs": 1.0,
    }
