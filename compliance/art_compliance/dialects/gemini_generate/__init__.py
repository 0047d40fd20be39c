"""`gemini-generate`: generateContent of the Gemini API and of Vertex AI."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.base import Dialect
from art_compliance.dialects.gemini_generate.answers import ESSENTIAL, write_error, write_response
from art_compliance.dialects.gemini_generate.decode import decode
from art_compliance.dialects.gemini_generate.order import ORDER
from art_compliance.dialects.gemini_generate.rules import RULES, Contents
from art_compliance.dialects.gemini_generate.streams import (
    UNKNOWN_EVENT,
    wants_array,
    wants_stream,
    write_stream,
    write_stream_error,
)

GEMINI_GENERATE: Final = Dialect(
    name="gemini-generate",
    hosts=("generativelanguage.googleapis.com", "aiplatform.googleapis.com"),
    path=r"/models/[^/]+:(generateContent|streamGenerateContent)$",
    base_path="/v1beta",
    history="/contents",
    decode=decode,
    read_request=Contents,
    rules=RULES,
    write_response=write_response,
    write_error=write_error,
    write_stream=write_stream,
    write_stream_error=write_stream_error,
    wants_stream=wants_stream,
    wants_array=wants_array,
    unknown_event=UNKNOWN_EVENT,
    stream_order=ORDER,
    essential=ESSENTIAL,
)
