"""An adapter chooses the form in which it keeps what the provider wants back; the suite follows what is in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_compliance.miniatures.base import Events, as_data, change_events, retranslate
from art_sdk import AnthropicAdapter
from trials import assert_each_has, messages_of, spoiled, suite_scenario

pytestmark = pytest.mark.once

NAME = "anthropic-messages"
SURVIVE, APPENDED = "translation.extensions-survive", "response.answer-can-be-appended"
SIGNATURES = "response.signatures-go-back"


def keeps_as_text(adapter: Any, *, forgets: bool = False) -> None:
    """Keeps the blocks as one text, and leaves out what it cannot read."""

    def kept(events: Events) -> Events:
        *others, end = as_data(events)
        message = end.get("message") or {}
        for name, extension in (message.get("extensions") or {}).items():
            message["extensions"][name] = {"stored": json.dumps(extension)}
        return [*others, end]

    def sent(translate: Any, prompt: Any, options: Any) -> Any:
        for message in prompt:
            stored = message.pop("extensions", {}).get(NAME, {}).get("stored")
            if stored is not None and not forgets:
                message["extensions"] = {NAME: json.loads(stored)}
        return translate(prompt, options)

    change_events(adapter, kept)
    retranslate(adapter, sent)


def forgets(adapter: Any) -> None:
    keeps_as_text(adapter, forgets=True)


@pytest.mark.parametrize(
    ("check", "scenario"),
    [
        (SURVIVE, "extensions-go-back"),
        (APPENDED, "answer-reasoning-and-call"),
        (SIGNATURES, "answer-reasoning-and-call"),
    ],
)
def test_the_form_of_what_is_kept_is_the_adapter_s_own(check: str, scenario: str):
    make = spoiled(keeps_as_text, AnthropicAdapter)
    assert messages_of(check, make, suite_scenario(scenario)) == []


def test_what_is_kept_in_a_form_of_its_own_must_go_back():
    said = messages_of(SIGNATURES, spoiled(forgets, AnthropicAdapter), suite_scenario("answer-reasoning-and-call"))
    assert_each_has(said, ["is not sent back with the message that it came with"] * 2)


def test_a_form_that_the_suite_reads_is_compared():
    def loses(adapter: Any) -> None:
        retranslate(adapter, lambda translate, prompt, options: translate(without_extensions(prompt), options))

    assert messages_of(SURVIVE, spoiled(loses, AnthropicAdapter), suite_scenario("extensions-go-back")) != []
    assert messages_of(APPENDED, spoiled(loses, AnthropicAdapter), suite_scenario("answer-reasoning-and-call")) != []


def without_extensions(prompt: Any) -> Any:
    return [{name: value for name, value in message.items() if name != "extensions"} for message in prompt]
