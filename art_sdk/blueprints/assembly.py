"""PromptManager: makes an `ArtStandardPrompt` of a blueprint and a context.

    blueprint ─ compile ─► Blueprint ─ render ─► JSON text ─ commas ─► JSON data ─ validation ─► prompt

Pure computation: no I/O, and no state except the fragments. Every failure is a PromptAssemblyFailed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, TypedDict, Unpack

import msgspec

from art_sdk.blueprints.blueprint import (
    Blueprint,
    BlueprintSource,
    assembly_failed,
    check_limits,
    fill_text,
    plain,
    public_errors,
    text_table,
)
from art_sdk.blueprints.fragments import FRAGMENTS
from art_sdk.blueprints.json_text import element_starts, read_json_text
from art_sdk.blueprints.limits import DEFAULT_LIMITS, BlueprintLimits
from art_sdk.blueprints.mustache import BlueprintError, Location, clip
from art_sdk.blueprints.rendering import Strict
from art_sdk.errors import PromptAssemblyFailed, PromptValidationFailed
from art_sdk.json_data import json_type
from art_sdk.messages import ArtStandardPrompt
from art_sdk.validation import Violation, parse_prompt, summarize


class _AssemblyOptions(TypedDict, total=False):
    name: str | None
    partials: Mapping[str, str] | None
    strict: Strict


class PromptManager:
    """Assembles prompts. `fragments` maps names to the texts that blueprints may include.

    `limits` bound the blueprints that it compiles, and their contexts. Raises PromptAssemblyFailed for fragments that
    do not map names to texts, and for limits that are not positive.
    """

    def __init__(self, fragments: Mapping[str, str] | None = None, *, limits: BlueprintLimits = DEFAULT_LIMITS) -> None:
        with public_errors(None):
            check_limits(limits)
            given = FRAGMENTS if fragments is None else fragments
            self._fragments = MappingProxyType(text_table(given, "fragments", limits))
            self._limits = limits

    @property
    def fragments(self) -> Mapping[str, str]:
        """The fragments by name. Read-only."""
        return self._fragments

    def assemble_prompt(
        self,
        blueprint: BlueprintSource | Blueprint,
        context: Mapping[str, Any],
        *,
        name: str | None = None,
        partials: Mapping[str, str] | None = None,
        strict: Strict = "variables",
    ) -> ArtStandardPrompt:
        """Renders the blueprint with the context and validates the result.

        `context` is an object of JSON data: a mapping, a `PromptContext`, a dataclass or a msgspec struct. Errors name
        the blueprint by `name`. `partials` are what `{{> name}}` includes; they come before the fragments, and a
        compiled blueprint already has them. `strict` says which missing names are errors: those of `variables`, of
        `all` tags, or none (`off`).

        Raises PromptAssemblyFailed for a malformed blueprint, a missing name, a context that is not JSON data or is
        beyond the limits, and a result that does not have the shape of an `ArtStandardPrompt`. `validate_prompt` also
        checks the rules of a tool conversation.
        """
        with public_errors(name):
            compiled = self._compile(blueprint, name, partials)
        with public_errors(compiled.name):
            _require_object(context)
            return _assemble(compiled, context, strict)

    async def aassemble_prompt(
        self, blueprint: BlueprintSource | Blueprint, context: Mapping[str, Any], **options: Unpack[_AssemblyOptions]
    ) -> ArtStandardPrompt:
        """`assemble_prompt` for code that awaits it. It only computes and never waits."""
        return self.assemble_prompt(blueprint, context, **options)

    def get_fragment(self, name: str, context: Mapping[str, Any] | None = None) -> str:
        """The fragment's text, rendered if a context is given.

        Raises PromptAssemblyFailed for an unknown name, a malformed text, or a missing variable.
        """
        with public_errors(name):
            text = self._find_fragment(name)
            if text is None:
                raise BlueprintError(f"unknown fragment; known fragments: {clip(', '.join(sorted(self._fragments)))}")
            if context is None:
                return text
            _require_object(context)
            return fill_text(text, context, self._fragments, self._limits)

    def validate_prompt(self, prompt: object, *, conversation: bool = True) -> ArtStandardPrompt:
        """The prompt as typed messages. Raises PromptValidationFailed.

        `conversation` also checks that calls and results belong together.
        """
        return parse_prompt(prompt, conversation=conversation)

    def _find_fragment(self, name: object) -> str | None:
        return self._fragments.get(name) if isinstance(name, str) else None

    def _compile(
        self, blueprint: BlueprintSource | Blueprint, name: str | None, partials: Mapping[str, str] | None
    ) -> Blueprint:
        if not isinstance(blueprint, Blueprint):
            own = {} if partials is None else text_table(partials, "partials", self._limits)
            return Blueprint.compile(blueprint, name=name, partials={**self._fragments, **own}, limits=self._limits)
        if partials is not None:
            raise BlueprintError("a compiled blueprint has its partials already: give them to Blueprint.compile")
        return blueprint


def _require_object(context: object) -> None:
    if not isinstance(context, (Mapping, msgspec.Struct)) and not is_dataclass(type(context)):
        raise BlueprintError(f"$: the context must be an object, not {json_type(context)}")


def _assemble(blueprint: Blueprint, context: object, strict: Strict) -> ArtStandardPrompt:
    data = plain(context, "$", blueprint.limits)
    text = blueprint.render_plain(data, strict=strict)

    def place_of(offset: int) -> Location | None:
        return blueprint.find_place(data, offset, strict=strict)

    messages, text = read_json_text(text, place_of)
    try:
        return parse_prompt(messages)
    except PromptValidationFailed as error:
        invalid = error
    raise _result_error(blueprint.name, invalid, text, place_of)  # raised out here, it does not keep the old one


def _result_error(
    name: str | None, error: PromptValidationFailed, text: str, place_of: Callable[[int], Location | None]
) -> PromptAssemblyFailed:
    """The error of a result that is not a prompt: which message, and where in the blueprint it begins."""
    violations = [_clipped(one) for one in error.details["violations"]]
    index = _INDEX.match(violations[0]["path"])
    place = None if index is None else place_of(next(islice(element_starts(text), int(index[1]), None)))
    reason = summarize(violations)
    details = {"violations": violations} if index is None else {"violations": violations, "index": int(index[1])}
    failed = assembly_failed(name, BlueprintError(reason, place), **details)
    failed.__cause__ = PromptValidationFailed(reason, details={**error.details, "violations": violations})
    return failed


_INDEX: Final = re.compile(r"\$\[(\d+)\]")
_REASON: Final = 150  # long enough for the words around 60 quoted characters


def _clipped(violation: Violation) -> Violation:
    path, message = clip(violation["path"]), violation["message"]
    return {"path": path, "message": message if len(message) <= _REASON else clip(message)}
