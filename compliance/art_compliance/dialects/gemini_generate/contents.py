"""A generateContent request as its rules look at it. Fields are read under both of protobuf's names."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Final, NamedTuple

from art_compliance.dialects.ruling import Place, Request, child, objects
from art_sdk.json_data import is_object


class Turn(NamedTuple):
    """Contents of one side that stand next to each other."""

    is_model: bool
    contents: list[Place]

    @property
    def parts(self) -> list[Place]:
        """All parts of all its contents."""
        return [part for content in self.contents for part in parts_of(content)]

    @property
    def calls(self) -> list[Place]:
        """Its parts that call a function."""
        return [part for part in self.parts if is_object(field(part, "functionCall"))]

    @property
    def answers(self) -> list[Place]:
        """Its parts that answer a call."""
        return [part for part in self.parts if is_object(field(part, "functionResponse"))]


class Contents(Request):
    """The raw body, with contents, turns and declarations found once."""

    @cached_property
    def contents(self) -> list[Place]:
        """Every content; one alone counts as a list of one."""
        return listed(self.body.get("contents"), "/contents")

    @cached_property
    def turns(self) -> list[Turn]:
        """The contents, joined by side: whoever is not the model is the user."""
        turns: list[Turn] = []
        for content in self.contents:
            is_model = content.value.get("role") == "model"
            if turns and turns[-1].is_model is is_model:
                turns[-1].contents.append(content)
            else:
                turns.append(Turn(is_model, [content]))
        return turns

    @cached_property
    def declarations(self) -> list[Place]:
        """Every function that is declared."""
        tools = listed(self.body.get("tools"), "/tools")
        return [one for tool in tools for one in children(tool, "functionDeclarations")]

    @cached_property
    def config(self) -> Place:
        """The options of generation."""
        return child(Place("", self.body), "generationConfig", "generation_config")

    @property
    def is_vertex(self) -> bool:
        """Whether it goes to Vertex AI, whose schemas know more keywords."""
        return "aiplatform" in (self.url or "")


_UPPER: Final = re.compile(r"(?<=[a-z])([A-Z])")


def snake(name: str) -> str:
    """The other of a field's names."""
    return _UPPER.sub(r"_\1", name).lower()


def field(place: Place, name: str) -> Any:
    """A field's value under either name."""
    value = place.value.get(name)
    return place.value.get(snake(name)) if value is None else value


def listed(value: object, pointer: str) -> list[Place]:
    """The objects of a list; one object alone counts as a list of one (protobuf's JSON reads it so)."""
    return [Place(pointer, value)] if is_object(value) else objects(value, pointer)


def children(place: Place, name: str) -> list[Place]:
    """The objects of a list that stands under either name."""
    found = name if place.value.get(name) is not None else snake(name)
    return listed(place.value.get(found), f"{place.pointer}/{found}")


def parts_of(content: Place) -> list[Place]:
    """A content's parts."""
    return children(content, "parts")
