"""The corpus itself: downloads that are verified and never run, and reading the cassettes in them."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from typer.testing import CliRunner

from art_compliance import HarnessError
from art_compliance.cassettes import BadCassette, corpus
from art_compliance.cassettes.corpus import Package, cache_folder, fetch, load_packages, read_package
from art_compliance.cassettes.package_index import Unreachable
from art_compliance.cassettes.reading import LARGEST
from art_compliance.commands import app
from art_compliance.provider.receiving import Request
from art_compliance.provider.script import Response
from art_compliance.provider.server import LoopbackServer

pytestmark = pytest.mark.once


def sdist(folder: Path, files: dict[str, bytes], **changed: Any) -> Package:
    """A package that is in the cache already."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"p-1/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    digest = hashlib.sha256(raw.getvalue()).hexdigest()
    fields = {"sha256": digest, "paths": ("tests/*.yaml*",), "files": 1, "licence": "MIT", **changed}
    package = Package(name="no-such-package-of-ours", version="1", **fields)
    kept_at = folder / package.sha256[:16]
    kept_at.mkdir()
    (kept_at / "p-1.tar.gz").write_bytes(raw.getvalue())
    return package


ONE = b"""
interactions:
- request: {method: POST, uri: 'https://api.openai.com/v1/chat/completions', body: '{"model":"m"}', headers: {}}
  response: {status: {code: 200, message: OK}, headers: {}, body: {string: '{}'}}
version: 1
"""
TWO_LISTS = b"""
requests:
- {method: POST, uri: '**REDACTED**', body: '{"messages":[]}', headers: {}}
responses:
- {status: {code: 200, message: OK}, headers: {}, body: {string: '{}'}}
"""


class Index:
    """An index on the loopback that has one file, under the name of any project."""

    def __init__(self, content: bytes) -> None:
        self.asked = 0
        self._content = content
        self.url = ""

    def respond(self, request: Request) -> Response:
        self.asked += 1
        if request.target.startswith("/file"):
            return Response(200, self._content, "application/gzip")
        return Response(200, b'<a href="/file/no_such_package_of_ours-1.tar.gz">', "text/html")


@contextmanager
def serve(content: bytes) -> Generator[Index]:
    index = Index(content)
    with LoopbackServer(index.respond) as server:
        index.url = server.url
        yield index


def move_out(package: Package, folder: Path) -> bytes:
    """The cached file's content; the file is then gone."""
    kept = folder / package.sha256[:16] / "p-1.tar.gz"
    content = kept.read_bytes()
    kept.unlink()
    return content


def test_cassettes_of_both_formats_are_read_from_the_distribution(tmp_path: Path):
    files = {"tests/a.yaml": ONE, "tests/b.yaml.gz": gzip.compress(TWO_LISTS), "docs/c.yaml": b"no: cassette"}
    package = sdist(tmp_path, files)
    assert [found.file for found in read_package(package, tmp_path)] == ["tests/a.yaml", "tests/b.yaml.gz"]


def test_made_up_cassettes_are_left_out(tmp_path: Path):
    package = sdist(tmp_path, {"tests/a.yaml": b"# made by hand" + ONE, "tests/b.yaml": ONE}, made_up="made by hand")
    assert [found.file for found in read_package(package, tmp_path)] == ["tests/b.yaml"]


def test_a_file_that_is_too_large_is_not_unpacked(tmp_path: Path):
    package = sdist(tmp_path, {"tests/a.yaml": b" " * (LARGEST + 1)})
    with pytest.raises(BadCassette, match=r"a\.yaml: it has 16,777,217 bytes; the limit is 16,777,216"):
        read_package(package, tmp_path)


def test_a_distribution_with_another_digest_is_removed(tmp_path: Path):
    package = sdist(tmp_path, {"tests/a.yaml": ONE}, sha256="0" * 64)
    with pytest.raises(HarnessError, match=r"the file's sha256 is .*, not the pinned 0000"):
        fetch(package, tmp_path)
    assert not list(tmp_path.rglob("*.tar.gz"))


def test_no_code_of_a_distribution_runs(tmp_path: Path):
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w')".encode()
    backend = b"[build-system]\nrequires = []\nbuild-backend = 'setup'\nbackend-path = ['.']\n"
    files = {"setup.py": code, "pyproject.toml": backend, "PKG-INFO": b"Name: x", "tests/a.yaml": ONE}
    package = sdist(tmp_path, files)
    with serve(move_out(package, tmp_path)) as index:
        assert len(read_package(package, tmp_path, [index.url])) == 1
        assert fetch(package, tmp_path, [index.url]).name == "no_such_package_of_ours-1.tar.gz"
    assert index.asked == 2  # the second time, the file is in the cache
    assert not ran.exists()


def test_a_download_with_another_digest_is_reported_with_the_package(tmp_path: Path):
    package = sdist(tmp_path, {"tests/a.yaml": ONE}, sha256="0" * 64)
    with (
        serve(move_out(package, tmp_path)) as index,
        pytest.raises(HarnessError, match=r"^no-such-package-of-ours 1: the file's sha256 is .*, not the pinned 0000"),
    ):
        fetch(package, tmp_path, [index.url])
    assert not list(tmp_path.rglob("*.gz"))


def test_a_missing_distribution_is_reported_with_the_package(tmp_path: Path):
    package = structs.replace(sdist(tmp_path, {}), sha256="1" * 64)
    with pytest.raises(Unreachable, match=r"^no-such-package-of-ours 1: the package index has no file no_such_"):
        fetch(package, tmp_path, [])
    assert list(tmp_path.rglob("downloading")) == []


@pytest.mark.parametrize("content", [b"just a text", b"requests: [1]", b"interactions: 7"])
def test_a_file_that_is_not_a_cassette_has_no_calls(content: bytes, tmp_path: Path):
    assert read_package(sdist(tmp_path, {"tests/a.yaml": content}), tmp_path) == ()


OF_A_DIALECT = {
    "https://api.openai.com/v1/chat/completions?x=1": ("p", b"{}", "openai-chat"),
    "https://api.anthropic.com/v1/messages": ("p", b"{}", "anthropic-messages"),
    "https://x.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse": ("p", b"{}", "gemini-generate"),
    "https://api.mistral.ai/v1/chat/completions#stream": ("p", b"{}", "openai-chat"),
    "https://api.openai.com/v1/threads/thread_1/messages": ("p", b"{}", None),
    "https://proxy.example/anthropic/messages": ("p", b"{}", "anthropic-messages"),
    "https://api.openai.com/v1/embeddings": ("langchain-openai", b"{}", None),
    "**REDACTED**": ("langchain-anthropic", b'{"messages": []}', "anthropic-messages"),
    "**REDACTED** ": ("langchain-openai", b'{"input": []}', None),
    "**REDACTED**  ": ("p", b'{"messages": []}', None),
}


@pytest.mark.parametrize("uri", OF_A_DIALECT)
def test_the_dialect_of_a_call_comes_from_its_url_or_its_package(uri: str, tmp_path: Path):
    package, body, dialect = OF_A_DIALECT[uri]
    (found,) = read_package(sdist(tmp_path, {"tests/cassettes/a.yaml": ONE}), tmp_path)
    assert found.id == "no-such-package-of-ours/cassettes/a-0"
    exchange = structs.replace(found.exchange, uri=uri.strip(), request_body=body)
    assert corpus.dialect_of(structs.replace(found, package=package, exchange=exchange)) == dialect


def test_a_second_download_waits_for_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = sdist(tmp_path, {"tests/a.yaml": ONE})
    content = move_out(package, tmp_path)
    kept_at = tmp_path / package.sha256[:16]
    (kept_at / "downloading").touch()

    def first_is_done(_: float) -> None:
        (kept_at / "p-1.tar.gz").write_bytes(content)
        (kept_at / "downloading").unlink()

    monkeypatch.setattr(corpus.time, "sleep", first_is_done)
    assert fetch(package, tmp_path, []) == kept_at / "p-1.tar.gz"
    move_out(package, tmp_path)
    (kept_at / "downloading").touch()
    monkeypatch.setattr(corpus.time, "sleep", lambda _: (kept_at / "downloading").unlink())
    with pytest.raises(Unreachable, match="its download by another process left no file in "):
        fetch(package, tmp_path, [])


def test_an_abandoned_lock_is_ignored(tmp_path: Path):
    package = sdist(tmp_path, {"tests/a.yaml": ONE})
    content = move_out(package, tmp_path)
    lock = tmp_path / package.sha256[:16] / "downloading"
    lock.touch()
    os.utime(lock, (0, 0))
    with serve(content) as index:
        kept = fetch(package, tmp_path, [index.url])
    assert list(lock.parent.iterdir()) == [kept]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"interactions: [", "invalid YAML"), (b"\x1f\x8bxx", "its gzip data cannot be read: Error -3")],
)
def test_a_broken_file_in_a_distribution_is_named(content: bytes, message: str, tmp_path: Path):
    package = sdist(tmp_path, {"tests/a.yaml": content})
    with pytest.raises(BadCassette, match=message):
        read_package(package, tmp_path)


ARCHIVES = {
    "no archive": (b"not gzip", "incorrect header check"),
    "a cut archive": (gzip.compress(bytes(100_000))[:-20], "the end is missing"),
    "an archive of random bytes": (gzip.compress(b"x" * 1_024), "invalid header"),
    "a huge archive": (gzip.compress(bytes(100_001)), "more than 100,000 bytes"),
}


@pytest.mark.parametrize("case", ARCHIVES)
def test_a_distribution_that_cannot_be_unpacked_is_named(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(corpus, "LARGEST_ARCHIVE", 100_000)
    content, message = ARCHIVES[case]
    package = structs.replace(sdist(tmp_path, {}), sha256=hashlib.sha256(content).hexdigest())
    kept_at = tmp_path / package.sha256[:16]
    kept_at.mkdir()
    (kept_at / "p-1.tar.gz").write_bytes(content)
    with pytest.raises(BadCassette, match=rf"p-1\.tar\.gz: its archive cannot be read: .*{message}"):
        read_package(package, tmp_path)


def test_files_of_an_archive_are_not_written_to_the_disk(tmp_path: Path):
    outside = tmp_path / "outside.yaml"
    package = sdist(tmp_path, {f"tests/../../..{outside}": ONE}, paths=("*.yaml",))
    assert len(read_package(package, tmp_path)) == 1
    assert not outside.exists()


def test_the_cache_is_the_users():
    assert cache_folder({"ART_CORPUS_CACHE": "/x"}) == Path("/x")
    assert cache_folder({"XDG_CACHE_HOME": "/y"}) == Path("/y/art-compliance/corpus")
    assert cache_folder({}).parts[-3:] == (".cache", "art-compliance", "corpus")


def test_an_error_in_the_list_of_packages_names_the_field(tmp_path: Path):
    path = tmp_path / "corpus.toml"
    path.write_text('[[package]]\nname = "a"\nversion = 1\n', encoding="utf-8")
    with pytest.raises(HarnessError, match=r"corpus\.toml: Expected `str`, got `int` - at `\$\[0\]\.version`"):
        load_packages(path)


def test_the_command_reports_what_it_cannot_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("ART_CORPUS_CACHE", str(tmp_path))
    monkeypatch.setattr(
        corpus, "load_packages", lambda: [one for one in load_packages() if one.name == "langchain-openai"]
    )
    result = CliRunner().invoke(app, ["corpus"])
    assert result.exit_code == 2
    assert "langchain-openai 1.7.4: pip is set to use no package index" in result.output
    assert "kept in" not in result.output
