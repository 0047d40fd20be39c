"""Reads YAML text as plain data, with bounds on what it may cost. Needs PyYAML.

A short text can stand for much data: aliases and merge keys multiply it, deep nesting ends the process in libyaml's
recursive composer, and some numbers take minutes. So the parser's events are counted before anything is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import yaml
from msgspec import Struct
from yaml.constructor import ConstructorError, SafeConstructor

_MOST_DIGITS: Final = 3_500
"""As hexadecimal digits, they are still an integer that Python writes: its own limit is 4,300 decimal digits."""

_MOST_DIRECTIVES: Final = 100
"""libyaml compares each tag directive with all others."""


class YamlLimits(NamedTuple):
    """How much a text may hold. `characters` and `values` count an alias as everything that it stands for."""

    characters: int = 16 * 1024 * 1024
    values: int = 50_000
    depth: int = 100


class NotYaml(ValueError):
    """Text that is not YAML, or exceeds a limit. `line` and `column` count from 1, and are None where unknown."""

    def __init__(self, message: str, mark: Any = None, *, is_unsafe: bool = False) -> None:
        super().__init__(message)
        self.line: int | None = None if mark is None else mark.line + 1
        self.column: int | None = None if mark is None else mark.column + 1
        self.is_unsafe = is_unsafe
        """Whether it has a tag for a Python object."""


def read_yaml(text: str, limits: YamlLimits = YamlLimits()) -> Any:  # noqa: B008 - it is immutable
    """The data of a text with one document. Keys are text, and no key appears twice in an object. Raises NotYaml."""
    try:
        _measure(text, limits)
        return _build(text)
    except yaml.MarkedYAMLError as error:
        is_unsafe = isinstance(error, ConstructorError) and ":python/" in str(error.problem)
        raise NotYaml(_shorten(str(error.problem)), error.problem_mark, is_unsafe=is_unsafe) from error
    except yaml.YAMLError as error:
        raise NotYaml(_shorten(" ".join(str(error).split()))) from error
    except UnicodeEncodeError as error:
        raise NotYaml(f"a lone surrogate at character {error.start}") from error


def _measure(text: str, limits: YamlLimits) -> None:
    if len(text) > limits.characters:
        raise NotYaml(f"it has {len(text):,} characters; the limit is {limits.characters:,}")
    if len(_DIRECTIVE.findall(text)) > _MOST_DIRECTIVES:
        raise NotYaml(f"it has more than {_MOST_DIRECTIVES} directives")
    measuring = _Measuring(limits)
    for event in yaml.parse(text, Loader=_LOADER):
        measuring.take(event)


_DIRECTIVE: Final = re.compile("(?:^|[\n\r\x85\u2028\u2029])%")


class _Size(NamedTuple):
    """What a value stands for: the values in it with itself, their characters, and the levels below it."""

    values: int
    characters: int
    height: int


class _Open(Struct):
    """A list or an object whose end has not come: what was counted before it, and the levels below it so far."""

    anchor: str | None
    values: int
    characters: int
    height: int = 0


class _Measuring:
    """Counts values, characters and levels, event by event; an alias counts as what it stands for."""

    def __init__(self, limits: YamlLimits) -> None:
        self._limits = limits
        self._documents = self._values = self._characters = 0
        self._open: list[_Open] = []
        self._anchors: dict[str, _Size] = {}

    def take(self, event: yaml.Event) -> None:
        """Raises NotYaml where a limit is exceeded."""
        match event:
            case yaml.ScalarEvent():
                self._add(event, _Size(1, len(event.value), 0), event.anchor)
            case yaml.AliasEvent():
                self._add(event, self._meaning_of(event), None)
            case yaml.CollectionStartEvent():
                self._open.append(_Open(event.anchor, self._values, self._characters))
                self._add(event, _Size(1, 0, 0), None)
            case yaml.CollectionEndEvent():
                self._end(self._open.pop())
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise NotYaml("expected a single document, found another", event.start_mark)
            case _:
                pass

    def _add(self, event: yaml.Event, size: _Size, anchor: str | None) -> None:
        self._values += size.values
        self._characters += size.characters
        depth = len(self._open) + size.height
        found = (self._characters, self._values, depth)
        for count, most, what in zip(found, self._limits, _COUNTED, strict=True):
            if count > most:
                raise NotYaml(f"it expands to more than {most:,} {what}", event.start_mark)
        if self._open:
            self._open[-1].height = max(self._open[-1].height, size.height + 1)
        if anchor is not None:
            self._anchors[anchor] = size

    def _end(self, ended: _Open) -> None:
        if self._open:
            self._open[-1].height = max(self._open[-1].height, ended.height + 1)
        if ended.anchor is not None:
            size = _Size(self._values - ended.values, self._characters - ended.characters, ended.height)
            self._anchors[ended.anchor] = size

    def _meaning_of(self, alias: yaml.AliasEvent) -> _Size:
        name = str(alias.anchor)
        if name not in self._anchors:
            raise NotYaml(f"the alias *{_shorten(name)} contains itself, or has no anchor before it", alias.start_mark)
        return self._anchors[name]


_COUNTED: Final = ("characters", "values", "levels of nesting")
"""What `YamlLimits` limits, in its order."""


def _build(text: str) -> Any:
    loader = _LOADER(text)
    try:
        root: yaml.Node | None = loader.get_single_node()
        if root is None:
            return None
        _check_keys(root)
        return loader.construct_document(root)
    finally:
        loader.dispose()


def _check_keys(root: yaml.Node) -> None:
    """Looks at the keys of every object, before merge keys are replaced by what they merge."""
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or isinstance(node, yaml.ScalarNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            _check_each_key(key for key, _ in node.value)
            waiting += [value for _, value in node.value]
        else:
            waiting += node.value


def _check_each_key(keys: Iterable[yaml.Node]) -> None:
    known: set[str] = set()
    for key in keys:
        if key.tag == _MERGE:
            continue
        if not isinstance(key, yaml.ScalarNode) or key.tag != _TEXT:
            raise _wrong("a key that is not text", key)
        if key.value in known:
            raise _wrong(f"the key '{_shorten(key.value)}' appears twice", key)
        known.add(key.value)


def _wrong(message: str, node: yaml.Node) -> NotYaml:
    return NotYaml(message, node.start_mark)


class _Scalars(SafeConstructor):
    """Builds scalars. What PyYAML raises for odd ones becomes an error with the line."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - PyYAML's own signature
        build: Any = getattr(super(), "construct_object")  # noqa: B009 - its stub leaves a type out
        if not isinstance(node, yaml.ScalarNode):
            return build(node, deep)
        if node.tag not in _OF_ANY_LENGTH and len(node.value) > _MOST_DIGITS:
            raise _wrong(f"a value of {len(node.value):,} characters that is not text", node)
        try:
            return build(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise _wrong(
                f"{_shorten(node.value, 40)!r} is not of the type {node.tag.rpartition(':')[2]}", node
            ) from error


_TEXT: Final = "tag:yaml.org,2002:str"
_MERGE: Final = "tag:yaml.org,2002:merge"
_OF_ANY_LENGTH: Final = frozenset({_TEXT, "tag:yaml.org,2002:binary"})

_LOADER: Final[Any] = type("_Loader", (_Scalars, getattr(yaml, "CSafeLoader", yaml.SafeLoader)), {})
"""Written in C where that is installed."""


def _shorten(text: str, longest: int = 120) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
