"""Recorded bodies: decompresses them, and reads them as text or JSON."""

from __future__ import annotations

import gzip
import importlib
import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final


class UnreadableBody(ValueError):
    """A body that does not match its content-encoding."""


def decompress(body: bytes, encoding: str) -> bytes:
    """The decompressed body. A `content-encoding` may name several codings, in the order in which they were applied.

    A body that is no longer compressed, although its header says so, is returned as it is. Raises UnreadableBody.
    """
    for name in reversed([part.strip().lower() for part in encoding.split(",") if part.strip()]):
        undo = _UNDO.get(name)
        if undo is None:
            raise UnreadableBody(f"its content-encoding {name!r} is unknown; known: {', '.join(_UNDO)}")
        try:
            body = undo(body)
        except (OSError, EOFError, zlib.error) as error:
            raise UnreadableBody(f"its {name} data is cut off or damaged: {error}") from error
    return body


def _plain(body: bytes) -> bytes:
    return body


def _ungzip(body: bytes) -> bytes:
    if body.startswith(b"\x1f\x8b"):
        return gzip.decompress(body)
    return _require_text(body, "its content-encoding is gzip, but its bytes are neither gzip nor text")


def _inflate(body: bytes) -> bytes:
    if is_text(body) and body[:1] in b"{[d:eE<":
        return body
    try:
        return zlib.decompress(body)
    except zlib.error:
        return zlib.decompress(body, -zlib.MAX_WBITS)  # some servers leave the zlib header out


def _by_library(coding: str, names: tuple[str, ...], install: str) -> Callable[[bytes], bytes]:
    """Decompresses with a library that no extra installs: clients that get such answers bring it."""

    def undo(body: bytes) -> bytes:
        library = _import_first(names)
        if library is None:
            return _require_text(
                body, f"its {coding} data needs a library that is not installed: pip install {install}"
            )
        failure: type[Exception] = getattr(library, "ZstdError", None) or library.error
        try:
            undone: bytes = library.decompress(body)
        except failure as error:
            return _require_text(body, f"its {coding} data is cut off or damaged: {error}")
        return undone

    return undo


def _import_first(names: tuple[str, ...]) -> Any:
    """The first of these modules that is installed; httpx2 looks for the same ones."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    return None


def _require_text(body: bytes, problem: str) -> bytes:
    """The body as it is, if it is text: then it was decompressed before, and only its header is left."""
    if body and not is_text(body):
        raise UnreadableBody(problem)
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
    """The JSON value of a body, or None if it is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def stream_items(body: bytes) -> Iterator[Any]:
    """The JSON values of a recorded event stream: one per `data:` line, or one per line of JSON."""
    for line in body.decode("utf-8", "replace").splitlines():
        data = line.removeprefix("data:").strip()
        if data.startswith("{") and (value := json_of(data.encode())) is not None:
            yield value
