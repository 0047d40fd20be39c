"""The corpus: cassettes that other projects recorded from real providers and ship in their source distributions.

`cassettes/corpus.toml` pins each package's name, version, digest, licence and paths. A package is downloaded into the
user's cache when it is needed, and read there; it is never built, and none of its code runs. None of them is part of
this project.
"""

from __future__ import annotations

import fnmatch
import hashlib
import io
import os
import tarfile
import tempfile
import time
import tomllib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_compliance.cassettes.compression import UnreadableBody, ungzip
from art_compliance.cassettes.errors import BadCassette, NotCassette
from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.foreign import read_exchanges
from art_compliance.cassettes.package_index import TIMEOUT, Unreachable, Wanted, download, read_indexes
from art_compliance.cassettes.reading import LARGEST
from art_compliance.dialects import find_by_url
from art_compliance.findings import HarnessError
from art_compliance.resources import data_folder

LARGEST_ARCHIVE: Final = 128 * 1024 * 1024
"""Bytes of a distribution's archive, decompressed."""


class Package(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source distribution that ships cassettes. `paths` are patterns of the files in it.

    Files that contain the text `made_up` were never recorded, as their authors say, and are left out. `files` is the
    number of the others.
    """

    name: str
    version: str
    sha256: str
    licence: str
    paths: tuple[str, ...]
    files: int
    made_up: str | None = None

    @property
    def label(self) -> str:
        """Name and version, as errors show them."""
        return f"{self.name} {self.version}"


class Found(Struct, frozen=True, kw_only=True):
    """One recorded call, with its package, its file, and its number in the file, counted from 0."""

    package: str
    file: str
    number: int
    exchange: Exchange

    @property
    def id(self) -> str:
        """A short name for the call, such as a test's id."""
        stem = self.file.rsplit("/", 1)[-1].removesuffix(".gz").removesuffix(".yaml")
        folder = self.file.rsplit("/", 2)[-2]
        return f"{self.package}/{folder}/{stem}-{self.number}"


def load_packages(path: Path | None = None) -> tuple[Package, ...]:
    """The pinned packages. Raises HarnessError, which names the file and the field."""
    where = path or data_folder("cassettes") / "corpus.toml"
    try:
        return msgspec.convert(tomllib.loads(where.read_text(encoding="utf-8"))["package"], tuple[Package, ...])
    except (OSError, KeyError, ValueError) as error:
        raise HarnessError(f"{where}: {error}") from error


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder for downloads: `ART_CORPUS_CACHE`, or a folder in the user's cache."""
    folder = environment.get("ART_CORPUS_CACHE")
    return Path(folder) if folder else user_cache(environment) / "corpus"


def user_cache(environment: Mapping[str, str] = os.environ) -> Path:
    """The suite's folder in the user's cache."""
    usual = environment.get("XDG_CACHE_HOME") or environment.get("LOCALAPPDATA") or str(Path.home() / ".cache")
    return Path(usual) / "art-compliance"


def fetch(package: Package, folder: Path | None = None, indexes: Iterable[str] | None = None) -> Path:
    """The distribution's file, which is downloaded only once; its digest is verified every time.

    `indexes` are URLs of package indexes, by default those that pip uses. Raises Unreachable, and HarnessError if the
    digest is not the pinned one: then the file is removed.
    """
    kept = (folder or cache_folder()) / package.sha256[:16]
    found = _only_file(kept)
    if found is None:
        kept.mkdir(parents=True, exist_ok=True)
        _download_once(package, kept, indexes)
        found = _only_file(kept)
    if found is None:
        raise Unreachable(f"{package.label}: its download by another process left no file in {kept}")
    digest = hashlib.sha256(found.read_bytes()).hexdigest()
    if digest != package.sha256:
        found.unlink()
        raise HarnessError(
            f"{package.label}: the file's sha256 is {digest}, not the pinned {package.sha256}; it was removed"
        )
    return found


def _only_file(folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob("*.tar.gz"))), None)


def _download_once(package: Package, folder: Path, indexes: Iterable[str] | None) -> None:
    """Downloads into a draft and renames it, so that nobody reads half a file. A second process waits for the first."""
    lock = folder / "downloading"
    try:
        lock.touch(exist_ok=False)
    except FileExistsError:
        if _wait_for(lock):
            return
        lock.touch()  # its owner is gone
    wanted = Wanted(package.name, package.version, package.sha256)
    try:
        with tempfile.TemporaryDirectory(dir=folder) as draft:
            found = download(wanted, Path(draft), read_indexes() if indexes is None else indexes)
            found.replace(folder / found.name)
    except (Unreachable, HarnessError) as error:
        raise type(error)(f"{package.label}: {error}") from error
    finally:
        lock.unlink(missing_ok=True)


def _wait_for(lock: Path) -> bool:
    """Whether the lock was released in time. The owner of a lock that is older than any download is gone."""
    while True:
        try:
            age = time.time() - lock.stat().st_mtime
        except FileNotFoundError:
            return True
        if age > TIMEOUT + 5:
            return False
        time.sleep(0.1)


def read_package(
    package: Package, folder: Path | None = None, indexes: Iterable[str] | None = None
) -> tuple[Found, ...]:
    """Every recorded call of a package. Raises as `fetch` does, and BadCassette for a file that cannot be read."""
    return tuple(_found(package, fetch(package, folder, indexes)))


def _found(package: Package, sdist: Path) -> Iterator[Found]:
    for path, raw in sorted(_read_members(package, sdist)):
        data = _unpacked(path, raw)
        if package.made_up and package.made_up.encode() in data:
            continue
        for number, exchange in enumerate(_exchanges(path, data)):
            file = path.as_posix().partition("/")[2]
            yield Found(package=package.name, file=file, number=number, exchange=exchange)


def _read_members(package: Package, sdist: Path) -> Iterator[tuple[Path, bytes]]:
    """The files that the package's patterns name, read in memory: nothing of an archive is written to the disk."""
    try:
        content = io.BytesIO(ungzip(sdist.read_bytes(), LARGEST_ARCHIVE))
        with tarfile.open(fileobj=content, mode="r:") as archive:
            for member in archive:
                name = member.name.partition("/")[2]
                if member.isreg() and any(fnmatch.fnmatch(name, pattern) for pattern in package.paths):
                    yield Path(member.name), _read_member(archive, member)
    except (EOFError, zlib.error, UnreadableBody, tarfile.TarError) as error:
        raise BadCassette(sdist, "", f"its archive cannot be read: {error}") from error


def _read_member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    if member.size > LARGEST:
        raise BadCassette(Path(member.name), "", f"it has {member.size:,} bytes; the limit is {LARGEST:,}")
    content: Any = archive.extractfile(member)
    return bytes(content.read())


def _unpacked(path: Path, raw: bytes) -> bytes:
    try:
        return ungzip(raw) if raw.startswith(b"\x1f\x8b") else raw
    except (EOFError, zlib.error, UnreadableBody) as error:
        raise BadCassette(path, "", f"its gzip data cannot be read: {error}") from error


def _exchanges(path: Path, text: bytes) -> Iterator[Exchange]:
    """The calls in a file; none in one that is no cassette."""
    try:
        exchanges = read_exchanges(text.decode("utf-8", "replace"), path)
    except NotCassette:
        return
    for found in exchanges:
        if isinstance(found, BadCassette):
            raise found
        yield found


_FIELDS: Final = {"langchain-openai": "openai-chat", "langchain-anthropic": "anthropic-messages"}
"""Packages that left out the URL when they recorded: a body with `messages` is in this dialect."""


def dialect_of(found: Found) -> str | None:
    """The dialect of a recorded call, by its URL or by its package; None if the suite does not know the format."""
    dialect = find_by_url(found.exchange.uri)
    if dialect is not None:
        return dialect.name
    hidden = "REDACTED" in found.exchange.uri and b'"messages"' in found.exchange.request_body
    return _FIELDS.get(found.package) if hidden else None
