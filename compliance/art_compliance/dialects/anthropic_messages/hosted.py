"""Anthropic's models at Amazon Bedrock and Google's Vertex AI: the same messages, by the same rules, but other URLs.

The URL has the model, and whether to stream; the body has `anthropic_version` instead. Source: the clients
`AnthropicBedrock` and `AnthropicVertex` of anthropic 2.12, and recorded requests.
"""

from __future__ import annotations

import re
from typing import Any, Final

from art_compliance.dialects.urls import model_of, path_of

ANTHROPIC: Final = "api.anthropic.com"
"""The host of Anthropic's own API."""

HOSTED: Final = ("amazonaws.com", "aiplatform.googleapis.com")
"""The hosts of Bedrock and Vertex AI, without the region."""

HOSTED_PATH: Final = (
    r"/model/[^/]*anthropic\.(?!claude-(v\d|instant))[^/]*/invoke(-with-response-stream)?$"
    r"|/publishers/anthropic/models/(?!count-tokens:)[^/]+:(rawPredict|streamRawPredict)$"
)
"""The end of the path of a request to a model there, as a regular expression.

Not of the first models at Bedrock, to whom recorded requests complete a `prompt`.
"""

_ANY_MODEL: Final = re.compile(r"/model/[^/]+/invoke(-with-response-stream)?$|:(rawPredict|streamRawPredict)$")
"""As `HOSTED_PATH`, for what is known to be messages: a name of a model at Bedrock need not say whose it is."""

_STREAMS: Final = ("/invoke-with-response-stream", ":streamRawPredict")


def is_hosted(url: str | None) -> bool:
    """Whether the URL is one of Bedrock's or of Vertex AI's."""
    return url is not None and _ANY_MODEL.search(path_of(url)) is not None


def is_at_bedrock(url: str | None) -> bool:
    """Whether the URL is one of Bedrock's."""
    return url is not None and "/invoke" in path_of(url) and is_hosted(url)


def options_of(url: str | None) -> dict[str, Any]:
    """The options that such a URL has: the model, and whether to stream."""
    if url is None or not is_hosted(url):
        return {}
    streams = {"stream": True} if path_of(url).endswith(_STREAMS) else {}
    return {"model": model_of(url), **streams}
