"""Any other server that speaks chat completions: vLLM, llama-server, LM Studio, Together, Fireworks, Perplexity, ..."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlsplit

from art_sdk.adapters.capabilities import CAPABILITIES, Capability
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, require_provider
from art_sdk.adapters.settings import hides_settings, is_host_of, require_name, require_words
from art_sdk.errors import InvalidConfig

_IMAGES: Final = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "webp", "gif"))
_URL: Final = "give the server's URL with its version, such as http://127.0.0.1:8000/v1"
_WITHOUT_PATH: Final = (
    "https://api.deepseek.com",  # api-docs.deepseek.com/quick_start/your_first_api_call
    "https://api.perplexity.ai",  # docs.perplexity.ai/docs/sonar/openai-compatibility
)
"""Base URLs that their providers document as they are: without a version, and without any path."""


class OpenAICompatibleAdapter(ChatCompletionsAdapter):
    """Translates to `POST /chat/completions` below `base_url`, and assumes no limit of the server.

    `base_url` and `model` are required. `name` is the server's name in errors, its host and port by default.
    `capabilities` are what the server can do, in the words of `CAPABILITIES`; `provider` is how it differs, such as
    the fields of its reasoning. Limits (`tool_names`, `ranges`, `counts`, ...) are class attributes of a subclass.
    All other arguments are those of `BaseAdapter`. Raises InvalidConfig, also for a URL without a path, unless its
    provider documents it so: end it with a slash if the server has no version.
    """

    provider_name = "openai-compatible"
    dialect = "openai-compatible"
    default_model = ""
    default_base_url = ""
    required = {"base_url": _URL, "model": "give the name of a model that it serves"}  # noqa: RUF012 - nobody changes it
    capabilities = CAPABILITIES - {"reasoning"}
    tool_names = None
    ranges = {}  # noqa: RUF012 - a class attribute of the base, which nobody changes
    repairs = frozenset()

    @hides_settings
    def __init__(
        self,
        *,
        base_url: str | None = None,
        name: str | None = None,
        capabilities: Iterable[Capability] = capabilities,
        image_types: Iterable[str] = _IMAGES,
        provider: ChatProvider | None = None,
        **settings: Any,
    ) -> None:
        self.provider_name = require_name(name, base_url, self.provider_name)
        self.capabilities = require_words(capabilities, "capabilities", CAPABILITIES, self.provider_name)
        self.image_types = require_words(image_types, "image_types", _IMAGES, self.provider_name)
        self.provider = require_provider(provider, self.provider_name)
        super().__init__(base_url=base_url, **settings)
        if not urlsplit(base_url).path and not any(is_host_of(self.base_url, known) for known in _WITHOUT_PATH):
            advice = f"{_URL}, or end it with a slash if there is none"
            raise InvalidConfig(f"{self.provider_name}: base_url {self.base_url!r} has no path; {advice}")
