"""OpenAI's rules about the options and tools of a response."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.openai_responses.items import Items
from art_compliance.dialects.ruling import Broken, below, child, outside, rule, schemas
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CALL_ID: Final = 64


@rule("responses.max-output-tokens-16")
def max_output_tokens(request: Items) -> Iterator[Broken]:
    """At least."""
    yield from below(request.root, ("max_output_tokens",), 16)


@rule("responses.sampling-range")
def sampling_range(request: Items) -> Iterator[Broken]:
    """Both ends are allowed."""
    yield from outside(request.root, {"temperature": (0, 2), "top_p": (0, 1)})


@rule("responses.call-id-len64")
def call_id_length(request: Items) -> Iterator[Broken]:
    """Of calls and of results."""
    for item in (*request.calls, *request.outputs):
        if not 1 <= len(item.call_id or "") <= _CALL_ID:
            yield Broken(f"{item.pointer}/call_id", f"it has {len(item.call_id or '')} characters; 1 to 64 are allowed")


@rule("responses.tool-name")
def tool_name(request: Items) -> Iterator[Broken]:
    """Of tools that are offered, and of calls."""
    for place in (*request.tools, *request.calls):
        name = place.value.get("name")
        if isinstance(name, str) and not _NAME.fullmatch(name):
            yield Broken(f"{place.pointer}/name", f"the name {show(name)} must match {_NAME.pattern}")


@rule("responses.input-nonempty")
def input_nonempty(request: Items) -> Iterator[Broken]:
    """A stored prompt or conversation may stand in its place."""
    given = request.body.get("input")
    has_other = request.body.get("prompt") or not request.is_whole
    if (given is None or (is_array(given) and not given)) and not has_other:
        yield Broken("/input", "there is no input")


@rule("responses.model-required")
def model_required(request: Items) -> Iterator[Broken]:
    """A stored prompt names one."""
    if request.body.get("model") is None and not request.body.get("prompt"):
        yield Broken("/model", "the request names no model")


@rule("responses.strict-schema-required")
def strict_schema_required(request: Items) -> Iterator[Broken]:
    """Of tools and of the answer's schema, where they say that they are strict."""
    formats = child(child(request.root, "text"), "format")
    strict = [(tool, "parameters") for tool in request.tools] + [(formats, "schema")]
    for place, name in strict:
        if place.value.get("strict") is True:
            for schema in schemas(child(place, name)):
                properties, required = schema.value.get("properties"), schema.value.get("required")
                missing = set(properties) - _names(required) if is_object(properties) else set[str]()
                if missing:
                    yield Broken(schema.pointer, f"strict, but required lacks {', '.join(map(show, sorted(missing)))}")


def _names(required: object) -> set[str]:
    return {name for name in required if isinstance(name, str)} if is_array(required) else set()


_EFFORTS: Final = ("low", "medium", "high", None)


@rule("responses.effort-models")
def effort_models(request: Items) -> Iterator[Broken]:
    """Newer models know more of them."""
    effort = child(request.root, "reasoning").value.get("effort")
    if isinstance(effort, str) and effort not in _EFFORTS:
        yield Broken("/reasoning/effort", f"the model does not take the effort {show(effort)}")


@rule("responses.not-both-states")
def not_both_states(request: Items) -> Iterator[Broken]:
    """Both say what came before."""
    if request.body.get("previous_response_id") and request.body.get("conversation"):
        yield Broken("/previous_response_id", "previous_response_id and conversation are both given")
