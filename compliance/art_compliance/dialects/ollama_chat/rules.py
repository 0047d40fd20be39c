"""Ollama's rules. Statements and sources: `fixtures/rules/ollama-chat.toml`."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

from art_compliance.dialects.placeholders import is_placeholder
from art_compliance.dialects.ruling import Broken, JudgedRequest, Place, child, objects, outside, rule, rules_of
from art_compliance.quoting import show
from art_sdk.json_data import DEPTH_LIMIT, is_array, is_object, json_type


class Chat(JudgedRequest):
    """The raw body, with its messages found once."""

    @cached_property
    def messages(self) -> tuple[Place, ...]:
        """Every message that is an object."""
        return tuple(objects(self.root, "messages"))


@rule("ollama.empty-messages-load")
def empty_messages_load(chat: Chat) -> Iterator[Broken]:
    """Missing or empty."""
    if not chat.body.get("messages"):
        yield Broken("/messages", "there are no messages: Ollama loads the model and returns an empty response")


@rule("ollama.role-lowercased")
def role_lowercased(chat: Chat) -> Iterator[Broken]:
    """Any text is accepted."""
    for message in chat.messages:
        role = message.value.get("role")
        if isinstance(role, str) and role not in _ROLES:
            yield Broken(f"{message.pointer}/role", f"templates do not know the role {show(role)}")


_ROLES: Final = ("system", "user", "assistant", "tool")


@rule("ollama.same-role-merged")
def same_role_merged(chat: Chat) -> Iterator[Broken]:
    """Results stay apart."""
    for before, after in pairwise(chat.messages):
        role = after.value.get("role")
        if role in _ROLES[:3] and role == before.value.get("role"):
            yield Broken(after.pointer, f"two consecutive messages have the role {role}: templates may join them")


@rule("ollama.content-string")
def content_string(chat: Chat) -> Iterator[Broken]:
    """Null counts as absent."""
    for message in chat.messages:
        content = message.value.get("content")
        if content is not None and not isinstance(content, str):
            yield Broken(f"{message.pointer}/content", f"content is {json_type(content)}; it must be a string")


@rule("ollama.arguments-object")
def arguments_object(chat: Chat) -> Iterator[Broken]:
    """As text, as OpenAI has them, too."""
    for message in chat.messages:
        for call in objects(message, "tool_calls"):
            function = child(call, "function")
            arguments = function.value.get("arguments")
            if arguments is not None and not is_object(arguments):
                text = f"the arguments are {json_type(arguments)}; they must be an object"
                yield Broken(f"{function.pointer}/arguments", text)


@rule("ollama.images-base64")
def images_base64(chat: Chat) -> Iterator[Broken]:
    """Go's decoder takes the usual alphabet with padding, and passes over line ends."""
    for message in chat.messages:
        images: Any = message.value.get("images")
        for at, image in enumerate(images if is_array(images) else ()):
            if isinstance(image, str) and not _is_base64(image) and not is_placeholder(image):
                yield Broken(f"{message.pointer}/images/{at}", "the image is not base64, or is a data: URL")


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except ValueError:
        return False
    return True


@rule("ollama.think-level-gpt-oss")
def think_level_gpt_oss(chat: Chat) -> Iterator[Broken]:
    """These models bring no levels of their own."""
    yield from _odd_level(chat)


@rule("ollama.think-level")
def think_level(chat: Chat) -> Iterator[Broken]:
    """Whether a model brings its own levels, a request does not show."""
    yield from _odd_level(chat)


def _odd_level(chat: Chat) -> Iterator[Broken]:
    """Other types than text are left to the wire schema."""
    level = chat.body.get("think")
    if isinstance(level, str) and level not in _LEVELS:
        yield Broken("/think", f"think is {show(level)}; it must be one of {', '.join(_LEVELS)}")


_LEVELS: Final = ("low", "medium", "high", "max")


@rule("ollama.keep-alive")
def keep_alive(chat: Chat) -> Iterator[Broken]:
    """A number has seconds; its other types are left to the wire schema."""
    given = chat.body.get("keep_alive")
    if isinstance(given, str) and not _DURATION.fullmatch(given):
        yield Broken("/keep_alive", f"{show(given)} is not a duration such as 5m or 1h30m")


_DURATION: Final = re.compile(r"[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)")


@rule("ollama.top-logprobs")
def top_logprobs(chat: Chat) -> Iterator[Broken]:
    """Both ends are allowed."""
    yield from outside(chat.root, {"top_logprobs": (0, 20)})


@rule("ollama.properties-object")
def properties_object(chat: Chat) -> Iterator[Broken]:
    """What is inside `items` may be anything."""
    for tool in objects(chat.root, "tools"):
        parameters = child(child(tool, "function"), "parameters")
        yield from _wrong(parameters, _ROOT)
        for schema in _properties_in(parameters):
            yield from _wrong(schema, _PROPERTY)


def _wrong(schema: Place, fields: _Fields) -> Iterator[Broken]:
    for name, (fits, words) in fields.items():
        value = schema.value.get(name)
        if value is not None and not fits(value):
            yield Broken(f"{schema.pointer}/{name}", f"{name} is {json_type(value)}; it must be {words}")
    properties: Any = schema.value.get("properties")
    for name, value in properties.items() if is_object(properties) else ():
        if not is_object(value):
            place = Place({}, schema, "properties", name).pointer
            yield Broken(place, f"the property is {json_type(value)}; it must be an object")


def _properties_in(parameters: Place) -> Iterator[Place]:
    """The schemas of properties, and those inside, as deep as a request can be."""
    level, depth = list(_named(parameters)), 0
    while level and depth < DEPTH_LIMIT:
        yield from level
        level = [inner for schema in level for inner in (*_named(schema), *objects(schema, "anyOf"))]
        depth += 1


def _named(schema: Place) -> Iterator[Place]:
    table: Any = schema.value.get("properties")
    if is_object(table):
        yield from (Place(item, schema, "properties", name) for name, item in table.items() if is_object(item))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return is_array(value) and all(isinstance(one, str) for one in value)


def _is_text_or_texts(value: object) -> bool:
    return _is_text(value) or _is_texts(value)


_Fields = Mapping[str, tuple[Callable[[Any], bool], str]]

_ROOT: Final[_Fields] = {
    "type": (_is_text, "a string"),
    "properties": (is_object, "an object"),
    "required": (_is_texts, "a list of strings"),
}
_PROPERTY: Final[_Fields] = {
    "type": (_is_text_or_texts, "a string or a list of strings"),
    "description": (_is_text, "a string"),
    "enum": (is_array, "a list"),
    "anyOf": (is_array, "a list"),
    "properties": (is_object, "an object"),
}

RULES: Final = rules_of(sys.modules[__name__])
