"""Encodings in which a text may contain another one: base64, percent-encoding, escapes, hexadecimal, UTF-16, bytes."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple
from urllib.parse import quote, quote_plus, unquote, unquote_plus


class Inner(NamedTuple):
    """A text that is encoded in another one: where, what it says, and how a changed one is written back.

    Of bytes (`is_binary`), each is one letter.
    """

    start: int
    end: int
    text: str
    write: Callable[[str], str]
    is_binary: bool = False


class Coding(NamedTuple):
    """One encoding: its name, what a text must contain, and what reads the inner texts of a text.

    With `undo`, a whole text is decoded at once, to see whether it is worth looking at its parts.
    """

    name: str
    needs: re.Pattern[str]
    read: Callable[[str], Iterator[Inner]]
    undo: Callable[[str], str] | None = None


_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{18,}+(?:\r?\n[A-Za-z0-9+/_-]{4,}+)*+={0,2}")
"""A run of letters, also over lines, as mail and multipart bodies have it."""

_SHORT: Final = 4096
"""In a run up to this length, base64 may begin at any of four letters: what comes before it may be glued to it."""

_ISLAND: Final = re.compile(rb"[\t\n\r\x20-\x7e]{12,}|(?:[\t\n\r\x20-\x7e]\0){11,}")
"""What makes bytes worth a look: a text, in ASCII or in UTF-16. Random bytes hardly ever contain one."""


def _base64(text: str) -> Iterator[Inner]:
    for run in _BASE64.finditer(text):
        letters = "".join(run[0].rstrip("=").split())
        for offset in range(4 if len(letters) <= _SHORT else 1):
            yield from _decoded(run, letters, offset)


def _decoded(run: re.Match[str], letters: str, offset: int) -> Iterator[Inner]:
    """What the letters from `offset` on say, if it contains any text."""
    end = len(letters) - ((len(letters) - offset) % 4 == 1)  # a letter alone says nothing
    coded = letters[offset:end].replace("-", "+").replace("_", "/")
    try:
        raw = binascii.a2b_base64(coded + "=" * (-len(coded) % 4))
    except binascii.Error:
        return
    if _ISLAND.search(raw) is None:
        return
    shown, is_binary = read_bytes(raw)

    def write(changed: str) -> str:
        fresh = changed.encode("latin-1" if is_binary else "utf-8", "replace")
        is_url_safe = "-" in letters or "_" in letters
        written = (base64.urlsafe_b64encode if is_url_safe else base64.b64encode)(fresh).decode()
        is_padded = run[0].endswith("=") or (end == len(letters) and len(coded) % 4 == 0)
        return _wrapped(letters[:offset] + (written if is_padded else written.rstrip("=")) + letters[end:], run[0])

    yield Inner(run.start(), run.end(), shown, write, is_binary)


def _wrapped(text: str, like: str) -> str:
    """The text in lines as long as the first one of another text, if that has several."""
    first, line_break, _ = like.partition("\n")
    if not line_break:
        return text
    width = len(first.rstrip("\r"))
    lines = [text[at : at + width] for at in range(0, len(text), width)]
    return ("\r\n" if first.endswith("\r") else "\n").join(lines)


def read_bytes(raw: bytes) -> tuple[str, bool]:
    """Bytes as text, and whether they are binary: then each byte is one letter."""
    try:
        shown = raw.decode()
    except UnicodeDecodeError:
        shown = raw.decode("latin-1")
        return shown, _CONTROL.search(shown) is not None
    is_binary = _CONTROL.search(shown.replace("\0", "")) is not None
    return (raw.decode("latin-1"), True) if is_binary else (shown, False)


_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")

_PERCENT: Final = re.compile(r"(?:[A-Za-z0-9._~+*:@/=-]|%[0-9A-Fa-f]{2})++")


_SAFE: Final = "~*:@/="


def _quoted(changed: str) -> str:
    return quote(changed, safe=_SAFE + "+")


def _percent(text: str) -> Iterator[Inner]:
    for run in _PERCENT.finditer(text):
        if "%" in run[0]:
            yield Inner(run.start(), run.end(), unquote(run[0]), _quoted)


def _quoted_for_forms(changed: str) -> str:
    return quote_plus(changed, safe=_SAFE)


def _form(text: str) -> Iterator[Inner]:
    for run in _PERCENT.finditer(text):
        if "+" in run[0]:
            yield Inner(run.start(), run.end(), unquote_plus(run[0]), _quoted_for_forms)


_WITH_BLANKS: Final = re.compile(r"(?:[^\"'\\\n]|\\.)++")
_WITHOUT_BLANKS: Final = re.compile(r"(?:[^\s\"'\\]|\\.)++")
_NOT_IN_JSON: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|(0))")
_ESCAPE: Final = re.compile(r"(?<!\\)\\++(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrtbf\"'/0]))")
_PLAIN: Final = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " ", "0": "\0"}


def _escapes(text: str) -> Iterator[Inner]:
    """Texts with JSON's escapes, and YAML's: each whole, and by its words, as one wrong escape spoils the whole."""
    for run in _WITH_BLANKS.finditer(text):
        if "\\" not in run[0]:
            continue
        for word in (run, *_WITHOUT_BLANKS.finditer(text, run.start(), run.end())):
            shown = _read_escapes(word[0])
            if shown is not None:
                yield Inner(word.start(), word.end(), shown, _escaped)


def _read_escapes(text: str) -> str | None:
    as_json = _NOT_IN_JSON.sub(lambda match: f"\\u00{match[1] or '00'}", text)
    try:
        return str(json.loads(f'"{as_json}"', strict=False)) if "\\" in text else None
    except ValueError:
        return None


def _escaped(changed: str) -> str:
    return json.dumps(changed, ensure_ascii=False)[1:-1]


def unescape(text: str) -> str:
    """A text without its escapes, however often they are escaped themselves."""
    return _ESCAPE.sub(_unescape, text)


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _PLAIN.get(match[3], match[3])


_HEX: Final = re.compile(r"(?<![0-9A-Za-z])(?:(?:[0-9a-f]{2}){12,}+|(?:[0-9A-F]{2}){12,}+)(?![0-9A-Za-z])")


def _hexadecimal(text: str) -> Iterator[Inner]:
    for run in _HEX.finditer(text):
        raw = bytes.fromhex(run[0])
        if _ISLAND.search(raw) is not None:
            shown, is_binary = read_bytes(raw)
            yield Inner(run.start(), run.end(), shown, partial(_as_hexadecimal, is_binary=is_binary), is_binary)


def _as_hexadecimal(changed: str, *, is_binary: bool) -> str:
    return changed.encode("latin-1" if is_binary else "utf-8").hex()


_WIDE: Final = re.compile(r"\0?(?:[\t\n\r\x20-\x7e]\0){7,}+[\t\n\r\x20-\x7e]?")


def _utf16(text: str) -> Iterator[Inner]:
    """ASCII in UTF-16, whichever byte comes first."""
    for run in _WIDE.finditer(text):
        edges = ("\0" * run[0].startswith("\0"), "\0" * run[0].endswith("\0"))
        yield Inner(run.start(), run.end(), run[0].replace("\0", ""), partial(_widened, edges=edges))


def _widened(changed: str, *, edges: tuple[str, str]) -> str:
    return edges[0] + "\0".join(changed) + edges[1]


_SHOWN: Final = re.compile(r"[\t\n\r\x20-\x7e]{12,}+")


def _islands(text: str) -> Iterator[Inner]:
    """Texts among bytes: in random bytes, patterns such as a mail address's would match by chance."""
    for run in _SHOWN.finditer(text):
        yield Inner(run.start(), run.end(), run[0], str)


IN_TEXTS: Final[tuple[Coding, ...]] = (
    Coding("UTF-16", re.compile("\0"), _utf16),
    Coding("percent-encoding", re.compile("%[0-9A-Fa-f]{2}"), _percent, unquote),
    Coding("the encoding of forms", re.compile(r"[=&][^\s\"=&]{0,512}\+"), _form, unquote_plus),
    Coding("escapes", re.compile(r"\\"), _escapes, unescape),
    Coding("hexadecimal", _HEX, _hexadecimal),
    Coding("base64", _BASE64, _base64),
)
IN_BYTES: Final[tuple[Coding, ...]] = (Coding("bytes", _SHOWN, _islands), Coding("UTF-16", re.compile("\0"), _utf16))
