"""A request body, as JSON data and as bytes."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from art_sdk.json_data import as_plain_data

Payload = dict[str, Any]
"""A request body as JSON data."""

encode_payload: Final = msgspec.json.Encoder(enc_hook=as_plain_data).encode
"""The bytes of a payload, or of a part of it."""
