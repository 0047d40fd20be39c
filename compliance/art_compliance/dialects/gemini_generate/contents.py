"""A generateContent request as its rules look at it. Fields are read under both of protobuf's names."""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

from art_compliance.dialects.ruling import Place, Request, child, objects, schemas
from art_sdk.json_data import is_object


class Turn(NamedTuple):
    """Contents of one side that stand next to each other.

    Of all their parts some are calls (they have a `functionCall`) and some answers (a `functionResponse`).
    """

    is_model: bool
    contents: list[Place]
    parts: list[Place]
    calls: list[Place]
    answers: list[Place]

    def take(self, content: Place, parts: list[Place]) -> None:
        """Adds one more content, and what it holds."""
        self.contents.append(content)
        self.parts.extend(parts)
        self.calls.extend([part for part in parts if does_call(part)])
        self.answers.extend([part for part in parts if is_object(field(part, "functionResponse"))])


class Contents(Request):
    """The raw body, with contents, turns and declarations found once."""

    @cached_property
    def contents(self) -> list[Place]:
        """Every content; one alone counts as a list of one."""
        return listed(self.root, "contents")

    @cached_property
    def parts(self) -> list[list[Place]]:
        """The parts of every content, content by content."""
        return [children(content, "parts") for content in self.contents]

    @cached_property
    def turns(self) -> list[Turn]:
        """The contents, joined by side: whoever is not the model is the user."""
        turns: list[Turn] = []
        for content, parts in zip(self.contents, self.parts, strict=True):
            is_model = content.value.get("role") == "model"
            if not turns or turns[-1].is_model is not is_model:
                turns.append(Turn(is_model, [], [], [], []))
            turns[-1].take(content, parts)
        return turns

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


_UPPER: Final = re.compile(r"(?<=[a-z])([A-Z])")


@cache
def snake(name: str) -> str:
    """The other of a field's names."""
    return _UPPER.sub(r"_\1", name).lower()


def field(place: Place, name: str) -> Any:
    """A field's value under either name."""
    value = place.value.get(name)
    return place.value.get(snake(name)) if value is None else value


def does_call(part: Place) -> bool:
    """Whether the part calls a function."""
    return is_object(field(part, "functionCall"))


def listed(place: Place, name: str) -> list[Place]:
    """The objects of the list under the name; one alone counts as a list of one (protobuf's JSON reads it so)."""
    value = place.value.get(name)
    return [Place(value, place, name)] if is_object(value) else objects(place, name)


def children(place: Place, name: str) -> list[Place]:
    """The objects of a list that stands under either name."""
    return listed(place, name if place.value.get(name) is not None else snake(name))
