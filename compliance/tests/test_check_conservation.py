"""What of a request counts as invented or lost, and which outcomes are right."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from art_compliance.checks import CHECKS
from art_compliance.checks.trial import drawn_id
from art_compliance.quoting import show
from art_sdk import AnthropicAdapter, OpenAIAdapter, PromptValidationFailed
from trials import (
    Event,
    assert_each_has,
    call_of,
    findings_of,
    messages_of,
    reason_of,
    scenario,
    suite_scenario,
    translating,
    translator,
)


def adds(fields: dict[str, Any]) -> Any:
    """An adapter whose requests have these fields besides."""
    return translating(lambda payload, *_: {**payload, **fields})


KIND = "Be kind to him."
THREAD = drawn_id(1, scenario().id)


@pytest.mark.parametrize(
    ("fields", "options", "invented"),
    [
        ({}, {}, []),
        ({"x": KIND}, {}, [(KIND, "/x")]),
        ({"x": {"y": [KIND]}}, {}, [(KIND, "/x/y/0")]),
        ({}, {"provider": {"openai-chat": {"x": KIND}}}, []),
        ({"y": KIND}, {"provider": {"openai-chat": {"x": KIND}}}, [(KIND, "/y")]),
        ({"x": 7, "y": True, "z": None, "word": "ephemeral"}, {}, []),
        ({"x": THREAD}, {}, [(THREAD, "/x")]),
        ({"x": "x" * 24}, {}, []),
        ({"x": "x" * 25}, {}, [("x" * 25, "/x")]),
        ({"temperature": 0.5}, {}, [(0.5, "/temperature")]),
        ({}, {"temperature": 0.5}, []),
        ({"model": "m", "max_completion_tokens": 9, "tool_choice": "auto", "stream": False}, {}, []),
        ({"tool_choice": "none"}, {}, [("none", "/tool_choice")]),
        ({"frequency_penalty": 0.5}, {}, [(0.5, "/frequency_penalty")]),
        ({"frequency_penalty": 0.0, "n": 1, "seed": None, "frequency": 7}, {}, []),
        ({"logit_bias": {"5": 3}}, {}, [(3, "/logit_bias/5")]),
        ({}, {"provider": {"openai-chat": {"seed": 7, "n": 2}}}, []),
    ],
)
def test_invented_content_is_found(fields: Any, options: Any, invented: list[tuple[Any, str]]):
    found = findings_of("translation.nothing-is-invented", adds(fields), scenario(options=options))
    assert_each_has([one.message for one in found], [show(value) for value, _ in invented])
    assert [one.pointer for one in found] == [pointer for _, pointer in invented]


@pytest.mark.parametrize(
    ("sent", "is_lost"),
    [({"seed": 7}, False), ({"seed": 6}, True), ({"seed": 8}, True), ({"x": 7}, True), ({}, True)],
)
def test_the_providers_own_fields_are_found_as_they_were_given(sent: Any, is_lost: bool):  # noqa: FBT001
    def replace(payload: Any, *_: Any) -> Any:
        return {**{name: value for name, value in payload.items() if name != "seed"}, **sent}

    asked = scenario(options={"provider": {"openai-chat": {"seed": 7}}})
    found = findings_of("translation.options-survive", translating(replace), asked)
    lost = [("options.provider['openai-chat']", "/seed")] if is_lost else []
    assert [(one.path, one.pointer) for one in found] == lost
    assert all("/seed = 7 is lost" in one.message for one in found)


RICH = scenario(
    prompt=[
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hello", "name": "ann"},
        {"role": "assistant", "content": "Well?"},
        {"role": "user", "content": "Go on."},
    ],
    options={"temperature": 0.5},
)
Messages = list[dict[str, Any]]


def sends(change: Callable[[Messages], Messages], **declared: Any) -> Any:
    """An adapter that changes the messages of its requests so."""
    make = translating(lambda payload, *_: {**payload, "messages": change(payload["messages"])})
    return declaring(make, **declared)


def declaring(make: type, **declared: Any) -> type:
    return type("Declaring", (make,), {name: frozenset(value) for name, value in declared.items()})


def nameless(messages: Messages) -> Messages:
    return [{name: value for name, value in one.items() if name != "name"} for one in messages]


def without(field: str, **declared: Any) -> Any:
    def drop(payload: Any, *_: Any) -> Any:
        return {name: value for name, value in payload.items() if name != field}

    return declaring(translating(drop), **declared)


WELL = {"role": "assistant", "content": "Well"}


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("make", "failed"),
    [
        (OpenAIAdapter, set[str]()),
        (sends(lambda messages: messages[1:]), {"system-text-survives"}),
        (sends(lambda messages: [{**messages[0], "content": "Be."}, *messages[1:]]), {"system-text-survives"}),
        (sends(lambda messages: [*messages[:3], {**messages[3], "content": "Go."}]), {"user-text-survives"}),
        (
            sends(lambda messages: [*messages[:2], {**messages[2], "content": "We"}, messages[3]]),
            {"assistant-text-survives"},
        ),
        (sends(nameless), {"message-names-survive"}),
        (sends(nameless, losses={"message_name"}), set[str]()),
        (without("temperature"), {"options-survive"}),
        (
            type("Declares", (without("temperature"),), {"losses": frozenset({"sampling_option:temperature"})}),
            set[str](),
        ),
        (sends(lambda messages: [*messages, {"role": "system", "content": "Be kind."}]), {"nothing-is-invented"}),
    ],
)
def test_what_is_lost_is_found_by_the_check_of_its_kind_alone(make: Any, failed: set[str]):
    of_slots = [name for name, one in CHECKS.items() if not one.once]
    names = [
        name.removeprefix("translation.") for name in of_slots if re.search(r"^translation\..*(surviv|invent)", name)
    ]
    assert {name for name in names if findings_of(f"translation.{name}", make, RICH)} == failed


class Hoists(AnthropicAdapter):
    """It moves late system messages to the front, asked or not."""

    def translate(self, prompt: Any, options: Any) -> Any:
        return super().translate(prompt, structs.replace(options, late_system="hoist"))


class Undeclared(AnthropicAdapter):
    repairs = frozenset({"maps_call_ids"})


class Cannot(Exception):
    code = "X"


class Declined(Exception):
    code = "PROMPT_TRANSLATION_FAILED"


def refuse(*_: Any) -> Any:
    raise Cannot("why")


def decline(*_: Any) -> Any:
    raise Declined("why")


USER, ASSISTANT, SYSTEM = ({"role": role, "content": role} for role in ("user", "assistant", "system"))
BLANK = [{"role": "user", "content": [{"type": "text", "text": text} for text in ("First.", " ")]}]
LATE = [USER, ASSISTANT, SYSTEM, USER]
HOIST = {"late_system": "hoist"}
REFUSED = "refused:PROMPT_TRANSLATION_FAILED"


@pytest.mark.parametrize(
    ("make", "prompt", "options", "right", "fragments"),
    [
        (OpenAIAdapter, BLANK, {}, ("exact",), []),
        (OpenAIAdapter, BLANK, {}, ("repair:drops_blank_text",), ["exact; expected repair:drops_blank_text"]),
        (AnthropicAdapter, BLANK, {}, ("exact",), []),
        (AnthropicAdapter, BLANK, {}, ("repair:drops_blank_text",), []),
        (AnthropicAdapter, BLANK, {}, ("refused:X",), ["repair:drops_blank_text; expected refused:X"]),
        (Hoists, LATE, {}, ("exact",), ["repair:hoists_late_system; expected exact"]),
        (Hoists, LATE, HOIST, ("exact",), []),
        (Hoists, LATE, HOIST, ("refused:X",), ["repair:hoists_late_system; expected refused:X"]),
        (translator(decline), [USER], {}, ("exact", REFUSED), []),
        (translator(decline), [USER], {}, ("exact",), [f"{REFUSED} (why); expected exact"]),
    ],
)
def test_an_outcome_is_right(make: Any, prompt: list[Event], options: Any, right: Any, fragments: list[str]):
    asked = scenario(prompt=prompt, options=options, outcomes={"default": right})
    assert_each_has(messages_of("translation.outcome-is-right", make, asked), fragments)


@pytest.mark.parametrize(
    ("make", "fragments"), [(AnthropicAdapter, []), (Undeclared, ["'drops_blank_text'"]), (OpenAIAdapter, [])]
)
def test_a_repair_that_is_not_declared_is_found(make: Any, fragments: list[str]):
    found = messages_of("translation.repairs-are-declared", make, scenario(prompt=BLANK))
    assert_each_has(found, fragments)


@pytest.mark.parametrize(
    ("translate", "fragments"),
    [
        (lambda *_: {"a": 1}, []),
        (lambda *_: {"a": float("nan")}, ["cannot be sent as JSON: $.a: "]),
        (lambda *_: {"a": "\ud800"}, ["cannot be sent as JSON: $.a: a lone surrogate"]),
        (lambda *_: json.loads("[" * 300 + "]" * 300), []),
        (lambda *_: int("no"), ["ValueError"]),
        (refuse, ["X"]),
    ],
)
def test_a_prompt_that_gives_neither_request_nor_refusal_is_found(translate: Any, fragments: list[str]):
    assert_each_has(messages_of("translation.is-total", translator(translate)), fragments)


def test_what_is_not_declared_is_to_be_refused():
    poor = {"capabilities": {"tools"}}
    needy, check = scenario(needs=("images", "tools")), "translation.undeclared-use-is-refused"
    sends = translator(lambda *_: {}, **poor)
    assert_each_has(messages_of(check, sends, needy), ["images"])
    assert messages_of(check, translator(refuse, **poor), needy) == []
    assert reason_of(check, sends, scenario(needs=("tools",)))
    assert "images" in reason_of("translation.outcome-is-right", sends, needy)


@pytest.mark.parametrize(
    ("read", "of"),
    [(json.loads, "contract"), (lambda text: dict(reversed(json.loads(text, object_pairs_hook=list))), "loss")],
)
def test_the_last_value_of_a_repeated_key_is_what_most_readers_keep(read: Callable[[str], Any], of: str):
    def spoil(payload: Any, *_: Any) -> Any:
        for message in payload["messages"]:
            for call in message.get("tool_calls", ()):
                call["function"]["arguments"] = json.dumps(read(call["function"]["arguments"]))
        return payload

    (found,) = findings_of("translation.arguments-survive", translating(spoil), suite_scenario("doubled-key"))
    assert found.finding_class == of


HI = {"role": "user", "content": "hi"}
CALL = {"role": "assistant", "content": None, "tool_calls": [call_of()]}


@pytest.mark.parametrize(
    ("prompt", "more", "of"),
    [([HI], [], "contract"), ([HI, CALL], [{"role": "tool", "tool_call_id": "c1", "content": "?"}], "loss")],
)
def test_what_is_sent_with_a_result_that_nobody_gave_is_corrupted(prompt: list[Any], more: list[Any], of: str):
    refused = scenario(prompt=prompt, outcomes={"default": ("refused:UNANSWERED",)})
    sends = translator(lambda *_: {"model": "m", "messages": [*prompt, *more]})
    (found,) = findings_of("translation.outcome-is-right", sends, refused)
    assert found.finding_class == of


def raises_as_the_sdk(*_: Any) -> Any:
    raise PromptValidationFailed("the call has no result")


def test_a_broken_conversation_may_be_refused_as_the_sdk_refuses_it():
    sends, broken = translator(raises_as_the_sdk), scenario(prompt=[HI, CALL], outcomes={"default": (REFUSED,)})
    assert messages_of("translation.is-total", sends, broken) == []
    assert messages_of("translation.outcome-is-right", sends, broken) == []
    assert_each_has(messages_of("translation.is-total", sends, scenario(prompt=[HI])), ["PROMPT_VALIDATION_FAILED"])


@pytest.mark.parametrize("lost", [{"a": [{}]}, {"a": {"b": []}}, {"a": {}}])
def test_empty_values_deep_in_fields_of_the_providers_own_are_seen(lost: Any):
    def spoil(payload: Any, *_: Any) -> Any:
        return {**payload, "metadata": {}} if "metadata" in payload else payload

    asked = scenario(prompt=[HI], options={"provider": {"openai-chat": {"metadata": lost}}})
    assert messages_of("translation.options-survive", OpenAIAdapter, asked) == []
    assert_each_has(messages_of("translation.options-survive", translating(spoil), asked), ["/metadata/a"])
