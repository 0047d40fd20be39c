"""A generateContent request as its rules read it. Fields are read under both of protobuf's names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.dialects.ruling import JudgedRequest, Place, child, objects, schemas
from art_sdk.json_data import is_object


class CallPart(Place, frozen=True, gc=False, kw_only=True):
    """A part with a call or a result of the function `name`.

    `is_sound`: its `args` or `response` is an object, or missing.
    """

    name: Any
    is_sound: bool


class Content(Place, frozen=True, gc=False, kw_only=True):
    """A content, read once.

    Among its parts are `calls` (with a `functionCall`), `answers` (with a `functionResponse`) and `empty` ones (which
    hold nothing).
    """

    role: Any
    parts: tuple[Place, ...]
    calls: tuple[CallPart, ...]
    answers: tuple[CallPart, ...]
    empty: tuple[Place, ...]

    @property
    def is_model(self) -> bool:
        """Whether the model said it."""
        return bool(self.role == "model")


class Contents(JudgedRequest):
    """The raw body, with contents, turns, declarations and their schemas found once."""

    @cached_property
    def contents(self) -> tuple[Content, ...]:
        """Every content; a single one counts as a list of one."""
        return tuple([_read(place) for place in listed(self.root, "contents")])

    @cached_property
    def turns(self) -> tuple[Content, ...]:
        """Neighbouring contents of one side, joined. Every role except the model's is the user's."""
        sides = groupby(self.contents, attrgetter("is_model"))
        return tuple([_join(tuple(contents)) for _, contents in sides])

    @cached_property
    def declarations(self) -> list[Place]:
        """Every function that is declared."""
        return [one for tool in listed(self.root, "tools") for one in children(tool, "functionDeclarations")]

    @cached_property
    def schemas(self) -> list[Place]:
        """The parameters' schema of every function that is declared, and every schema inside it."""
        roots = [child(one, "parameters") for one in self.declarations if is_object(one.value.get("parameters"))]
        return [schema for root in roots for schema in schemas(root)]

    @cached_property
    def bytes(self) -> tuple[tuple[Place, str, str], ...]:
        """Every text that stands for bytes: its object, its name there, and the text."""
        return tuple([one for content in self.contents for part in content.parts for one in _bytes_in(part)])

    @cached_property
    def config(self) -> Place:
        """The options of generation."""
        return child(self.root, "generationConfig", "generation_config")

    @cached_property
    def calling(self) -> Place:
        """How functions are called."""
        config = child(self.root, "toolConfig", "tool_config")
        return child(config, "functionCallingConfig", "function_calling_config")

    @property
    def is_vertex(self) -> bool:
        """Whether it goes to Vertex AI, whose schemas know more keywords."""
        return "aiplatform" in (self.url or "")


_WITH_BYTES: Final = frozenset(
    {
        "thoughtSignature", "thought_signature", "inlineData", "inline_data", "functionResponse", "function_response"
    }
)  # fmt: skip


def _bytes_in(part: Place) -> Iterator[tuple[Place, str, str]]:
    if _WITH_BYTES.isdisjoint(part.value):
        return
    yield from _texts(part, "thoughtSignature")
    yield from _blob(part)
    answer = child(part, "functionResponse", "function_response")
    for inner in children(answer, "parts") if answer.value else ():
        yield from _blob(inner)


def _blob(part: Place) -> Iterator[tuple[Place, str, str]]:
    if "inlineData" in part.value or "inline_data" in part.value:
        yield from _texts(child(part, "inlineData", "inline_data"), "data")


def _texts(place: Place, name: str) -> Iterator[tuple[Place, str, str]]:
    value = field(place, name)
    if isinstance(value, str):
        yield place, name, value


def _read(place: Place) -> Content:
    parts = children(place, "parts")
    return Content(
        place.value,
        place.above,
        place.under,
        place.at,
        role=place.value.get("role"),
        parts=parts,
        calls=_call_parts(parts, "functionCall", "args"),
        answers=_call_parts(parts, "functionResponse", "response"),
        empty=tuple([part for part in parts if is_empty(part)]),
    )


def _join(contents: tuple[Content, ...]) -> Content:
    if len(contents) == 1:
        return contents[0]
    return replace(
        contents[0],
        parts=tuple([part for content in contents for part in content.parts]),
        calls=tuple([call for content in contents for call in content.calls]),
        answers=tuple([answer for content in contents for answer in content.answers]),
    )


def _call_parts(parts: tuple[Place, ...], outer: str, inner: str) -> tuple[CallPart, ...]:
    found = [(part, data) for part in parts if is_object(data := field(part, outer))]
    return tuple([_call_part(part, data.get("name"), data.get(inner)) for part, data in found]) if found else ()


def _call_part(part: Place, name: object, inner: object) -> CallPart:
    is_sound = inner is None or is_object(inner)
    return CallPart(part.value, part.above, part.under, part.at, name=name, is_sound=is_sound)


_UPPER: Final = re.compile(r"(?<=[a-z])([A-Z])")


@cache
def snake(name: str) -> str:
    """A field's other name."""
    return _UPPER.sub(r"_\1", name).lower()


def field(place: Place, name: str) -> Any:
    """A field's value under either name."""
    value = place.value.get(name)
    return place.value.get(snake(name)) if value is None else value


_BESIDE_DATA: Final = frozenset({"thought", "mediaResolution", "media_resolution", "partMetadata", "part_metadata"})


def is_empty(part: Place) -> bool:
    """Whether a part holds nothing but marks. A signature or video metadata alone is accepted, a field may be new."""
    for name, value in part.value.items():  # noqa: SIM110 - most parts have data at once: a generator costs more
        if value is not None and name not in _BESIDE_DATA:
            return False
    return True


def listed(place: Place, name: str) -> tuple[Place, ...]:
    """The objects of the list under the name; a single one counts as a list of one (protobuf's JSON reads it so)."""
    value = place.value.get(name)
    return (Place(value, place, name),) if is_object(value) else tuple(objects(place, name))


def children(place: Place, name: str) -> tuple[Place, ...]:
    """The objects of a list under either name."""
    return listed(place, name if place.value.get(name) is not None else snake(name))
