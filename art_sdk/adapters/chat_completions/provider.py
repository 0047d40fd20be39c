"""What a provider of the chat completions family does in its own way, as data."""

from __future__ import annotations

from msgspec import Struct

from art_sdk.adapters.limits import CountRule, NameRule


class ChatRules(Struct, frozen=True, kw_only=True):
    """The ids of the provider's own rules that refusals cite; None where it has none."""

    messages_nonempty: str | None = None
    calls_answered: str | None = None
    content_not_null: str | None = None
    system_order: str | None = None


class ChatProvider(Struct, frozen=True, kw_only=True):
    """How one provider differs. The defaults are what most of the family share.

    Of requests: `max_tokens_field` and `required_choice` are its words for the option `max_tokens` and the tool
    choice `required`; `asks_for_usage`: a stream has usage only if `stream_options` asks for it; `message_names`
    and `description_length` limit the names of messages and the descriptions of tools; `array_items_rule` is the
    rule by which it refuses a tool's schema with an array that does not describe its items; `system_after` are
    the roles after which a system message may come, None for any; `rules` are the ids of other rules.

    Of answers: `reasoning` are the fields of a message, whole or streamed, that hold the reasoning's text: the
    first one with text is read. `kept` are the fields that go back with the next turn: text, or a list of
    objects, whose streamed pieces are joined. `has_content_chunks`: content may be a list of chunks; thinking
    chunks are read as reasoning, and all but text go back with the next turn. `end_mark` is the data of a
    stream's last frame; None for a provider that just ends after `finish_reason`.
    """

    max_tokens_field: str = "max_tokens"
    required_choice: str = "required"
    asks_for_usage: bool = True
    message_names: NameRule | None = None
    description_length: CountRule | None = None
    array_items_rule: str | None = None
    system_after: frozenset[str] | None = None
    rules: ChatRules = ChatRules()
    reasoning: tuple[str, ...] = ("reasoning_content", "reasoning")
    kept: tuple[str, ...] = ()
    has_content_chunks: bool = False
    end_mark: str | None = "[DONE]"
