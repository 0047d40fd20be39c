"""Shows what a configuration means: every setting, where it comes from, and what is missing for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any, Final

import msgspec
from msgspec import Struct, UnsetType

from art_sdk.agents.pes.blueprints import DEFAULT_SYSTEM_PROMPT
from art_sdk.agents.pes.configuration import PESConfig, ProviderSection
from art_sdk.agents.pes.factory import AgentSource, key_variable, load_config
from art_sdk.agents.pes.remembering import EMBEDDER_MISSING
from art_sdk.json_data import is_object

_HIDDEN: Final = frozenset({"connectionString"})


def explain_agent(
    config: AgentSource,
    *,
    environment: Mapping[str, str] = os.environ,
    find_package: Callable[[str], object] = find_spec,
) -> list[str]:
    """One line per setting: its path, its value as JSON, and whether it is given or a default.

    Then what is missing: keys in the environment, packages with the extras that install them, and the function that
    the memory's strategy `semantic` needs, unless `create_agent` is given it. No key and no connection string is
    shown. Raises InvalidConfig as `create_agent` does for the configuration.
    """
    typed = load_config(config)
    given: dict[str, Any] = msgspec.to_builtins(typed, enc_hook=str)
    first = typed.llm.provider or next(iter(typed.providers), None)
    usual: dict[str, Any] = {"llm": {"systemPrompt": DEFAULT_SYSTEM_PROMPT}, "recall": {"summarizer": first}}
    lines = [f"{path} = {value}  ({origin})" for path, value, origin in _settings(typed, given, usual, "")]
    return [*lines, *(f"missing: {what}" for what in _missing(typed, environment, find_package))]


def _settings(value: Struct, given: Any, usual: Any, path: str) -> Iterator[tuple[str, str, str]]:
    for name, json_name in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
        one, where = getattr(value, name), f"{path}{json_name}"
        own = given.get(json_name) if is_object(given) else None
        if isinstance(one, Struct):
            yield from _settings(one, own, usual.get(json_name, {}), f"{where}.")
        elif not isinstance(one, UnsetType):
            default = usual.get(json_name)
            shown = "[hidden]" if json_name in _HIDDEN and one else _as_json(default if one is None else one)
            yield where, shown, "default" if own is None else "given"


def _as_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _missing(config: PESConfig, environment: Mapping[str, str], find_package: Callable[[str], object]) -> Iterator[str]:
    sections = dict(config.providers)
    if config.llm.provider is not None:
        sections.setdefault(config.llm.provider, ProviderSection())
    for name, section in sections.items():
        variable = key_variable(name, section)
        if not environment.get(variable):
            yield f"the environment variable {variable}, with the key of the provider {name!r}"
    memory = config.memory
    if memory is not None and memory.retrieval_strategy == "semantic" and config.recall.embedder is None:
        yield EMBEDDER_MISSING
    for package, extra, is_needed in (
        ("jsonschema", "agents", True),
        ("redis", "redis", memory is not None and memory.provider == "redis"),
    ):
        if is_needed and find_package(package) is None:
            yield f"the package {package}: pip install 'art-adapter-sdk[{extra}]'"
