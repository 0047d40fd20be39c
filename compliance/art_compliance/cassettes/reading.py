"""Reads a cassette file, and explains what is wrong with it: vcrpy loads some broken files as empty ones.

The format is vcrpy's own, version 1: YAML, or JSON, with `version`, `interactions` and `metadata`. This module does not
need vcrpy. Whatever a file holds, reading it costs a second or two and less than 200 MB: the file, the values in it and
what its bodies decompress to are bounded.
"""

from __future__ import annotations

from pathlib import Path
from stat import S_ISREG
from typing import Any, Final

from msgspec import Struct

from art_compliance.cassettes.errors import AGAIN, REVOKE, BadCassette, ContainsSecret
from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.parts import Reader, kind_of, show
from art_compliance.cassettes.provenance import Provenance
from art_compliance.cassettes.scanning import Leak, find_leaks
from art_sdk.json_data import is_array, is_object
from art_sdk.yaml_data import NotYaml, read_yaml

VERSION: Final = 1
"""The version of vcrpy's cassette format."""

LARGEST: Final = 16 * 1024 * 1024
"""The most bytes of a file."""

_SHOWN: Final = 5


class Cassette(Struct, frozen=True, kw_only=True):
    """A cassette that was read; it has at least one call. Without `provenance`, it is unknown who gave the answers."""

    path: Path
    exchanges: tuple[Exchange, ...]
    provenance: Provenance | None = None


def load_cassette(path: Path) -> Cassette:
    """The cassette in a file. Raises BadCassette, which names file and place, and ContainsSecret, without the secret.

    A cassette that contains a secret is not played, so that the secret reaches no adapter, no message and no report.
    """
    text = read_text(path)
    try:
        cassette = read_cassette(text, path)
    except BadCassette as error:
        _refuse(path, find_leaks(str(error).removeprefix(str(path))))  # its message may quote the file
        raise
    _refuse(path, find_leaks(text))
    return cassette


def _refuse(path: Path, leaks: list[Leak]) -> None:
    if leaks:
        message = f"it contains what looks like a secret, so it is not played; {REVOKE} and {AGAIN}"
        raise ContainsSecret(path, describe_leaks(leaks), message) from None


def describe_leaks(leaks: list[Leak]) -> str:
    """The first few leaks, and how many more there are."""
    more = [f"and {len(leaks) - _SHOWN} more"] if len(leaks) > _SHOWN else []
    return "; ".join([*map(str, leaks[:_SHOWN]), *more])


def read_cassette(text: str, path: Path) -> Cassette:
    """The cassette in a text; `path` names it in errors. Raises BadCassette."""
    data = _parse(text, path)
    reader = Reader(path)
    recorded = reader.interactions(data)
    exchanges = tuple(reader.exchange(one, f"interactions[{at}]") for at, one in enumerate(recorded))
    return Cassette(path=path, exchanges=exchanges, provenance=reader.provenance(data.get("metadata")))


def read_text(path: Path) -> str:
    """The text of a cassette file. Raises BadCassette if it is not text."""
    raw = read_bytes(path)
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


def read_bytes(path: Path) -> bytes:
    """The content of a cassette file. Raises BadCassette for a file that is too large, and for a pipe or a device."""
    try:
        facts = path.stat()
        if not S_ISREG(facts.st_mode):
            raise BadCassette(path, "", "it is not a file")
        if facts.st_size > LARGEST:
            raise BadCassette(path, "", f"the file has {facts.st_size:,} bytes; the limit is {LARGEST:,}")
        return path.read_bytes()
    except OSError as error:
        raise BadCassette(path, "", f"cannot be read: {error.strerror}") from error
    except ValueError as error:  # a NUL in the path
        raise BadCassette(path, "", "cannot be read: this is not a path") from error


def _parse(text: str, path: Path) -> dict[str, Any]:
    data = parse_yaml(text, path)
    if is_array(data):
        raise BadCassette(path, "$", f"expected version {VERSION}, got the list format of vcrpy before 1.0; {AGAIN}")
    if not is_object(data):
        raise BadCassette(path, "$", f"expected an object with interactions, got {kind_of(data)}; {AGAIN}")
    if type(data.get("version")) is not int or data["version"] != VERSION:
        raise BadCassette(path, "version", f"expected version {VERSION}, got {show(data.get('version'))}; {AGAIN}")
    return data


def parse_yaml(text: str, path: Path) -> Any:
    """The data of a YAML text, or of a JSON text. Raises BadCassette, which names line and column."""
    try:
        return read_yaml(text)
    except NotYaml as error:
        place = "" if error.line is None else f"line {error.line}, column {error.column}"
        what = "it contains a Python object, which would be unsafe to read" if error.is_unsafe else str(error)
        raise BadCassette(path, place, f"invalid YAML: {what}; it was cut short or edited by hand; {AGAIN}") from error
