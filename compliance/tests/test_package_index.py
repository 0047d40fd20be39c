"""Downloads from a package index: by digest, within bounds, and without running anything."""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from art_compliance import HarnessError
from art_compliance.cassettes import package_index
from art_compliance.cassettes.package_index import Unreachable, Wanted, download, parse_indexes, read_indexes
from art_compliance.provider.receiving import Request
from art_compliance.provider.script import Pause, Response, Send
from art_compliance.provider.server import LoopbackServer

pytestmark = pytest.mark.once

CONTENT = b"\x1f\x8b is never unpacked here"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
WANTED = Wanted("No.Such_package-of-ours", "1.0", DIGEST)
NAME = "no_such_package_of_ours-1.0.tar.gz"
PAGE = "/simple/no-such-package-of-ours/"
FILE = f"/files/{NAME}"


def listing(url: str = f"../../files/{NAME}", name: str = NAME, digest: str | None = DIGEST) -> Response:
    hashes = {} if digest is None else {"sha256": digest}
    other = {"filename": "other-1.0.tar.gz", "url": "/files/other", "hashes": {"sha256": "2" * 64}}
    page = {"files": [other, {"filename": name, "url": url, "hashes": hashes}, {"filename": 1}, "odd"]}
    return Response(200, json.dumps(page).encode(), "application/vnd.pypi.simple.v1+json")


def links(*urls: str) -> Response:
    return Response(200, "".join(f'<a href="{url}">a file</a><br/>' for url in urls).encode(), "text/html")


class Index:
    """An index on the loopback with these pages."""

    def __init__(self) -> None:
        self.pages: dict[str, Response] = {
            PAGE: listing(),
            FILE: Response(200, CONTENT, "application/gzip"),
            "/files/other": Response(200, b"another file", "application/gzip"),
        }
        self.asked: list[str] = []
        self.url = ""

    def respond(self, request: Request) -> Response:
        self.asked.append(request.target)
        return self.pages.get(request.target, Response(404))


@pytest.fixture
def index() -> Iterator[Index]:
    made = Index()
    with LoopbackServer(made.respond) as server:
        made.url = f"{server.url}/simple"
        yield made


@pytest.mark.parametrize(
    "page",
    [
        listing(),
        listing(digest=None),
        listing(name="renamed.tar.gz"),
        listing(url=FILE),
        links(f"/files/other#sha256={'2' * 64}", f"{FILE}#sha256={DIGEST}"),
        links("/files/other", f"{FILE}#md5=1"),
    ],
)
def test_a_file_is_found_by_its_digest_or_its_name(page: Response, index: Index, tmp_path: Path):
    index.pages[PAGE] = page
    found = download(WANTED, tmp_path, [index.url])
    assert found == tmp_path / NAME
    assert found.read_bytes() == CONTENT
    assert index.asked == [PAGE, FILE]


def test_a_second_index_is_asked_for_what_the_first_does_not_have(index: Index, tmp_path: Path):
    indexes = [index.url.replace("/simple", "/empty"), f"{index.url}/"]
    assert download(WANTED, tmp_path, indexes).read_bytes() == CONTENT


def test_a_file_with_another_digest_is_not_kept(index: Index, tmp_path: Path):
    index.pages[FILE] = Response(200, b"other bytes", "application/gzip")
    with pytest.raises(HarnessError, match=f"^the file's sha256 is .*, not the pinned {DIGEST}; it was not kept$"):
        download(WANTED, tmp_path, [index.url])
    assert list(tmp_path.iterdir()) == []


UNREACHABLE = {
    "no page": ({PAGE: Response(404)}, f"the package index has no file {NAME}"),
    "no file": ({PAGE: links("/files/other")}, f"the package index has no file {NAME}"),
    "a list": ({PAGE: Response(200, b"[]")}, f"the package index has no file {NAME}"),
    "a page that is cut": ({PAGE: Response(200, b'{"files": [')}, "the package index sent a page that is not JSON: "),
    "a deep page": ({PAGE: Response(200, b"[" * 100_000)}, "the package index sent a page that is not JSON: "),
    "an error": ({PAGE: Response(503)}, "the package index answered 503"),
    "a file that is gone": ({FILE: Response(410)}, "the package index answered 410"),
    "a large file": (
        {FILE: Response(200, steps=(Send(bytes(600)), Send(bytes(600))))},
        "the package index sent more than 1,000 bytes",
    ),
    "a place on the disk": ({PAGE: listing(url="file:///etc/hostname")}, "cannot be reached: UnsupportedProtocol: "),
    "no URL": ({PAGE: listing(url="http://[")}, "cannot be reached: "),
}


@pytest.mark.parametrize("case", UNREACHABLE)
def test_what_an_index_does_not_give_is_reported(
    case: str, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pages, message = UNREACHABLE[case]
    index.pages |= pages
    monkeypatch.setattr(package_index, "LARGEST_FILE", 1_000)
    with pytest.raises(Unreachable, match=message):
        download(WANTED, tmp_path, [index.url])
    assert list(tmp_path.iterdir()) == []


def test_an_index_that_nobody_serves_is_reported_without_its_password(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(Unreachable, match="cannot be reached: ConnectError: ") as raised:
        download(WANTED, tmp_path, [f"http://user:hidden@127.0.0.1:{port}/simple"])
    assert "hidden" not in str(raised.value)


def test_a_download_that_takes_too_long_is_given_up(index: Index, tmp_path: Path):
    index.pages[PAGE] = Response(200, steps=(Send(b"{"), Pause(0.2)) * 100)
    with pytest.raises(Unreachable, match=r"the download takes too long|cannot be reached: .*Timeout"):
        download(WANTED, tmp_path, [index.url], timeout=0.6)


SETTINGS = {
    "": ("https://usual/simple",),
    "global.index-url='https://a/simple'": ("https://a/simple",),
    "download.index-url='https://b'\nglobal.index-url='https://a'\ninstall.index-url='https://c'": ("https://b",),
    ":env:.index-url='http://c'\ndownload.index-url='https://b'": ("http://c",),
    "global.extra-index-url='https://d https://e\\nfile:///f'": ("https://usual/simple", "https://d", "https://e"),
    "global.index-url='file:///f'": (),
    "global.no-index='false'": ("https://usual/simple",),
}


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_indexes_are_those_of_pips_settings(settings: str):
    assert parse_indexes(settings, lambda: "https://usual/simple") == SETTINGS[settings]


def test_pips_own_settings_are_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    assert read_indexes()[0] == "https://index.example/simple"
    monkeypatch.delenv("PIP_INDEX_URL")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert re.fullmatch(r"https://[\w.]+/simple", read_indexes()[0])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(Unreachable, match="pip is set to use no package index"):
        read_indexes()


def test_a_python_without_an_interpreter_to_run_pip_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(Unreachable, match="pip does not show its settings: FileNotFoundError"):
        read_indexes()
