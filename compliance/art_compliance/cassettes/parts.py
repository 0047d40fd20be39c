"""Reads the parts of a cassette's data; every error names the place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from art_compliance.cassettes.bodies import MOST_VALUES, count_values, is_deep
from art_compliance.cassettes.compression import LIMIT, TooLarge, UnreadableBody, decompress
from art_compliance.cassettes.errors import AGAIN, BadCassette
from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.provenance import KEY, Provenance, read_provenance
from art_compliance.quoting import shorten
from art_sdk.json_data import DEPTH_LIMIT, is_array, is_object

T = TypeVar("T")

SPOILED: Final = f"it was cut short or edited by hand; {AGAIN}"
"""The explanation for a part that has another type than vcrpy writes."""


class Reader:
    """Reads the parts of one file, and raises BadCassette.

    All bodies together have at most `LIMIT` bytes, decompressed, and `MOST_VALUES` JSON values.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._bytes_left = LIMIT
        self._values_left = MOST_VALUES

    def interactions(self, data: Mapping[str, Any]) -> list[Any]:
        """The recorded calls, as data."""
        found = data.get("interactions")
        if not is_array(found):
            raise self._bad(
                "interactions", f"expected a list, got {kind_of(found)}; the file may be cut short; {AGAIN}"
            )
        if not found:
            message = (
                "the list is empty, so nothing was recorded: vcrpy before 8.2 does not see the client httpx2, "
                f"and no version sees a client that it does not support; pip install 'vcrpy>=8.2', then {AGAIN}"
            )
            raise self._bad("interactions", message)
        return list(found)

    def provenance(self, metadata: object) -> Provenance | None:
        """Who gave the answers, or None."""
        provenance = metadata.get(KEY) if is_object(metadata) else None
        if provenance is None:
            return None
        try:
            return read_provenance(provenance)
        except ValueError as error:
            raise self._bad(f"metadata.{KEY}", f"it was edited by hand, or made by another version: {error}") from error

    def exchange(self, one: object, place: str) -> Exchange:
        """One recorded call."""
        request = self._object(one, "request", place)
        answer = self._object(one, "response", place)
        if "status_code" in answer:
            message = f"the format in which vcrpy before 6.0 wrote answers to httpx; {AGAIN}"
            raise self._bad(f"{place}.response.status_code", message)
        headers = self._headers(answer.get("headers"), f"{place}.response.headers")
        request_headers = self._headers(request.get("headers"), f"{place}.request.headers")
        body = self._bytes(request.get("body"), f"{place}.request.body")
        return Exchange(
            method=self._method(request, f"{place}.request"),
            uri=self._uri(request, f"{place}.request"),
            request_headers=request_headers,
            request_body=self._plain(body, request_headers, f"{place}.request.body"),
            **self._status(answer, f"{place}.response"),
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
            plain = decompress(body, headers.get("content-encoding", ""), self._bytes_left)
        except TooLarge as error:
            raise self._bad(place, f"decompressed, the bodies up to here have more than {LIMIT:,} bytes") from error
        except UnreadableBody as error:
            raise self._bad(place, f"{error}; {AGAIN}") from error
        self._bytes_left -= len(plain)
        self._values_left -= count_values(plain)
        if self._values_left < 0:
            raise self._bad(place, f"the bodies up to here have more than {MOST_VALUES:,} JSON values")
        if is_deep(plain):
            raise self._bad(place, f"it is nested deeper than {DEPTH_LIMIT} levels; {SPOILED}")
        return plain

    def _headers(self, headers: object, place: str) -> dict[str, str]:
        if headers is None:
            return {}
        if not is_object(headers):
            raise self._bad(place, f"expected an object, got {kind_of(headers)}; {SPOILED}")
        found: dict[str, str] = {}
        for name, value in headers.items():
            if not _TOKEN.fullmatch(name):
                raise self._bad(place, f"{show(name)} is not the name of a header; {SPOILED}")
            values = value if is_array(value) else [value]
            found[name.lower()] = ", ".join([self._header(one, f"{place}.{name}") for one in values])
        return found

    def _header(self, value: object, place: str) -> str:
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        if not isinstance(text, _SCALARS):
            raise self._bad(place, f"expected text, got {kind_of(value)}; {SPOILED}")
        if isinstance(text, str) and _BREAK.search(text):
            raise self._bad(place, f"a header's value has no line breaks; {SPOILED}")
        return str(text)

    def _bytes(self, body: object, place: str) -> bytes:
        if body is None:
            return b""
        if isinstance(body, str):
            return body.encode("utf-8", "surrogatepass")
        if isinstance(body, bytes):
            return body
        raise self._bad(place, f"expected text or bytes, got {kind_of(body)}; {AGAIN}")

    def _object(self, value: object, name: str, place: str) -> dict[str, Any]:
        found: object = value.get(name) if is_object(value) else None
        if not is_object(found):
            raise self._bad(f"{place}.{name}", f"expected an object, got {kind_of(found)}; {SPOILED}")
        return found

    def _field(self, value: object, name: str, kind: type[T], place: str) -> T:
        found: object = value.get(name) if is_object(value) else None
        if isinstance(found, bool) or not isinstance(found, kind):
            wanted = _KINDS[kind]
            raise self._bad(f"{place}.{name}", f"expected {wanted}, got {kind_of(found)}; {SPOILED}")
        return found

    def _method(self, request: Mapping[str, Any], place: str) -> str:
        method = self._field(request, "method", str, place)
        if not _TOKEN.fullmatch(method):
            raise self._bad(f"{place}.method", f"expected an HTTP method, got {show(method)}; {SPOILED}")
        return method

    def _status(self, answer: Mapping[str, Any], place: str) -> dict[str, Any]:
        status = self._object(answer, "status", place)
        code = self._field(status, "code", int, f"{place}.status")
        if not _LEAST_STATUS <= code <= _LAST_STATUS:
            raise self._bad(f"{place}.status.code", f"expected an HTTP status, got {show(code)}; {SPOILED}")
        reason = status.get("message")
        return {"status": code, "reason": self._header("" if reason is None else reason, f"{place}.status.message")}

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

_SCALARS: Final = (str, int, float, date)
"""Of what a YAML text can hold, what was meant as text: a header's value may look like a number or a date."""

_LEAST_STATUS: Final = 100
_LAST_STATUS: Final = 599

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""RFC 9110, 5.6.2."""

_BREAK: Final = re.compile(r"[\r\n\0]")


def kind_of(value: object) -> str:
    """The type of a value, for messages."""
    return "nothing" if value is None else type(value).__name__


def show(value: object) -> str:
    """A value for messages: a short scalar as it is, everything else by its type."""
    return shorten(repr(value)) if value is None or isinstance(value, _SCALARS) else kind_of(value)
