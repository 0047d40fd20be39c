"""What a provider of the chat completions family does in its own way, as data."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from art_sdk.adapters.capabilities import Capability
from art_sdk.adapters.rules import CountRule, NameRule
from art_sdk.adapters.settings import is_host_of
from art_sdk.errors import InvalidConfig
from art_sdk.json_data import json_type


class ChatRules(Struct, frozen=True, kw_only=True):
    """The ids of the provider's own rules that refusals cite; None where it has none.

    With `user_nonempty`, it refuses a user's message without content; with `assistant_nonempty`, the assistant's with
    neither text nor calls, unless it is the last; with `arguments`, a call whose arguments are not a JSON object; with
    `image_data`, an image by URL.
    """

    messages_nonempty: str | None = None
    no_lone_assistant: str | None = None
    calls_answered: str | None = None
    content_not_null: str | None = None
    user_nonempty: str | None = None
    assistant_nonempty: str | None = None
    arguments: str | None = None
    image_data: str | None = None


class ChatProvider(Struct, frozen=True, kw_only=True):
    """How one provider differs. The defaults are what most of the family share.

    Of requests: `max_tokens_field` and `required_choice` are its words for the option `max_tokens` and the tool
    choice `required`; `asks_for_usage`: a stream has usage only if `stream_options` asks for it; `message_names`,
    `description_length` and `image_count` limit names of messages, descriptions of tools, and images;
    `array_items_rule` is the rule by which it refuses a tool's schema with an array that does not describe its items,
    `required_rule` the one by which it refuses one with `required` and no properties, even if it requires none;
    `schema_beside_tools_rule` the one by which it refuses a schema of the answer next to tools; `prefill_mark` is the
    field that says that the last message, the assistant's, is to be continued; `rules` are the ids of other rules;
    `key_header` is the header that has the key alone, if it is not `authorization`; `models` are patterns of models
    that can do more than the adapter declares, and what.

    Of answers: `reasoning` are the fields of a message, whole or streamed, that hold the reasoning's text: the
    first one with text is read. `kept` are the fields that go back with the next turn: text, or a list of
    objects, whose streamed pieces are joined. `end_mark` is the data of a stream's last frame; None for a
    provider that just ends after `finish_reason`; `always_finishes`: a stream without `finish_reason` is broken.
    Only the provider's own host must send them, see `ChatStream`.
    """

    max_tokens_field: str = "max_tokens"
    required_choice: str = "required"
    asks_for_usage: bool = True
    message_names: NameRule | None = None
    description_length: CountRule | None = None
    image_count: CountRule | None = None
    array_items_rule: str | None = None
    required_rule: str | None = None
    schema_beside_tools_rule: str | None = None
    prefill_mark: str | None = None
    rules: ChatRules = ChatRules()
    key_header: str | None = None
    models: tuple[tuple[re.Pattern[str], frozenset[Capability]], ...] = ()
    reasoning: tuple[str, ...] = ("reasoning_content", "reasoning")
    kept: tuple[str, ...] = ()
    end_mark: str | None = "[DONE]"
    always_finishes: bool = True


def require_provider(provider: object, name: str) -> ChatProvider:
    """The provider's data, or those that most of the family share. Raises InvalidConfig for anything else."""
    if provider is not None and not isinstance(provider, ChatProvider):
        raise InvalidConfig(f"{name}: provider must be a ChatProvider, not {json_type(provider)}")
    return provider or ChatProvider()


_WITHOUT_PATH: Final = (
    "https://api.deepseek.com",  # api-docs.deepseek.com/quick_start/your_first_api_call
    "https://api.perplexity.ai",  # docs.perplexity.ai/docs/sonar/openai-compatibility
)
"""Base URLs that their providers document as they are: without a version, and without any path."""


def require_path(url: str, advice: str, name: str) -> None:
    """Raises InvalidConfig for a URL without a path, unless its provider documents it so; a slash is a path."""
    if not urlsplit(url).path and not any(is_host_of(url, known) for known in _WITHOUT_PATH):
        raise InvalidConfig(
            f"{name}: base_url {url!r} has no path; {advice}, or end it with a slash if the API has none"
        )
