"""Downloads a file of a package index by its digest, and runs none of its code.

pip builds a source distribution as soon as it has downloaded it, even to ask for its name. So this asks the index
itself, by the simple repository API (https://packaging.python.org/en/latest/specifications/simple-repository-api/).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final, TypeGuard
from urllib.parse import urldefrag, urljoin

import httpx2
from msgspec import Struct

from art_compliance.findings import HarnessError
from art_sdk.json_data import is_array, is_object

TIMEOUT: Final = 60.0
"""Seconds that one download may take."""

LARGEST_FILE: Final = 64 * 1024 * 1024
LARGEST_PAGE: Final = 32 * 1024 * 1024
"""Bytes of a distribution, and of the page on which an index lists a project's files."""

_QUIET: Final = 15.0
"""Seconds without a byte after which an index is given up."""


class Unreachable(Exception):
    """The package index cannot be reached, or does not have the distribution; the message says which and why."""


class Wanted(Struct, frozen=True):
    """A source distribution on an index, and the sha256 that its file must have, in hexadecimal."""

    project: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The name of the file (https://packaging.python.org/en/latest/specifications/source-distribution-format/)."""
        return f"{_normalized(self.project).replace('-', '_')}-{self.version}.tar.gz"


def download(wanted: Wanted, folder: Path, indexes: Iterable[str], *, timeout: float = TIMEOUT) -> Path:
    """The file in the folder, as it was sent: nothing is unpacked, and nothing of it runs.

    Asks the indexes, which are URLs, one after the other. Raises Unreachable, and HarnessError for a file with
    another digest; then there is no file.
    """
    deadline = time.monotonic() + timeout
    with httpx2.Client(follow_redirects=True, timeout=min(timeout, _QUIET)) as client:
        reader = _Reader(client, deadline)
        try:
            for index in indexes:
                url = _find(reader, f"{index.rstrip('/')}/{_normalized(wanted.project)}/", wanted)
                if url is not None:
                    return _save(reader, url, wanted, folder / wanted.file_name)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise Unreachable(f"the package index cannot be reached: {type(error).__name__}: {error}") from error
    raise Unreachable(f"the package index has no file {wanted.file_name}")


class _Reader:
    """Reads URLs, within one deadline for all of them."""

    def __init__(self, client: httpx2.Client, deadline: float) -> None:
        self._client = client
        self._deadline = deadline

    def read(self, url: str, most: int, headers: Mapping[str, str]) -> tuple[httpx2.Response, bytes]:
        """The response and its body, which is empty if the response is an error. Raises Unreachable, HTTPError."""
        body = bytearray()
        with self._client.stream("GET", url, headers=headers) as response:
            for chunk in response.iter_bytes() if response.is_success else ():
                body += chunk
                if len(body) > most:
                    raise Unreachable(f"the package index sent more than {most:,} bytes")
                if time.monotonic() > self._deadline:
                    raise Unreachable("the download takes too long")
        return response, bytes(body)


_NOT_FOUND: Final = 404
_PAGE: Final = {"accept": "application/vnd.pypi.simple.v1+json, text/html;q=0.1"}
_FILE: Final = {"accept-encoding": "identity"}


def _find(reader: _Reader, page: str, wanted: Wanted) -> str | None:
    """The file's URL, by its digest, or where the index gives none, by its name."""
    response, body = reader.read(page, LARGEST_PAGE, _PAGE)
    if response.status_code == _NOT_FOUND:
        return None
    _require_success(response)
    is_json = "json" in response.headers.get("content-type", "")
    files = list(_files_of_json(body) if is_json else _files_of_html(body))
    matching = [one.url for one in files if one.sha256 == wanted.sha256] or [
        one.url for one in files if one.name == wanted.file_name
    ]
    return urljoin(str(response.url), matching[0]) if matching else None


def _save(reader: _Reader, url: str, wanted: Wanted, path: Path) -> Path:
    response, content = reader.read(url, LARGEST_FILE, _FILE)
    _require_success(response)
    digest = hashlib.sha256(content).hexdigest()
    if digest != wanted.sha256:
        raise HarnessError(f"the file's sha256 is {digest}, not the pinned {wanted.sha256}; it was not kept")
    path.write_bytes(content)
    return path


def _require_success(response: httpx2.Response) -> None:
    if not response.is_success:
        raise Unreachable(f"the package index answered {response.status_code}")


# What an index says of a project's files.


class _File(Struct, frozen=True):
    name: str
    url: str
    sha256: str | None


def _files_of_json(body: bytes) -> Iterator[_File]:
    try:
        page: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unreachable(f"the package index sent a page that is not JSON: {error}") from error
    files = page.get("files") if is_object(page) else None
    for one in files if is_array(files) else ():
        if is_object(one) and _is_text(one.get("filename")) and _is_text(one.get("url")):
            hashes = one.get("hashes")
            yield _File(one["filename"], one["url"], hashes.get("sha256") if is_object(hashes) else None)


def _files_of_html(body: bytes) -> Iterator[_File]:
    links = _Links()
    links.feed(body.decode("utf-8", "replace"))
    for link in links.found:
        url, fragment = urldefrag(link)
        digest = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else None
        yield _File(url.rsplit("/", 1)[-1], url, digest)


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _normalized(project: str) -> str:
    """The project's name as indexes spell it in URLs."""
    return re.sub(r"[-_.]+", "-", project).lower()


# Which indexes there are.


def read_indexes() -> tuple[str, ...]:
    """The URLs of the indexes that pip uses, by its files and environment variables; indexes in folders are left out.

    Raises Unreachable if pip is set to use none, or does not show its settings.
    """
    return parse_indexes(_pip("config", "list"), _usual_index)


def parse_indexes(settings: str, usual: Callable[[], str]) -> tuple[str, ...]:
    """The same, from what `pip config list` prints, and the index that pip uses where that names none."""
    named = {name: value for _, name, value in sorted(map(_setting, _SETTING.finditer(settings)))}
    if named.get("no-index", "").lower() in _TRUE:
        raise Unreachable("pip is set to use no package index (no-index)")
    urls = [named.get("index-url") or usual(), *named.get("extra-index-url", "").split()]
    return tuple(url for url in urls if url.startswith(("https://", "http://")))


@cache
def _usual_index() -> str:
    """The index that pip's help names."""
    found = re.search(r"--index-url <url>.*?\(default\s+(\S+?)\)", _pip("download", "--help"), re.DOTALL)
    if found is None:
        raise Unreachable("pip does not say which package index it uses; set one with: pip config set global.index-url")
    return found[1]


def _pip(*arguments: str) -> str:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"pip does not show its settings: {type(error).__name__}") from error
    return done.stdout


_SETTING: Final = re.compile(r"^(global|download|:env:)\.([a-z-]+)=(.+)$", re.MULTILINE)
_RANK: Final = ("global", "download", ":env:")
"""The sections of pip's settings that count for downloads; a later one wins."""

_TRUE: Final = frozenset({"1", "y", "yes", "t", "true", "on"})


def _setting(found: re.Match[str]) -> tuple[int, str, str]:
    section, name, value = found.groups()
    return _RANK.index(section), name, str(ast.literal_eval(value))
