"""The configuration of a PES agent, as files and code write it. JSON names are camelCase.

{"llm": {"provider": "openai", "model": "gpt-5-mini", "systemPrompt": "Be brief."},
 "store": {"kind": "sqlite", "path": "threads.db"}, "tools": ["my_tools:WEATHER"], "pes": {"maxRounds": 2}}
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from art_sdk.agents.pes.settings import PESSettings, Policy
from art_sdk.contributors.configuration import AgentConfig
from art_sdk.messages import NonEmpty


class _Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    pass


class ProviderSection(_Section, frozen=True):
    """One adapter. `adapter` is a built-in name, an installed one, or `module:Class`; by default the section's name.

    `api_key_env` names the environment variable with the key; by default it is the name in capitals with `_API_KEY`.
    """

    adapter: NonEmpty | None = None
    api_key_env: NonEmpty | None = None
    base_url: NonEmpty | None = None
    model: NonEmpty | None = None
    retries: Annotated[int, Meta(ge=0)] = 0


class StoreSection(_Section, frozen=True):
    """Where threads are kept: in `memory`, or in the `sqlite` file at `path`."""

    kind: Literal["memory", "sqlite"] = "memory"
    path: NonEmpty | None = None


class RecallSection(_Section, frozen=True):
    """What the memory's strategies need.

    `summarizer` names the provider whose model makes summaries, by default the usual one. `embedder` is the place of a
    function that makes a vector of each text, `module:NAME`.
    """

    summarizer: NonEmpty | None = None
    embedder: NonEmpty | None = None


_USUAL = PESSettings()


class PESSection(_Section, frozen=True):
    """As `PESSettings`. `tracebacks` says whether observations of errors have one."""

    max_rounds: Annotated[int, Meta(ge=1)] = _USUAL.max_rounds
    history_limit: Annotated[int, Meta(ge=0)] = _USUAL.history_limit
    on_error: Policy = "propagate"
    retries: Annotated[int, Meta(ge=0)] = _USUAL.retries
    error_answer: NonEmpty = _USUAL.error_answer
    tracebacks: bool = False


class PESConfig(AgentConfig, frozen=True):
    """An agent's configuration with the sections of a PES agent.

    `llm.provider` names the adapter of threads that name none: one of `providers`, or an adapter that needs nothing
    but its key. `tools` are places of `Tool` values, `module:NAME`. `root` is the folder of contributors' files.
    """

    providers: dict[str, ProviderSection] = {}  # noqa: RUF012 - msgspec copies it
    tools: tuple[NonEmpty, ...] = ()
    store: StoreSection = StoreSection()
    pes: PESSection = PESSection()
    recall: RecallSection = RecallSection()
    root: NonEmpty | None = None
