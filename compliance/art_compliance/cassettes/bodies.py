"""The bytes of recorded bodies: decompressed, and as text or JSON where they are either."""

from __future__ import annotations

import gzip
import importlib
import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final


class UnreadableBody(ValueError):
    """A body that is not what its headers say."""


def decompress(body: bytes, encoding: str) -> bytes:
    """The body without its `content-encoding`, which may name several, the last applied first to be undone.

    A body that was decompressed already, its header left behind, is given as it is. Raises UnreadableBody.
    """
    for name in reversed([part.strip().lower() for part in encoding.split(",") if part.strip()]):
        undo = _UNDO.get(name)
        if undo is None:
            message = f"its content-encoding is {name!r}, which is not known here; known: {', '.join(_UNDO)}"
            raise UnreadableBody(message)
        try:
            body = undo(body)
        except (OSError, EOFError, zlib.error) as error:
            message = f"its {name} data cannot be undone, it is cut or damaged: {error}"
            raise UnreadableBody(message) from error
    return body


def _plain(body: bytes) -> bytes:
    return body


def _ungzip(body: bytes) -> bytes:
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else _hold_text(body, "gzip")


def _inflate(body: bytes) -> bytes:
    if is_text(body) and body[:1] in b"{[d:eE<":
        return body
    try:
        return zlib.decompress(body)
    except zlib.error:
        return zlib.decompress(body, -zlib.MAX_WBITS)  # some servers leave the zlib header out


def _unbrotli(body: bytes) -> bytes:
    module: Any = None
    for name in ("brotli", "brotlicffi"):
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        break
    if module is None:
        if is_text(body):
            return body
        message = "its brotli data cannot be undone here: pip install brotli, or record without accept-encoding: br"
        raise UnreadableBody(message)
    try:
        undone: bytes = module.decompress(body)
    except module.error as error:
        if is_text(body):
            return body
        message = f"its br data cannot be undone, it is cut or damaged: {error}"
        raise UnreadableBody(message) from error
    return undone


def _hold_text(body: bytes, name: str) -> bytes:
    if body and not is_text(body):
        message = f"its content-encoding is {name}, and its bytes are neither that nor text"
        raise UnreadableBody(message)
    return body


_UNDO: Final[dict[str, Callable[[bytes], bytes]]] = {
    "identity": _plain,
    "gzip": _ungzip,
    "x-gzip": _ungzip,
    "deflate": _inflate,
    "br": _unbrotli,
}


def is_text(body: bytes) -> bool:
    """Whether the bytes are UTF-8."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def json_of(body: bytes) -> Any:
    """The JSON value of a body, or None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def stream_items(body: bytes) -> Iterator[Any]:
    """The JSON values of a recorded event stream, one for each `data:` line, or one line of JSON each."""
    for line in body.decode("utf-8", "replace").splitlines():
        data = line.removeprefix("data:").strip()
        if data.startswith("{") and (value := json_of(data.encode())) is not None:
            yield value
