"""The calls of a stream, joined of their pieces.

A call begins with its name; its further pieces have its index, or its id, or neither. As recorded: pieces without
an index (Mistral, in 2024), a beginning that is sent again with the arguments (Novita), calls of other types
than functions (OpenAI's custom tools), and OpenAI's older field `function_call`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import LongText
from art_sdk.adapters.chat_completions.answers import Call, Function, FunctionPiece

_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode
_encode: Final = msgspec.json.Encoder().encode


class _CustomPiece(Struct):
    name: str | None = None
    input: str | None = None


class CallPiece(Struct):
    """A piece of a call: of a function, or of a custom tool, whose input is any text."""

    index: int | None = None
    id: str | None = None
    type: str | None = None
    function: FunctionPiece | None = None
    custom: _CustomPiece | None = None


class _OpenCall:
    """A call whose arguments are still coming."""

    def __init__(self, index: int, call_id: str | None, name: str, *, is_custom: bool) -> None:
        self.index = index
        self.id = call_id
        self.name = name
        self.is_custom = is_custom
        self._text: LongText | None = None
        self._may_be_whole = False
        self._began_again = False

    def begin_again(self, name: str | None, arguments: str | None) -> None:
        """The call's name or id, sent again. Raises ValueError if that is another call, or doubles the arguments."""
        self._began_again = True
        is_doubled = arguments and self._may_be_whole and not self.is_custom and _is_object(self.read() or "")
        if is_doubled or name not in (None, "", self.name):
            raise ValueError(f"the call {self.index} begins twice")

    def add(self, arguments: str | None) -> None:
        if arguments is None:
            return
        self._text = self._text or LongText()
        self._text.write(arguments)
        if arguments:
            self._may_be_whole = arguments.rstrip().endswith("}")

    def read(self) -> str | None:
        """The arguments so far; None if there was no piece of them."""
        return None if self._text is None else self._text.read()

    def check(self) -> None:
        """Raises ValueError if a beginning that was sent again has spoiled the arguments."""
        if self._began_again and not self.is_custom and (text := self.read()) and not _is_object(text):
            raise ValueError(f"the call {self.index} begins twice")


class JoinedCalls:
    """The calls of one answer, in the order in which they began.

    `may_skip_numbers`: their indexes are any numbers. As gateways number them by the blocks of another format, the
    first may be 1: https://github.com/vercel/ai/issues/18333.
    """

    def __init__(self, *, may_skip_numbers: bool = False) -> None:
        self._calls: list[_OpenCall] = []
        self._may_skip_numbers = may_skip_numbers

    def add(self, piece: CallPiece) -> None:
        """Adds a piece of a call. Raises ValueError for one that fits no call."""
        function = piece.function or FunctionPiece()
        custom = piece.custom or _CustomPiece()
        name, given = function.name or custom.name, function.arguments
        arguments = _encode(given).decode() if isinstance(given, dict) else given
        call = self._begun(piece, name)
        if call is None:
            call = self._begin(piece, name)
        elif name or piece.id:
            call.begin_again(name, arguments)
        call.add(custom.input if arguments is None else arguments)

    def add_all(self, pieces: Iterable[CallPiece], older: FunctionPiece | None) -> None:
        """Adds the pieces of a chunk. `older` is one of `function_call`: an answer has one at most, without an id."""
        for piece in pieces:
            self.add(piece)
        if older is not None and (older.name or self._calls):
            self.add(CallPiece(index=0, function=older))

    def functions(self) -> list[Call]:
        """The calls of functions so far. Raises ValueError for one that began twice."""
        for call in self._calls:
            call.check()
        return [Call(Function(call.name, call.read()), call.id) for call in self._calls if not call.is_custom]

    def others(self) -> list[dict[str, Any]]:
        """The calls of custom tools so far, as an unstreamed answer has them."""
        return [
            {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.read() or ""}}
            for call in self._calls
            if call.is_custom
        ]

    def _begun(self, piece: CallPiece, name: str | None) -> _OpenCall | None:
        """The call that the piece goes on with, or None."""
        if piece.index is not None:
            found = [call for call in self._calls if call.index == piece.index]
        elif piece.id:
            found = [call for call in self._calls if call.id == piece.id]
        else:
            found = [] if name else self._calls
        if not found:
            return None
        last = found[-1]
        is_another = piece.id != last.id if piece.id and last.id else name != last.name
        return None if name and is_another else last

    def _begin(self, piece: CallPiece, name: str | None) -> _OpenCall:
        taken = {call.index for call in self._calls}
        index = max(taken, default=-1) + 1 if piece.index is None else piece.index
        if index not in taken and index != len(taken) and not self._may_skip_numbers:
            raise ValueError("a piece of a call with an unexpected index")
        if not name:
            raise ValueError(f"a piece of the call {index}, which has no name")
        is_custom = piece.function is None or not piece.function.name  # some servers send both, one of them empty
        call = _OpenCall(index, piece.id, name, is_custom=is_custom)
        self._calls.append(call)
        return call


def _is_object(text: str) -> bool:
    try:
        _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True
