"""What a rule's function is given, and how it is declared.

Rules look at the raw JSON of a request, whatever its shape. Missing fields and wrong types are the wire schema's
business, so every helper here skips them and none raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Final, NamedTuple

from msgspec import Struct

from art_compliance.dialects.urls import model_of
from art_compliance.pointers import escape
from art_sdk.json_data import DEPTH_LIMIT, is_array, is_object


class Broken(NamedTuple):
    """A place that breaks a rule: its JSON pointer and what is wrong there."""

    pointer: str
    message: str


class Place(Struct, frozen=True, gc=False):
    """An object of the request and where it is: `under` a name of the object `above`, and `at` an index if in a list.

    Few places break a rule, so the JSON pointer is built on demand. Nothing points from above to below, so there are
    no cycles for the garbage collector.
    """

    value: dict[str, Any]
    above: Place | None = None
    under: str = ""
    at: int | str | None = None

    @property
    def pointer(self) -> str:
        """The JSON pointer of the object."""
        steps: list[str] = []
        place = self
        while place.above is not None:
            steps += [place.under] if place.at is None else [escape(str(place.at)), place.under]
            place = place.above
        return "".join(f"/{step}" for step in reversed(steps))


class JudgedRequest:
    """A request as rules read it: `body` is empty where the payload is not an object; `root` is its place."""

    def __init__(self, payload: object, model: str | None = None, url: str | None = None) -> None:
        self.body: dict[str, Any] = payload if is_object(payload) else {}
        self.root = Place(self.body)
        self.url = url
        self.model = model or self._named_model()

    def _named_model(self) -> str | None:
        """The model that the body names, or the URL: Azure and Gemini keep it there."""
        named = self.body.get("model")
        if isinstance(named, str):
            return named
        return model_of(self.url)


class RuleCheck(Struct, frozen=True):
    """A rule's function. It is given the dialect's own kind of JudgedRequest, and yields what breaks the rule."""

    id: str
    run: Callable[[Any], Iterator[Broken]]


def rule(name: str) -> Callable[[Callable[[Any], Iterator[Broken]]], RuleCheck]:
    """Declares the function of the rule with this id."""
    return lambda function: RuleCheck(name, function)


def rules_of(*modules: ModuleType) -> tuple[RuleCheck, ...]:
    """The rules' functions that the modules declare, in order."""
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, RuleCheck))


def objects(place: Place, name: str) -> list[Place]:
    """The objects in the list under the name."""
    items: Any = place.value.get(name)
    if items is None or not is_array(items):
        return []
    return [Place(item, place, name, at) for at, item in enumerate(items) if is_object(item)]


def child(place: Place, *names: str) -> Place:
    """The object under the first of the names that holds one; an empty one where none does."""
    for name in names:
        value = place.value.get(name)
        if value is not None and is_object(value):
            return Place(value, place, name)
    return Place({}, place.above, place.under, place.at)


def number(value: object) -> float | None:
    """The value if it is a JSON number (true and false are not), else None."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def outside(place: Place, limits: dict[str, tuple[float, float]]) -> Iterator[Broken]:
    """The named numbers that are outside their limits; both limits are inclusive."""
    for name, (low, high) in limits.items():
        value = number(place.value.get(name))
        if value is not None and not low <= value <= high:
            yield Broken(f"{place.pointer}/{name}", f"{name} is {value}; it must be between {low:g} and {high:g}")


def too_many(items: object, pointer: str, what: str, most: int) -> Iterator[Broken]:
    """A list of more items than are allowed; anything else has none to count."""
    if is_array(items) and len(items) > most:
        yield Broken(pointer, f"there are {len(items)} {what}; at most {most} are allowed")


def below(place: Place, names: tuple[str, ...], least: int) -> Iterator[Broken]:
    """The named numbers that are below the least."""
    for name in names:
        value = number(place.value.get(name))
        if value is not None and value < least:
            yield Broken(f"{place.pointer}/{name}", f"{name} is {value}; it must be at least {least}")


def texts_in(value: object) -> Iterator[str]:
    """Every string of a JSON value, in no order."""
    waiting: list[Any] = [value]
    while waiting:  # a loop instead of recursion: the value may be deep
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif is_object(item):
            waiting += item.values()
        elif is_array(item):
            waiting += item


_TABLES: Final = ("properties", "$defs", "definitions", "patternProperties")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems", "any_of")
_SINGLES: Final = ("items", "additionalProperties", "not", "if", "then", "else")
_INNER: Final = frozenset((*_TABLES, *_LISTS, *_SINGLES))
"""The keywords that hold schemas. Most schemas are those of a property, and have none."""


def schemas(root: Place) -> Iterator[Place]:
    """A JSON Schema and every schema inside it, as deep as a request can be."""
    level, depth = [root], 0
    while level and depth < DEPTH_LIMIT:
        yield from level
        level, depth = [inner for node in level for inner in _inner_schemas(node)], depth + 1


def _inner_schemas(node: Place) -> Iterator[Place]:
    if _INNER.isdisjoint(node.value):
        return
    for key in _TABLES:
        table = node.value.get(key)
        if is_object(table):
            yield from (Place(item, node, key, name) for name, item in table.items() if is_object(item))
    for key in _LISTS:
        yield from objects(node, key)
    for key in _SINGLES:
        item = node.value.get(key)
        if is_object(item):
            yield Place(item, node, key)
