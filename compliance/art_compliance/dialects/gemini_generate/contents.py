"""A generateContent request as its rules look at it. Fields are read under both of protobuf's names."""

from __future__ import annotations

import re
from functools import cache, cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.dialects.ruling import JudgedRequest, Place, child, objects, schemas
from art_sdk.json_data import is_object


class Holding(Place, frozen=True, gc=False, kw_only=True):
    """A part that calls or answers; it is sound if its `args`, or its `response`, is an object, or is not there."""

    is_sound: bool


class Content(Place, frozen=True, gc=False, kw_only=True):
    """A content, read once.

    Of its parts some are calls (they have a `functionCall`), some answers (a `functionResponse`), some without data.
    """

    role: Any
    parts: tuple[Place, ...]
    calls: tuple[Holding, ...]
    answers: tuple[Holding, ...]
    empty: tuple[Place, ...]

    @property
    def is_model(self) -> bool:
        """Whether the model said it."""
        return bool(self.role == "model")


class Contents(JudgedRequest):
    """The raw body, with contents, turns, declarations and their schemas found once."""

    @cached_property
    def contents(self) -> tuple[Content, ...]:
        """Every content; one alone counts as a list of one."""
        return tuple([_read(place) for place in listed(self.root, "contents")])

    @cached_property
    def turns(self) -> tuple[Content, ...]:
        """Those of one side that stand next to each other are one, with the parts of all.

        Whoever is not the model is the user.
        """
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
    def config(self) -> Place:
        """The options of generation."""
        return child(self.root, "generationConfig", "generation_config")

    @property
    def is_vertex(self) -> bool:
        """Whether it goes to Vertex AI, whose schemas know more keywords."""
        return "aiplatform" in (self.url or "")


def _read(place: Place) -> Content:
    parts = children(place, "parts")
    return Content(
        place.value,
        place.above,
        place.under,
        place.at,
        role=place.value.get("role"),
        parts=parts,
        calls=_holding(parts, "functionCall", "args"),
        answers=_holding(parts, "functionResponse", "response"),
        empty=tuple([part for part in parts if not has_data(part)]),
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


def _holding(parts: tuple[Place, ...], outer: str, inner: str) -> tuple[Holding, ...]:
    found = [(part, told) for part in parts if is_object(told := field(part, outer))]
    return tuple([_hold(part, told.get(inner)) for part, told in found]) if found else ()


def _hold(part: Place, inner: object) -> Holding:
    return Holding(part.value, part.above, part.under, part.at, is_sound=inner is None or is_object(inner))


_UPPER: Final = re.compile(r"(?<=[a-z])([A-Z])")


@cache
def snake(name: str) -> str:
    """The other of a field's names."""
    return _UPPER.sub(r"_\1", name).lower()


def field(place: Place, name: str) -> Any:
    """A field's value under either name."""
    value = place.value.get(name)
    return place.value.get(snake(name)) if value is None else value


_NO_DATA: Final = frozenset({"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"})
_BESIDE_DATA: Final = _NO_DATA | {snake(name) for name in _NO_DATA}


def has_data(part: Place) -> bool:
    """Whether a part has anything but what goes with data; a field that nobody here knows may be data."""
    for name, value in part.value.items():  # noqa: SIM110 - a generator in `any` costs more than most parts have fields
        if value is not None and name not in _BESIDE_DATA:
            return True
    return False


def listed(place: Place, name: str) -> tuple[Place, ...]:
    """The objects of the list under the name; one alone counts as a list of one (protobuf's JSON reads it so)."""
    value = place.value.get(name)
    return (Place(value, place, name),) if is_object(value) else tuple(objects(place, name))


def children(place: Place, name: str) -> tuple[Place, ...]:
    """The objects of a list that stands under either name."""
    return listed(place, name if place.value.get(name) is not None else snake(name))
