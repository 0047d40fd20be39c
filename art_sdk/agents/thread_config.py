"""ThreadConfig: what may be set for one thread at run time."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct, field

from art_sdk.errors import InvalidConfig
from art_sdk.json_data import is_object
from art_sdk.messages import NonEmpty
from art_sdk.options import parse_options
from art_sdk.validation import parse_value

_OF_THE_AGENT: Final = frozenset(
    {"thread_id", "trace_id", "session_id", "user_id", "stream", "call_context", "tools", "tool_choice"}
)
"""The options of a call that the agent sets itself."""


class ProviderConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """The adapter of a thread by its name, and the options of its calls, such as `model` and `temperature`."""

    name: NonEmpty
    options: dict[str, Any] = field(default_factory=dict[str, Any])


class ThreadConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    """The settings of a thread. Whatever is not set is the agent's.

    `system_prompt` is a text, or the mapping of contributors that makes one. `enabled_tools` are the names of the
    tools that the thread may use: none if it is empty, all if it is not set. `provider` names the adapter.
    """

    system_prompt: str | dict[str, Any] | None = None
    enabled_tools: tuple[NonEmpty, ...] | None = None
    provider: NonEmpty | ProviderConfig | None = None


def parse_thread_config(data: object) -> ThreadConfig:
    """Parses JSON data, or checks a `ThreadConfig`.

    Raises InvalidConfig, naming the field. Blueprints are refused: they are part of what an agent is.
    """
    if is_object(data):
        _refuse_blueprints(data)
    try:
        config = parse_value(data, ThreadConfig)
    except ValueError as error:
        raise InvalidConfig(f"bad thread config: {error}") from error
    if isinstance(config.provider, ProviderConfig):
        _check_options(config.provider)
    return config


def dump_thread_config(config: ThreadConfig) -> dict[str, Any]:
    """The settings as JSON data, those that are set."""
    data: dict[str, Any] = msgspec.to_builtins(config)
    return data


def _refuse_blueprints(data: dict[str, Any]) -> None:
    for name in data:
        if any(word in name.lower() for word in ("blueprint", "template")):
            raise InvalidConfig(
                f"bad thread config: $.{name}: a thread cannot have a blueprint: blueprints are how an agent works, "
                "not a setting; write an agent with its own, and put texts into systemPrompt"
            )


def _check_options(provider: ProviderConfig) -> None:
    own = sorted(_OF_THE_AGENT & provider.options.keys())
    if own:
        raise InvalidConfig(f"bad thread config: $.provider.options.{own[0]}: the agent sets this option itself")
    try:
        parse_options({**provider.options, "thread_id": "any"})
    except InvalidConfig as error:
        raise InvalidConfig(f"bad thread config: $.provider.options: {error.message}", cause=error) from error
