"""What of an answer's content goes back with the next turn besides text and calls: thought signatures, other parts."""

from __future__ import annotations

from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta, Struct, field

from art_sdk.messages import NonEmpty

_Place = Annotated[int, Meta(ge=0)]
_KEPT: Final = frozenset(
    {
        "inlineData",
        "fileData",
        "executableCode",
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
        "audioTranscription",
    }
)
"""Data of a part that goes back as it came: all in `google.genai.types.Part` but text, calls and their results."""


class CalledFunction(Struct):
    """A call in an answer. One without arguments has none, or null."""

    name: NonEmpty
    args: dict[str, Any] | None = None
    id: str | None = None


class Part(Struct, rename="camel"):
    """The fields of a part that are read: of a text, a thought, or a call."""

    text: str | None = None
    thought: bool = False
    function_call: CalledFunction | None = None
    thought_signature: str | None = None


class KeptPart(Struct, forbid_unknown_fields=True):
    """A part of another kind (an image, code that ran, ...), and its place among the parts that go back."""

    at: _Place
    part: dict[str, Any]

    def __post_init__(self) -> None:
        if not has_other_data(self.part):
            raise ValueError(f"a part has none of {', '.join(sorted(_KEPT))}")


class Kept(Struct, forbid_unknown_fields=True):
    """An answer's message's `extensions`: the thought signatures of its text and of its calls by place, other parts."""

    text: str | None = None
    calls: dict[_Place, str] = field(default_factory=dict[int, str])
    parts: list[KeptPart] = field(default_factory=list[KeptPart])


def has_other_data(part: dict[str, Any]) -> bool:
    """Whether a part has data that is neither text nor a call. Kinds that are not known are skipped."""
    return any(part.get(name) is not None for name in _KEPT)


class _Other(NamedTuple):
    part: dict[str, Any]
    calls_before: int
    has_text_before: bool


class KeptParts:
    """Collects an answer's parts. Its memory does not grow with the number of pieces of text."""

    def __init__(self) -> None:
        self.has_data = False
        self.call_count = 0
        self._has_text = False
        self._text_signature: str | None = None
        self._call_signatures: dict[str, str] = {}
        self._others: list[_Other] = []

    def add(self, given: dict[str, Any], part: Part) -> None:
        """Adds a part: as it was given, and as it is read."""
        if part.function_call is not None:
            if part.thought_signature:
                self._call_signatures[str(self.call_count)] = part.thought_signature
            self.call_count += 1
        elif part.text is None and has_other_data(given):
            self._others.append(_Other(given, self.call_count, self._has_text))
        else:
            self._text_signature = part.thought_signature or self._text_signature
            self._has_text = self._has_text or bool(part.text and not part.thought)
            if part.text is None and not part.thought_signature:
                return
        self.has_data = True

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        """The message's extensions."""
        written: dict[str, Any] = {"text": self._text_signature} if self._text_signature else {}
        written |= {"calls": dict(self._call_signatures)} if self._call_signatures else {}
        written |= {"parts": [*map(self._placed, range(len(self._others)))]} if self._others else {}
        return {"gemini-generate": written} if written else None

    def _placed(self, number: int) -> dict[str, Any]:
        """A part with its place: all text goes back as one part, before the calls."""
        part, calls, has_text_before = self._others[number]
        goes_after_text = self._has_text and (has_text_before or calls > 0)
        return {"at": number + goes_after_text + calls, "part": part}


def put_back(parts: list[dict[str, Any]], kept: Kept, *, call_count: int) -> None:
    """Puts signatures on the parts of a message, whose calls stand at the end, and other parts at their places.

    Raises ValueError for places that the message does not have.
    """
    first_call = len(parts) - call_count
    for at, signature in kept.calls.items():
        if at >= call_count:
            raise ValueError(f"there is no call {at}")
        parts[first_call + at]["thoughtSignature"] = signature
    if kept.text is not None and first_call:
        parts[0]["thoughtSignature"] = kept.text
    for one in kept.parts:
        if one.at > len(parts):
            raise ValueError(f"a part has the invalid place {one.at}")
        parts.insert(one.at, one.part)
    if kept.text is not None and not first_call:
        parts.insert(0, {"text": "", "thoughtSignature": kept.text})


def read_kept(extension: object) -> Kept:
    """The kept parts. Raises ValueError for an extension of another form."""
    return msgspec.convert(extension, Kept, str_keys=True)
