"""However an adapter is called, it gives the same answer; and an end that nobody knows is not a good end."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_sdk import OpenAIAdapter
from trials import answer_events, assert_each_has, messages_of, reason_of, scenario, scripted

WRITTEN = "This answer was written."
SAID = scenario(WrittenAnswer(content="said"))


@pytest.mark.parametrize(
    ("finish", "text", "is_right"),
    [
        ("other", WRITTEN, True),
        ("stop", WRITTEN, False),
        ("other", "", False),
        ("other", f"{WRITTEN} And more.", False),
        ("unknown", WRITTEN, False),
    ],
)
@pytest.mark.parametrize("stage", ["response", "stream"])
def test_an_unknown_end_is_other_with_the_text_whole(stage: str, finish: str, text: str, is_right: bool):  # noqa: FBT001
    adapter = scripted(answer_events(text, finish=finish), dialect="openai-chat")
    found = messages_of(f"{stage}.unknown-finish-is-other", adapter)
    assert [(show(finish) in one, show(text) in one) for one in found] == ([] if is_right else [(True, True)])


class LosesTokens(OpenAIAdapter):
    """`call_sync` gives no token; what `complete` makes of it is right."""

    def call_sync(self, prompt: Any, options: Any) -> Any:
        return (event for event in super().call_sync(prompt, options) if not hasattr(event, "text"))


class ShortensFolded(OpenAIAdapter):
    """`complete` and `complete_sync` end for another reason."""

    async def complete(self, prompt: Any, options: Any) -> Any:
        return structs.replace(await super().complete(prompt, options), finish="length")

    def complete_sync(self, prompt: Any, options: Any) -> Any:
        return structs.replace(super().complete_sync(prompt, options), finish="length")


class Raises(OpenAIAdapter):
    def complete_sync(self, prompt: Any, options: Any) -> Any:
        raise OSError("no line")


AGREES = "response.call-methods-agree"


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (OpenAIAdapter, []),
        (LosesTokens, ["call_sync and call differ in the text of the tokens"]),
        (ShortensFolded, ["complete and call differ in the finish", "complete_sync and call differ in the finish"]),
        (Raises, ["complete_sync raised OSError: no line"]),
    ],
)
def test_methods_that_differ_from_call_are_found(make: type, fragments: list[str]):
    assert_each_has(messages_of(AGREES, make, SAID), fragments)


def test_one_way_to_call_agrees_with_itself():
    assert "no other method" in reason_of(AGREES, scripted(answer_events()), SAID)
