"""Keys at ollama.com, and its answers to requests without them. A local Ollama takes any key, and none."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.access import BEARER_ADVICE, find_bearer_key
from art_compliance.dialects.base import Access, Denial

_DENIAL: Final = Denial(401, "unauthorized")  # inferred: its /v1 says "Unauthorized", recorded at ollama.com

ACCESS: Final = Access(find_key=find_bearer_key, advice=BEARER_ADVICE, no_key=_DENIAL, wrong_key=_DENIAL)

NOT_JSON: Final = Denial(400, "unexpected end of JSON input")  # inferred: one of the texts of Go's encoding/json
