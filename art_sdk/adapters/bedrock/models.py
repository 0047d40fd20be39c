"""What families of models at Bedrock refuse that others take, each with the source of the refusal's text.

A model is named by its id (`anthropic.claude-...`), with a region before it (`us.`, `global.`), or by an ARN that ends
in such an id. Of models behind other ARNs, such as an application's profile, nothing is known.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple


class Refusal(NamedTuple):
    """What some models refuse: the pattern of their ids, what to say of it, and the id of the rule."""

    models: re.Pattern[str]
    reason: str
    rule: str | None = None


CLAUDE: Final = re.compile(r"anthropic\.claude")
"""Anthropic's models, which take fields of their own API next to those of Converse."""

# "This model doesn't support system messages": 567-labs/instructor#1753; of Titan: danny-avila/LibreChat#6456
SYSTEM: Final = Refusal(
    re.compile(r"mistral\.(mistral-7b-instruct|mixtral-8x7b-instruct)|amazon\.titan-text"),
    "does not support system messages; use another model, or move the text into a user message",
    "bedrock.system-of-model",
)

# "This model doesn't support tool use": langchain-ai/langchain-aws#447
TOOLS: Final = Refusal(
    re.compile(r"deepseek\.r1"),
    "does not support tools; use another model, or leave the tools out",
    "bedrock.tools-of-model",
)

# "This model doesn't support tool use in streaming mode": earendil-works/pi#3739, run-llama/llama_index#19655
STREAMED_TOOLS: Final = Refusal(
    re.compile(r"meta\.llama[34]-"),
    "does not support tools while streaming; leave stream out, or use another model",
    "bedrock.streamed-tools-of-model",
)

# "doesn't support the stopSequences field": langgenius/dify-official-plugins#1767, crewAIInc/crewAI#4046
STOP: Final = Refusal(
    re.compile(r"qwen\.qwen3|openai\.gpt-oss"),
    "does not support stop sequences; leave stop out",
    "bedrock.stop-of-model",
)

# "cannot be provided in the same turn": langchain-ai/langchain-aws#141, browser-use/browser-use#710.
# Claude and Nova take both: recorded.
TEXT_BESIDE_RESULTS: Final = Refusal(
    re.compile(r"mistral\.|meta\.llama"),
    "does not accept text next to tool results; put an assistant message between them",
    "bedrock.no-text-with-tool-result",
)

# "A conversation must start with a user message": langgenius/dify#12340 of Claude, strands-agents/harness-sdk#2085
# of Nova
START: Final = Refusal(
    re.compile(r"anthropic\.claude|amazon\.nova"),
    "does not accept a conversation that starts with the assistant; add a user message before it",
    "bedrock.start-user",
)

# "does not support assistant message prefill": openclaw/openclaw#72865, anomalyco/opencode#29760
PREFILL: Final = Refusal(
    re.compile(r"claude-[a-z]+-(4-[6-9]|[5-9])(?!\d)"),
    "does not accept an assistant message at the end; end with a user message",
    "bedrock.prefill-of-model",
)

# "cannot both be specified for this model": comet-ml/opik#3021, aws-samples/bedrock-access-gateway#191
BOTH_SAMPLINGS: Final = Refusal(
    re.compile(r"claude-(opus-4-1|[a-z]+-4-[5-9]|[a-z]+-[5-9])(?!\d)"),
    "accepts temperature or top_p, not both; leave one out",
    "bedrock.sampling-of-model",
)

_ALL: Final = (SYSTEM, TOOLS, STREAMED_TOOLS, STOP, TEXT_BESIDE_RESULTS, START, PREFILL, BOTH_SAMPLINGS)


@lru_cache
def refusals_of(model: str) -> frozenset[Refusal]:
    """What this model refuses."""
    return frozenset(one for one in _ALL if one.models.search(model))
