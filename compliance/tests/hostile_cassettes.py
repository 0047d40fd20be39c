"""Hostile cassette files: what a reader must refuse, at little cost. `python hostile_cassettes.py` measures each."""

from __future__ import annotations

import base64
import gzip
import json
import os
import resource
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Final, NamedTuple

import brotli

from art_compliance.cassettes import BadCassette, load_cassette

MIB: Final = 1024 * 1024

SECONDS: Final = 6.0
"""What reading one file may take."""

MEGABYTES: Final = 200
"""What reading one file may add to the memory of the process."""


class Hostile(NamedTuple):
    """A file, and a part of what its error says."""

    make: Callable[[], bytes]
    message: str


def cassette(
    *,
    top: str = "",
    metadata: str = "{}",
    body: str = "'{}'",
    request: str = "'{}'",
    headers: str = "{}",
    status: str = "{code: 200, message: OK}",
    uri: str = "https://api.openai.com/v1/chat/completions",
) -> bytes:
    """A cassette of one call, made of pieces of YAML."""
    text = f"""\
version: 1
{top}
metadata: {metadata}
interactions:
- request: {{method: POST, uri: '{uri}', headers: {{}}, body: {request}}}
  response: {{status: {status}, headers: {headers}, body: {{string: {body}}}}}
"""
    return text.encode("utf-8", "surrogatepass")


def doubled(line: str, first: str = "a: &a [x, x]") -> str:
    """26 lines, each of which names the line before it twice."""
    lines = [line.format(now=now, last=last) for last, now in pairwise(ascii_lowercase)]
    return "\n".join([first, *lines])


ALIASES: Final = doubled("{now}: &{now} [*{last}, *{last}]")
MERGES: Final = doubled("{now}: &{now} {{<<: *{last}, <<: *{last}}}", "a: &a {x: 1}")


def compressed(coding: str, data: bytes) -> bytes:
    """A cassette whose answer is this data, as it says."""
    return cassette(headers=f"{{content-encoding: ['{coding}']}}", body=f"!!binary {base64.b64encode(data).decode()}")


def zeros(compressor: Any, mebibytes: int) -> bytes:
    """So many mebibytes of zeros, compressed piece by piece."""
    pieces = [compressor(bytes(MIB)) for _ in range(mebibytes)]
    return b"".join(pieces)


@cache
def brotli_of(mebibytes: int) -> bytes:
    undo = brotli.Compressor(quality=5)
    return zeros(undo.process, mebibytes) + undo.finish()


def gzip_of(mebibytes: int) -> bytes:
    undo = zlib.compressobj(wbits=31)
    return zeros(undo.compress, mebibytes) + undo.flush()


def deflate_of(mebibytes: int) -> bytes:
    undo = zlib.compressobj()
    return zeros(undo.compress, mebibytes) + undo.flush()


def zstd_of(mebibytes: int) -> bytes:
    from backports import zstd  # noqa: PLC0415 - a part of Python from 3.14 on

    undo = zstd.ZstdCompressor()
    return zeros(undo.compress, mebibytes) + undo.flush()


def many(count: int) -> bytes:
    """A file of so many calls, each of which is nothing."""
    return b"version: 1\ninteractions:\n" + b"- {request: {method: G, uri: u}, response: 1}\n" * count


DEEP: Final = "it expands to more than 100 levels of nesting"
LARGE: Final = "it expands to more than 50,000 values"
BODY: Final = "interactions[0].response.body.string: "

HOSTILE: Final[dict[str, Hostile]] = {
    "50,000 brackets": Hostile(lambda: b"[" * 50_000, DEEP),
    "50,000 braces": Hostile(lambda: b"{a: " * 50_000, DEEP),
    "50,000 dashes": Hostile(lambda: b"- " * 50_000, DEEP),
    "brackets in metadata": Hostile(lambda: cassette(metadata="[" * 50_000 + "]" * 50_000), DEEP),
    "brackets as JSON": Hostile(
        lambda: b'{"version": 1, "interactions": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", DEEP
    ),
    "aliases in metadata": Hostile(lambda: cassette(top=ALIASES, metadata="{art: {source: *z}}"), LARGE),
    "aliases in a header": Hostile(lambda: cassette(top=ALIASES, headers="{x: *z}"), LARGE),
    "aliases as the version": Hostile((ALIASES + "\nversion: *z").encode, LARGE),
    "aliases as a status": Hostile(lambda: cassette(top=ALIASES, status="{code: 200, message: *z}"), LARGE),
    "an alias in itself": Hostile(lambda: cassette(headers="&a {x: *a}"), "the alias *a contains itself"),
    "nested merges": Hostile(lambda: cassette(top=MERGES, headers="*z"), LARGE),
    "nested merges of lists": Hostile(
        lambda: cassette(top=doubled("{now}: &{now} {{<<: [*{last}, *{last}]}}", "a: &a {x: 1}")), LARGE
    ),
    "a long text behind aliases": Hostile(
        lambda: cassette(top=f"a: &a {'x' * MIB}", headers="{x: [" + "*a, " * 10_000 + "]}"),
        "it expands to more than 16,777,216 characters",
    ),
    "a million values": Hostile(lambda: cassette(metadata="[" + "{}, " * 1_000_000 + "]"), LARGE),
    "20,000 calls": Hostile(lambda: many(20_000), LARGE),
    "5,000 calls": Hostile(lambda: many(5_000), "interactions[0].response: expected an object, got int"),
    "keys with one hash": Hostile(
        lambda: cassette(metadata="{" + ", ".join(f"{at * (2**61 - 1)}: 1" for at in range(20_000)) + "}"),
        "a key that is not text",
    ),
    "a number of a million digits": Hostile(lambda: cassette(status="{code: 1" + ":1" * 500_000 + "}"), "not text"),
    "a status that no text can show": Hostile(
        lambda: cassette(status=f"{{code: 0x{'f' * 3_000}}}"), "response.status.code: expected an HTTP status, got 2"
    ),
    "a version that no text can show": Hostile(f"version: 0x{'f' * 4_000}".encode, "that is not text"),
    "odd scalars": Hostile(lambda: cassette(metadata="{a: !!timestamp x}"), "'x' is not of the type timestamp"),
    "directives": Hostile(lambda: b"".join(b"%%TAG !%d! x\n" % at for at in range(100_000)) + b"--- 1", "directives"),
    "documents": Hostile(lambda: b"---\n" * 1_000_000, "expected a single document"),
    "64 MiB": Hostile(lambda: cassette(body="'" + "x" * 64 * MIB + "'"), "bytes; the limit is 16,777,216"),
    "a header that is an object": Hostile(
        lambda: cassette(headers="{x: {y: z}}"), "headers.x: expected text, got dict"
    ),
    "a header that is a nested list": Hostile(
        lambda: cassette(headers="{x: [[y]]}"), "headers.x: expected text, got list"
    ),
    "a header of two lines": Hostile(
        lambda: cassette(headers='{x: "a\\r\\nb: c"}'), "headers.x: a header's value has no"
    ),
    "a header without a name": Hostile(lambda: cassette(headers="{'a b': c}"), "'a b' is not the name of a header"),
    "a reason that is a list": Hostile(
        lambda: cassette(status="{code: 200, message: [OK]}"), "expected text, got list"
    ),
    "a source that is a list": Hostile(lambda: cassette(metadata="{art: {source: [provider]}}"), "metadata.art"),
    "brotli": Hostile(
        lambda: compressed("br", brotli_of(512)),
        f"{BODY}decompressed, the bodies up to here have more than 16,777,216 bytes",
    ),
    "gzip": Hostile(
        lambda: compressed("gzip", gzip_of(128)),
        f"{BODY}decompressed, the bodies up to here have more than 16,777,216 bytes",
    ),
    "deflate": Hostile(lambda: compressed("deflate", deflate_of(128)), f"{BODY}decompressed, the bodies"),
    "deflate without a header": Hostile(
        lambda: compressed("deflate", deflate_of(128)[2:-4]), f"{BODY}decompressed, the bodies"
    ),
    "zstd": Hostile(
        lambda: compressed("zstd", zstd_of(512)),
        f"{BODY}decompressed, the bodies up to here have more than 16,777,216 bytes",
    ),
    "gzip in gzip": Hostile(
        lambda: compressed("gzip, gzip", gzip.compress(gzip_of(128))), f"{BODY}decompressed, the bodies"
    ),
    "brotli in gzip": Hostile(
        lambda: compressed("br, gzip", gzip.compress(brotli_of(128))), f"{BODY}decompressed, the bodies"
    ),
    "a thousand codings": Hostile(lambda: compressed("gzip, " * 1_000, b""), "names 1000 codings; at most 5 are read"),
    "half a million gzip members": Hostile(
        lambda: compressed("gzip", gzip.compress(b"") * 500_000), f"{BODY}it has more than 16 compressed pieces"
    ),
    "brotli twenty times": Hostile(
        lambda: b"version: 1\ninteractions:\n" + compressed("br", brotli_of(10)).partition(b"interactions:\n")[2] * 20,
        "interactions[1].response.body.string: decompressed, the bodies up to here have more than 16,777,216 bytes",
    ),
    "JSON of 100,000 brackets": Hostile(
        lambda: cassette(body=f"'{'[' * 100_000}{']' * 100_000}'"), f"{BODY}it is nested deeper than 200 levels"
    ),
    "a stream of brackets": Hostile(
        lambda: cassette(body=json.dumps("data: " + '{"a":' * 5_000 + "1" + "}" * 5_000)), f"{BODY}it is nested deeper"
    ),
    "JSON of millions of values": Hostile(
        lambda: cassette(body=f"'[{'{},' * 4_000_000}1]'"),
        f"{BODY}the bodies up to here have more than 500,000 JSON values",
    ),
    "a request of millions of values": Hostile(
        lambda: cassette(request=f"'[{'[],' * 4_000_000}1]'"),
        "request.body: the bodies up to here have more than 500,000 JSON values",
    ),
}
"""Files by what is hostile about them."""


class Cost(NamedTuple):
    """What became of a file, with the seconds of CPU and the megabytes that it took."""

    outcome: str
    seconds: float
    megabytes: float


def measure(path: Path) -> Cost:
    """What reading the file costs, in its own process: it may end that process."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _report(path, writer)
    os.close(writer)
    with os.fdopen(reader) as answer:
        said = answer.read()
    _, state = os.waitpid(child, 0)
    return Cost(*json.loads(said)) if said else Cost(f"the process ended with {os.waitstatus_to_exitcode(state)}", 0, 0)


def _report(path: Path, writer: int) -> None:
    """Reads the file, sends its cost, and ends the process."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    resource.setrlimit(resource.RLIMIT_AS, (4096 * MIB, 4096 * MIB))
    try:
        load_cassette(path)
        outcome = "was read"
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the outcome
        outcome = str(error) if isinstance(error, BadCassette) else f"{type(error).__name__}: {error}"[:200]
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    os.write(writer, json.dumps([outcome, time.process_time() - start, (after - before) / 1024]).encode())
    os._exit(0)


def main() -> None:
    """Prints what reading each file costs."""
    with tempfile.TemporaryDirectory() as folder:
        for name, hostile in HOSTILE.items():
            path = Path(folder) / "one.yaml"
            path.write_bytes(hostile.make())
            cost = measure(path)
            outcome = cost.outcome.removeprefix(f"{path}: ")[:90]
            sys.stdout.write(f"{name:34} {cost.seconds:6.2f} s {cost.megabytes:7.0f} MB  {outcome}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
