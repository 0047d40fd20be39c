"""create_agent: an agent from its configuration."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, cast

from msgspec import structs

from art_sdk.adapters import BUILT_IN, ENTRY_POINT_GROUP
from art_sdk.agents.observations import ObservationManager
from art_sdk.agents.pes.agent import PESAgent
from art_sdk.agents.pes.blueprints import DEFAULT_SYSTEM_PROMPT
from art_sdk.agents.pes.configuration import PESConfig, ProviderSection, StoreSection
from art_sdk.agents.pes.remembering import open_agents_memory
from art_sdk.agents.pes.settings import PESSettings
from art_sdk.agents.places import import_place
from art_sdk.agents.reasoning import Adapter, ReasoningEngine
from art_sdk.agents.stores.memory import InMemoryStore
from art_sdk.agents.stores.sqlite import SQLiteStore
from art_sdk.agents.tool_system import ToolSystem
from art_sdk.agents.tools import Tool, ToolRegistry
from art_sdk.blueprints.assembly import PromptManager
from art_sdk.contributors import DynamicContributorContext, validate_agent_config
from art_sdk.contributors.memory import Completes, Embedder, Summarizer
from art_sdk.errors import InvalidConfig
from art_sdk.http.secret import Secret

AgentSource = Mapping[str, Any] | PESConfig | str | os.PathLike[str]
"""A configuration, or the path of a `.toml` or `.json` file with one."""


def create_agent(
    config: AgentSource,
    *,
    tools: Iterable[Tool] = (),
    adapters: Mapping[str, Adapter] | None = None,
    summarize: Summarizer | Completes | None = None,
    embed: Embedder | None = None,
    environment: Mapping[str, str] = os.environ,
) -> PESAgent:
    """The agent of a configuration. `tools`, `adapters` and `embed` come before those that it names.

    `summarize` and `embed` are for the memory's strategies `summary` and `semantic`, as `open_memory` takes them.
    Without `summarize`, the model of the provider `recall.summarizer` makes the summaries, by default the usual one.

    Keys of adapters are read from the environment, the first time that a thread uses the adapter. Raises one
    InvalidConfig with the paths of everything that is wrong in the configuration, and InvalidConfig for a file, a
    tool or a store that cannot be used, and for a package that is missing, with the extra that installs it.
    """
    typed = load_config(config)
    registry = ToolRegistry([*tools, *map(_load_tool, typed.tools)])
    reasoning = ReasoningEngine(_adapters(typed, dict(adapters or {}), environment))
    about = DynamicContributorContext(
        agent_config=typed,
        memory=open_agents_memory(typed, reasoning, summarize, embed),
        workspace=None if typed.root is None else Path(typed.root),
    )
    settings = {name: getattr(typed.pes, name) for name in typed.pes.__struct_fields__ if name != "tracebacks"}
    return PESAgent(
        reasoning,
        PromptManager(),
        ToolSystem(registry),
        _open_store(typed.store),
        ObservationManager(tracebacks=typed.pes.tracebacks),
        settings=PESSettings(default_system_prompt=typed.llm.system_prompt or DEFAULT_SYSTEM_PROMPT, **settings),
        about=about,
    )


def load_config(config: AgentSource) -> PESConfig:
    """The configuration, read and checked. Raises InvalidConfig."""
    data = read_file(Path(config)) if isinstance(config, (str, os.PathLike)) else config
    return validate_agent_config(data, PESConfig)


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {".toml": tomllib.loads, ".json": json.loads}


def read_file(path: Path) -> Any:
    """The data in a file. Raises InvalidConfig."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InvalidConfig(f"the suffix of '{path.name}' must be one of {', '.join(_READERS)}")
    try:
        return reader(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidConfig(f"'{path.name}' cannot be read: {error.strerror}", cause=error) from error
    except (ValueError, RecursionError) as error:
        raise InvalidConfig(f"'{path.name}' is not {path.suffix[1:].upper()}: {error}", cause=error) from error


def _adapters(
    config: PESConfig, given: dict[str, Adapter], environment: Mapping[str, str]
) -> dict[str, Adapter | Callable[[], Adapter]]:
    """The adapters by name, the usual one first; those of the configuration are made when they are needed."""
    sections = dict(config.providers)
    first = config.llm.provider or next(iter([*given, *sections]), None)
    if first is None:
        raise InvalidConfig("bad agent configuration: $.llm.provider: an agent needs a provider")
    if first not in given:
        sections.setdefault(first, ProviderSection())
    named: dict[str, Adapter | Callable[[], Adapter]] = {
        name: _maker(name, _with_model(section, config, name == first), environment)
        for name, section in sections.items()
    }
    everything = {**named, **given}
    return {first: everything[first], **everything}


def _with_model(section: ProviderSection, config: PESConfig, is_first: bool) -> ProviderSection:  # noqa: FBT001
    """The section, with the model of `llm` if it is the usual adapter's and names none."""
    return structs.replace(section, model=section.model or config.llm.model) if is_first else section


def _maker(name: str, section: ProviderSection, environment: Mapping[str, str]) -> Callable[[], Adapter]:
    factory = _load_adapter(section.adapter or name)
    variable = key_variable(name, section)

    def make() -> Adapter:
        key = Secret(environment.get(variable, ""))
        if not key:
            raise InvalidConfig(f"the provider {name!r} needs its key in the environment variable {variable}")
        made: Adapter = factory(api_key=key, base_url=section.base_url, model=section.model, retries=section.retries)
        return made

    return make


def key_variable(name: str, section: ProviderSection) -> str:
    """The environment variable with the provider's key."""
    return section.api_key_env or f"{name.upper().replace('-', '_')}_API_KEY"


def _load_adapter(name: str) -> Callable[..., Any]:
    installed = {point.name: point.value for point in entry_points(group=ENTRY_POINT_GROUP)}
    place = BUILT_IN.get(name) or installed.get(name) or name
    if ":" not in place:
        known = ", ".join(sorted({*BUILT_IN, *installed}))
        raise InvalidConfig(f"there is no adapter {name!r}; give module:Class or one of {known}")
    found = import_place(place)
    if not callable(found):
        raise InvalidConfig(f"{place!r} is not an adapter's class")
    return cast("Callable[..., Any]", found)


def _load_tool(place: str) -> Tool:
    found = import_place(place)
    if not isinstance(found, Tool):
        raise InvalidConfig(f"{place!r} is not a Tool, but a {type(found).__name__}")
    return found


def _open_store(section: StoreSection) -> InMemoryStore | SQLiteStore:
    if (section.kind == "sqlite") != (section.path is not None):
        raise InvalidConfig(
            "bad agent configuration: $.store.path: the kind 'sqlite' needs a path, and no other kind takes one"
        )
    return InMemoryStore() if section.path is None else SQLiteStore(section.path)
