"""curl commands, as documentation shows them and browsers copy them (https://curl.se/docs/manpage.html)."""

from __future__ import annotations

import codecs
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from art_compliance.traffic.found import Item, Unread, find_body

_BEGINS: Final = re.compile(r"(?m)^[ \t]*(?:[$%>][ \t]+)?(?=curl[ \t\\])")


def is_curl(text: str) -> bool:
    """Whether a text is curl commands: its first line that is not a comment begins with one."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return bool(_BEGINS.match(first))


def read_curl(text: str, where: str, folder: Path) -> Iterator[Item]:
    """The request of each command in a text. Files with bodies are looked for in the folder."""
    starts = [found.end() for found in _BEGINS.finditer(text)]
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True), 1):
        place = where if len(starts) == 1 else f"{where}: command {number}"
        try:
            command = _parse(_words(text[start:end]), folder)
        except ValueError as error:
            yield Unread(where=place, why=str(error))
            continue
        if command.url is None or command.body is None:
            yield Unread(where=place, why=f"the curl command has no {'URL' if command.url is None else 'body'}")
        else:
            yield find_body(place, command.body, url=command.url, headers=command.headers)


class _Command(Struct):
    url: str | None = None
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])


_ANSI: Final = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
"""A text with escapes, in which Chrome copies bodies (https://www.gnu.org/software/bash/manual, "ANSI-C Quoting")."""


def _words(command: str) -> list[str]:
    """The words of a command for a POSIX shell, up to a pipe or another command. Raises ValueError."""
    if _WINDOWS.search(command):
        raise ValueError(f"{_OTHER_SHELL}: it escapes with ^; copy it as a command for bash")
    plain = _ANSI.sub(lambda found: shlex.quote(_unescape(found[1])), command)
    try:
        words = shlex.split(plain, comments=False)
    except ValueError as error:
        raise ValueError(f"{_OTHER_SHELL}, or is cut off: {str(error).lower()}") from error
    words = [word.lstrip("\n") for word in words]  # a backslash that ends a line
    ends = [number for number, word in enumerate(words) if word in _ENDS or word.startswith(("<<", ">"))]
    return [word for word in words[1 : ends[0] if ends else None] if word]


_OTHER_SHELL: Final = "the curl command is for another shell than bash"
_WINDOWS: Final = re.compile(r"""\^["\n]""")
_ENDS: Final = ("|", "&&", ";", "||", "&")


def _unescape(text: str) -> str:
    return codecs.decode(text.replace("\\'", "'").encode("latin-1", "backslashreplace"), "unicode_escape")


_WITH_VALUE: Final = "ACDEFHKPQTUXYbcdehmortuwxyz"
"""The short options that take a value (curl 7.88, `curl --help all`)."""

_NAMES: Final[Mapping[str, str]] = {
    "-d": "--data",
    "-H": "--header",
    "-X": "--request",
    "-G": "--get",
    "-F": "--form",
    "-T": "--upload-file",
}
_DATA: Final = frozenset({"--data", "--data-ascii", "--data-binary", "--data-raw", "--json"})
_UNREAD: Final = frozenset({"--form", "--form-string", "--get", "--upload-file", "--data-urlencode", "--config"})
_LONG_NAMES: Final = """
    aws-sigv4 cacert capath cert cert-type ciphers connect-timeout connect-to cookie cookie-jar doh-url dump-header
    interface keepalive-time key key-type limit-rate max-time noproxy oauth2-bearer output output-dir pass preproxy
    proxy proxy-header proxy-user range referer resolve retry retry-delay retry-max-time socks4 socks4a socks5
    socks5-hostname speed-limit speed-time stderr trace trace-ascii unix-socket url-query user user-agent write-out
"""
_LONG_WITH_VALUE: Final = frozenset(f"--{name}" for name in _LONG_NAMES.split())


def _parse(words: Sequence[str], folder: Path) -> _Command:
    """What the words say of the request. Raises ValueError for what a JSON body cannot come from."""
    command, data = _Command(), list[str]()
    for name, value in _options(iter(words)):
        if name == "--header":
            header, _, content = value.partition(":")
            command.headers[header.strip().lower()] = content.strip()
        elif name in _DATA:
            data.append(_data(name, value, folder))
        elif name in _UNREAD:
            raise ValueError(f"the curl command uses {name}, which does not send a JSON body")
        elif name == "--url" or (not name and command.url is None and _is_url(value)):
            command.url = value
    command.body = ("" if "--json" in words else "&").join(data) if data else None
    return command


def _options(words: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Each option with its value, or with an empty one; words that are not options have an empty name."""
    for word in words:
        if word.startswith("--"):
            has_value = word in _DATA | _LONG_WITH_VALUE | {"--header", "--request", "--url"} | (_UNREAD - {"--get"})
            yield word, next(words, "") if has_value else ""
        elif word.startswith("-") and len(word) > 1:
            yield from _short(word[1:], words)
        else:
            yield "", word


def _short(letters: str, words: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Short options, which may stand together: `-sSXPOST`."""
    for number, letter in enumerate(letters):
        name = _NAMES.get(f"-{letter}", f"-{letter}")
        if letter in _WITH_VALUE:
            yield name, letters[number + 1 :] or next(words, "")
            return
        yield name, ""


def _data(name: str, value: str, folder: Path) -> str:
    if name == "--data-raw" or not value.startswith("@"):
        return value
    if value == "@-":
        raise ValueError("the body of the curl command comes from standard input; put it into a file")
    try:
        return (folder / value[1:]).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read the body of the curl command, {value[1:]}: {error}") from error


def _is_url(word: str) -> bool:
    """Whether a word may be a URL: curl needs no scheme, and a variable may stand for the host."""
    return bool(re.match(r"[a-z][a-z0-9+.-]*://|[$\[{<\w.-]+(?:[:.][\w.$}>-]+|[}>]?)/|localhost", word, re.IGNORECASE))
