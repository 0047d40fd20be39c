"""A page of HTML on disk, which may be anything."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import Final, NamedTuple

from art_compliance.findings import HarnessError

SIZE_LIMIT: Final = 64 * 2**20
"""The most bytes of a file that are read: far more than any page has."""

_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_DECLARED_WITHIN: Final = 1024
"""Bytes: where browsers look for the declaration."""

_AS_BROWSERS_READ: Final = {"iso8859-1": "cp1252", "ascii": "cp1252", "utf-16": "utf-8"}
"""Encodings that the HTML standard replaces when a page declares them."""


class HtmlFile(NamedTuple):
    """A page, the encoding that it was read as, and how many characters could not be read."""

    html: str
    encoding: str
    unreadable: int


def read_html(path: Path) -> HtmlFile:
    """The page, in the encoding of its mark or declaration, else in UTF-8.

    Raises HarnessError for a file that cannot be read, is too large, is empty or has no text in it.
    """
    data = read_bytes(path)
    if not data.strip():
        raise HarnessError(f"{path} is empty")
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", _declared(data)))
    html = data.removeprefix(mark).decode(encoding, "replace")
    if "\0" in html:
        raise HarnessError(f"{path} is not HTML: there is a zero byte in it, as in binary files")
    return HtmlFile(html, encoding, html.count("\ufffd"))


def read_bytes(path: Path) -> bytes:
    """What is in a file. Raises HarnessError for one that cannot be read or is too large."""
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > SIZE_LIMIT:
        raise HarnessError(f"{path} is larger than {SIZE_LIMIT // 2**20} MiB")
    return data


def _declared(data: bytes) -> str:
    """The encoding that the page declares, or UTF-8 if it declares none that Python knows."""
    found = _DECLARED.search(data[:_DECLARED_WITHIN])
    if found is None:
        return "utf-8"
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
        b"xx".decode(name, "replace")  # some codecs are not for text
    except LookupError:
        return "utf-8"
    return _AS_BROWSERS_READ.get(name, name)
