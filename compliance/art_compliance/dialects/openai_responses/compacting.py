"""Answers a request to compact a conversation: its items become one, which goes back in their place.

Source: `openai.types.responses.CompactedResponse` in openai 3.54, and the Open Responses document, `CompactResource`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any, Final

from art_compliance.dialects.openai_chat.answers import WRITTEN_AT
from art_compliance.dialects.urls import path_of

COMPACT: Final = "/responses/compact"
"""The end of the path, after the base URL."""


def write_compacted(payload: dict[str, Any], target: str) -> bytes | None:
    """The compacted conversation, or None for a request to another path. The same request gets the same answer."""
    if not path_of(target).endswith(COMPACT):
        return None
    given = json.dumps(payload.get("input")).encode()
    digest = hashlib.sha256(given).digest()
    item = {"id": "cmp_written", "type": "compaction", "encrypted_content": base64.b64encode(digest).decode()}
    count = max(1, len(given) // 4)
    body = {
        "id": "resp_compacted",
        "object": "response.compaction",
        "created_at": WRITTEN_AT,
        "output": [item],
        "usage": {
            "input_tokens": count,
            "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
            "output_tokens": 11,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": count + 11,
        },
    }
    return json.dumps(body).encode()
