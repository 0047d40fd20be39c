"""OpenAI's rules about the options of a response."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.openai_chat import option_rules as chat_rules
from art_compliance.dialects.openai_responses.items import Items
from art_compliance.dialects.ruling import Broken, RuleCheck, below, child, number, outside, rule, texts_in
from art_compliance.quoting import show
from art_sdk.json_data import is_array

_CALL_ID: Final = 64


@rule("responses.max-output-tokens-16")
def max_output_tokens(request: Items) -> Iterator[Broken]:
    """At least."""
    yield from below(request.root, ("max_output_tokens",), 16)


@rule("responses.sampling-range")
def sampling_range(request: Items) -> Iterator[Broken]:
    """Both ends are allowed."""
    yield from outside(request.root, {"temperature": (0, 2), "top_p": (0, 1), "top_logprobs": (0, 20)})


@rule("responses.call-id-len64")
def call_id_length(request: Items) -> Iterator[Broken]:
    """Of calls and of results."""
    for item in (*request.calls, *request.outputs):
        if not 1 <= len(item.call_id or "") <= _CALL_ID:
            yield Broken(
                f"{item.pointer}/call_id", f"call_id has {len(item.call_id or '')} characters; 1 to 64 are allowed"
            )


metadata_limits: Final = RuleCheck("responses.metadata-limits", chat_rules.metadata_limits.run)
safety_identifier_length: Final = RuleCheck(
    "responses.safety-identifier-length", chat_rules.safety_identifier_length.run
)


@rule("responses.input-nonempty")
def input_nonempty(request: Items) -> Iterator[Broken]:
    """A stored prompt or conversation may stand in its place. Null is left to the wire schema."""
    given = request.body.get("input", "")
    has_other = request.body.get("prompt") or not request.is_whole
    if (given == "" or (is_array(given) and not given)) and not has_other:
        yield Broken("/input", "there is no input")


@rule("responses.model-required")
def model_required(request: Items) -> Iterator[Broken]:
    """A stored prompt names one. Null is left to the wire schema."""
    if request.body.get("model", "") == "" and not request.body.get("prompt"):
        yield Broken("/model", "the request names no model")


_EFFORTS: Final = ("low", "medium", "high", None)


@rule("responses.effort-models")
def effort_models(request: Items) -> Iterator[Broken]:
    """Newer models support more efforts."""
    effort = child(request.root, "reasoning").value.get("effort")
    if isinstance(effort, str) and effort not in _EFFORTS:
        yield Broken("/reasoning/effort", f"the model does not support the effort {show(effort)}")


@rule("responses.effort-needs-reasoning")
def effort_needs_reasoning(request: Items) -> Iterator[Broken]:
    """Null counts as absent."""
    if child(request.root, "reasoning").value.get("effort") is not None:
        yield Broken("/reasoning/effort", "the model does not reason")


@rule("responses.reasoning-temperature")
def reasoning_temperature(request: Items) -> Iterator[Broken]:
    """The default, which is 1, may be given."""
    if number(request.body.get("temperature")) not in (None, 1):
        yield Broken("/temperature", "a reasoning model accepts only the temperature 1")


@rule("responses.json-word")
def json_word(request: Items) -> Iterator[Broken]:
    """In any text of the input, in upper or lower case. The instructions do not count."""
    wanted = child(child(request.root, "text"), "format").value.get("type")
    is_known = request.is_whole and not request.body.get("prompt") and bool(request.body.get("input"))
    if wanted == "json_object" and is_known:
        refers = any(item.kind == "item_reference" for item in request.items)
        if not refers and not any("json" in text.lower() for text in texts_in(request.body["input"])):
            yield Broken("/text/format", "nothing in the input contains the word json")


@rule("responses.format-name")
def format_name(request: Items) -> Iterator[Broken]:
    """A missing one is left to the wire schema."""
    place = child(child(request.root, "text"), "format")
    name = place.value.get("name")
    if isinstance(name, str) and not _FORMAT_NAME.fullmatch(name):
        yield Broken(f"{place.pointer}/name", f"the name {show(name)} must match {_FORMAT_NAME.pattern}")


_FORMAT_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@rule("responses.not-both-states")
def not_both_states(request: Items) -> Iterator[Broken]:
    """Both say what came before."""
    if request.body.get("previous_response_id") and request.body.get("conversation"):
        yield Broken("/previous_response_id", "previous_response_id and conversation exclude each other")
