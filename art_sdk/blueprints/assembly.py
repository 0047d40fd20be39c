"""PromptManager: a blueprint and a context to an `ArtStandardPrompt`.

    blueprint ─ compile ─► Blueprint ─ render ─► JSON text ─ commas ─► JSON data ─ validation ─► prompt

Pure computation: no I/O, no state but the fragments. Every failure is a PromptAssemblyFailed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypedDict, Unpack

import msgspec

from art_sdk.blueprints.blueprint import Blueprint, BlueprintSource, assembly_failed, fill_text, telling, text_table
from art_sdk.blueprints.fragments import FRAGMENTS
from art_sdk.blueprints.mustache import Fault, Place, clip
from art_sdk.blueprints.scope import Strict
from art_sdk.errors import PromptAssemblyFailed, PromptValidationFailed
from art_sdk.json_data import json_type
from art_sdk.messages import ArtStandardPrompt
from art_sdk.validation import Violation, parse_prompt


class _Wishes(TypedDict, total=False):
    name: str | None
    partials: Mapping[str, str] | None
    strict: Strict


class PromptManager:
    """Assembles prompts. Its only content are its fragments: a read-only table of texts that blueprints may put in.

    Raises PromptAssemblyFailed for fragments that are not texts by name.
    """

    def __init__(self, fragments: Mapping[str, str] | None = None) -> None:
        with telling(None):
            self._fragments = MappingProxyType(text_table(FRAGMENTS if fragments is None else fragments, "fragments"))

    @property
    def fragments(self) -> Mapping[str, str]:
        """The fragments by name, read-only."""
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
        """The prompt that the blueprint makes of the context.

        `context` is an object of JSON data: a mapping, a `PromptContext`, a dataclass or a msgspec struct.
        `name` is the blueprint's, for errors. `partials` are what `{{> name}}` puts in, before the
        fragments; a compiled blueprint has its own already. `strict` says which missing names are
        errors: those of `variables`, of `all` tags, or none (`off`).

        Raises PromptAssemblyFailed for a malformed blueprint, a missing name, a context that is not JSON
        data, and a result that is no `ArtStandardPrompt` by its shape; the rules of a tool conversation
        are `validate_prompt`'s.
        """
        with telling(name):
            compiled = self._compile(blueprint, name, partials)
        with telling(compiled.name):
            _hold_object(context)
            return _assemble(compiled, context, strict)

    async def aassemble_prompt(
        self, blueprint: BlueprintSource | Blueprint, context: Mapping[str, Any], **wishes: Unpack[_Wishes]
    ) -> ArtStandardPrompt:
        """`assemble_prompt`, for code that awaits it. It computes, and waits for nothing."""
        return self.assemble_prompt(blueprint, context, **wishes)

    def get_fragment(self, name: str, context: Mapping[str, Any] | None = None) -> str:
        """The fragment's text: as it is kept, or, with a context, with its tags filled in.

        Raises PromptAssemblyFailed for an unknown name, a malformed text, or a missing variable.
        """
        with telling(name):
            text = self._find_fragment(name)
            if text is None:
                raise Fault(f"there is no such fragment; known: {clip(', '.join(sorted(self._fragments)))}")
            if context is None:
                return text
            _hold_object(context)
            return fill_text(text, context, self._fragments)

    def validate_prompt(self, prompt: object, *, conversation: bool = True) -> ArtStandardPrompt:
        """The prompt as typed messages, its calls and results held together. Raises PromptValidationFailed."""
        return parse_prompt(prompt, conversation=conversation)

    def _find_fragment(self, name: object) -> str | None:
        return self._fragments.get(name) if isinstance(name, str) else None

    def _compile(
        self, blueprint: BlueprintSource | Blueprint, name: str | None, partials: Mapping[str, str] | None
    ) -> Blueprint:
        if not isinstance(blueprint, Blueprint):
            table = self._fragments if partials is None else {**self._fragments, **text_table(partials, "partials")}
            return Blueprint.compile(blueprint, name=name, partials=table)
        if partials is not None:
            raise Fault("a compiled blueprint has its partials already: give them to Blueprint.compile")
        return blueprint


def _hold_object(context: object) -> None:
    if not isinstance(context, (Mapping, msgspec.Struct)) and not is_dataclass(type(context)):
        raise Fault(f"$: the context is {json_type(context)}; expected an object")


def _assemble(blueprint: Blueprint, context: object, strict: Strict) -> ArtStandardPrompt:
    text = blueprint.render(context, strict=strict)

    def place_of(offset: int) -> Place | None:
        return blueprint.find_place(context, offset, strict=strict)

    messages, text = _read_json(text, place_of)
    try:
        return parse_prompt(messages)
    except PromptValidationFailed as error:
        refused = error
    raise _refusal(blueprint.name, refused, text, place_of)  # out here, the new error does not keep the old one


def _read_json(text: str, place_of: Callable[[int], Place | None]) -> tuple[Any, str]:
    """The data, and the text that it was read from: without needless commas where it has them."""
    try:
        return _decode(text), text
    except json.JSONDecodeError:
        text = _without_needless_commas(text)
    try:
        return _decode(text), text
    except json.JSONDecodeError as error:
        said, at = error.msg, error.pos
    near = f"{text[max(0, at - 40) : at]}⟨here⟩{text[at : at + 20]}"
    raise Fault(f"this renders to no JSON: {said} in '{near}'", place_of(at)) from _Unread(said)


class _Unread(ValueError):
    """What JSON's decoder said. Its own error holds the whole text, which may be anybody's, and is let go of."""


def _without_needless_commas(text: str) -> str:
    """The text with blanks for commas that separate nothing. Its length stays, so that places do."""
    return _COMMAS.sub(_blank, text)


_COMMAS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{][ \t\r\n,]*+|,[ \t\r\n,]*+[\]}]?', re.DOTALL)
"""A string, or a run of commas with the bracket at either end of it. Possessive: it never goes back."""


def _blank(run: re.Match[str]) -> str:
    found = run[0]
    if found[0] == '"':
        return found
    blank = found.replace(",", " ")
    return "," + blank[1:] if found[0] == "," and found[-1] not in "]}" else blank


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that stands twice could be one that data brought in."""
    table = dict(pairs)
    if len(table) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise Fault(f"the key '{clip(twice)}' stands twice in one object")
    return table


def _no_constant(name: str) -> NoReturn:
    raise Fault(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant)


def _decode(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # a number of more digits than Python reads
        raise Fault("a number is too long") from error


def _refusal(
    name: str | None, error: PromptValidationFailed, text: str, place_of: Callable[[int], Place | None]
) -> PromptAssemblyFailed:
    """The error of a result that is no prompt: says which message, and where in the blueprint it begins."""
    violations = [_clipped(one) for one in error.details["violations"]]
    first, more = violations[0], len(violations) - 1
    index = _INDEX.match(first["path"])
    place = None if index is None else place_of(next(islice(_element_starts(text), int(index[1]), None)))
    reason = f"{first['path']}: {first['message']}" + (f" (and {more} more)" if more else "")
    details = {"violations": violations} if index is None else {"violations": violations, "index": int(index[1])}
    refusal = assembly_failed(name, Fault(reason, place), **details)
    refusal.__cause__ = PromptValidationFailed(reason, details={**error.details, "violations": violations})
    return refusal


_INDEX: Final = re.compile(r"\$\[(\d+)\]")
_GAP: Final = re.compile(r"[ \t\r\n,]*")
_REASON: Final = 150  # with the words around it, what a message quotes stays below 60 characters


def _clipped(violation: Violation) -> Violation:
    path, message = clip(violation["path"]), violation["message"]
    return {"path": path, "message": message if len(message) <= _REASON else clip(message)}


def _element_starts(text: str) -> Iterator[int]:
    """Where each element of a JSON array begins. The text has been read before, so that it is one."""
    at = text.index("[") + 1
    while text[at := _skip(text, at)] != "]":
        yield at
        _, at = _DECODER.raw_decode(text, at)


def _skip(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return at if gap is None else gap.end()
