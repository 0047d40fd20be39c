"""Strategies for JSON of any shape, made of the words that wire formats use."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

_KEYS: Final = (
    "messages contents role user model assistant tool system content parts text type function functionCall",
    "functionResponse name args arguments id response tools functionDeclarations tool_calls tool_call_id",
    "generationConfig stopSequences toolConfig functionCallingConfig mode response_format json_schema schema",
    "stop systemInstruction parameters tool_choice image_url url inlineData fileData thoughtSignature",
    "reasoning_content reasoning reasoning_details thinking functions function_call custom prefix",
    "image source base64 tool_use tool_result tool_use_id input input_schema output_config format stop_sequences",
)


WORDS: Final = st.sampled_from(" ".join(_KEYS).split())


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=25,
)
