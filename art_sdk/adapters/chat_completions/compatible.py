"""Any other server that speaks chat completions: vLLM, llama-server, LM Studio, Together, Fireworks, Perplexity, ..."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from art_sdk.adapters.capabilities import CAPABILITIES, Capability
from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.chat_completions.provider import ChatProvider, require_path, require_provider
from art_sdk.adapters.settings import hides_settings, require_name, require_words

_IMAGES: Final = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "webp", "gif"))
_URL: Final = "pass the server's URL with its version, such as http://127.0.0.1:8000/v1"


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
    required = {"base_url": _URL, "model": "pass the name of a model that it serves"}  # noqa: RUF012 - nobody changes it
    capabilities = CAPABILITIES - {"reasoning"}
    tool_names = None
    ranges = {}  # noqa: RUF012 - a class attribute of the base, which nobody changes
    repairs = frozenset()
    history_field = "messages"

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
        require_path(base_url or "", _URL, self.provider_name)
