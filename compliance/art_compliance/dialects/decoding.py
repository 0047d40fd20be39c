"""What decoding a request gives, and what every dialect's decoder is made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct, field

from art_compliance.pointers import escape
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object, json_type
from art_sdk.messages import (
    ArtStandardMessage,
    ArtStandardPrompt,
    FunctionCall,
    ImagePart,
    Part,
    TextPart,
    ToolCall,
    ToolSchema,
    UserMessage,
)

Reader = TypeVar("Reader")
"""What reads the messages of one role."""


class DecodeFailed(ValueError):
    """A request that the dialect cannot have. `pointer` says where it is wrong."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(f"{pointer or '/'}: {message}")
        self.pointer = pointer


class Decoded(Struct, frozen=True, kw_only=True):
    """A request in the standard format. Two requests mean the same when their decodings are equal.

    `options` has the names of `CallOptions`. `opaque` holds, by JSON pointer, what the standard format has no slot for.
    `places` gives the JSON pointer of each message, call, tool and option: of `prompt/2`, `prompt/2/tool_calls/0`,
    `tools/0`, `options/model`. `wrapped` has the path (`$[2]`) of each result whose text is in an object.
    `has_ids` says whether every call has its own id, where the format lets it have none.
    `json_results` gives, by such paths, the JSON values that a result may stand for that was sent as an object.
    """

    prompt: ArtStandardPrompt
    tools: tuple[ToolSchema, ...] = ()
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    opaque: dict[str, Any] = field(default_factory=dict[str, Any])
    places: dict[str, str] = field(default_factory=dict[str, str])
    wrapped: frozenset[str] = frozenset()
    has_ids: bool = True
    json_results: dict[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])


class Decode(Protocol):
    """Decodes a request body; `url` is where some dialects put the model and the choice to stream."""

    def __call__(self, payload: object, *, url: str | None = None) -> Decoded:
        """Raises DecodeFailed."""
        ...


class Ledger:
    """Records, while a request is decoded, where things were and which fields were left."""

    def __init__(self) -> None:
        self.opaque: dict[str, Any] = {}
        self.places: dict[str, str] = {}
        self._tools = 0

    @contextmanager
    def open(self, value: object, pointer: str) -> Generator[Fields]:
        """The fields of an object. On leaving the `with`, those that were not taken become opaque."""
        if not is_object(value):
            raise wrong_kind(pointer, "an object", value)
        fields = Fields(dict(value), pointer)
        try:
            yield fields
        except RecursionError as error:
            raise DecodeFailed(pointer, "nested too deeply to be decoded") from error
        for name, rest in fields.left.items():
            if rest is not None:
                self.opaque[f"{pointer}/{escape(name)}"] = rest

    def parts(self, fields: Fields, name: str) -> Iterator[tuple[Fields, str | None]]:
        """The parts of the content under that name, each with its type; a string is one part of text."""
        content = fields.take(name)
        pointer = f"{fields.pointer}/{name}"
        if isinstance(content, str):
            yield Fields({"text": content}, pointer), "text"
            return
        if content is not None and not is_array(content):
            raise wrong_kind(pointer, "text or a list", content)
        for index, item in enumerate(content or ()):
            with self.open(item, f"{pointer}/{index}") as part:
                yield part, part.take_text("type")

    def texts(
        self, fields: Fields, blocks: list[dict[str, Any]] | None = None, kept: Container[str | None] = ()
    ) -> list[str]:
        """The texts of a message's content; `blocks` receives the parts of the types in `kept`, each with its place."""
        texts: list[str] = []
        for at, (part, kind) in enumerate(self.parts(fields, "content")):
            if kind == "text":
                texts.append(part.take_text("text") or "")
            elif blocks is not None and kind in kept:
                blocks.append({"at": at, "block": {"type": kind, **part.left}})
                part.left.clear()
            else:
                part.put_back("type", kind)
        return texts

    def texts_and_images(self, fields: Fields, read_image: Callable[[Fields], ImagePart]) -> Iterator[Part]:
        """The texts and the images (`image_url`) of a user's content."""
        for part, kind in self.parts(fields, "content"):
            if kind == "text":
                yield TextPart(part.take_text("text") or "")
            elif kind == "image_url":
                yield read_image(part)
            else:
                part.put_back("type", kind)

    def by_role(
        self, messages: Iterable[object], readers: Mapping[str, Reader], key: Callable[[str], str] = str
    ) -> Iterator[tuple[Fields, Reader]]:
        """Each message of `/messages` with the reader of its role. Raises DecodeFailed for a role without one."""
        for index, message in enumerate(messages):
            pointer = f"/messages/{index}"
            with self.open(message, pointer) as fields:
                role = fields.take_text("role")
                read = readers.get(key(role or ""))
                if read is None:
                    found = "the message has no role" if role is None else f"unknown role {show(role)}"
                    raise DecodeFailed(f"{pointer}/role", found)
                yield fields, read

    def place_tool(self, pointer: str) -> None:
        """Notes where the next tool stands."""
        self.places[f"tools/{self._tools}"] = pointer
        self._tools += 1

    def options(self, found: dict[str, tuple[Any, str]]) -> dict[str, Any]:
        """The options that are set, each found with its JSON pointer, which is noted."""
        given = {name: value for name, (value, _) in found.items() if value is not None}
        self.places |= {f"options/{name}": found[name][1] for name in given}
        return given


class PromptBuilder:
    """The prompt of a request while it is decoded, with the place of each message and call."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._messages: list[ArtStandardMessage] = []
        self._said: list[tuple[Part, str]] = []

    def add(self, message: ArtStandardMessage, pointer: str) -> None:
        """The next message. It ends a user's message whose parts came before."""
        self.end_user()
        self.ledger.places[f"prompt/{len(self._messages)}"] = pointer
        self._messages.append(message)

    def add_part(self, part: Part, pointer: str) -> None:
        """A part of a user's message: parts that stand together are one message."""
        self._said.append((part, pointer))

    def end_user(self) -> None:
        """Ends the user's message, if there is one."""
        if self._said:
            parts, pointer = [part for part, _ in self._said], self._said[0][1]
            self._said = []
            self.add(user_message(parts), pointer)

    def place_call(self, at: int, pointer: str) -> None:
        """Notes where a call of the next message stands."""
        self.ledger.places[f"prompt/{len(self._messages)}/tool_calls/{at}"] = pointer

    @property
    def last_path(self) -> str:
        """The path of the last message that was added."""
        return f"$[{len(self._messages) - 1}]"

    @property
    def messages(self) -> ArtStandardPrompt:
        """All messages so far."""
        self.end_user()
        return tuple(self._messages)


def user_message(parts: Sequence[Part], name: str | None = None) -> UserMessage:
    """A user's message: a single text is a plain text, everything else is parts."""
    only = parts[0] if len(parts) == 1 else None
    return UserMessage(only.text if isinstance(only, TextPart) else tuple(parts), name)


def image_of(url: str) -> ImagePart:
    """The image at a URL, or in one: `data:image/png;base64,...`."""
    inline = _DATA_URL.match(url)
    if inline:
        return ImagePart(inline["type"], data=url[inline.end() :])
    return ImagePart("image/*", url=url)


_DATA_URL: Final = re.compile(r"data:(?P<type>[^;,]+);base64,")


def call_of(call_id: str, name: str, arguments: str) -> ToolCall:
    """A call with these arguments, as JSON text."""
    return ToolCall(call_id, FunctionCall(name, arguments))


class Fields:
    """The fields of an object, taken one by one. A field that is null counts as absent."""

    def __init__(self, left: dict[str, Any], pointer: str) -> None:
        self.left = left
        self.pointer = pointer

    def take(self, *names: str) -> Any:
        """The value under the first of the names that has one, or None."""
        for name in names:
            if self.left.get(name) is not None:
                return self.left.pop(name)
        return None

    def take_list(self, *names: str) -> list[Any]:
        """As `take`, for a list; a single object counts as a list of one (protobuf's JSON reads it so)."""
        value = self.take(*names)
        if value is None:
            return []
        if is_object(value):
            return [value]
        if not is_array(value):
            raise wrong_kind(f"{self.pointer}/{names[0]}", "a list", value)
        return list(value)

    def take_text(self, *names: str) -> str | None:
        """As `take`, for text."""
        value = self.take(*names)
        if value is not None and not isinstance(value, str):
            raise wrong_kind(f"{self.pointer}/{names[0]}", "text", value)
        return value

    def take_object(self, *names: str) -> dict[str, Any] | None:
        """As `take`, for an object."""
        value = self.take(*names)
        if value is None or is_object(value):
            return value
        raise wrong_kind(f"{self.pointer}/{names[0]}", "an object", value)

    def put_back(self, name: str, value: object) -> None:
        """Gives back a value that has no slot after all: it becomes opaque."""
        self.left[name] = value


def wrong_kind(pointer: str, wanted: str, value: object) -> DecodeFailed:
    """The error for a value of the wrong type."""
    return DecodeFailed(pointer, f"expected {wanted}, got {json_type(value)}")


def take_functions(ledger: Ledger, body: Fields) -> Iterator[ToolSchema]:
    """The tools of a body that declares each as an object with `type` and `function`."""
    for index, item in enumerate(body.take_list("tools")):
        pointer = f"/tools/{index}"
        with ledger.open(item, pointer) as tool:
            tool.take("type")
            ledger.place_tool(pointer)
            with ledger.open(tool.take("function"), f"{pointer}/function") as function:
                name, description = function.take_text("name") or "", function.take_text("description") or ""
                yield ToolSchema(name, description, function.take_object("parameters") or {})


def has_more_than_blanks(texts: Iterable[str]) -> bool:
    """Whether one of the texts is more than whitespace."""
    return any(text.strip() for text in texts)


def keep_blocks(
    dialect: str, kept: Iterable[tuple[dict[str, Any], int, bool]], *, has_text: bool
) -> dict[str, dict[str, Any]] | None:
    """The extensions of an assistant's message: blocks without a slot, each with its place.

    A block comes with the number of calls before it, and whether a text or call is before it. Its place is the one that
    it has next to a single block of all text, which comes before the calls.
    """
    blocks = [
        {"at": number + before + (has_text and follows_text), "block": block}
        for number, (block, before, follows_text) in enumerate(kept)
    ]
    return {dialect: {"blocks": blocks}} if blocks else None
