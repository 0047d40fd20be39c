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
    if body.startswith(b"\x1f\x8b"):
        return gzip.decompress(body)
    return _hold_text(body, "its content-encoding is gzip, and its bytes are neither that nor text")


def _inflate(body: bytes) -> bytes:
    if is_text(body) and body[:1] in b"{[d:eE<":
        return body
    try:
        return zlib.decompress(body)
    except zlib.error:
        return zlib.decompress(body, -zlib.MAX_WBITS)  # some servers leave the zlib header out


def _by_library(coding: str, names: tuple[str, ...], install: str) -> Callable[[bytes], bytes]:
    """Undoes a coding that needs a library: whoever's client is answered in it has one, so no extra brings it."""

    def undo(body: bytes) -> bytes:
        library = _import_first(names)
        if library is None:
            message = f"its {coding} data needs a library that is not installed (to read it: pip install {install})"
            return _hold_text(body, message)
        failure: type[Exception] = getattr(library, "ZstdError", None) or library.error
        try:
            undone: bytes = library.decompress(body)
        except failure as error:
            return _hold_text(body, f"its {coding} data cannot be undone, it is cut or damaged: {error}")
        return undone

    return undo


def _import_first(names: tuple[str, ...]) -> Any:
    """The first of these modules that is installed; they are the ones that httpx2 looks for."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    return None


def _hold_text(body: bytes, otherwise: str) -> bytes:
    """The body, where it was decompressed already and its header left behind."""
    if body and not is_text(body):
        raise UnreadableBody(otherwise)
    return body


_UNDO: Final[dict[str, Callable[[bytes], bytes]]] = {
    "identity": _plain,
    "gzip": _ungzip,
    "x-gzip": _ungzip,
    "deflate": _inflate,
    "br": _by_library("brotli", ("brotli", "brotlicffi"), "brotli"),
    "zstd": _by_library("zstd", ("compression.zstd", "backports.zstd"), "backports.zstd"),
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
