"""Looks for secrets in the finished file, before it is written and before it is played.

It looks at the whole file, as a reader of the repository would: with the tables that the scrubbing uses, over the
lines of a stream, and with patterns of its own for what matters most, in case a shared one is wrong. A finding never
shows the secret.
"""

from __future__ import annotations

import base64
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import unquote

from msgspec import Struct

from art_compliance.cassettes.bodies import json_of
from art_compliance.cassettes.secrets import Cleaner, join_events, looks_random, unescape

_KEYS: Final[dict[str, re.Pattern[str]]] = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "a key of OpenAI's form": r"(?<![a-zA-Z0-9])sk-(?!ant-)[\w-]{12,}",
        "a key of Groq's form": r"(?<![a-zA-Z0-9])gsk_\w{16,}",
        "a key of xAI's form": r"(?<![a-zA-Z0-9])xai-[\w-]{16,}",
        "a key of Hugging Face's form": r"(?<![a-zA-Z0-9])(?:hf|api_org)_[A-Za-z0-9]{16,}",
        "a key of another provider's form": r"(?<![a-zA-Z0-9])(?:pplx-|csk-|nvapi-|r8_|fw_|tgp_v1_|ghp_)[\w-]{16,}",
        "a bearer token": r"(?i)\bbearer\s{1,4}(?!redacted)[\w.~+/-]{12,}",
        "a basic authorization": r"(?i)\bbasic\s{1,4}(?!redacted)[A-Za-z0-9+/]{16,}={0,2}",
        "a JSON web token": r"(?<![\w-])eyJ[\w-]{10,}+\.[\w-]{8,}+\.[\w-]{8,}",
    }.items()
}
"""Keys that begin as words may: their letters must look generated."""

_HEADER: Final = r"(?im)(?:^|[{,])[ \t]*+(['\"]?)(?:NAME)\1:[ \t]*+(?:\r?\n[ \t]*+-|\[|\S*\d\S*[ \t]*+$)"
"""A header as cassettes have it: its values are a list, or one word that may be a key."""

_CERTAIN: Final[dict[str, re.Pattern[str]]] = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "a key of Anthropic's form": r"sk-ant-[\w-]{8,}",
        "a key of Google's form": r"AIza[\w-]{20,}|\bAQ\.[\w-]{24,}|ya29\.[\w.-]{10,}",
        "a key of AWS's form": r"(?<![A-Z0-9a-z])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])",
        "a private key": r"BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]){1,8}[A-Za-z0-9+/=]{40,}",
        "an authorization header": _HEADER.replace("NAME", "(?:proxy-)?authorization"),
        "a header with a key": _HEADER.replace("NAME", "x-api-key|x-goog-api-key|api-key|x-amz-security-token"),
        "a cookie": _HEADER.replace("NAME", "(?:set-)?cookie"),
    }.items()
}
"""Keys that begin like nothing else, and secrets that are known by where they stand, whatever they consist of."""


class Leak(Struct, frozen=True):
    """What looks like a secret: its kind, and the line and column where it begins. Never the secret itself."""

    kind: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.kind}"


def find_leaks(text: str, secrets: Iterable[str] = ()) -> list[Leak]:
    """Everything in the text that looks like a secret, and every known one of `secrets`."""
    cleaner = Cleaner(secrets)
    own = list(_formed(text))
    seen = {(leak.line, leak.column) for leak in own}
    own_lines = {leak.line for leak in own}
    lines = _Lines(text)
    shared = (lines.leak(change.kind, change.start) for change in cleaner.find(text))
    rest = (
        leak
        for leak in shared
        if (leak.line, leak.column) not in seen and (", in " not in leak.kind or leak.line not in own_lines)
    )
    found = {(leak.line, leak.kind): leak for leak in (*own, *rest, *_in_bytes(text, cleaner), *_split(text, cleaner))}
    return sorted(found.values(), key=lambda leak: (leak.line, leak.column))


def _formed(text: str) -> Iterator[Leak]:
    for shown in _readings(text):
        lines = _Lines(shown)
        for kind, form in (*_KEYS.items(), *_CERTAIN.items()):
            for match in form.finditer(shown):
                if kind in _CERTAIN or looks_random(match[0]):
                    yield lines.leak(kind, match.start())


def _readings(text: str) -> Iterator[str]:
    """The text as it is, and with its escapes decoded; line breaks stay where they are."""
    yield text
    if "%" in text:
        yield "\n".join(unquote(line) for line in text.split("\n"))
    if "\\" in text:
        yield "\n".join(" ".join(unescape(line).splitlines()) for line in text.split("\n"))


_BINARY: Final = re.compile(r"!!binary[ \t]*+\|[ \t]*+\n((?:[ \t]++[A-Za-z0-9+/=]++[ \t]*+(?:\n|$))++)")
"""A body that is not text, as YAML has it: base64 in lines."""


def _in_bytes(text: str, cleaner: Cleaner) -> Iterator[Leak]:
    for block in _BINARY.finditer(text):
        try:
            shown = base64.b64decode("".join(block[1].split())).decode("latin-1")
        except ValueError:
            continue
        if cleaner.clean(shown, is_binary=True) != shown:
            yield _Lines(text).leak("a secret in a body that is not text", block.start())


def _split(text: str, cleaner: Cleaner) -> Iterator[Leak]:
    """Secrets that are split over the events of a stream, at the line where the stream begins."""
    for line, events in _streams(text):
        found: list[bool] = []

        def look(pieces: list[str], found: list[bool] = found) -> list[str]:
            apart = [cleaner.clean(piece) for piece in pieces]
            found.append(apart == pieces and cleaner.clean_pieces(pieces) != pieces)
            return pieces

        join_events(events, look)
        if any(found):
            yield Leak("a secret that is split over the events of a stream", line, 1)


def _streams(text: str) -> Iterator[tuple[int, list[Any]]]:
    """The events of each stream in the file, and the line where it begins."""
    events: list[Any] = []
    began = 0
    for number, line in enumerate(text.split("\n"), 1):
        event = _event(line)
        if event is None and line.strip() and not line.strip().startswith(("event:", "id:", ":", "data:")):
            yield began, events
            events = []
            yield number, [event for part in _unfolded(line) if (event := _event(part)) is not None]
        elif event is not None:
            began = began if events else number
            events.append(event)
    yield began, events


def _event(line: str) -> Any:
    """The JSON of one line of a stream; None if it is anything else."""
    data = line.strip().removeprefix("data:").strip()
    return json_of(data.encode("utf-8", "surrogatepass")) if data.startswith("{") else None


_QUOTED: Final = re.compile(r"\"(?:[^\"\\]|\\.)*+\"\s*$")


def _unfolded(line: str) -> list[str]:
    """The lines of a text that YAML wrote as one, in double quotes."""
    quoted = _QUOTED.search(line) if "\\n" in line else None
    try:
        shown = json.loads(quoted[0]) if quoted else ""
    except ValueError:
        return []
    return str(shown).splitlines()


class _Lines:
    """Where the lines of a text begin, so that thousands of leaks need not count them again."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def leak(self, kind: str, at: int) -> Leak:
        line = bisect_right(self._starts, at)
        return Leak(kind, line, at - self._starts[line - 1] + 1)
