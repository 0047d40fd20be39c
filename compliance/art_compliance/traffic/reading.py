"""Finds out what a file is, by its content, and reads the requests in it. A HAR or a command is never a body."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from art_compliance.cassettes import BadCassette, Exchange
from art_compliance.cassettes.errors import AGAIN
from art_compliance.cassettes.foreign import read_exchanges
from art_compliance.cassettes.scrubbing import Scrubber
from art_compliance.findings import HarnessError
from art_compliance.traffic.batches import unwrap
from art_compliance.traffic.curl import is_curl, read_curl
from art_compliance.traffic.found import Answer, Item, Skipped, Unread, find_body
from art_compliance.traffic.har import is_har, read_har
from art_compliance.traffic.judged import dialect_at
from art_compliance.traffic.spans import is_spans, read_spans
from art_sdk.json_data import DEPTH_LIMIT, is_object

INPUT = "standard input"


def read_source(source: str) -> Iterator[Item]:
    """The requests in a file, in standard input (`-`), or in a curl command. Raises HarnessError for no such file."""
    if is_curl(source):
        return read_curl(source, "curl", Path())
    path = None if source == "-" else Path(source)
    where = INPUT if path is None else str(path)
    try:
        raw = sys.stdin.buffer.read() if path is None else path.read_bytes()
    except (OSError, ValueError) as error:
        raise HarnessError(f"cannot read {where}: {getattr(error, 'strerror', None) or error}") from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return iter([Unread(where=where, why=f"{where} is not UTF-8 text (byte {error.start})")])
    return read_text(text, where, path)


def read_text(text: str, where: str, path: Path | None) -> Iterator[Item]:
    """The requests in the text of a file; `path` is None where it is in none."""
    if is_curl(text):
        return read_curl(text, where, Path() if path is None else path.parent)
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _read_other(text, where, path, error)
    if is_har(data):
        return read_har(data, where)
    if path is not None and path.suffix.lower() == ".har":
        return iter([Unread(where=where, why=f"{where} is not a HAR: it has no log")])
    if is_object(data) and "interactions" in data:
        return _read_cassette(text, where, path)
    return _items(where, data)


def _items(where: str, data: Any, *, is_sendable: bool = False) -> Iterator[Item]:
    """The requests in JSON that is no HAR and no cassette."""
    return read_spans(data, where) if is_spans(data) else iter([unwrap(where, data, is_sendable=is_sendable)])


def _read_other(text: str, where: str, path: Path | None, error: Exception) -> Iterator[Item]:
    """What is not JSON as a whole: a cassette, or lines of JSON."""
    if _CASSETTE.search(text):
        return _read_cassette(text, where, path)
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    is_named = path is not None and path.suffix.lower() in {".jsonl", ".ndjson"}
    if is_named or (len(lines) > 1 and _is_json(lines[0][1])):
        return (item for number, line in lines for item in read_line(line, f"{where}:{number}"))
    why = "is empty" if not lines else f"is not JSON: {_reason(error)}"
    return iter([Unread(where=where, why=f"{where} {why}")])


def _reason(error: Exception) -> str:
    """What the reader of JSON says; of Python's own limit, what it means for the text."""
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)


_CASSETTE: Final = re.compile(r"^(interactions|requests):", re.MULTILINE)


def _is_json(line: str) -> bool:
    try:
        return is_object(json.loads(line))
    except (ValueError, RecursionError):
        return False


def read_line(line: str | bytes, where: str) -> Iterator[Item]:
    """The requests in a line of JSON."""
    try:
        data: Any = msgspec.json.decode(line)  # without half surrogate pairs, NaN, and numbers of 4,301 digits
    except (ValueError, RecursionError):
        try:
            data = json.loads(line)  # it takes more, such as half a surrogate pair, and says what is wrong
        except UnicodeDecodeError:
            return iter([Unread(where=where, why="not JSON: it is not UTF-8")])
        except (ValueError, RecursionError) as error:
            return iter([Unread(where=where, why=f"not JSON: {error}")])
        return _items(where, data)
    return _items(where, data, is_sendable=not _may_be_deep(line))


def _may_be_deep(line: str | bytes) -> bool:
    text = line.encode() if isinstance(line, str) else line
    return text.count(b"{") + text.count(b"[") > DEPTH_LIMIT


def _read_cassette(text: str, where: str, path: Path | None) -> Iterator[Item]:
    try:
        exchanges = read_exchanges(text, path or Path("-"))
    except BadCassette as error:
        return iter([_unreadable(where, error)])
    return (
        _unreadable(where, one) if isinstance(one, BadCassette) else _call(f"{where}: interactions[{number}]", one)
        for number, one in enumerate(exchanges)
    )


def _call(place: str, one: Exchange) -> Item:
    if one.method != "POST" or not one.request_body or dialect_at(one.uri) is None:
        return Skipped(where=place)
    answer = Answer(status=one.status, body=one.answer_body)
    return find_body(place, one.request_body, url=one.uri, headers=one.request_headers, is_recorded=True, answer=answer)


def _unreadable(where: str, error: BadCassette) -> Unread:
    """Without what looks like a secret, which the error may quote, and without advice for cassettes of one's own."""
    place = f"{where}: {error.place}" if error.place else where
    return Unread(where=place, why=Scrubber().text(error.reason.removesuffix(f"; {AGAIN}")))
