"""Where a format is spoken: at its provider's own address, and at services with other paths and keys, each a row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from art_compliance.dialects.access import BEARER_ADVICE, find_aws_key, find_bearer_key
from art_compliance.dialects.anthropic_messages import ANTHROPIC_MESSAGES
from art_compliance.dialects.base import Access, Denial, Dialect
from art_compliance.dialects.gemini_generate import GEMINI_GENERATE
from art_compliance.dialects.openai_chat import OPENAI_CHAT
from art_compliance.dialects.openai_chat.shared_forms import JUDGED_FIRST
from art_compliance.dialects.openai_chat.variations import FILTERED_LATER
from art_compliance.dialects.openai_compatible.answers import write_xai_error
from art_compliance.dialects.openai_compatible.services import (
    CEREBRAS,
    FIREWORKS,
    HUGGINGFACE,
    OLLAMA,
    PERPLEXITY,
    TOGETHER,
    XAI,
)
from art_compliance.dialects.openai_responses import OPENAI_RESPONSES
from art_compliance.dialects.urls import host_of, is_one_of, path_of, target_of


class Endpoint(Struct, frozen=True, kw_only=True):
    """A service that speaks a format: how its requests look, and whose rules they follow."""

    spoken: Dialect
    """The format, as the service speaks it: its answers, and what goes back to it, may have a form of their own."""
    service: str
    """The name of the service; that of the format for its provider itself."""
    host: str | None
    """A host of the service, as which its requests are judged. None: only by their path."""
    base_path: str
    """The path of the base URL that its clients take."""
    endings: tuple[str, ...]
    """What comes after that path, as people write it: `{model}` where the URL names the model."""
    access: Access
    """Keys and other headers."""
    source: str = ""
    """Where this is published or was recorded."""
    lists_models: bool = False
    """Whether the list of its models is at `/models`."""

    @property
    def dialect(self) -> str:
        """The name of the format."""
        return self.spoken.name

    @property
    def format(self) -> Dialect:
        """The format as the service speaks it, with the service's keys."""
        return replace(self.spoken, service=replace(self.spoken.service, access=self.access))

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of its requests, as people write them."""
        return tuple(self.base_path + ending for ending in self.endings)

    def takes(self, target: str) -> bool:
        """Whether requests go to this path; it may have anything before the ending."""
        path = path_of(target)
        return any(re.search(f"{path_pattern(ending)}$", path) for ending in self.endings)

    def has_path(self, target: str) -> bool:
        """Whether the path ends as its own do with their base path."""
        return any(re.search(f"{path_pattern(one)}$", path_of(target)) for one in self.paths)

    def url(self, target: str) -> str:
        """The URL that a request with this path and query would have at the service."""
        return target_of(target) if self.host is None else f"https://{self.host}{target_of(target)}"


def path_pattern(path: str, varying: str = "[^/]+") -> str:
    """A regular expression for a path, or a part of one; `varying` is that of the names in braces."""
    return re.sub(r"\\{\w+\\}", varying, re.escape(path))


def own_endpoint(dialect: Dialect) -> Endpoint:
    """The provider itself."""
    service = dialect.service
    return Endpoint(
        spoken=dialect,
        service=dialect.name,
        lists_models=True,
        host=service.hosts[0] if service.hosts else None,
        base_path=service.base_path,
        endings=service.endings,
        access=service.access,
    )


def find_service(dialect: Dialect, name: object) -> Endpoint | None:
    """The service of that name that speaks the format, or None."""
    return next((one for one in ENDPOINTS if (one.dialect, one.service) == (dialect.name, name)), None)


def find_spoken(dialect: Dialect, url: str | None) -> Dialect:
    """The format as the service that the URL names speaks it; the format itself where none is known."""
    host = host_of(url)
    known = (one for one in ENDPOINTS if host is not None and one.host is not None and is_one_of(host, (one.host,)))
    return next((one.spoken for one in known if one.dialect == dialect.name), dialect)


def _chat(service: str, host: str, base_path: str, spoken: Dialect, source: str) -> Endpoint:
    """A server that speaks chat completions with a bearer key."""
    return Endpoint(
        spoken=spoken,
        service=service,
        lists_models=True,
        host=host,
        base_path=base_path,
        endings=spoken.service.endings,
        access=spoken.service.access,
        source=source,
    )


def _find_azure_key(headers: Mapping[str, str], target: str) -> str | None:
    return headers.get("api-key", find_bearer_key(headers, target))


_AZURE_DENIAL: Final = Denial(  # https://github.com/SciSharp/BotSharp/issues/386
    401,
    "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an "
    "active subscription and use a correct regional API endpoint for your resource.",
)
_AZURE: Final = Access(
    find_key=_find_azure_key,
    advice="send it as the header api-key, or as authorization: Bearer KEY",
    no_key=_AZURE_DENIAL,
    wrong_key=_AZURE_DENIAL,
)
_GOOGLE_ADVICE: Final = (
    "Expected OAuth 2 access token, login cookie or other valid authentication credential. "
    "See https://developers.google.com/identity/sign-in/web/devconsole-project."
)
_GOOGLE: Final = Access(  # both texts are those of every Google Cloud API
    find_key=find_bearer_key,
    advice=BEARER_ADVICE,
    no_key=Denial(401, f"Request is missing required authentication credential. {_GOOGLE_ADVICE}"),
    wrong_key=Denial(401, f"Request had invalid authentication credentials. {_GOOGLE_ADVICE}"),
)


def _vertex(spoken: Dialect, publisher: str, verbs: tuple[str, ...], *, region: str, source: str) -> Endpoint:
    """Google's Vertex AI, which has the models of several publishers."""
    model = f"/projects/{{project}}/locations/{{location}}/publishers/{publisher}/models/{{model}}"
    return Endpoint(
        spoken=spoken,
        service="vertex",
        host=f"{region}-aiplatform.googleapis.com",
        base_path="/v1",
        endings=tuple(f"{model}:{verb}" for verb in verbs),
        access=_GOOGLE,
        source=source,
    )


def _responses(service: str, host: str, base_path: str, spoken: Dialect, access: Access, source: str) -> Endpoint:
    """A service that speaks the Responses API, compaction aside."""
    endings = ("/responses",)
    return Endpoint(
        spoken=spoken,
        service=service,
        host=host,
        base_path=base_path,
        endings=endings,
        access=access,
        source=source,
    )


_XAI_RESPONSES: Final = replace(
    OPENAI_RESPONSES, answers=replace(OPENAI_RESPONSES.answers, write_error=write_xai_error)
)
_XAI_ACCESS: Final = replace(XAI.service.access, wrong_key=Denial(400, XAI.service.access.wrong_key.text))
"""A wrong key was recorded with status 400."""

_AZURE_CHAT: Final = replace(
    OPENAI_CHAT,
    answers=replace(OPENAI_CHAT.answers, variations=(*OPENAI_CHAT.answers.variations, JUDGED_FIRST, FILTERED_LATER)),
)

ENDPOINTS: Final = (
    Endpoint(
        spoken=_AZURE_CHAT,
        service="azure",
        host="resource.openai.azure.com",
        base_path="/openai",
        endings=("/deployments/{model}/chat/completions",),
        access=_AZURE,
        source="openai 3.54, lib/azure.py; recorded at openai.azure.com",
    ),
    Endpoint(
        spoken=_AZURE_CHAT,
        service="azure-v1",
        host="resource.openai.azure.com",
        base_path="/openai/v1",
        endings=("/chat/completions",),
        access=_AZURE,
        source="https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle",
    ),
    _responses(
        "azure-responses",
        "resource.openai.azure.com",
        "/openai",
        OPENAI_RESPONSES,
        _AZURE,
        "openai 3.54, lib/azure.py: the path of a request without a deployment",
    ),
    _responses(
        "azure-v1-responses",
        "resource.openai.azure.com",
        "/openai/v1",
        OPENAI_RESPONSES,
        _AZURE,
        "recorded at openai.azure.com",
    ),
    _responses(
        "xai-responses",
        "api.x.ai",
        "/v1",
        _XAI_RESPONSES,
        _XAI_ACCESS,
        "https://docs.x.ai/docs/api-reference; recorded at api.x.ai",
    ),
    _chat("xai", "api.x.ai", "/v1", XAI, "https://docs.x.ai/docs/api-reference; recorded at api.x.ai"),
    _chat("ollama", "ollama.com", "/v1", OLLAMA, "https://docs.ollama.com/api/openai-compatibility; recorded"),
    _chat("huggingface", "router.huggingface.co", "/v1", HUGGINGFACE, "recorded at router.huggingface.co"),
    _chat("together", "api.together.xyz", "/v1", TOGETHER, "recorded at api.together.xyz"),
    _chat("cerebras", "api.cerebras.ai", "/v1", CEREBRAS, "recorded at api.cerebras.ai"),
    _chat("perplexity", "api.perplexity.ai", "", PERPLEXITY, "recorded at api.perplexity.ai"),
    _chat(
        "fireworks",
        "api.fireworks.ai",
        "/inference/v1",
        FIREWORKS,
        "https://fireworks.ai/docs/guides/querying-text-models",
    ),
    Endpoint(
        spoken=ANTHROPIC_MESSAGES,
        service="bedrock",
        host="bedrock-runtime.us-east-1.amazonaws.com",
        base_path="",
        endings=("/model/{model}/invoke",),  # the stream of invoke-with-response-stream is Amazon's own, not events
        access=Access(
            find_key=find_aws_key,
            advice="sign the request, or send the key as the header authorization: Bearer KEY",
            no_key=Denial(403, "Missing Authentication Token"),
            wrong_key=Denial(403, "The security token included in the request is invalid."),
        ),
        source="anthropic 2.12, lib/bedrock/_client.py; recorded at bedrock-runtime.us-east-1.amazonaws.com",
    ),
    _vertex(
        ANTHROPIC_MESSAGES,
        "anthropic",
        ("rawPredict", "streamRawPredict"),
        region="us-east5",
        source="anthropic 2.12, lib/vertex/_client.py; recorded at us-east5-aiplatform.googleapis.com",
    ),
    _vertex(
        GEMINI_GENERATE,
        "google",
        ("generateContent", "streamGenerateContent"),
        region="us-central1",
        source="google-genai 3.4, _api_client.py; recorded at us-central1-aiplatform.googleapis.com",
    ),
)
"""Services besides the providers themselves."""
