"""Adapters that are wrong about what one wire format has and no other: its ids, its slots, its ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, groupby, takewhile
from typing import Any

from art_compliance.dialects.framing import change_data
from art_compliance.miniatures.answers import with_calls
from art_compliance.miniatures.base import Events, Options, change_events, change_payload, miniature, retranslate
from art_compliance.miniatures.forms import reread
from art_compliance.miniatures.streams import refeed
from art_sdk.json_data import is_array, is_object


@miniature("translation.options-survive", around=("ollama-chat",))
def puts_options_beside_the_messages(adapter: Any) -> None:
    """The sampling options stand where other providers have them; the server drops them without a word."""
    change_payload(adapter, _with_options_outside)


def _with_options_outside(payload: Any) -> Any:
    options: Any = payload.get("options") or {}
    return {**{name: value for name, value in payload.items() if name != "options"}, **options}


@miniature("response.other-forms-are-read", around=("cohere",))
def forgets_plans_and_citations(adapter: Any) -> None:
    """What the model planned before its calls, and what its answer cited, does not go back."""
    change_payload(adapter, _without_plans)


def _without_plans(payload: Any) -> Any:
    kept = [{name: one[name] for name in one if name not in ("tool_plan", "citations")} for one in payload["messages"]]
    return {**payload, "messages": kept}


@miniature("response.other-forms-are-read", around=("openai-responses",))
def forgets_the_reasoning_between_calls(adapter: Any) -> None:
    """Reasoning items, encrypted or not, do not go back with the calls that they led to."""
    change_payload(adapter, _without_reasoning)


def _without_reasoning(payload: Any) -> Any:
    return {**payload, "input": [item for item in payload["input"] if item.get("type") != "reasoning"]}


@miniature("translation.streams-lack-no-field", around=("openai-responses",))
def asks_for_reasoning_unstreamed_alone(adapter: Any) -> None:
    """A streamed request does not ask for encrypted reasoning, so that it cannot go back."""
    retranslate(adapter, lambda translate, prompt, options: _unasked(translate(prompt, options), options))


def _unasked(payload: Any, options: Options) -> Any:
    return {name: value for name, value in payload.items() if name != "include" or not options.get("stream")}


@miniature("translation.results-survive", around=("bedrock",))
def sends_results_under_one_id(adapter: Any) -> None:
    """A result goes under the id of the first call of its turn."""
    change_payload(adapter, lambda payload: {**payload, "messages": [*map(_with_one_id, payload["messages"])]})


def _with_one_id(message: Any) -> Any:
    uses = [block["toolResult"]["toolUseId"] for block in message["content"] if "toolResult" in block]
    return {**message, "content": [_with_id(block, uses[0]) if uses else block for block in message["content"]]}


def _with_id(block: Any, use: str) -> Any:
    return {"toolResult": {**block["toolResult"], "toolUseId": use}} if "toolResult" in block else block


@miniature("translation.nothing-is-invented", around=("ollama-chat",))
def chooses_how_much_is_read(adapter: Any) -> None:
    """The model's context is set to 8,192 tokens: the server cuts the prompt to that."""
    change_payload(adapter, _with_context)


def _with_context(payload: Any) -> Any:
    return {**payload, "options": {**payload.get("options", {}), "num_ctx": 8192}}


@miniature("translation.nothing-is-invented", around=("openrouter",))
def lets_prompts_be_compressed(adapter: Any) -> None:
    """OpenRouter may leave out the middle of a long prompt."""
    change_payload(adapter, lambda payload: {**payload, "transforms": ["middle-out"]})


@miniature("translation.results-survive", around=("ollama-chat",))
def answers_calls_backwards(adapter: Any) -> None:
    """The results of a turn are sent in the reverse order of its calls, although only their order tells them apart."""
    change_payload(adapter, lambda payload: {**payload, "messages": [*_answered_backwards(payload["messages"])]})


def _answered_backwards(messages: list[Any]) -> Iterator[Any]:
    for is_result, run in groupby(messages, lambda message: message["role"] == "tool"):
        together = [*run]
        yield from reversed(together) if is_result else together


@miniature("translation.results-survive", around=("ollama-chat",))
def leaves_the_tools_of_results_out(adapter: Any) -> None:
    """Results come without `tool_name`: of several in a turn, nothing says which call each answers."""
    change_payload(adapter, lambda payload: {**payload, "messages": [*map(_without_tool, payload["messages"])]})


def _without_tool(message: Any) -> Any:
    return {name: value for name, value in message.items() if name != "tool_name"}


@miniature("wire.no-rule-is-broken", around=("ollama-chat",))
def sends_images_as_data_urls(adapter: Any) -> None:
    """An image's data stand behind `data:` and its type, as other providers want them."""
    change_payload(adapter, lambda payload: {**payload, "messages": [*map(_with_data_urls, payload["messages"])]})


def _with_data_urls(message: Any) -> Any:
    images = [f"data:image/png;base64,{data}" for data in message.get("images", ())]
    return {**message, "images": images} if images else message


@miniature("wire.no-rule-is-broken", around=("ollama-chat",))
def sends_arguments_as_text(adapter: Any) -> None:
    """Arguments go back as JSON in a string, as other providers want them."""
    change_payload(adapter, lambda payload: {**payload, "messages": [*map(_with_text_arguments, payload["messages"])]})


def _with_text_arguments(message: Any) -> Any:
    if not message.get("tool_calls"):
        return message
    functions = [call["function"] for call in message["tool_calls"]]
    calls = [{"function": {**one, "arguments": json.dumps(one["arguments"])}} for one in functions]
    return {**message, "tool_calls": calls}


@miniature("response.answer-is-read", around=("ollama-chat",))
def leaves_streaming_to_the_server(adapter: Any) -> None:
    """Where it is false, `stream` is left out; this server streams unless it is asked not to."""
    change_payload(adapter, lambda payload: {key: value for key, value in payload.items() if value is not False})


@miniature("response.calls-are-whole", "stream.calls-are-whole", around=("ollama-chat",))
def numbers_every_answer_from_one(adapter: Any) -> None:
    """The calls of an answer get the ids that those of an earlier answer had."""
    change_events(adapter, _renumbered)


def _renumbered(events: Events) -> Events:
    numbers = count(1)
    renamed = {event["call"]["id"]: f"call_{next(numbers)}" for event in events if "call" in event}
    return with_calls(events, lambda call: {**call, "id": renamed[call["id"]]})


@miniature("stream.other-forms-are-read", around=("ollama-chat",))
def passes_over_the_last_line(adapter: Any) -> None:
    """What the line that ends a stream says besides its counts is lost."""
    refeed(
        adapter, lambda chunk: change_data(chunk, lambda line: {**line, "message": {}} if line.get("done") else line)
    )


@miniature("response.thinking-is-separate", "stream.thinking-is-separate", around=("ollama-chat",))
def passes_over_thinking(adapter: Any) -> None:
    """Reasoning that was asked for is not read."""
    reread(adapter, _without_thinking)
    refeed(adapter, lambda chunk: change_data(chunk, _without_thinking))


def _without_thinking(line: Any) -> Any:
    message: dict[str, Any] = line.get("message") or {}
    return {**line, "message": {name: value for name, value in message.items() if name != "thinking"}}


@miniature("wire.no-rule-is-broken", around=("cohere",))
def sends_no_arguments_as_an_empty_text(adapter: Any) -> None:
    """A call without arguments goes back as it is streamed: with an empty text, which is refused."""
    change_payload(
        adapter, lambda payload: json.loads(json.dumps(payload).replace('"arguments": "{}"', '"arguments": ""'))
    )


@miniature("response.calls-are-whole", "stream.calls-are-whole", around=("openai-responses",))
def takes_the_id_of_an_item_for_that_of_its_call(adapter: Any) -> None:
    """A call's item has two ids: `id` names the item, `call_id` the call that a result answers."""
    reread(adapter, _with_item_ids)
    refeed(adapter, lambda chunk: change_data(chunk, _with_item_ids))


def _with_item_ids(value: Any) -> Any:
    if is_array(value):
        return [_with_item_ids(item) for item in value]
    if not is_object(value):
        return value
    changed = {name: _with_item_ids(item) for name, item in value.items()}
    return {**changed, "call_id": changed["id"]} if "call_id" in changed and "id" in changed else changed


@miniature("stream.other-forms-are-read", around=("openai-responses",))
def breaks_at_empty_pieces(adapter: Any) -> None:
    """An empty piece of a call's arguments is taken for a broken one."""
    refeed(adapter, lambda chunk: chunk.replace(b'"delta":""', b'"delta":null') if b"_call_arg" in chunk else chunk)


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("openrouter",))
def sends_the_latest_reasoning_first(adapter: Any) -> None:
    """The details of reasoning go back in the reverse order."""
    change_payload(
        adapter, lambda payload: {**payload, "messages": [*map(_with_details_reversed, payload["messages"])]}
    )


def _with_details_reversed(message: dict[str, Any]) -> dict[str, Any]:
    details = message.get("reasoning_details")
    return {**message, "reasoning_details": details[::-1]} if is_array(details) else message


@miniature("response.other-forms-are-read", around=("openai-responses",))
def joins_summaries(adapter: Any) -> None:
    """Of reasoning, the parts of its summary go back as one."""
    reread(adapter, lambda body: {**body, "output": [*map(_with_one_summary, body.get("output", ()))]})


def _with_one_summary(item: Any) -> Any:
    parts = item.get("summary") or ()
    one = [{"type": "summary_text", "text": "\n".join(part["text"] for part in parts)}]
    return {**item, "summary": one} if len(parts) > 1 else item


@miniature("stream.other-forms-are-read", around=("openai-responses",))
def shows_the_first_summary_alone(adapter: Any) -> None:
    """Of reasoning, the first part of its summary is read from a stream."""
    refeed(adapter, lambda chunk: change_data(chunk, _without_later_summary))


def _without_later_summary(event: Any) -> Any:
    if event.get("summary_index"):
        return {**event, **{name: "" for name in ("delta", "text") if name in event}}
    item: Any = event.get("item") or {}
    return {**event, "item": {**item, "summary": item["summary"][:1]}} if item.get("summary") else event


@miniature("response.other-forms-are-read", around=("openai-responses",))
def stops_at_items_of_other_kinds(adapter: Any) -> None:
    """Of an answer's items, those behind the first that is no message, call or reasoning are not read."""
    reread(adapter, lambda body: {**body, "output": [*takewhile(_is_usual, body.get("output", ()))]})


def _is_usual(item: Any) -> bool:
    return item.get("type") in ("message", "function_call", "reasoning")
