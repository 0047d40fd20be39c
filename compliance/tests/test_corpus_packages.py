"""The judges' exam by traffic that others recorded and publish: what a provider took is not refused here.

Every request that was answered with 200 passes schema and rules, decodes, and is rebuilt by our adapter to one
that means the same. Each exception falls under one of the reasons below, which say why, or is a failure.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import socket
import subprocess
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from typer.testing import CliRunner

from art_compliance import HarnessError, judge
from art_compliance.cassettes import BadCassette, corpus
from art_compliance.cassettes.bodies import stream_items
from art_compliance.cassettes.corpus import (
    Found,
    Package,
    Unreachable,
    cache_folder,
    fetch,
    load_packages,
    read_package,
)
from art_compliance.commands import app
from art_compliance.comparison import Expected, compare
from art_compliance.judging.rulebook import judge_rules
from art_compliance.judging.wire import judge_answer, load_schema
from art_compliance.judging.wire.allowances import load_rows
from art_sdk import PromptTranslationFailed, parse_prompt
from art_sdk.messages import dump_prompt
from recorded_traffic import DECLARED_REPAIRS, NO_SLOT, Recorded, accepted_elsewhere, decoded_of, rebuild

pytestmark = pytest.mark.once  # recorded traffic says the same to every Python

ACCEPTED = {
    "langchain-anthropic": 65,
    "langchain-openai": 5,
    "opentelemetry-instrumentation-anthropic": 81,
    "opentelemetry-instrumentation-google-genai": 11,
    "opentelemetry-instrumentation-groq": 39,
    "opentelemetry-instrumentation-mistralai": 13,
    "opentelemetry-instrumentation-ollama": 0,
    "opentelemetry-instrumentation-openai": 315,
    "opentelemetry-instrumentation-openai-v2": 37,
}
"""How many calls of a dialect of ours were answered with 200. Ollama's own API is none of them yet."""

OWN_DIALECTS = {"api.deepseek.com": "deepseek-chat", "api.mistral.ai": "mistral-chat"}

TOOLS_OF_THE_PROVIDER = "tools that the provider runs itself"
OF_OLD = "functions, which tools came in the place of"
BETA = "a beta's"

OPAQUE = {
    r"/(n|seed|stream_options|service_tier|reasoning_effort)": NO_SLOT,
    r"/(thinking|container|context_management|mcp_servers|output_format)": BETA,
    r"/(functions|function_call)": OF_OLD,
    r"/messages/\d+/annotations": NO_SLOT,
    r"/response_format(/json_schema/(name|description|strict))?": NO_SLOT,
    r"/(system|tools|messages/\d+/content)/\d+/cache_control": NO_SLOT,
    r"/messages/\d+/content/\d+/content/\d+/(title|source|citations|content|type)": TOOLS_OF_THE_PROVIDER,
    r"/messages/\d+/content/\d+/(citations|caller|source|type|tool)": TOOLS_OF_THE_PROVIDER,
    r"/tools/\d+/(type|name|max_uses|allowed_callers|citations|mcp_server_name)": TOOLS_OF_THE_PROVIDER,
    r"/tools/\d+/(allowed_domains|blocked_domains|max_content_tokens|defer_loading|strict)": TOOLS_OF_THE_PROVIDER,
    r"/tools/\d+/codeExecution": TOOLS_OF_THE_PROVIDER,
    r"/generationConfig/thinkingConfig": NO_SLOT,
}
"""What a recorded request holds beyond the standard format, by JSON pointer. Nothing else may be opaque."""

REFUSALS = {
    "a block has the invalid place": "texts between the provider's own blocks: a message has one text",
}
"""Why our adapter may refuse what a provider took."""


def test_every_package_holds_what_it_held(packaged: tuple[Found, ...]):
    name = packaged[0].package
    files = {found.file for found in packaged}
    assert len(files) == next(package.holds for package in load_packages() if package.name == name)
    assert len(list(accepted_elsewhere(packaged))) == ACCEPTED[name]


def test_a_request_that_was_accepted_is_not_refused_here(packaged: tuple[Found, ...]):
    refused = [
        (one.name, finding.pointer, finding.message)
        for one in accepted_elsewhere(packaged)
        for finding in judge(one.dialect, one.request, url=one.url)
        if finding.severity == "reject"
    ]
    assert refused == []


def test_nor_is_it_by_the_rules_of_the_providers_own_dialect(packaged: tuple[Found, ...]):
    refused = [
        (one.name, finding.pointer, finding.message)
        for one in accepted_elsewhere(packaged)
        for host, dialect in OWN_DIALECTS.items()
        if one.url and host in one.url
        for finding in judge_rules(dialect, one.request, url=one.url)
        if finding.severity == "reject"
    ]
    assert refused == []


def test_an_accepted_request_decodes_to_a_valid_prompt_and_what_has_no_slot_is_known(packaged: tuple[Found, ...]):
    unexplained: Counter[str] = Counter()
    for one in accepted_elsewhere(packaged):
        decoded = decoded_of(one)
        assert decoded.prompt, one.name
        assert parse_prompt(dump_prompt(decoded.prompt)) == decoded.prompt, one.name
        unexplained.update(
            pointer for pointer in decoded.opaque if not any(re.fullmatch(known, pointer) for known in OPAQUE)
        )
    assert unexplained == {}


def differences(one: Recorded) -> list[str]:
    """What our adapter's request of the decoding says otherwise, in words."""
    try:
        compared = rebuild(one).compared
    except PromptTranslationFailed as error:
        return [] if any(reason in error.message for reason in REFUSALS) else [f"refused: {error.message}"]
    odd = compared.repairs - DECLARED_REPAIRS[one.dialect]
    return [difference.message for difference in compared.differences] + [f"repair: {name}" for name in odd]


def test_an_accepted_request_is_rebuilt_to_one_that_means_the_same(packaged: tuple[Found, ...]):
    assert {one.name: found for one in accepted_elsewhere(packaged) if (found := differences(one))} == {}


def test_a_decoding_without_its_last_message_is_not_taken_for_the_same(packaged: tuple[Found, ...]):
    for one in accepted_elsewhere(packaged):
        decoded = decoded_of(one)
        if len(decoded.prompt) < 2:
            continue
        whole = Expected(dialect=one.dialect, prompt=decoded.prompt, tools=decoded.tools, options={})
        shorter = type(decoded)(prompt=decoded.prompt[:-1], tools=decoded.tools)
        assert compare(whole, shorter).differences, one.name


# The answers. Those that come whole are read in test_corpus_answers.py.


def items_of(one: Recorded) -> tuple[str, list[Any]]:
    """The schema's name, and the answer, or the items of its stream."""
    whole = one.data
    if whole is not None:
        return f"{one.dialect}.answer", [whole]
    return f"{one.dialect}.stream", list(stream_items(one.answer))


def test_a_recorded_answer_matches_its_schema(packaged: tuple[Found, ...]):
    unexplained: list[tuple[str, str, str]] = []
    for one in accepted_elsewhere(packaged):
        name, items = items_of(one)
        assert items, one.name
        faults = [fault for item in items for fault in judge_answer(name, item, url=one.url)]
        unexplained += [(one.name, fault.pointer, fault.message) for fault in faults]
    assert unexplained == []


def test_what_an_answer_may_hold_beyond_its_schema_was_recorded_where_the_evidence_says(packaged: tuple[Found, ...]):
    package = packaged[0].package
    rows = [row for row in load_rows().answered if f": {package} " in row.evidence]
    answers = list(map(items_of, accepted_elsewhere(packaged))) if rows else []
    faults = [
        (name, fault) for name, items in answers for item in items for fault in load_schema(name).mismatches(item)
    ]
    held = [{name for name, fault in faults if name in row.schemas and row.covers(fault)} for row in rows]
    assert held == [set(row.schemas) for row in rows]


# The corpus itself.


def sdist(folder: Path, files: dict[str, bytes], **changed: Any) -> Package:
    """A package that is in the cache already."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"p-1/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    digest = hashlib.sha256(raw.getvalue()).hexdigest()
    fields = {"sha256": digest, "paths": ("tests/*.yaml*",), "holds": 1, "licence": "MIT", **changed}
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


MISSING = Package(name="no-such-package-of-ours", version="1", sha256="1" * 64, licence="MIT", paths=(), holds=0)


def replace_pip(
    monkeypatch: pytest.MonkeyPatch, download: Callable[[Path], None] | None = None, *, stderr: str = "", code: int = 0
) -> None:
    """Runs `download` with the folder that pip would download into."""

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        if download is not None:
            download(Path(command[command.index("--dest") + 1]))
        return subprocess.CompletedProcess(command, code, "", stderr)

    monkeypatch.setattr(subprocess, "run", run)


def test_cassettes_of_both_formats_are_read_from_the_distribution(tmp_path: Path):
    files = {"tests/a.yaml": ONE, "tests/b.yaml.gz": gzip.compress(TWO_LISTS), "docs/c.yaml": b"no: cassette"}
    package = sdist(tmp_path, files)
    assert [found.file for found in read_package(package, tmp_path)] == ["tests/a.yaml", "tests/b.yaml.gz"]


def test_made_up_cassettes_are_left_out(tmp_path: Path):
    package = sdist(tmp_path, {"tests/a.yaml": b"# made by hand" + ONE, "tests/b.yaml": ONE}, made_up="made by hand")
    assert [found.file for found in read_package(package, tmp_path)] == ["tests/b.yaml"]


def test_a_distribution_with_another_digest_is_removed(tmp_path: Path):
    package = sdist(tmp_path, {"tests/a.yaml": ONE}, sha256="0" * 64)
    with pytest.raises(HarnessError, match=r"the file's sha256 is .*, not the pinned 0000"):
        fetch(package, tmp_path)
    assert not list(tmp_path.rglob("*.tar.gz"))


def test_a_missing_distribution_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(Unreachable, match=r"no-such-package-of-ours 1: pip download exited with 1: ERROR: No matching"):
        fetch(MISSING, tmp_path)


def test_an_unreachable_index_is_reported_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/simple"
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", nobody)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(Unreachable, match=r"-of-ours 1: the package index cannot be reached: .*Connection refused"):
        fetch(MISSING, tmp_path)


@pytest.mark.parametrize(
    "reason",
    [
        "by 'NewConnectionError('<pip.HTTPConnection object at 0x7f>: Failed: [Errno 111] Refused')': /simple/x/",
        "by 'NewConnectionError(\"HTTPConnection(host='::1', port=9): Failed: [Errno 111] Refused\")': /simple/x/",
        "by 'Failed: [Errno 111] Refused': /simple/x/",
    ],
)
def test_the_reason_is_shown_without_the_objects_around_it(
    reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    warning = f"WARNING: Retrying (Retry(total=0)) after connection broken {reason}\nERROR: No matching distribution"
    replace_pip(monkeypatch, stderr=warning, code=1)
    expected = "no-such-package-of-ours 1: the package index cannot be reached: Failed: [Errno 111] Refused"
    with pytest.raises(Unreachable, match=f"^{re.escape(expected)}$"):
        fetch(MISSING, tmp_path)


def test_a_download_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(corpus, "TIMEOUT", 0.01)
    with pytest.raises(Unreachable, match="pip did not finish: TimeoutExpired"):
        fetch(MISSING, tmp_path)


def test_a_download_without_a_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    replace_pip(monkeypatch)
    with pytest.raises(Unreachable, match="pip download left no file in "):
        fetch(MISSING, tmp_path)
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


def test_a_second_download_waits_for_the_first_and_ignores_an_abandoned_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    package = sdist(tmp_path, {"tests/a.yaml": ONE})
    kept_at = tmp_path / package.sha256[:16]
    whole = (kept_at / "p-1.tar.gz").rename(tmp_path / "whole")
    lock = kept_at / "downloading"
    drafts: list[Path] = []

    def download(draft: Path) -> None:
        drafts.append(draft)
        (draft / "p-1.tar.gz").write_bytes(whole.read_bytes())

    def first_is_done(_: float) -> None:
        (kept_at / "p-1.tar.gz").write_bytes(whole.read_bytes())
        lock.unlink()

    replace_pip(monkeypatch, download)
    monkeypatch.setattr(corpus.time, "sleep", first_is_done)
    lock.touch()
    assert fetch(package, tmp_path) == kept_at / "p-1.tar.gz"
    assert drafts == []
    (kept_at / "p-1.tar.gz").unlink()
    lock.touch()
    os.utime(lock, (0, 0))
    assert fetch(package, tmp_path) == kept_at / "p-1.tar.gz"
    assert len(drafts) == 1
    assert [path.name for path in kept_at.iterdir()] == ["p-1.tar.gz"]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"interactions: [", "invalid YAML"), (b"\x1f\x8bxx", "gzip data is cut off or damaged")],
)
def test_a_broken_file_in_a_distribution_is_named(content: bytes, message: str, tmp_path: Path):
    package = sdist(tmp_path, {"tests/a.yaml": content})
    with pytest.raises(BadCassette, match=message):
        read_package(package, tmp_path)


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
    result = CliRunner().invoke(app, ["corpus"])
    assert result.exit_code == 2
    assert "langchain-openai 1.7.4: pip download exited with" in result.output
    assert "kept in" not in result.output
