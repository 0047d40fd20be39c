"""Claude at Vertex AI, as docs/adapters.md reaches it: another base URL is not enough, three methods are."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from art_compliance.provider import StrictProvider
from art_sdk import AnthropicAdapter, CallOptions, LLMProviderError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adapters.md"
BASE = "/v1/projects/p/locations/us-east5/publishers/anthropic"
PROMPT = [{"role": "user", "content": "hi"}]


def documented() -> type[AnthropicAdapter]:
    """The adapter of the page."""
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"))
    (source,) = [block for block in blocks if "class VertexClaudeAdapter" in block]
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 - it is our own page's
    made: type[AnthropicAdapter] = names["VertexClaudeAdapter"]
    return made


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_adapter_of_the_page_is_answered_by_vertex(*, stream: bool):
    with StrictProvider("anthropic-messages", service="vertex") as provider:
        adapter = documented()(api_key="token", base_url=provider.url + BASE, model="claude-sonnet-4-5@20250929")
        with closing(adapter):
            answer = adapter.complete_sync(PROMPT, CallOptions(thread_id="t", stream=stream))
        (seen,) = provider.seen()
    assert answer.message.content
    assert (seen.findings, seen.is_streamed) == ((), stream)


def test_another_base_url_alone_is_not_enough():
    with StrictProvider("anthropic-messages", service="vertex") as provider:
        adapter = AnthropicAdapter(api_key="token", base_url=provider.url + BASE)
        with closing(adapter), pytest.raises(LLMProviderError, match="unknown path"):
            adapter.complete_sync(PROMPT, CallOptions(thread_id="t"))
