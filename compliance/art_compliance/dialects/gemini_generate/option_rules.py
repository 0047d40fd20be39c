"""Gemini's rules about options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.gemini_generate.contents import Contents, field, listed, snake
from art_compliance.dialects.gemini_generate.protobuf import MODES, enum_name
from art_compliance.dialects.ruling import Broken, below, child, number, outside, rule, too_many
from art_compliance.quoting import show
from art_sdk.json_data import is_array

_RANGES: Final = {"temperature": (0.0, 2.0), "presencePenalty": (-2.0, 2.0), "frequencyPenalty": (-2.0, 2.0)}
_ALL_RANGES: Final = _RANGES | {snake(name): limits for name, limits in _RANGES.items()}


@rule("gemini.top-p")
def top_p(request: Contents) -> Iterator[Broken]:
    """Both limits are inclusive."""
    yield from outside(request.config, {"topP": (0.0, 1.0), "top_p": (0.0, 1.0)})


@rule("gemini.temperature")
def temperature(request: Contents) -> Iterator[Broken]:
    """Also the ranges of the penalties."""
    yield from outside(request.config, _ALL_RANGES)


@rule("gemini.top-k")
def top_k(request: Contents) -> Iterator[Broken]:
    """The upper limit depends on the model."""
    yield from below(request.config, ("topK", "top_k"), 1)


@rule("gemini.thinking-level-or-budget")
def thinking_level_or_budget(request: Contents) -> Iterator[Broken]:
    """Whatever the values."""
    thinking = child(request.config, "thinkingConfig", "thinking_config")
    if field(thinking, "thinkingLevel") is not None and field(thinking, "thinkingBudget") is not None:
        yield Broken(thinking.pointer, "thinkingLevel and thinkingBudget exclude each other")


_MIME_TYPES: Final = ("text/plain", "application/json", "application/xml", "application/yaml", "text/x.enum")


@rule("gemini.response-mime-type")
def response_mime_type(request: Contents) -> Iterator[Broken]:
    """An empty one counts as missing. Vertex AI is not judged."""
    mime_type = field(request.config, "responseMimeType")
    if isinstance(mime_type, str) and mime_type not in ("", *_MIME_TYPES) and not request.is_vertex:
        known = ", ".join(_MIME_TYPES)
        yield Broken(f"{request.config.pointer}/responseMimeType", f"{show(mime_type)} is not one of {known}")


@rule("gemini.max-output-tokens")
def max_output_tokens(request: Contents) -> Iterator[Broken]:
    """The upper limit depends on the model."""
    yield from below(request.config, ("maxOutputTokens", "max_output_tokens"), 1)


@rule("gemini.stop-max5")
def stop_max5(request: Contents) -> Iterator[Broken]:
    """Of any length."""
    pointer = f"{request.config.pointer}/stopSequences"
    yield from too_many(field(request.config, "stopSequences"), pointer, "stop sequences", 5)


_TYPES_WITH_SCHEMA: Final = ("application/json", "text/x.enum")


@rule("gemini.response-schema-mime")
def response_schema_mime(request: Contents) -> Iterator[Broken]:
    """The type is JSON, or one word of an enum."""
    for name in ("responseSchema", "responseJsonSchema"):
        mime_type = field(request.config, "responseMimeType")
        if field(request.config, name) is not None and mime_type not in _TYPES_WITH_SCHEMA:
            yield Broken(
                f"{request.config.pointer}/{name}",
                f"there is a response schema, but the MIME type is {show(mime_type)}",
            )


@rule("gemini.allowed-names-any")
def allowed_names_any(request: Contents) -> Iterator[Broken]:
    """The newer mode `VALIDATED` allows names, too."""
    mode = request.calling.value.get("mode")
    if field(request.calling, "allowedFunctionNames") and enum_name(mode, MODES) not in ("ANY", "VALIDATED"):
        message = f"allowed functions need the mode ANY or VALIDATED; the mode is {show(mode)}"
        yield Broken(f"{request.calling.pointer}/allowedFunctionNames", message)


@rule("gemini.allowed-names-declared")
def allowed_names_declared(request: Contents) -> Iterator[Broken]:
    """Without any declaration, `gemini.calling-config-needs-functions` is broken instead."""
    names: Any = field(request.calling, "allowedFunctionNames")
    declared = [one.value.get("name") for one in request.declarations]
    for at, name in enumerate(names if is_array(names) and declared else ()):
        if name not in declared:
            yield Broken(
                f"{request.calling.pointer}/allowedFunctionNames/{at}", f"the function {show(name)} is not declared"
            )


@rule("gemini.calling-config-needs-functions")
def calling_config_needs_functions(request: Contents) -> Iterator[Broken]:
    """In the modes that would force a call."""
    if not request.declarations and enum_name(request.calling.value.get("mode"), MODES) in ("ANY", "VALIDATED"):
        yield Broken(request.calling.pointer, "a function call is forced, but no function is declared")


@rule("gemini.thinking-level-models")
def thinking_level_models(request: Contents) -> Iterator[Broken]:
    """They have a budget instead."""
    thinking = child(request.config, "thinkingConfig", "thinking_config")
    if field(thinking, "thinkingLevel") is not None:
        yield Broken(f"{thinking.pointer}/thinkingLevel", f"{request.model} supports a thinking budget, not a level")


@rule("gemini.thinking-budget-flash")
def thinking_budget_flash(request: Contents) -> Iterator[Broken]:
    """-1 leaves it to the model, and 0 turns thinking off."""
    yield from _wrong_budget(request, 0, 24_576)


@rule("gemini.thinking-budget-pro")
def thinking_budget_pro(request: Contents) -> Iterator[Broken]:
    """-1 leaves it to the model; thinking cannot be turned off."""
    yield from _wrong_budget(request, 128, 32_768)


def _wrong_budget(request: Contents, least: int, most: int) -> Iterator[Broken]:
    thinking = child(request.config, "thinkingConfig", "thinking_config")
    budget = number(field(thinking, "thinkingBudget"))
    if budget is not None and budget != -1 and not least <= budget <= most:
        message = f"the budget is {budget}; {request.model} takes {least} to {most}, or -1"
        yield Broken(f"{thinking.pointer}/thinkingBudget", message)


@rule("gemini.logprobs")
def logprobs(request: Contents) -> Iterator[Broken]:
    """0 counts as absent."""
    count, pointer = number(field(request.config, "logprobs")), f"{request.config.pointer}/logprobs"
    if count and not field(request.config, "responseLogprobs"):
        yield Broken(pointer, "logprobs needs responseLogprobs: true")
    elif count is not None and not 0 <= count <= 20:
        yield Broken(pointer, f"logprobs is {count}; it must be between 0 and 20")


@rule("gemini.cache-has-the-rest")
def cache_has_the_rest(request: Contents) -> Iterator[Broken]:
    """What belongs into the cache cannot stand next to it."""
    for name in ("systemInstruction", "tools", "toolConfig"):
        if field(request.root, "cachedContent") and field(request.root, name):
            yield Broken(f"/{name}", f"{name} cannot be combined with cachedContent; put it into the cache")


@rule("gemini.json-or-functions")
def json_or_functions(request: Contents) -> Iterator[Broken]:
    """Later models take both. Vertex AI is not judged."""
    wants_json = field(request.config, "responseMimeType") == "application/json"
    if wants_json and request.declarations and not request.is_vertex:
        pointer = f"{request.config.pointer}/responseMimeType"
        yield Broken(pointer, f"{request.model} supports functions or a JSON response, not both")


@rule("gemini.search-or-functions")
def search_or_functions(request: Contents) -> Iterator[Broken]:
    """Vertex AI is not judged."""
    for tool in listed(request.root, "tools") if request.declarations and not request.is_vertex else ():
        for name in ("googleSearch", "urlContext"):
            if field(tool, name) is not None and not _is_combined(request):
                yield Broken(
                    f"{tool.pointer}/{name}", f"{request.model} does not support {name} together with functions"
                )


def _is_combined(request: Contents) -> bool:
    config = child(request.root, "toolConfig", "tool_config")
    return field(config, "includeServerSideToolInvocations") is True
