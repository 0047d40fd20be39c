"""The corpus: cassettes that others recorded from real providers and ship in their source distributions.

`cassettes/corpus.toml` pins name, version, digest, licence and paths. The index client downloads on demand into
the user's cache; nothing of it is ever part of this project.
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
from art_compliance.findings import HarnessError
from art_compliance.resources import data_folder
from art_sdk.json_data import is_array, is_object

TIMEOUT: Final = 60.0
"""Seconds that one download may take, and that another process is waited for which downloads the same."""


class Unreachable(Exception):
    """The package index cannot be asked, or no longer has the distribution. Its text says which and why."""


class Package(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source distribution that ships cassettes: `paths` are patterns of files in it.

    Files with the words `made_up` were never recorded, their authors say so, and are left out; `holds` is
    how many there are without them.
    """

    name: str
    version: str
    sha256: str
    licence: str
    paths: tuple[str, ...]
    holds: int
    made_up: str | None = None


class Found(Struct, frozen=True, kw_only=True):
    """One recorded call: whose package it is in, which file, and the how-manieth there."""

    package: str
    file: str
    number: int
    exchange: Exchange

    @property
    def id(self) -> str:
        """A name for it, short enough for a test's."""
        stem = self.file.rsplit("/", 1)[-1].removesuffix(".gz").removesuffix(".yaml")
        folder = self.file.rsplit("/", 2)[-2]
        return f"{self.package}/{folder}/{stem}-{self.number}"


def load_packages(path: Path | None = None) -> tuple[Package, ...]:
    """The pinned packages. Raises HarnessError, naming file and field."""
    where = path or data_folder("cassettes") / "corpus.toml"
    try:
        return msgspec.convert(tomllib.loads(where.read_text(encoding="utf-8"))["package"], tuple[Package, ...])
    except (OSError, KeyError, ValueError) as error:
        message = f"{where}: {error}"
        raise HarnessError(message) from error


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where downloads are kept: `ART_CORPUS_CACHE`, else below the user's cache folder."""
    asked = environment.get("ART_CORPUS_CACHE")
    return Path(asked) if asked else user_cache(environment) / "corpus"


def user_cache(environment: Mapping[str, str] = os.environ) -> Path:
    """The suite's folder in the user's cache."""
    usual = environment.get("XDG_CACHE_HOME") or environment.get("LOCALAPPDATA") or str(Path.home() / ".cache")
    return Path(usual) / "art-compliance"


def fetch(package: Package, folder: Path | None = None) -> Path:
    """The distribution's file, downloaded unless it is there, its digest verified each time.

    Raises Unreachable, and HarnessError where the digest is not the pinned one: then the file is removed.
    """
    kept = (folder or cache_folder()) / package.sha256[:16]
    found = _only_file(kept)
    if found is None:
        kept.mkdir(parents=True, exist_ok=True)
        _download_once(package, kept)
        found = _only_file(kept)
    if found is None:
        message = f"{package.name} {package.version}: the index client left no file in {kept}"
        raise Unreachable(message)
    digest = hashlib.sha256(found.read_bytes()).hexdigest()
    if digest != package.sha256:
        found.unlink()
        message = (
            f"{package.name} {package.version}: its sha256 is {digest}, pinned is {package.sha256}; it was removed"
        )
        raise HarnessError(message)
    return found


def _only_file(folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob("*.tar.gz"))), None)


def _download_once(package: Package, folder: Path) -> None:
    """Into a draft, and from there at once, so that nobody reads a half; whoever comes second waits for the first."""
    lock = folder / "downloading"
    try:
        lock.touch(exist_ok=False)
    except FileExistsError:
        if _wait_for(lock):
            return
        lock.touch()  # whoever held it is gone
    try:
        with tempfile.TemporaryDirectory(dir=folder) as draft:
            _download(package, Path(draft))
            found = _only_file(Path(draft))
            if found is not None:
                found.replace(folder / found.name)
    finally:
        lock.unlink(missing_ok=True)


def _wait_for(lock: Path) -> bool:
    """Whether the lock was given back in time. One that is older than a download may take is nobody's."""
    while True:
        try:
            age = time.time() - lock.stat().st_mtime
        except FileNotFoundError:
            return True
        if age > TIMEOUT + 5:
            return False
        time.sleep(0.1)


def _download(package: Package, folder: Path) -> None:
    """By pip, which asks the distribution's own build tool for its name: nothing is installed."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--retries", "1", "--timeout", "15"]
    command += ["--no-binary", package.name, "--dest", str(folder), f"{package.name}=={package.version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        message = f"{package.name} {package.version}: pip did not come back: {type(error).__name__}"
        raise Unreachable(message) from error
    if done.returncode != 0:
        message = f"{package.name} {package.version}: {_explain(done.stderr, done.returncode)}"
        raise Unreachable(message)


def _explain(said: str, code: int) -> str:
    """Why pip brought nothing: it says that there is no such distribution, also where no index answered."""
    broken = _BROKEN.findall(said)
    if broken:
        return f"the package index cannot be reached: {broken[-1]}"
    lines = [line for line in said.splitlines() if line.startswith("ERROR")]
    return f"pip download ended with {code}: {(lines or ['?'])[-1]}"


_BROKEN: Final = re.compile(r"connection broken by '(?:.*[>)]: )?(.*?)['\")]*':")
"""What pip warns of before it tries again (as pip 23.2 and 26.3 say it)."""


def read_package(package: Package, folder: Path | None = None) -> tuple[Found, ...]:
    """Every recorded call of a package that can be read. Raises as `fetch`, and BadCassette for a file that cannot."""
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
        raise BadCassette(path, "", f"its gzip data is cut or damaged: {error}") from error


def _exchanges(path: Path, text: bytes) -> Iterator[Exchange]:
    """A foreign cassette's, in vcrpy's form or in the one that keeps requests and answers in two lists."""
    try:
        data: object = yaml.load(text, Loader=LOADER)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise BadCassette(path, "", f"no YAML that can be read: {error}") from error
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


_PATHS: Final = {
    "/chat/completions": "openai-chat",
    "/v1/messages": "anthropic-messages",
    ":generateContent": "gemini-generate",
    ":streamGenerateContent": "gemini-generate",
}
_FIELDS: Final = {"langchain-openai": "openai-chat", "langchain-anthropic": "anthropic-messages"}
"""Packages whose recorders left out the URL: a body with `messages` is of this dialect."""


def dialect_of(found: Found) -> str | None:
    """The dialect of a recorded call, by its URL, else by its package; None for what no dialect here is of."""
    path = found.exchange.uri.partition("?")[0]
    for end, dialect in _PATHS.items():
        if path.endswith(end):
            return dialect
    hidden = "REDACTED" in path and b'"messages"' in found.exchange.request_body
    return _FIELDS.get(found.package) if hidden else None
