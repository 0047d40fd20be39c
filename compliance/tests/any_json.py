"""Strategies for JSON of any shape, made of the words that wire formats use, and for good JSON with a place spoiled."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

_KEYS: Final = (
    "messages contents role user model assistant tool system content parts text type function functionCall",
    "functionResponse name args arguments id response tools functionDeclarations tool_calls tool_call_id",
    "generationConfig stopSequences toolConfig functionCallingConfig mode response_format json_schema schema",
    "stop systemInstruction parameters tool_choice image_url url inlineData fileData thoughtSignature",
    "reasoning_content reasoning reasoning_details thinking functions function_call custom prefix",
    "image source base64 tool_use tool_result tool_use_id input input_schema output_config format stop_sequences",
    "toolUse toolResult toolConfig toolSpec toolUseId inputSchema json input output call_id item delta index summary",
)


WORDS: Final = st.sampled_from(" ".join(_KEYS).split())


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=25,
)


def nested(depth: int, *, name: str | None = None) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if name is None else {name: value}
    return value


ODD: dict[str, Any] = {
    "null": None,
    "a big number": 10**4_000,
    "a number beyond 64 bits": 2**64,
    "a small number": -1e308,
    "half a surrogate pair": "\ud800",
    "a key that is half a surrogate pair": {"\udfff": "\udfff"},
    "a long text": "x" * 100_000,
    "a long name": {"x" * 10_000: 1},
    "a superscript digit": "²",
    "JSON in text": '{"a": 1e999}',
    "brackets in text": "[" * 5_000,
    "a deep list": nested(150),
    "a list too deep": nested(600),
    "a deep object": nested(600, name="properties"),
    "a list that no reader takes": nested(5_000),
    "many nothings": [None] * 20,
    "many objects": [{}] * 20,
    "a text in a list of lists": [["x"]],
    "objects where texts are": [{"a": 1}],
    "a schema of itself": {"type": "object", "properties": {"a": {"$ref": "#"}}},
    "a wrong pattern": {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
}


def put(payload: Any, steps: list[Any], other: Any) -> Any:
    """The payload with the other value there; the rest is shared."""
    if not steps:
        return other
    changed = dict(payload) if isinstance(payload, dict) else list(payload)
    changed[steps[0]] = put(payload[steps[0]], steps[1:], other)
    return changed


@st.composite
def spoiled(draw: st.DrawFn, good: Any) -> Any:
    """The good value with something else in the place of one of its own."""
    value, steps = good, list[Any]()
    while value and isinstance(value, (dict, list)) and draw(st.integers(0, 4)):
        steps.append(draw(st.sampled_from(list(value) if isinstance(value, dict) else range(len(value)))))
        value = value[steps[-1]]
    return put(good, steps, draw(JSON | st.sampled_from(sorted(ODD)).map(ODD.__getitem__)))
