"""Bedrock's rules about messages. Statements and sources: `fixtures/rules/bedrock-converse.toml`."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from art_compliance.dialects.bedrock_converse import media_rules, model_rules
from art_compliance.dialects.bedrock_converse.conversation import Conversation
from art_compliance.dialects.json_schemas import schema_faults
from art_compliance.dialects.ruling import Broken, child, objects, rule, rules_of, too_many
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object, json_type


@rule("bedrock.results-expected")
def results_expected(request: Conversation) -> Iterator[Broken]:
    """In the message that follows. Calls at the very end have no message after them."""
    for turn, after in pairwise(request.turns):
        answered = [result.value.get("toolUseId") for result in after.results]
        for call in turn.calls if turn.role == "assistant" else ():
            if isinstance(call.value.get("toolUseId"), str) and call.value["toolUseId"] not in answered:
                yield Broken(
                    call.pointer, f"the call {show(call.value['toolUseId'])} has no result in the next message"
                )


@rule("bedrock.results-not-more")
def results_not_more(request: Conversation) -> Iterator[Broken]:
    """Reported at the first result beyond the calls."""
    called = 0
    for turn in request.turns:
        if len(turn.results) > called:
            count = len(turn.results)
            yield Broken(turn.results[called].pointer, f"{count} results follow a message with {called} calls")
        called = len(turn.calls) if turn.role == "assistant" else 0


@rule("bedrock.alternate")
def alternate(request: Conversation) -> Iterator[Broken]:
    """System messages aside."""
    said = [turn for turn in request.turns if turn.role in ("user", "assistant")]
    for turn, after in pairwise(said):
        if turn.role == after.role:
            yield Broken(f"{after.pointer}/role", f"two consecutive messages have the role {turn.role}")


@rule("bedrock.start-user")
def start_user(request: Conversation) -> Iterator[Broken]:
    """The first message that is not a system message."""
    first = next((turn for turn in request.turns if turn.role != "system"), None)
    if first is not None and first.role == "assistant":
        yield Broken(f"{first.pointer}/role", "the first message is from the assistant")
    elif request.body.get("messages") == []:
        yield Broken("/messages", "there are no messages")


@rule("bedrock.ids-unique")
def ids_unique(request: Conversation) -> Iterator[Broken]:
    """Of the calls of a message, and of its results."""
    for turn in request.turns:
        for places in (turn.calls, turn.results):
            seen: set[str] = set()
            for place in places:
                use = place.value.get("toolUseId")
                if isinstance(use, str) and use in seen:
                    yield Broken(f"{place.pointer}/toolUseId", f"the id {show(use)} occurs twice in the message")
                seen.add(str(use))


@rule("bedrock.text-not-blank")
def text_not_blank(request: Conversation) -> Iterator[Broken]:
    """The texts of messages. Those of results may be blank."""
    for turn in request.turns:
        for block in turn.blocks:
            text = block.value.get("text")
            if isinstance(text, str) and not text.strip():
                yield Broken(f"{block.pointer}/text", "the text is blank")


@rule("bedrock.content-nonempty")
def content_nonempty(request: Conversation) -> Iterator[Broken]:
    """Of every role."""
    for turn in request.turns:
        if turn.is_empty:
            yield Broken(f"{turn.pointer}/content", "the message has no content")


@rule("bedrock.toolconfig-with-tool-blocks")
def toolconfig_with_tool_blocks(request: Conversation) -> Iterator[Broken]:
    """Reported once, at the first call or result."""
    if is_object(request.body.get("toolConfig")):
        return
    for place in [place for turn in request.turns for place in (*turn.calls, *turn.results)][:1]:
        yield Broken(place.pointer, "the conversation has tool calls or results, but the request has no toolConfig")


@rule("bedrock.tool-result-json-object")
def tool_result_json_object(request: Conversation) -> Iterator[Broken]:
    """A list, a string or a number must be wrapped in an object."""
    for turn in request.turns:
        for result in turn.results:
            for part in objects(result, "content"):
                if "json" in part.value and not is_object(part.value["json"]):
                    yield Broken(f"{part.pointer}/json", "the JSON of the result is not an object")


@rule("bedrock.tool-input-object")
def tool_input_object(request: Conversation) -> Iterator[Broken]:
    """A missing input is left to the wire schema."""
    for turn in request.turns:
        for call in turn.calls:
            if not is_object(call.value.get("input", {})):
                yield Broken(f"{call.pointer}/input", "the input is not an object")


@rule("bedrock.error-result-nonempty")
def error_result_nonempty(request: Conversation) -> Iterator[Broken]:
    """An empty list of blocks."""
    for turn in request.turns:
        for result in turn.results:
            content = result.value.get("content")
            if result.value.get("status") == "error" and is_array(content) and not content:
                yield Broken(f"{result.pointer}/content", "a result with the status error has no content")


@rule("bedrock.no-text-with-tool-result")
def no_text_with_tool_result(request: Conversation) -> Iterator[Broken]:
    """Text in the same message as the results."""
    for turn in request.turns:
        for block in turn.blocks if turn.results else ():
            if "text" in block.value:
                yield Broken(block.pointer, "there is text in a message with tool results")


@rule("bedrock.tools-nonempty")
def tools_nonempty(request: Conversation) -> Iterator[Broken]:
    """A missing list is left to the wire schema."""
    tools = child(request.root, "toolConfig").value.get("tools")
    if is_array(tools) and not tools:
        yield Broken("/toolConfig/tools", "toolConfig has no tools")


@rule("bedrock.schema-valid")
def schema_valid(request: Conversation) -> Iterator[Broken]:
    """The schemas of tools; an empty one says nothing."""
    for tool in objects(child(request.root, "toolConfig"), "tools"):
        given = child(child(tool, "toolSpec"), "inputSchema")
        root = child(given, "json")
        if not is_object(given.value.get("json", {})):
            yield Broken(root.pointer, f"the schema is {json_type(given.value['json'])}; it must be an object")
        if root.value and root.value.get("type") != "object":
            yield Broken(root.pointer, f'the type of the schema is {show(root.value.get("type"))}; it must be "object"')
        for pointer, message in schema_faults(root.value) if root.value.get("type") == "object" else ():
            yield Broken(f"{root.pointer}{pointer}", message)


@rule("bedrock.response-paths")
def response_paths(request: Conversation) -> Iterator[Broken]:
    """A path is `/` and a name, as often as needed; `~` stands only in `~0` and `~1`."""
    paths: Any = request.body.get("additionalModelResponseFieldPaths")
    yield from too_many(paths, "/additionalModelResponseFieldPaths", "paths", 10)
    for at, path in enumerate(paths if is_array(paths) else ()):
        if isinstance(path, str) and not _JSON_POINTER.fullmatch(path):
            yield Broken(f"/additionalModelResponseFieldPaths/{at}", f"{show(path)} is not a JSON Pointer, or empty")


_JSON_POINTER: Final = re.compile(r"(/([^~/]|~[01])*)+")


@rule("bedrock.stop-max2500")
def stop_max2500(request: Conversation) -> Iterator[Broken]:
    """Models may take fewer."""
    stops = child(request.root, "inferenceConfig").value.get("stopSequences")
    yield from too_many(stops, "/inferenceConfig/stopSequences", "stop sequences", 2500)


@rule("bedrock.request-metadata")
def request_metadata(request: Conversation) -> Iterator[Broken]:
    """The wire schema judges the values."""
    entries: Any = request.body.get("requestMetadata")
    if is_object(entries):
        if not 1 <= len(entries) <= _MOST_METADATA:
            yield Broken("/requestMetadata", f"there are {len(entries)} entries; 1 to {_MOST_METADATA} are allowed")
        for key in entries:
            if not _METADATA_KEY.fullmatch(key):
                yield Broken("/requestMetadata", f"the key {show(key)} must match {_METADATA_KEY.pattern}")


_MOST_METADATA: Final = 16
_METADATA_KEY: Final = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,\-.]{1,256}", re.ASCII)


@rule("bedrock.tool-names-unique")
def tool_names_unique(request: Conversation) -> Iterator[Broken]:
    """All kinds of tools; only those of the caller have names."""
    tools = [child(tool, "toolSpec").value.get("name") for tool in objects(child(request.root, "toolConfig"), "tools")]
    for name, count in Counter(name for name in tools if isinstance(name, str)).items():
        if count > 1:
            yield Broken("/toolConfig/tools", f"{count} tools are named {show(name)}")


@rule("bedrock.calls-of-assistant")
def calls_of_assistant(request: Conversation) -> Iterator[Broken]:
    """Other roles are left to the wire schema."""
    for turn in request.turns:
        for call in turn.calls if turn.role == "user" else ():
            yield Broken(call.pointer, "a message of the user has a tool call")


RULES: Final = rules_of(sys.modules[__name__], media_rules, model_rules)

__all__ = ["RULES", "Conversation"]
