"""Checks the configuration of an agent: every violation at once, each with its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec

from art_sdk.contributors.configuration import AgentConfig, SystemPromptConfig
from art_sdk.contributors.contributor import SourceHandler
from art_sdk.contributors.memory.registry import memory_providers, memory_violations
from art_sdk.contributors.options import option_violations
from art_sdk.contributors.registry import source_handler_registry
from art_sdk.contributors.violations import invalid_config, plain_config, shape_violations
from art_sdk.json_data import is_array, is_object
from art_sdk.validation import Violation

_Agent = TypeVar("_Agent", bound=AgentConfig)
_Sources = Mapping[str, SourceHandler]


def validate_agent_config(
    config: object,
    kind: type[_Agent] = AgentConfig,  # type: ignore[assignment] # the default of the type variable
    *,
    registry: _Sources = source_handler_registry,
) -> _Agent:
    """The configuration, typed. `kind` is the type of an agent with sections of its own.

    Raises one InvalidConfig with the path and the reason of everything that is wrong: `details["violations"]` has each
    as `{"path", "message"}`.
    """
    data = plain_config(config)
    violations = [*shape_violations(data, kind, "$"), *_section_violations(data, registry)]
    if not violations:
        return msgspec.convert(data, kind)
    del config, data  # which a traceback with local variables would show, and with them the connection string
    raise invalid_config("agent configuration", violations)


def _section_violations(data: object, registry: _Sources) -> Iterator[Violation]:
    """What is wrong with the sections of an agent beyond the types of their fields."""
    if is_object(data):
        llm = data.get("llm")
        prompt = llm.get("systemPrompt") if is_object(llm) else None
        yield from _meaning_violations(prompt, "$.llm.systemPrompt", registry)
        yield from memory_violations(data.get("memory"), "$.memory", memory_providers)


def parse_system_prompt(config: object, *, registry: _Sources) -> SystemPromptConfig:
    """The configuration of a system prompt, typed. Raises InvalidConfig as `validate_agent_config` does."""
    data = plain_config(config)
    violations = [*shape_violations(data, SystemPromptConfig, "$"), *_meaning_violations(data, "$", registry)]
    if violations:
        raise invalid_config("system prompt", violations)
    return msgspec.convert(data, SystemPromptConfig)


def _meaning_violations(prompt: object, path: str, registry: _Sources) -> Iterator[Violation]:
    """What is wrong with contributors beyond the types of their fields."""
    given = prompt.get("contributors") if is_object(prompt) else None
    known: set[str] = set()
    for index, one in enumerate(given if is_array(given) else ()):
        if not is_object(one):
            continue
        place = f"{path}.contributors[{index}]"
        id_ = one.get("id")
        if isinstance(id_, str):
            if id_ in known:
                yield {"path": f"{place}.id", "message": f"the id {id_!r} appears twice"}
            known.add(id_)
        if one.get("enabled", True) is not False:
            yield from _contributor_violations(one, place, registry)


def _contributor_violations(one: dict[str, Any], path: str, registry: _Sources) -> Iterator[Violation]:
    name = f"the contributor {one['id']!r}" if isinstance(one.get("id"), str) else "the contributor"
    for field in ("type", "priority"):
        if field not in one:
            yield {"path": f"{path}.{field}", "message": f"{name} must have a {field}"}
    kind = one.get("type")
    if not isinstance(kind, str) or kind not in _KINDS:
        return
    needed, allowed = _KINDS[kind]
    if not one.get(needed) and not (needed == "content" and "content" in one):
        sources = f"; known sources: {', '.join(registry)}" if kind == "dynamic" else ""
        yield {"path": f"{path}.{needed}", "message": f"{name} of type '{kind}' must have {needed}{sources}"}
    for field in (field for field in one if field in _OWN_FIELDS - allowed - {needed}):
        yield {"path": f"{path}.{field}", "message": f"{name} of type '{kind}' must not have {field}"}
    if kind == "dynamic" and isinstance(one.get("source"), str):
        yield from _source_violations(name, one, path, registry)


_KINDS: Final[dict[str, tuple[str, frozenset[str]]]] = {
    "static": ("content", frozenset({"template"})),
    "dynamic": ("source", frozenset({"options"})),
    "file": ("files", frozenset({"suffixes", "maxBytes", "template"})),
    "resources": ("uris", frozenset({"maxBytes"})),
}
"""For each type the field that it needs, and those that it takes besides."""

_OWN_FIELDS: Final = frozenset[str]().union(*(allowed | {needed} for needed, allowed in _KINDS.values()))


def _source_violations(name: str, one: dict[str, Any], path: str, registry: _Sources) -> Iterator[Violation]:
    source, options = one["source"], one.get("options", {})
    handler = registry.get(source)
    if handler is None:
        known = ", ".join(registry)
        yield {"path": f"{path}.source", "message": f"{name} has an unknown source {source!r}; known sources: {known}"}
    elif is_object(options):
        yield from option_violations(handler, options, f"{path}.options")
