"""Reads a cassette file, and explains what is wrong with it: vcrpy loads some broken files as empty ones.

The format is vcrpy's own, version 1: YAML with `version`, `interactions` and `metadata`. This module does not need
vcrpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import yaml
from msgspec import Struct

from art_compliance.cassettes.bodies import UnreadableBody, decompress
from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.provenance import KEY, Provenance, read_provenance
from art_compliance.cassettes.scanning import find_leaks
from art_sdk.json_data import is_array, is_object

T = TypeVar("T")

VERSION: Final = 1
"""The version of vcrpy's cassette format."""

AGAIN: Final = "record it again with: art record"
"""The remedy for most errors."""

SPOILED: Final = f"it was cut short or edited by hand; {AGAIN}"
"""The explanation for a part that has another type than vcrpy writes."""

REVOKE: Final = "revoke it, remove it from the history as well,"
"""What to do about a secret in a repository."""


class BadCassette(Exception):
    """A cassette that cannot be used. `path` is the file, and `place` the place in it."""

    def __init__(self, path: Path, place: str, message: str) -> None:
        super().__init__(f"{path}: {place}: {message}" if place else f"{path}: {message}")
        self.path = path
        self.place = place


class HoldsSecret(BadCassette):
    """A cassette that contains what looks like a secret, or would contain it: it is neither written nor played."""


class Cassette(Struct, frozen=True, kw_only=True):
    """A cassette that was read; it has at least one call. Without `provenance`, it is unknown who gave the answers."""

    path: Path
    exchanges: tuple[Exchange, ...]
    provenance: Provenance | None = None


def load_cassette(path: Path) -> Cassette:
    """The cassette in a file. Raises BadCassette, which names file and place, and HoldsSecret, without the secret.

    A cassette that contains a secret is not played, so that the secret reaches no adapter, no message and no report.
    """
    text = read_text(path)
    leaks = find_leaks(text)
    if leaks:
        message = f"it contains what looks like a secret, so it is not played; {REVOKE} and {AGAIN}"
        raise HoldsSecret(path, "; ".join(map(str, leaks)), message)
    return read_cassette(text, path)


def read_cassette(text: str, path: Path) -> Cassette:
    """The cassette in a text; `path` names it in errors. Raises BadCassette."""
    data = _parse(text, path)
    reader = _Reader(path)
    recorded = reader.interactions(data)
    exchanges = tuple(reader.exchange(one, f"interactions[{at}]") for at, one in enumerate(recorded))
    return Cassette(path=path, exchanges=exchanges, provenance=reader.provenance(data.get("metadata")))


def read_exchange(one: object, path: Path, place: str) -> Exchange:
    """One interaction of a cassette, as data. Raises BadCassette."""
    return _Reader(path).exchange(one, place)


def read_text(path: Path) -> str:
    """The text of a cassette file. Raises BadCassette if it is not text."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadCassette(path, "", f"cannot be read: {error.strerror}") from error
    if raw.startswith(b"\x1f\x8b"):
        raise BadCassette(path, "byte 0", "the file itself is compressed with gzip; decompress it with gunzip")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8 text; vcrpy would silently load it as empty; {AGAIN}"
        raise BadCassette(path, f"byte {error.start}", message) from error
    if "\0" in text:
        raise BadCassette(path, f"byte {text.index(chr(0))}", f"the file is binary: it contains a NUL; {AGAIN}")
    if not text.strip():
        raise BadCassette(path, "", f"the file is empty; vcrpy would treat it as missing; {AGAIN}")
    return text


def _parse(text: str, path: Path) -> dict[str, Any]:
    try:
        data: object = yaml.load(text, Loader=LOADER)  # noqa: S506 - a safe loader, written in C where that is there
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        what = "it contains a Python object, which would be unsafe to read" if _is_tag(error) else str(error.problem)
        message = f"invalid YAML, so it was cut short or edited by hand: {what}; {AGAIN}"
        raise BadCassette(path, place, message) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadCassette(path, "", f"invalid YAML: {' '.join(str(error).split())}; {AGAIN}") from error
    if is_array(data):
        raise BadCassette(path, "$", f"expected version {VERSION}, got the list format of vcrpy before 1.0; {AGAIN}")
    if not is_object(data):
        raise BadCassette(path, "$", f"expected an object with interactions, got {_kind(data)}; {AGAIN}")
    if data.get("version") != VERSION:
        raise BadCassette(path, "version", f"expected version {VERSION}, got {data.get('version')!r}; {AGAIN}")
    return dict(data)


LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _is_tag(error: yaml.MarkedYAMLError) -> bool:
    return isinstance(error, yaml.constructor.ConstructorError) and "for the tag" in str(error.problem)


class _Reader:
    """Reads the parts of one file; its errors name the place."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def interactions(self, data: Mapping[str, Any]) -> list[Any]:
        found = data.get("interactions")
        if not is_array(found):
            raise self._bad("interactions", f"expected a list, got {_kind(found)}; the file may be cut short; {AGAIN}")
        if not found:
            message = (
                "the list is empty, so nothing was recorded: vcrpy before 8.2 does not see the client httpx2, "
                f"and no version sees a client that it does not support; pip install 'vcrpy>=8.2', then {AGAIN}"
            )
            raise self._bad("interactions", message)
        return list(found)

    def provenance(self, metadata: object) -> Provenance | None:
        provenance = metadata.get(KEY) if is_object(metadata) else None
        if provenance is None:
            return None
        try:
            return read_provenance(provenance)
        except ValueError as error:
            raise self._bad(f"metadata.{KEY}", f"it was edited by hand, or made by another version: {error}") from error

    def exchange(self, one: object, place: str) -> Exchange:
        request = self._object(one, "request", place)
        answer = self._object(one, "response", place)
        if "status_code" in answer:
            message = f"the format in which vcrpy before 6.0 wrote answers to httpx; {AGAIN}"
            raise self._bad(f"{place}.response.status_code", message)
        status = self._object(answer, "status", f"{place}.response")
        headers = self._headers(answer.get("headers"), f"{place}.response.headers")
        request_headers = self._headers(request.get("headers"), f"{place}.request.headers")
        body = self._bytes(request.get("body"), f"{place}.request.body")
        return Exchange(
            method=self._field(request, "method", str, f"{place}.request"),
            uri=self._uri(request, f"{place}.request"),
            request_headers=request_headers,
            request_body=self._plain(body, request_headers, f"{place}.request.body"),
            status=self._field(status, "code", int, f"{place}.response.status"),
            reason=str(status.get("message") or ""),
            answer_headers={name: value for name, value in headers.items() if name != "content-encoding"},
            answer_body=self._answer_body(answer, headers, f"{place}.response"),
        )

    def _answer_body(self, answer: Mapping[str, Any], headers: Mapping[str, str], place: str) -> bytes:
        if "parsed_body" in answer:
            message = (
                "the body is parsed, but vcrpy and every client need its bytes in body.string: such a cassette loads "
                f"and answers with nothing; another tool's serializer wrote it; {AGAIN}"
            )
            raise self._bad(f"{place}.parsed_body", message)
        if "body" not in answer:
            raise self._bad(f"{place}.body", f"there is no body, so a client would get an empty answer; {AGAIN}")
        body = answer["body"]
        found = body.get("string") if is_object(body) else body
        if found is None:
            raise self._bad(f"{place}.body.string", f"there is no text, so a client would get an empty answer; {AGAIN}")
        return self._plain(self._bytes(found, f"{place}.body.string"), headers, f"{place}.body.string")

    def _plain(self, body: bytes, headers: Mapping[str, str], place: str) -> bytes:
        try:
            return decompress(body, headers.get("content-encoding", ""))
        except UnreadableBody as error:
            raise self._bad(place, f"{error}; {AGAIN}") from error

    def _headers(self, headers: object, place: str) -> dict[str, str]:
        if headers is None:
            return {}
        if not is_object(headers):
            raise self._bad(place, f"expected an object, got {_kind(headers)}; {SPOILED}")
        found: dict[str, str] = {}
        for name, value in headers.items():
            values = value if is_array(value) else [value]
            found[name.lower()] = ", ".join(str(one) for one in values)
        return found

    def _bytes(self, body: object, place: str) -> bytes:
        if body is None:
            return b""
        if isinstance(body, str):
            return body.encode("utf-8", "surrogatepass")
        if isinstance(body, bytes):
            return body
        raise self._bad(place, f"expected text or bytes, got {_kind(body)}; {AGAIN}")

    def _object(self, value: object, name: str, place: str) -> dict[str, Any]:
        found: object = value.get(name) if is_object(value) else None
        if not is_object(found):
            raise self._bad(f"{place}.{name}", f"expected an object, got {_kind(found)}; {SPOILED}")
        return found

    def _field(self, value: object, name: str, kind: type[T], place: str) -> T:
        found: object = value.get(name) if is_object(value) else None
        if isinstance(found, bool) or not isinstance(found, kind):
            wanted = _KINDS[kind]
            raise self._bad(f"{place}.{name}", f"expected {wanted}, got {_kind(found)}; {SPOILED}")
        return found

    def _uri(self, request: Mapping[str, Any], place: str) -> str:
        uri = self._field(request, "uri", str, place)
        try:
            _ = urlsplit(uri).port
        except ValueError as error:
            raise self._bad(f"{place}.uri", f"expected a URL; {SPOILED}") from error
        return uri

    def _bad(self, place: str, message: str) -> BadCassette:
        return BadCassette(self._path, place, message)


_KINDS: Final[dict[type, str]] = {str: "text", int: "a number"}


def _kind(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
