"""Adapters that hold on to what a conversation was: turns that were sent, answers as they came, an odd extension."""

from __future__ import annotations

from typing import Any

from art_compliance.miniatures.base import Events, Prompt, change_events, change_prompt, miniature

_LONG = 100


@miniature("load.conversations-are-sent-as-they-are")
def keeps_the_turns_of_a_conversation(adapter: Any) -> None:
    """Of a long conversation that begins as the last one did, only the new turns are looked at."""
    kept: Prompt = []

    def with_kept(prompt: Prompt) -> Prompt:
        if len(prompt) < _LONG:
            return prompt
        known = len(kept) if kept[:2] == prompt[:2] and len(kept) <= len(prompt) else 0
        kept[:] = [*kept[:known], *prompt[known:]]
        return [*kept]

    change_prompt(adapter, with_kept)


@miniature("load.conversations-are-sent-as-they-are")
def keeps_the_longest_conversation(adapter: Any) -> None:
    """A long conversation that was longer in an earlier call is sent with its old end."""
    kept: Prompt = []

    def with_end(prompt: Prompt) -> Prompt:
        if len(prompt) >= _LONG and kept[: len(prompt)] != prompt:
            kept[:] = prompt
        return [*kept] if len(prompt) >= _LONG else prompt

    change_prompt(adapter, with_end)


@miniature("load.conversations-are-sent-as-they-are", around=("openai", "anthropic"))
def trusts_where_a_conversation_ended(adapter: Any) -> None:
    """What was sent of a long conversation is sent again if it goes on where that ended, whatever was edited before."""

    def find(given: Any, prompt: Any, options: Any) -> Any:
        found = own(given, prompt, options)
        known = None if found.key is None else adapter._histories.find(found.key, adapter._settings)  # noqa: SLF001
        if found.known is not None or known is None:
            return found
        end = found.begin + len(known.messages)
        goes_on = len(prompt) > end and prompt[end - 1] == known.messages[-1]
        return type(found)(given, prompt, found.key, found.begin, end, known) if goes_on else found

    own = adapter._find_equal  # noqa: SLF001
    adapter._find_equal = find  # noqa: SLF001


@miniature("response.edited-answer-is-sent-as-edited")
def sends_its_answers_as_they_came(adapter: Any) -> None:
    """An answer that is known by the id of a call goes back as it came, whatever the caller made of it."""
    known: dict[str, dict[str, Any]] = {}

    def remembered(events: Events) -> Events:
        message: dict[str, Any] = events[-1].get("message") or {}
        known.update({call["id"]: message for call in message.get("tool_calls") or ()})
        return events

    def as_it_came(message: dict[str, Any]) -> dict[str, Any]:
        calls: list[dict[str, Any]] = message.get("tool_calls") or []
        return known.get(calls[0]["id"], message) if calls else message

    change_events(adapter, remembered)
    change_prompt(adapter, lambda prompt: [as_it_came(message) for message in prompt])


@miniature("response.edited-answer-is-sent-as-edited")
def brings_back_dropped_calls(adapter: Any) -> None:
    """An answer that is known by its text goes back with its calls, and results, although the caller dropped them."""
    known: dict[str, list[dict[str, Any]]] = {}

    def remembered(events: Events) -> Events:
        message: dict[str, Any] = events[-1].get("message") or {}
        if message.get("content") and message.get("tool_calls"):
            known[message["content"]] = message["tool_calls"]
        return events

    def with_calls(message: dict[str, Any]) -> Prompt:
        calls = known.get(str(message.get("content"))) if message["role"] == "assistant" else None
        if not calls or message.get("tool_calls"):
            return [message]
        results = [{"role": "tool_result", "tool_call_id": call["id"], "content": "lost"} for call in calls]
        return [{**message, "tool_calls": calls}, *results]

    change_events(adapter, remembered)
    change_prompt(adapter, lambda prompt: [one for message in prompt for one in with_calls(message)])


@miniature("response.odd-extensions-are-no-crash")
def trusts_its_extensions(adapter: Any) -> None:
    """What an assistant message has in its extensions is taken for what the adapter itself wrote."""

    def counted(prompt: Prompt) -> Prompt:
        for message in prompt:
            extensions: dict[str, dict[str, Any]] = message.get("extensions") or {}
            for kept in extensions.get(adapter.dialect, {}).values():
                len(kept)
        return prompt

    change_prompt(adapter, counted)
