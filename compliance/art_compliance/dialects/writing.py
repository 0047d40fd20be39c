"""What the writers of answers have in common."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol

from msgspec import structs

from art_compliance.scenarios import WrittenAnswer
from art_sdk.json_data import is_object
from art_sdk.messages import ToolCall


class CannotWrite(ValueError):
    """An answer that the dialect cannot express."""


class WriteStream(Protocol):
    """Writes a streamed answer: one element per event, framed as the provider frames it, the end mark included.

    `payload` is the request's body. Where it asks for less (no usage, say), less is written; without it everything is.
    The joined events say the same as the unstreamed answer. Raises CannotWrite.
    """

    def __call__(self, answer: WrittenAnswer, payload: object = None) -> tuple[bytes, ...]:
        """Returns the events in the provider's order."""
        ...


def as_sayable(write: Callable[[WrittenAnswer], object], answer: WrittenAnswer) -> WrittenAnswer:
    """The answer without its signature where `write` raises CannotWrite for one: some providers sign nothing."""
    unsigned = structs.replace(answer, signature=None)
    return unsigned if answer.signature and not _can(write, answer) and _can(write, unsigned) else answer


def _can(write: Callable[[WrittenAnswer], object], answer: WrittenAnswer) -> bool:
    try:
        write(answer)
    except CannotWrite:
        return False
    return True


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """A call's arguments, for a dialect that needs an object. Raises CannotWrite for anything else."""
    try:
        value: Any = json.loads(call.function.arguments or "{}")
    except ValueError:
        value = None
    if not is_object(value):
        raise CannotWrite("the dialect needs arguments that are a JSON object")
    return value


def with_object_arguments(answer: WrittenAnswer) -> WrittenAnswer:
    """The answer with empty objects for arguments that were cut, for a dialect that needs an object."""
    if answer.finish != "length":
        return answer
    calls = tuple(
        structs.replace(call, function=structs.replace(call.function, arguments="{}")) for call in answer.tool_calls
    )
    return structs.replace(answer, tool_calls=calls)
