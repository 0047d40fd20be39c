"""The configuration of an agent's system prompt, as files and code write it. JSON names are camelCase.

{"llm": {"systemPrompt": {"contributors": [{"id": "tone", "type": "static", "priority": 0, "content": "Be kind."}]}},
 "memory": {"provider": "in-memory"}}
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import force_setattr

from art_sdk.http.secret import Secret
from art_sdk.messages import NonEmpty

ContributorType = Literal["static", "dynamic", "file", "resources"]
"""Where a contributor's text comes from."""

Stability = Literal["static", "session", "turn"]
"""How often a text changes: never, from session to session, or from turn to turn."""

ErrorPolicy = Literal["raise", "skip"]
"""What a build does about a contributor that fails: it fails too, or leaves the contributor's part out."""

RetrievalStrategy = Literal["summary", "recent", "semantic"]
"""What goes from a memory into the prompt: a summary, the newest entries, or those closest to the query."""

Seconds = Annotated[float, Meta(gt=0, le=86_400)]
TagName = Annotated[str, Meta(pattern="^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
Count = Annotated[int, Meta(ge=1, le=2**53)]

TIME_LIMIT: Final = 5.0
"""Seconds that each contributor may take if the configuration does not say."""

MOST_BYTES: Final = 100_000
"""Bytes of a file or a resource that a contributor takes if the configuration does not say."""


class _Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    pass


class ContributorConfig(_Config, frozen=True):
    """One piece of a system prompt. Lower priorities come first.

    Every type takes `id`, `type`, `priority`, `enabled`, `stability` and `tag`, the name of a tag that wraps the text.
    `static` needs `content`, which may be empty. `dynamic` needs `source`, the name of a source, and takes that
    source's `options`. `file` needs `files`, paths below the root, and takes `suffixes`. `resources` needs `uris`, the
    only ones that are read. `max_bytes` bounds each file and each resource. With `template`, which `static` and `file`
    take, `{{name}}` in the text is filled; without, it is text.

    `{"id": ..., "enabled": false}` alone removes a contributor.
    """

    id: NonEmpty
    type: ContributorType | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    enabled: bool = True
    stability: Stability | None = None
    tag: TagName | None = None
    content: str | UnsetType = UNSET
    source: NonEmpty | UnsetType = UNSET
    options: dict[str, Any] = {}
    files: tuple[NonEmpty, ...] = ()
    suffixes: tuple[NonEmpty, ...] = (".md", ".txt")
    uris: tuple[NonEmpty, ...] = ()
    max_bytes: Count = MOST_BYTES
    template: bool = False


class SystemPromptConfig(_Config, frozen=True):
    """The contributors of a system prompt, and how it is built of them.

    `on_error`, `time_limit` (seconds per contributor), `max_chars` and `drop_order` are those of `BuildOptions`.
    """

    contributors: tuple[ContributorConfig, ...]
    on_error: ErrorPolicy = "raise"
    time_limit: Seconds = TIME_LIMIT
    max_chars: Count | None = None
    drop_order: tuple[NonEmpty, ...] = ()


class MemoryConfig(_Config, frozen=True):
    """The memory of an agent: its provider, and what the source `memorySummary` tells of it.

    `provider` is `none`, `in-memory`, `redis` or a registered name. `max_tokens` bounds the text; the newest entries
    are kept. `connection_string` may hold a password: neither a repr nor an error shows it. `options` are the
    provider's own.
    """

    provider: NonEmpty
    max_tokens: Count | None = None
    retrieval_strategy: RetrievalStrategy = "recent"
    connection_string: NonEmpty | None = None
    options: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if self.connection_string is not None:
            force_setattr(self, "connection_string", Secret(self.connection_string))


class LLMConfig(_Config, frozen=True):
    """The model of an agent, and its system prompt: a text, or contributors. None leaves either to the agent."""

    provider: NonEmpty | None = None
    model: NonEmpty | None = None
    system_prompt: str | SystemPromptConfig | None = None


class AgentConfig(_Config, frozen=True):
    """What contributors know of an agent's configuration. An agent with more sections extends it."""

    llm: LLMConfig
    memory: MemoryConfig | None = None
