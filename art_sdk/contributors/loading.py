"""Makes contributors of the configuration of a system prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import UnsetType

from art_sdk.contributors.configuration import ContributorConfig, ContributorType, SystemPromptConfig
from art_sdk.contributors.contributor import (
    USER_INSTRUCTIONS,
    DynamicContributor,
    SourceHandler,
    StaticContributor,
    SystemPromptContributor,
    TaggedContributor,
)
from art_sdk.contributors.files import FileContributor
from art_sdk.contributors.options import python_names
from art_sdk.contributors.registry import SourceRegistry, source_handler_registry
from art_sdk.contributors.resources import ResourcesContributor
from art_sdk.contributors.validation import parse_system_prompt
from art_sdk.errors import InvalidConfig

_Sources = Mapping[str, SourceHandler]
_T = TypeVar("_T")

LEGACY_PROMPT: Final = "legacyPrompt"
"""The id of the one contributor of a system prompt that is a plain text."""

default_contributors: Final = (ContributorConfig(id="dateTime", type="dynamic", priority=10, source="dateTime"),)
"""The contributors of every `SystemPromptConfig` that does not replace or disable them."""


def load_contributors(
    config: str | SystemPromptConfig | Mapping[str, Any],
    *,
    registry: _Sources = source_handler_registry,
    defaults: Sequence[ContributorConfig] = default_contributors,
    root: Path | None = None,
) -> list[SystemPromptContributor]:
    """The contributors of a system prompt: the defaults, and those of the configuration, without the disabled ones.

    A contributor of the configuration replaces the default of the same id in its place; others are added. A text is
    one static contributor, `legacyPrompt`, and nothing else. `root` is the folder of the files of contributors.

    Raises InvalidConfig for everything that is wrong at once: `details["violations"]` has each as `{"path",
    "message"}`.
    """
    if isinstance(config, str):
        return [StaticContributor(LEGACY_PROMPT, 0, config)]
    given = parse_system_prompt(config, registry=registry).contributors
    merged = {one.id: one for one in (*defaults, *given)}
    return [_make(one, registry, root) for one in merged.values() if one.enabled]


def _make(one: ContributorConfig, registry: _Sources, root: Path | None) -> SystemPromptContributor:
    kind: ContributorType = _given(one.type)
    made = _MAKERS[kind](one, registry, root)
    return made if one.tag is None else TaggedContributor(made, one.tag)


def _make_static(one: ContributorConfig, _registry: _Sources, _root: Path | None) -> SystemPromptContributor:
    return StaticContributor(
        one.id,
        _given(one.priority),
        _given(one.content),
        stability=one.stability or "static",
        is_template=one.template,
    )


def _make_dynamic(one: ContributorConfig, registry: _Sources, _root: Path | None) -> SystemPromptContributor:
    source = _given(one.source)
    handler = registry.get(source)
    if handler is None:
        raise InvalidConfig(f"the default contributor {one.id!r} has an unknown source {source!r}: pass other defaults")
    options = python_names(one.options)
    known = registry.stability_of(source, options) if isinstance(registry, SourceRegistry) else "turn"
    return DynamicContributor(
        one.id,
        _given(one.priority),
        handler,
        stability=one.stability or known,
        options=options,
        gives=USER_INSTRUCTIONS if source == USER_INSTRUCTIONS else None,
    )


def _make_file(one: ContributorConfig, _registry: _Sources, root: Path | None) -> SystemPromptContributor:
    return FileContributor(
        one.id,
        _given(one.priority),
        one.files,
        root=root,
        suffixes=one.suffixes,
        max_bytes=one.max_bytes,
        stability=one.stability or "session",
        is_template=one.template,
    )


def _make_resources(one: ContributorConfig, _registry: _Sources, _root: Path | None) -> SystemPromptContributor:
    return ResourcesContributor(
        one.id, _given(one.priority), one.uris, max_bytes=one.max_bytes, stability=one.stability or "session"
    )


_MAKERS: Final[dict[ContributorType, Callable[[ContributorConfig, _Sources, Path | None], SystemPromptContributor]]] = {
    "static": _make_static,
    "dynamic": _make_dynamic,
    "file": _make_file,
    "resources": _make_resources,
}


def _given(value: _T | UnsetType) -> _T:
    """A field that validation has found to be there."""
    if isinstance(value, UnsetType):
        raise InvalidConfig("a contributor of the defaults lacks its type, priority, content or source")
    return value
