"""Adapters that read an answer as it came, and send something else back with the next turn."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Mapping
from itertools import chain, pairwise
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.miniatures.base import Events, as_data, change_events, change_payload, miniature, retell
from art_compliance.miniatures.gateways import Change, refeed_data
from art_compliance.miniatures.streams import change_streams, each_event
from art_sdk.json_data import is_array, is_object

Block = dict[str, Any]


def _change_extensions(adapter: Any, change: Callable[[Block], None]) -> None:
    """What END's message keeps of a stream is changed in place."""

    def changed(event: dict[str, Any]) -> dict[str, Any]:
        event = as_data(event)
        for kept in _extensions_of(event).values():
            change(kept)
        return event

    change_streams(adapter, each_event(changed))


def _change_kept(adapter: Any, change: Callable[[Block], None]) -> None:
    """As `_change_extensions`, of each block among it."""

    def changed(kept: Block) -> None:
        for one in kept.get("blocks", ()):
            change(one["block"])

    _change_extensions(adapter, changed)


def _extensions_of(event: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What END's message keeps, by the dialect; nothing of another event."""
    message: dict[str, Any] = event.get("message") or {}
    return message.get("extensions") or {}


@miniature("stream.other-forms-are-read", around=("bedrock",))
def signs_what_nobody_signed(adapter: Any) -> None:
    """A stream's reasoning without a signature is kept with an empty one."""

    def change(block: Block) -> None:
        thought = block.get("reasoningContent", {}).get("reasoningText")
        if thought is not None:
            thought.setdefault("signature", "")

    _change_kept(adapter, change)


@miniature("stream.other-forms-are-read", around=("anthropic",))
def collects_the_callers_inputs_alone(adapter: Any) -> None:
    """What a stream asks of the provider's own tool is not kept with its call."""

    def change(block: Block) -> None:
        if block["type"] == "server_tool_use":
            block["input"] = {}

    _change_kept(adapter, change)


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("anthropic", "bedrock"))
def counts_texts_that_do_not_go_back(adapter: Any) -> None:
    """What came behind an empty text goes back behind the text that follows."""

    def change(payload: Any) -> Any:
        for message in payload["messages"]:
            if is_array(message["content"]):
                message["content"] = sorted(message["content"], key=_is_redacted)
        return payload

    change_payload(adapter, change)


def _is_redacted(block: Block) -> bool:
    return block.get("type") == "redacted_thinking" or "redactedContent" in block.get("reasoningContent", {})


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("bedrock", "anthropic"))
def keeps_redacted_thoughts_as_bytes(adapter: Any) -> None:
    """What is base64 in an answer is kept decoded, so that the message cannot be stored as JSON."""

    async def decoded(given: Any) -> AsyncIterator[Any]:
        async for event in given:
            message = getattr(event, "message", None)
            if message is not None and message.extensions:
                kept = {dialect: _decoded(blocks) for dialect, blocks in message.extensions.items()}
                event = replace(event, message=replace(message, extensions=kept))  # noqa: PLW2901 - what is yielded
            yield event

    retell(adapter, decoded)


def _decoded(value: Any) -> Any:
    if is_array(value):
        return [_decoded(one) for one in value]
    if not is_object(value):
        return value
    return {
        name: b64decode(one) if name in ("data", "redactedContent") else _decoded(one) for name, one in value.items()
    }


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("openai-responses",))
def counts_in_utf_16(adapter: Any) -> None:
    """Of two messages, the first goes back with one more character for each of its own beyond U+FFFF."""

    def change(payload: Any) -> Any:
        texts = [part for item in payload["input"] if item.get("phase") for part in item["content"]]
        for first, second in pairwise(texts):
            more = sum(character > _LAST for character in first["text"])
            first["text"] += second["text"][:more]
            second["text"] = second["text"][more:]
        return payload

    change_payload(adapter, change)


_LAST: Final = "\uffff"


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("openai-responses",))
def keeps_three_kinds_of_items(adapter: Any) -> None:
    """Of an answer, what is neither reasoning nor a message nor a call is not kept."""

    def changed(event: dict[str, Any]) -> dict[str, Any]:
        event = as_data(event)
        for kept in _extensions_of(event).values():
            kept["items"] = [item for item in kept["items"] if item["type"] in _THREE_KINDS]
        return event

    change_events(adapter, each_event(changed))


_THREE_KINDS: Final = frozenset({"reasoning", "message", "function_call"})


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("openai-responses",))
def sends_back_what_says_something(adapter: Any) -> None:
    """Fields of reasoning with nothing in them are not sent back, even if the provider requires them."""

    def change(payload: Any) -> Any:
        return {**payload, "input": [_without_empty(item) for item in payload["input"]]}

    change_payload(adapter, change)


def _without_empty(item: Block) -> Block:
    is_reasoning = item.get("type") == "reasoning"
    return {name: value for name, value in item.items() if value} if is_reasoning else item


@miniature("stream.other-forms-are-read", around=("openai-responses",))
def keeps_what_an_item_began_with(adapter: Any) -> None:
    """Encrypted reasoning of a stream is kept as it was when its item began."""

    def begin() -> Change:
        begun: dict[int, str] = {}

        def change(event: Any) -> Any:
            item: Block = event.get("item", {})
            if item.get("encrypted_content"):
                item["encrypted_content"] = begun.setdefault(event["output_index"], item["encrypted_content"])
            return event

        return change

    refeed_data(adapter, begin)


@miniature("stream.other-forms-are-read", around=("openrouter",))
def joins_details_of_one_type(adapter: Any) -> None:
    """The reasoning details of a stream that have a text are kept as one, with the last signature."""

    def change(kept: Block) -> None:
        if "reasoning_details" in kept:
            kept["reasoning_details"] = _joined(kept["reasoning_details"])

    _change_extensions(adapter, change)


def _joined(details: list[Block]) -> list[Block]:
    texts = [one for one in details if one["type"] == "reasoning.text"]
    if not texts:
        return details
    text = "".join(one.get("text") or "" for one in texts)
    one = dict(chain.from_iterable(known.items() for known in texts))
    return [*(one for one in details if one not in texts), {**one, "text": text}]


@miniature("stream.other-forms-are-read", around=("cohere",))
def keeps_citations_of_earlier_answers(adapter: Any) -> None:
    """The citations of all streams are in one list, which is kept with each answer."""
    own, cited = adapter.answer_stream, list[Block]()

    def answer_stream(head: Any, info: Any) -> Any:
        stream = own(head, info)
        stream._citations = cited  # noqa: SLF001 - a miniature spoils what it is made of
        return stream

    adapter.answer_stream = answer_stream


@miniature("stream.failures-in-any-form-are-errors", around=("bedrock", "anthropic"))
def keeps_thoughts_that_break_off(adapter: Any) -> None:
    """What came of a thought before a stream failed is kept as a thought without a signature."""
    change_streams(adapter, _with_what_came)


def _with_what_came(events: Events) -> Events:
    thought = _thought_of(events)
    *others, end = as_data(events)
    message: dict[str, Any] = end.get("message") or {}
    extensions = _extensions_of(end)
    if end["finish"] != "error" or not extensions:
        return events
    ((dialect, kept),) = extensions.items()
    unfinished = thought[thought.index(".") + 1 :]
    at = len(kept["blocks"]) + bool(message["content"])
    kept["blocks"].append({"at": at, "block": _UNSIGNED[dialect](unfinished)})
    return [*others, end]


_UNSIGNED: Final[Mapping[str, Callable[[str], Block]]] = {
    "anthropic-messages": lambda text: {"type": "thinking", "thinking": text, "signature": ""},
    "bedrock-converse": lambda text: {"reasoningContent": {"reasoningText": {"text": text}}},
}


@miniature("stream.failures-in-any-form-are-errors", around=("deepseek",))
def keeps_reasoning_that_breaks_off(adapter: Any) -> None:
    """What came of the reasoning before a stream failed is kept as all of it."""
    change_streams(adapter, _with_reasoning_so_far)


def _with_reasoning_so_far(events: Events) -> Events:
    *others, end = events
    kept = {"deepseek-chat": {"reasoning_content": _thought_of(events)}}
    has_more = end.get("message") or end["finish"] != "error" or not _thought_of(events)
    return events if has_more else [*others, {**end, "message": {**_EMPTY, "extensions": kept}}]


def _thought_of(events: Events) -> str:
    return "".join(event["text"] for event in events if event.get("token_type", "").endswith("THINKING"))


_EMPTY: Final = {"role": "assistant", "content": ""}


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("openai-responses",))
def thinks_first(adapter: Any) -> None:
    """All reasoning of an answer goes back before its calls."""

    def change(payload: Any) -> Any:
        sent: list[Block] = payload["input"]
        kinds = [item.get("type") for item in sent]
        if kinds.count("reasoning") < 2 or "function_call" not in kinds:
            return payload
        first = kinds.index("reasoning")
        return {**payload, "input": [*sent[:first], *sorted(sent[first:], key=lambda one: one["type"] != "reasoning")]}

    change_payload(adapter, change)


@miniature("stream.other-forms-are-read", around=("openrouter",))
def joins_details_of_one_index(adapter: Any) -> None:
    """The reasoning details of a stream that have the same index are kept as one, of the last type."""

    def change(kept: Block) -> None:
        by_index: dict[Any, Block] = {}
        for one in kept.get("reasoning_details", ()):
            by_index[one.get("index")] = {**by_index.get(one.get("index"), {}), **one}
        if by_index:
            kept["reasoning_details"] = [*by_index.values()]

    _change_extensions(adapter, change)
