"""Anthropic's rules about options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from art_compliance.dialects.anthropic_messages.hosted import is_hosted
from art_compliance.dialects.anthropic_messages.messages import Messages, count_marks
from art_compliance.dialects.ruling import Broken, Place, child, number, objects, outside, rule, schemas
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object, json_type


@rule("anthropic.max-tokens-required")
def max_tokens_required(request: Messages) -> Iterator[Broken]:
    """Counting tokens needs no limit; it has its own URL."""
    if request.body and request.body.get("max_tokens") is None and "count_tokens" not in (request.url or ""):
        yield Broken("/max_tokens", "max_tokens is missing")


@rule("anthropic.max-tokens-min")
def max_tokens_min(request: Messages) -> Iterator[Broken]:
    """0 only fills the cache."""
    limit = number(request.body.get("max_tokens"))
    if limit is not None and limit < 0:
        yield Broken("/max_tokens", f"max_tokens is {limit}; it must be at least 0")


@rule("anthropic.version-in-body")
def version_in_body(request: Messages) -> Iterator[Broken]:
    """At Anthropic itself, it is a header."""
    if is_hosted(request.url) and request.body and request.body.get("anthropic_version") is None:
        yield Broken("/anthropic_version", "anthropic_version is missing; Bedrock and Vertex AI require it in the body")


@rule("anthropic.effort-level")
def effort_level(request: Messages) -> Iterator[Broken]:
    """Later models have a further level."""
    if child(request.root, "output_config").value.get("effort") == "xhigh":
        yield Broken("/output_config/effort", f"{request.model} does not support the effort 'xhigh'")


@rule("anthropic.model-nonempty")
def model_nonempty(request: Messages) -> Iterator[Broken]:
    """A missing model is left to the wire schema."""
    if request.body.get("model") == "":
        yield Broken("/model", "the model is empty")


@rule("anthropic.sampling-number")
def sampling_number(request: Messages) -> Iterator[Broken]:
    """The limits are other rules'; `null` is not judged."""
    for name in ("temperature", "top_p"):
        value = request.body.get(name)
        if value is not None and number(value) is None:
            yield Broken(f"/{name}", f"{name} is {json_type(value)}; it must be a number")


@rule("anthropic.temperature-topp-exclusive")
def temperature_topp_exclusive(request: Messages) -> Iterator[Broken]:
    """Whatever the values."""
    if request.body.get("temperature") is not None and request.body.get("top_p") is not None:
        yield Broken("/top_p", f"{request.model} accepts temperature or top_p, not both")


_DEFAULTS: Final = {"temperature": 1.0, "top_p": 0.99}


@rule("anthropic.temperature-deprecated")
def temperature_deprecated(request: Messages) -> Iterator[Broken]:
    """Values at or above the defaults are tolerated."""
    for name, default in _DEFAULTS.items():
        value = number(request.body.get(name))
        if value is not None and value < default:
            yield Broken(f"/{name}", f"{request.model} does not accept {name}")
    if request.body.get("top_k") is not None:
        yield Broken("/top_k", f"{request.model} does not accept top_k")


@rule("anthropic.temperature-range")
def temperature_range(request: Messages) -> Iterator[Broken]:
    """Both sampling options."""
    yield from outside(request.root, {"temperature": (0.0, 1.0), "top_p": (0.0, 1.0)})


@rule("anthropic.stop-nonblank")
def stop_nonblank(request: Messages) -> Iterator[Broken]:
    """An empty one counts as blank."""
    stops: Any = request.body.get("stop_sequences")
    for at, stop in enumerate(stops if is_array(stops) else ()):
        if isinstance(stop, str) and not stop.strip():
            yield Broken(f"/stop_sequences/{at}", f"the stop sequence {show(stop)} is blank")


@rule("anthropic.cache-control-max4")
def cache_control_max4(request: Messages) -> Iterator[Broken]:
    """Counts tools, system prompt and messages, with the blocks inside results; the body's own mark does not count."""
    count = count_marks(request.body.get("tools")) + count_marks(request.body.get("system"))
    count += sum([message.marks for message in request.messages])
    if count > 4:
        yield Broken("", f"{count} blocks have cache_control; at most 4 are allowed")


@rule("anthropic.cache-ttl-order")
def cache_ttl_order(request: Messages) -> Iterator[Broken]:
    """In the provider's order: tools, system prompt, messages. Five minutes is the default."""
    is_short = False
    for place in _marked(request):
        ttl = child(place, "cache_control").value.get("ttl") or "5m"
        if ttl == "1h" and is_short:
            yield Broken(
                f"{place.pointer}/cache_control/ttl",
                "a block cached for one hour comes after one cached for five minutes",
            )
        is_short = is_short or ttl == "5m"


def _marked(request: Messages) -> Iterator[Place]:
    """The tools and blocks with a mark for the cache; those inside results, too."""
    blocks = [*objects(request.root, "tools"), *request.system]
    for message in request.messages:
        for block in message.blocks if message.marks else ():
            blocks += [block, *objects(block, "content")]
    return (block for block in blocks if is_object(block.value.get("cache_control")))


@rule("anthropic.max-tokens-max")
def max_tokens_max(request: Messages) -> Iterator[Broken]:
    """Of the models whose limit is known from a refusal."""
    limit = number(request.body.get("max_tokens"))
    if limit is not None and limit > 64_000:
        yield Broken("/max_tokens", f"max_tokens is {limit}; {request.model} generates at most 64000")


@rule("anthropic.output-schema-closed")
def output_schema_closed(request: Messages) -> Iterator[Broken]:
    """Every object inside, of the answer's format and of strict tools."""
    for schema in _compiled(request):
        if schema.value.get("type") == "object" and schema.value.get("additionalProperties") is not False:
            yield Broken(schema.pointer, "an object's schema must have additionalProperties: false")


@rule("anthropic.output-schema-keywords")
def output_schema_keywords(request: Messages) -> Iterator[Broken]:
    """In the same schemas. Lengths of texts are documented as unsupported, too, but were accepted: not judged."""
    for schema in _compiled(request):
        for name in sorted(_UNSUPPORTED & schema.value.keys()):
            yield Broken(f"{schema.pointer}/{name}", f"{name} is not supported in the schema of an output")
        least = schema.value.get("minItems")
        if least is not None and least not in (0, 1):
            yield Broken(f"{schema.pointer}/minItems", f"minItems is {show(least)}; only 0 and 1 are supported")


_UNSUPPORTED: Final = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems", "oneOf"}
)


@rule("anthropic.output-schema-recursive")
def output_schema_recursive(request: Messages) -> Iterator[Broken]:
    """In the same schemas: a grammar is made of them with every reference replaced by what it refers to."""
    for root in _roots(request):
        references = {
            schema.pointer: f"{root.pointer}{schema.value['$ref'][1:]}"
            for schema in schemas(root)
            if isinstance(schema.value.get("$ref"), str) and schema.value["$ref"].startswith("#")
        }
        for pointer in references:
            if _leads_back(pointer, references):
                yield Broken(f"{pointer}/$ref", "the reference leads back to a schema that it is in")


def _leads_back(start: str, references: Mapping[str, str]) -> bool:
    """Whether a reference is in a schema that it, or a reference in what it refers to, refers to."""
    waiting, seen = [references[start]], set[str]()
    while waiting:
        target = waiting.pop()
        inside = [one for one in references if f"{one}/".startswith(f"{target}/")]
        if start in inside:
            return True
        waiting += [references[one] for one in inside if references[one] not in seen]
        seen.add(target)
    return False


def _compiled(request: Messages) -> Iterator[Place]:
    """The schemas that a grammar is made of, and all inside them."""
    return (schema for root in _roots(request) for schema in schemas(root))


def _roots(request: Messages) -> list[Place]:
    """The schemas that a grammar is made of: the answer's format, and those of strict tools."""
    formats = (child(child(request.root, "output_config"), "format"), child(request.root, "output_format"))
    roots = [child(one, "schema") for one in formats if is_object(one.value.get("schema"))]
    return roots + [child(tool, "input_schema") for tool in request.tools if tool.value.get("strict") is True]
