"""Anthropic's rules about turns, texts and thinking."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter

from art_compliance.dialects.anthropic_messages.messages import Messages, Turn, blank_texts
from art_compliance.dialects.ruling import Broken, Place, child, number, rule


@rule("anthropic.messages-nonempty")
def messages_nonempty(request: Messages) -> Iterator[Broken]:
    """A missing list is left to the wire schema."""
    if request.body.get("messages") == []:
        yield Broken("/messages", "there are no messages")


@rule("anthropic.messages-limit")
def messages_limit(request: Messages) -> Iterator[Broken]:
    """Counted before messages of one role are joined."""
    if len(request.messages) > 100_000:
        yield Broken("/messages", f"there are {len(request.messages)} messages; at most 100,000 are allowed")


@rule("anthropic.first-is-user")
def first_is_user(request: Messages) -> Iterator[Broken]:
    """System messages aside."""
    if request.turns and request.turns[0].role == "assistant":
        yield Broken("/messages/0", "the first message is from the assistant")


@rule("anthropic.no-system-role-first")
def no_system_role_first(request: Messages) -> Iterator[Broken]:
    """At any position but the first, which is another rule's."""
    for message in request.messages[1:]:
        if message.role == "system":
            yield Broken(f"{message.pointer}/role", "there is a system message in messages")


@rule("anthropic.system-role-not-first")
def system_role_not_first(request: Messages) -> Iterator[Broken]:
    """One that only gives directions, without content, is accepted anywhere."""
    for message in request.messages[:1]:
        if message.role == "system" and not message.is_empty:
            yield Broken(f"{message.pointer}/role", "the first message is a system message; it belongs in system")


@rule("anthropic.nonempty-content")
def nonempty_content(request: Messages) -> Iterator[Broken]:
    """An empty text and an empty list alike. Neighbours of one role are joined, and the last turn may be an answer."""
    if not any(message.is_empty for message in request.messages):
        return
    said = [message for message in request.messages if message.role != "system"]
    runs = [tuple(run) for _, run in groupby(said, attrgetter("role"))]
    for at, run in enumerate(runs, 1):
        is_final = at == len(runs) and run[0].role == "assistant"
        if all(message.is_empty for message in run) and not is_final:
            yield Broken(f"{run[0].pointer}/content", "the message is empty")


@rule("anthropic.text-block-nonempty")
def text_block_nonempty(request: Messages) -> Iterator[Broken]:
    """Those marked for the cache break `anthropic.cache-control-not-on-empty` instead."""
    for block in _empty_texts(request):
        if not block.value.get("cache_control"):
            yield Broken(f"{block.pointer}/text", "the text is empty")


@rule("anthropic.cache-control-not-on-empty")
def cache_control_not_on_empty(request: Messages) -> Iterator[Broken]:
    """Whatever its kind."""
    for block in _empty_texts(request):
        if block.value.get("cache_control"):
            yield Broken(f"{block.pointer}/text", "an empty text block has cache_control")


def _empty_texts(request: Messages) -> list[Place]:
    """The empty text blocks of system prompt and messages."""
    found = (blank_texts(request.system), *(message.blanks for message in request.messages))
    return [block for blanks in found for block in blanks if block.value["text"] == ""]


@rule("anthropic.text-block-nonblank")
def text_block_nonblank(request: Messages) -> Iterator[Broken]:
    """A blank text next to a real one is accepted. Content that is plain text counts as a block."""
    for message in request.messages:
        if message.is_blank:
            yield Broken(f"{message.pointer}/content", "the text is blank")
        yield from _blank_among(message.blocks, message.blanks)
    yield from _blank_among(request.system, blank_texts(request.system))


def _blank_among(blocks: tuple[Place, ...], blanks: tuple[Place, ...]) -> Iterator[Broken]:
    """The blank texts of a content, if it has no other text. Empty ones break another rule."""
    if blanks and len(blanks) == sum([block.value.get("type") == "text" for block in blocks]):
        for block in blanks:
            if block.value["text"]:
                yield Broken(f"{block.pointer}/text", "the text is blank, and there is no other text")


@rule("anthropic.final-assistant-trailing-ws")
def final_assistant_trailing_ws(request: Messages) -> Iterator[Broken]:
    """Its last block, or its text."""
    for message in _final_assistant(request):
        content, blocks = message.value.get("content"), message.blocks
        text = blocks[-1].value.get("text") if blocks else content
        if isinstance(text, str) and text != text.rstrip() and not text.isspace():
            pointer = f"{blocks[-1].pointer}/text" if blocks else f"{message.pointer}/content"
            yield Broken(pointer, "the last text ends with whitespace")


@rule("anthropic.prefill-unsupported")
def prefill_unsupported(request: Messages) -> Iterator[Broken]:
    """A turn paused by the provider's own tools is not a prefill: it is sent back to be continued."""
    for message in _final_assistant(request):
        kinds = [str(block.value.get("type")) for block in message.blocks]
        if not any(kind.endswith("tool_result") or kind in _SERVER_CALLS for kind in kinds):
            yield Broken(message.pointer, f"{request.model} does not accept an assistant message at the end")


_SERVER_CALLS = ("server_tool_use", "mcp_tool_use")


def _final_assistant(request: Messages) -> list[Turn]:
    return [message for message in request.messages[-1:] if message.role == "assistant"]


_THINKING = ("thinking", "redacted_thinking")


def _thinks(request: Messages) -> bool:
    """Whether thinking is on. `adaptive` leaves it to the model and requires nothing."""
    return child(request.root, "thinking").value.get("type") == "enabled"


@rule("anthropic.thinking-block-first")
def thinking_block_first(request: Messages) -> Iterator[Broken]:
    """In the rounds of calls still under way: the model may think only once, before the first of them."""
    rounds = _rounds_under_way(request) if _thinks(request) else []
    if rounds and not any(turn.blocks[0].value.get("type") in _THINKING for turn in rounds):
        yield Broken(
            rounds[0].blocks[0].pointer,
            "thinking is enabled, but the turn with the last calls does not start with a thinking block",
        )


def _rounds_under_way(request: Messages) -> list[Turn]:
    """The assistant's turns of calls, from the last one back, with only results between them."""
    rounds: list[Turn] = []
    for called, answered in zip(request.turns[-2::-2], request.turns[::-2], strict=False):
        if called.role != "assistant" or not called.calls or not answered.results:
            break
        rounds.append(called)
    return rounds


@rule("anthropic.thinking-not-last")
def thinking_not_last(request: Messages) -> Iterator[Broken]:
    """In an assistant's turn."""
    for turn in request.turns:
        blocks = turn.blocks if turn.role == "assistant" else ()
        if blocks and blocks[-1].value.get("type") in _THINKING:
            yield Broken(blocks[-1].pointer, "the turn ends with a thinking block")


@rule("anthropic.thinking-budget-min")
def thinking_budget_min(request: Messages) -> Iterator[Broken]:
    """The upper limit depends on a header, which is not in the body."""
    budget = number(child(request.root, "thinking").value.get("budget_tokens"))
    if _thinks(request) and budget is not None and budget < 1024:
        yield Broken("/thinking/budget_tokens", f"the budget is {budget}; it must be at least 1024")


@rule("anthropic.thinking-no-forced-tool")
def thinking_no_forced_tool(request: Messages) -> Iterator[Broken]:
    """Thinking allows only `auto` and `none`."""
    if _thinks(request) and child(request.root, "tool_choice").value.get("type") in ("any", "tool"):
        yield Broken("/tool_choice", "thinking is enabled, but tool_choice forces a call")
