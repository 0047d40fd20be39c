"""Adapters that are wrong only for certain combinations of contents: the laws over generated prompts must fail."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from art_compliance.miniatures.base import (
    Events,
    Options,
    Prompt,
    Translate,
    as_data,
    change_events,
    change_messages,
    change_payload,
    change_prompt,
    miniature,
    recall,
    retranslate,
)
from art_compliance.miniatures.calls import linked_by_order
from art_compliance.miniatures.streams import change_streams
from art_compliance.subject.events import Answered


@miniature("properties.every-prompt-has-an-outcome")
def stumbles_over_two_systems(adapter: Any) -> None:
    """A result in a prompt with two system messages raises IndexError."""
    change_prompt(adapter, _stumble)


@miniature("properties.requests-are-accepted")
def marks_odd_characters(adapter: Any) -> None:
    """With U+212B in a user text, the payload has a field that the provider does not know."""
    retranslate(adapter, lambda translate, prompt, options: _marked(translate(prompt, options), prompt))


@miniature("properties.nothing-is-lost")
def drops_private_characters(adapter: Any) -> None:
    """User texts lose characters of the private planes."""
    change_messages(adapter, "user", lambda m: _without(m, "Co"))


@miniature("properties.nothing-is-invented")
def explains_markup(adapter: Any) -> None:
    """With markup in a user text, a system message that explains it is added."""
    change_prompt(adapter, _explained)


@miniature("properties.translation-is-pure")
def counts_foreign_prompts(adapter: Any) -> None:
    """Every other prompt with a character beyond ASCII gets an extra message."""
    numbers = count()
    change_prompt(adapter, lambda prompt: _every_other(prompt, numbers))


@miniature("properties.prefix-is-stable")
def writes_ends_otherwise(adapter: Any) -> None:
    """A user text beyond ASCII gets a mark while it is the last message."""
    change_prompt(adapter, _with_a_marked_end)


@miniature("properties.renaming-is-followed")
def writes_less_for_markup(adapter: Any) -> None:
    """A text with a `<` limits the answer."""
    retranslate(adapter, _shorter_for_markup)


@miniature("properties.result-order-does-not-matter")
def trusts_the_order_of_answers(adapter: Any) -> None:
    """In prompts of more than two messages, results are matched to calls by position, whatever their ids."""
    change_prompt(adapter, lambda prompt: linked_by_order(prompt) if len(prompt) > 2 else prompt)


@miniature("properties.tool-means-tool-result")
def forgets_the_alias_of_failures(adapter: Any) -> None:
    """A call drops failed results with the role `tool`."""
    recall(adapter, lambda prompt: [m for m in prompt if m["role"] != "tool" or m.get("status") != "error"])


@miniature("properties.what-is-translated-is-sent")
def sends_zero_width_joiners_away(adapter: Any) -> None:
    """A call drops zero-width joiners from user texts."""
    recall(adapter, lambda prompt: [_without(m, "Cf") if m["role"] == "user" else m for m in prompt])


@miniature("properties.other-processes-agree")
def orders_by_hash(adapter: Any) -> None:
    """The payload's fields are in the order of a Python set."""
    change_payload(adapter, lambda payload: {key: payload[key] for key in set(payload)})


@miniature("properties.answers-are-read-whole")
def drops_high_planes_from_answers(adapter: Any) -> None:
    """An answer's text loses its characters beyond U+FFFF, in tokens and message."""
    change_events(adapter, lambda events: _with_texts(events, _low))


@miniature("properties.streams-equal-answers")
def keeps_low_planes_of_streams(adapter: Any) -> None:
    """The message of a streamed answer has no characters beyond U+FFFF."""
    change_streams(adapter, lambda events: [*events[:-1], _with_content(events[-1], _low)])


def _low(text: str) -> str:
    return "".join(character for character in text if character <= "\uffff")


@miniature("properties.conversations-go-on")
def forgets_signatures_later(adapter: Any) -> None:
    """From the second answer on, END's message has no extensions."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        is_later = any(message["role"] == "assistant" for message in as_data(prompt))
        return _without_extensions(own(prompt, options)) if is_later else own(prompt, options)

    adapter.call = call


async def _without_extensions(given: Any) -> Any:
    async for event in given:
        (data,) = Answered.of([event]).events
        message = data.get("message")
        kept = message and {name: value for name, value in message.items() if name != "extensions"}
        yield {**data, "message": kept} if message else event


@miniature("properties.conversations-go-on")
def loses_the_second_result(adapter: Any) -> None:
    """A call with two or more answers in the prompt sends only the first of adjacent results."""
    recall(adapter, lambda prompt: _first_results(prompt) if _turns(prompt) > 1 else prompt)


@miniature("properties.conversations-go-on")
def reuses_ids_in_streams(adapter: Any) -> None:
    """The calls of every streamed answer have the ids `call_0`, `call_1` and so on."""
    change_streams(adapter, _with_numbered_calls)


def _turns(prompt: Prompt) -> int:
    return sum(message["role"] == "assistant" for message in prompt)


def _first_results(prompt: Prompt) -> Prompt:
    pairs = zip([None, *prompt], prompt, strict=False)
    return [one for before, one in pairs if not (before and before["role"] == one["role"] == "tool_result")]


def _with_numbered_calls(events: Events) -> Events:
    ids = [event["call"]["id"] for event in events if event["type"] == "TOOL_CALL"]
    text = json.dumps(events)
    for number, call_id in enumerate(ids):
        text = text.replace(json.dumps(call_id), json.dumps(f"call_{number}"))
    changed: Events = json.loads(text)
    return changed


def _with_texts(events: Events, change: Callable[[str], str]) -> Events:
    changed = [{**event, "text": change(event["text"])} if event["type"] == "TOKEN" else event for event in events]
    return [_with_content(event, change) for event in changed]


def _with_content(event: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    message = event.get("message")
    if not message or not message.get("content"):
        return event
    return {**event, "message": {**message, "content": change(message["content"])}}


def _stumble(prompt: Prompt) -> Prompt:
    opens = [message["role"] for message in prompt].count("system") > 1
    if opens and any(message["role"] == "tool_result" for message in prompt):
        raise IndexError
    return prompt


def _marked(payload: Any, prompt: Prompt) -> Any:
    return {**payload, "has_units": True} if "\u212b" in json.dumps(prompt, ensure_ascii=False) else payload


def _without(message: dict[str, Any], category: str) -> dict[str, Any]:
    content = message["content"]
    if not isinstance(content, str):
        return message
    kept = "".join(character for character in content if unicodedata.category(character) != category)
    return {**message, "content": kept} if kept.strip() else message


def _explained(prompt: Prompt) -> Prompt:
    explains = any("<" in str(message["content"]) for message in prompt if message["role"] == "user")
    return [{"role": "system", "content": "Markup is markup."}, *prompt] if explains else prompt


def _every_other(prompt: Prompt, numbers: Iterator[int]) -> Prompt:
    is_odd = not _is_ascii(prompt) and bool(next(numbers) % 2)
    return [*prompt, {"role": "user", "content": "again"}] if is_odd else prompt


def _is_ascii(value: Any) -> bool:
    return json.dumps(value, ensure_ascii=False).isascii()


def _with_a_marked_end(prompt: Prompt) -> Prompt:
    last = prompt[-1] if prompt else {}
    is_marked = last.get("role") == "user" and isinstance(last["content"], str) and not _is_ascii(last["content"])
    return [*prompt[:-1], {**last, "content": f".{last['content']}"}] if is_marked else prompt


def _shorter_for_markup(translate: Translate, prompt: Prompt, options: Options) -> Any:
    has_markup = any("<" in str(message["content"]) for message in prompt)
    return translate(prompt, {"max_tokens": 77, **options} if has_markup else options)
