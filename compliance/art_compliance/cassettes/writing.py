"""Writes a cassette: scrubs it, scans it for secrets that are left, and then writes the whole file at once.

The format is YAML, which vcrpy reads by default. Bodies are written as they are, event streams line by line, so that
a diff shows what changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from art_compliance.cassettes.compression import UnreadableBody, decompress
from art_compliance.cassettes.errors import BadCassette, ContainsSecret
from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.provenance import KEY, Provenance
from art_compliance.cassettes.reading import VERSION, load_cassette, read_cassette
from art_compliance.cassettes.sameness import is_same_recording
from art_compliance.cassettes.scanning import find_leaks
from art_compliance.cassettes.scrubbing import Scrubber


def write_cassette(
    path: Path, exchanges: Iterable[Exchange], provenance: Provenance, *, secrets: tuple[str, ...] = ()
) -> bool:
    """Scrubs and writes the calls, and returns whether the file changed.

    The old file stays if only dates, versions, ids and times differ. `secrets` are removed exactly, above all the key.
    Raises ContainsSecret, with place and kind but never the secret, and BadCassette for bodies that cannot be read;
    then nothing is written.
    """
    scrubber = Scrubber(secrets)
    scrubbed = tuple(scrubber.exchange(_plain(path, at, one)) for at, one in enumerate(exchanges))
    adapter, model = scrubber.text(provenance.adapter), provenance.model and scrubber.text(provenance.model)
    provenance = msgspec.structs.replace(provenance, adapter=adapter, model=model)
    text = render(scrubbed, provenance)
    leaks = find_leaks(text, secrets)
    if leaks:
        places = "; ".join(map(str, leaks))
        raise ContainsSecret(path, "", f"not written: it would still contain what looks like a secret: {places}")
    again = read_cassette(text, path)
    if again.exchanges != scrubbed:
        raise BadCassette(path, "", "not written: the file would not contain what was recorded")
    if _says_the_same(path, scrubbed, provenance):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)  # noqa: PTH105 - either the old file or the new one, never half of it
    return True


def _plain(path: Path, at: int, one: Exchange) -> Exchange:
    """The call with both bodies decompressed: compressed bodies can be neither read nor searched."""
    try:
        request = decompress(one.request_body, one.request_headers.get("content-encoding", ""))
        body = decompress(one.answer_body, one.answer_headers.get("content-encoding", ""))
    except UnreadableBody as error:
        raise BadCassette(path, f"interactions[{at}]", f"not written: {error}") from error
    return msgspec.structs.replace(one, request_body=request, answer_body=body)


def _says_the_same(path: Path, exchanges: tuple[Exchange, ...], provenance: Provenance) -> bool:
    try:
        old = load_cassette(path)
    except BadCassette:
        return False
    if old.provenance is None or not is_same_recording(old.exchanges, exchanges):
        return False
    return msgspec.structs.replace(old.provenance, date=provenance.date, versions=provenance.versions) == provenance


def render(exchanges: Iterable[Exchange], provenance: Provenance) -> str:
    """The file's text."""
    data = {
        "version": VERSION,
        "metadata": {KEY: msgspec.to_builtins(provenance)},
        "interactions": [_interaction(one) for one in exchanges],
    }
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_NO_FOLDING)


_NO_FOLDING: Final = 2**31 - 1
"""A text that is folded over lines could hide a key from the scan."""


def _interaction(one: Exchange) -> dict[str, Any]:
    return {
        "request": {
            "method": one.method,
            "uri": one.uri,
            "headers": {name: [value] for name, value in sorted(one.request_headers.items())},
            "body": _body(one.request_body),
        },
        "response": {
            "status": {"code": one.status, "message": one.reason},
            "headers": {name: [value] for name, value in sorted(one.answer_headers.items())},
            "body": {"string": _body(one.answer_body)},
        },
    }


def _body(body: bytes) -> str | bytes:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body


_ODD_BREAKS: Final = frozenset("\r\x85\u2028\u2029\ufeff")


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as lines."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Several lines as lines, but escaped if YAML would break them at a character where the provider does not."""
    style = '"' if _ODD_BREAKS & set(text) else "|" if "\n" in text else None
    represent: Any = getattr(dumper, "represent_scalar")  # noqa: B009 - its stub leaves a type out
    node: yaml.ScalarNode = represent("tag:yaml.org,2002:str", text, style=style)
    return node


_Dumper.add_representer(str, _represent_text)
