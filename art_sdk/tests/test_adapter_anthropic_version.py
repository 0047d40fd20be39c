"""Anthropic's adapter at the versions of the provider's API, which the header `anthropic-version` names."""

from __future__ import annotations

from typing import Any

import pytest

from art_sdk import AnthropicAdapter
from short_messages import Refusal

USER: dict[str, Any] = {"role": "user", "content": "hi"}


@pytest.mark.parametrize("name", ["anthropic-version", "Anthropic-Version"])
@pytest.mark.parametrize(("option", "value"), [("temperature", 1.0), ("top_p", 0.9)])
def test_the_next_version_of_the_api_has_no_sampling_options(
    key: str, refusal: Refusal, name: str, option: str, value: float
) -> None:
    adapter = AnthropicAdapter(api_key=key, headers={name: "2026-10-21"})
    assert adapter.prepare([USER], {"thread_id": "t"}).request.headers["anthropic-version"] == "2026-10-21"
    error = refusal(adapter, [USER], **{option: value})
    reason = (
        f"version 2026-10-21 of Anthropic's API does not accept {option}; leave it out [anthropic.sampling-removed]"
    )
    assert error.message.endswith(reason)
