"""Whatever is wrong with a cassette is said in words, with the file and the place."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from art_compliance.cassettes import BadCassette, Cassette, Provenance, load_cassette, read_cassette, write_cassette
from art_compliance.cassettes.compression import UnreadableBody, decompress
from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.writing import render
from art_compliance.resources import data_folder

KEPT = sorted(data_folder("cassettes").glob("*/*.yaml"))
GOOD = KEPT[0].read_text(encoding="utf-8")


def broken(path: Path, change: Callable[[dict], object]) -> str:
    data = yaml.safe_load(GOOD)
    changed = change(data)
    return yaml.safe_dump(data if changed is None else changed)


def without(*steps: object) -> Callable[[dict], object]:
    def change(data: dict) -> None:
        value = data
        for step in steps[:-1]:
            value = value[step]
        del value[steps[-1]]

    return change


def put(value: object, *steps: object) -> Callable[[dict], object]:
    def change(data: dict) -> None:
        inner = data
        for step in steps[:-1]:
            inner = inner[step]
        inner[steps[-1]] = value

    return change


FIRST = ("interactions", 0)
ANSWER = (*FIRST, "response")

DATA = {
    "no answer": (without(*ANSWER), "interactions[0].response: expected an object, got nothing"),
    "no request": (without(*FIRST, "request"), "interactions[0].request: expected an object, got nothing"),
    "no status": (without(*ANSWER, "status"), "interactions[0].response.status: expected an object"),
    "a status in words": (
        put("OK", *ANSWER, "status", "code"),
        "interactions[0].response.status.code: expected a",
    ),
    "no URL": (without(*FIRST, "request", "uri"), "interactions[0].request.uri: expected text, got nothing"),
    "a URL that is a list": (put([], *FIRST, "request", "uri"), "interactions[0].request.uri: expected text, got list"),
    "headers in a list": (put(["a"], *ANSWER, "headers"), "interactions[0].response.headers: expected an object"),
    "no body": (without(*ANSWER, "body"), "interactions[0].response.body: there is no body"),
    "an empty body": (put({}, *ANSWER, "body"), "interactions[0].response.body.string: there is no text"),
    "a body of null": (
        put({"string": None}, *ANSWER, "body"),
        "interactions[0].response.body.string: there is no text",
    ),
    "a body of data": (put({"string": {"id": 1}}, *ANSWER, "body"), "expected text or bytes, got dict"),
    "a parsed body": (
        put({"id": 1}, *ANSWER, "parsed_body"),
        "interactions[0].response.parsed_body: the body is pars",
    ),
    "an httpx answer of old": (
        put(200, *ANSWER, "status_code"),
        "response.status_code: the format in which vcrpy before 6.0",
    ),
    "no interactions": (
        put([], "interactions"),
        "interactions: the list is empty, so nothing was recorded: vcrpy",
    ),
    "interactions cut off": (put(None, "interactions"), "interactions: expected a list, got nothing"),
    "another version": (put(2, "version"), "version: expected version 1, got 2"),
    "no version": (without("version"), "version: expected version 1, got None"),
    "a bare list": (
        lambda data: data["interactions"],
        "$: expected version 1, got the list format of vcrpy",
    ),
    "a text": (lambda _: "hello", "$: expected an object with interactions, got str"),
    "an unknown source": (
        put("hearsay", "metadata", "art", "source"),
        'by another version: its source is "hearsay"; known: provider; provider, recorded by others; local engine;',
    ),
    "a field too many": (put(1, "metadata", "art", "more"), "metadata.art: it was edited by hand"),
    "a field too few": (without("metadata", "art", "digest"), "Object missing required field `digest`"),
    "a host that is cut off": (
        put("http://[::1/v1/messages", *FIRST, "request", "uri"),
        "interactions[0].request.uri: expected a URL",
    ),
    "a port that is not a number": (
        put("http://x:port/v1/messages", *FIRST, "request", "uri"),
        "interactions[0].request.uri: expected a URL",
    ),
    "gzip that is cut off": (
        put({"string": gzip.compress(b"hello" * 50)[:20]}, *ANSWER, "body"),
        "gzip data is cut off or damaged",
    ),
    "gzip that is not gzip": (put({"string": b"\xff\xfe\x00"}, *ANSWER, "body"), "neither gzip nor text"),
}


@pytest.mark.parametrize("what", DATA)
def test_an_edited_cassette_is_an_error_that_names_the_place(what: str, tmp_path: Path):
    change, message = DATA[what]
    path = tmp_path / "one.yaml"

    def coded(data: dict) -> object:
        if what.startswith("gzip"):
            data["interactions"][0]["response"]["headers"]["content-encoding"] = ["gzip"]
        return change(data)

    path.write_text(broken(path, coded), encoding="utf-8")
    with pytest.raises(BadCassette, match=re.escape(message)) as caught:
        load_cassette(path)
    assert str(caught.value).startswith(str(path))


RAW = {
    "nothing": (b"", "the file is empty; vcrpy would treat it as missing"),
    "blanks": (b" \n\n", "the file is empty"),
    "bytes": (b"\xff\xfe\x00\x01", "byte 0: the file is not UTF-8 text; vcrpy would silently load it as empty"),
    "a NUL": (b"version: 1\0", "byte 10: the file is binary"),
    "gzip": (gzip.compress(GOOD.encode()), "byte 0: the file itself is compressed with gzip"),
    "an object of Python": (
        b"version: 1\nx: !!python/object:os.system {}\n",
        "line 2, column 4: invalid YAML",
    ),
    "a key that is a list": (b"version: 1\n? [a]\n: 1\n", "line 2, column 3: invalid YAML: a key that is not text"),
    "an impossible date": (
        b"version: 1\nx: 2026-99-99\n",
        "line 2, column 4: invalid YAML: '2026-99-99' is not of the type timestamp",
    ),
    "a bell": (b"version: 1\nx: \x07\n", "invalid YAML: unacceptable character #x0007"),
    "invalid YAML": (b"version: 1\ninteractions: [a, {b: ]\n", "line 2, column"),
}


@pytest.mark.parametrize("what", RAW)
def test_a_file_that_is_not_a_cassette_is_an_error_that_names_the_place(what: str, tmp_path: Path):
    raw, message = RAW[what]
    path = tmp_path / "one.yaml"
    path.write_bytes(raw)
    with pytest.raises(BadCassette, match=re.escape(message)):
        load_cassette(path)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_file_that_was_cut_short_is_an_error(share: float, tmp_path: Path):
    path = tmp_path / "one.yaml"
    path.write_text(GOOD[: int(len(GOOD) * share)], encoding="utf-8")
    with pytest.raises(BadCassette):
        load_cassette(path)


def test_a_missing_file_is_an_error(tmp_path: Path):
    with pytest.raises(BadCassette, match="cannot be read: No such file"):
        load_cassette(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b'{"a":1}')),
        ("x-gzip", gzip.compress(b'{"a":1}')),
        ("deflate", zlib.compress(b'{"a":1}')),
        ("deflate", zlib.compress(b'{"a":1}')[2:-4]),
        ("deflate", b'{"a":1}'),
        ("deflate, gzip", gzip.compress(zlib.compress(b'{"a":1}'))),
        ("gzip", b'{"a":1}'),  # only the header is left
        ("br", b'{"a":1}'),
        ("zstd", b'{"a":1}'),
        ("identity", b'{"a":1}'),
        ("", b'{"a":1}'),
    ],
    ids=lambda value: value if isinstance(value, str) else "body",
)
def test_a_compressed_body_is_read(encoding: str, body: bytes):
    assert decompress(body, encoding) == b'{"a":1}'


def test_missing_headers_and_bodies_are_read_as_empty(tmp_path: Path):
    """vcrpy writes null for a request without a body; others leave the headers out."""
    text = broken(
        tmp_path / "one.yaml",
        lambda data: data["interactions"][0]["request"].update(headers=None, body=None, method="GET"),
    )
    (one,) = read_cassette(text, tmp_path / "one.yaml").exchanges
    assert (one.request_headers, one.request_body) == ({}, b"")


def test_a_body_with_an_unknown_encoding_is_an_error():
    with pytest.raises(UnreadableBody, match="'snappy' is unknown; known: identity, gzip"):
        decompress(b"x", "snappy")


BY_LIBRARY = {  # {"a":1}, and the library that decompresses it
    "br": ("0b03807b2261223a317d03", "brotli", "brotli>=1.2"),
    "zstd": ("28b52ffd20073900007b2261223a317d", "backports.zstd", "backports.zstd"),
}


@pytest.mark.parametrize("encoding", BY_LIBRARY)
def test_a_body_is_decompressed_by_its_library_and_a_damaged_one_is_an_error(encoding: str):
    compressed, module, _ = BY_LIBRARY[encoding]
    body = bytes.fromhex(compressed)
    pytest.importorskip(module)
    assert decompress(body, encoding) == b'{"a":1}'
    with pytest.raises(UnreadableBody, match="is cut off or damaged"):
        decompress(body[:-3] + b"\xff", encoding)


@pytest.mark.parametrize("encoding", BY_LIBRARY)
def test_a_body_whose_library_is_missing_is_an_error_that_names_the_library(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    compressed, _, install = BY_LIBRARY[encoding]

    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("art_compliance.cassettes.compression.importlib.import_module", missing)
    path = tmp_path / "one.yaml"
    path.write_text(
        broken(path, lambda data: compress(data["interactions"][0]["response"], bytes.fromhex(compressed), encoding)),
        encoding="utf-8",
    )
    with pytest.raises(BadCassette) as caught:
        load_cassette(path)
    assert "interactions[0].response.body.string: its " in str(caught.value)
    assert f"data needs a library that is not installed: pip install '{install}'" in str(caught.value)


def compress(answer: dict, body: bytes, encoding: str) -> None:
    answer["headers"]["content-encoding"] = [encoding]
    answer["body"]["string"] = body


AWKWARD = [
    "",
    " ",
    "a: b",
    "'",
    '"',
    "|",
    "- x",
    "\t",
    "a\nb",
    "a\n",
    "\r\n",
    "\u0085",
    "\u2028",
    "\x07",
    "😀",
    "null",
    "1",
]


@pytest.mark.parametrize("text", AWKWARD)
def test_a_written_cassette_is_read_back_byte_for_byte(text: str, tmp_path: Path):
    provenance = Provenance(
        source="local engine", date="2026-01-02", adapter="a:B", model=None, scenario="s", digest="d", suite="0"
    )
    one = Exchange(
        method="POST",
        uri="https://api.example.com/v1",
        request_headers={},
        request_body=text.encode(),
        status=200,
        reason="",
        answer_headers={},
        answer_body=text.encode() * 2,
    )
    path = tmp_path / "new" / "one.yaml"
    assert write_cassette(path, [one], provenance) is True
    assert load_cassette(path) == Cassette(path=path, exchanges=(one,), provenance=provenance)
    assert write_cassette(path, [one], provenance) is False


@given(text=st.text(st.characters(exclude_categories=["Cs"])), body=st.binary())
def test_any_text_and_any_bytes_are_read_back_as_they_were_written(text: str, body: bytes):
    one = Exchange(
        method="POST",
        uri="u",
        request_headers={},
        request_body=text.encode(),
        status=200,
        reason="",
        answer_headers={},
        answer_body=body,
    )
    provenance = Provenance(
        source="local engine", date="2026-01-02", adapter="a:B", model=None, scenario="s", digest="d", suite="0"
    )
    assert read_cassette(render([one], provenance), Path("one.yaml")).exchanges == (one,)
