"""`art record` and `pytest --art-record`: the options, the key, and the exit codes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from art_compliance.cassettes import load_cassette
from art_compliance.commands import app
from art_compliance.dialects import DIALECTS
from art_compliance.provider.server import Response
from made_cassettes import KEY


def run(*arguments: str, env: dict[str, str] | None = None) -> Any:
    return CliRunner().invoke(app, ["record", *arguments], env=env)


ERRORS = {
    "no adapter": ((), "name an adapter"),
    "no key named": (
        ("openai",),
        "name the environment variable that holds it with --key-from, or use --from-strict-provider, which needs none",
    ),
    "no key there": (
        ("openai", "--key-from", "NO_SUCH_KEY"),
        "the environment variable NO_SUCH_KEY is not set",
    ),
    "no such scenario": (("openai", "--from-strict-provider", "--scenarios", "a,b"), "there is no scenario 'a', 'b'"),
    "no URL of an engine": (("openai", "--local-engine"), "give the URL of the local engine with --base-url"),
    "no name of an engine": (
        ("openai", "--local-engine", "--base-url", "http://127.0.0.1:1/v1"),
        "name the engine and its version with --engine",
    ),
    "two sources": (("openai", "--local-engine", "--from-strict-provider"), "use either"),
}


@pytest.mark.parametrize("what", ERRORS)
def test_a_record_command_that_cannot_work_explains_why(what: str):
    arguments, message = ERRORS[what]
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.unmeasured
def test_recording_with_a_key_writes_a_cassette(provider, tmp_path: Path):
    base = provider.url + DIALECTS["openai-chat"].service.base_path
    arguments = ("--key-from", "THE_KEY", "--base-url", base, "--into", str(tmp_path), "--scenarios", "one-question")
    result = run("openai", *arguments, env={"THE_KEY": KEY})
    assert result.exit_code == 0, result.output
    assert "openai: 1 written, 0 unchanged, 0 refused, 0 failed" in result.output
    assert KEY not in result.output
    assert load_cassette(tmp_path / "openai" / "one-question.yaml").provenance.source == "provider"


def test_recording_that_fails_exits_with_1(provider, tmp_path: Path):
    with provider.answering(lambda asked: Response(401, asked.dialect.answers.write_error(401, "no"))):
        result = run(
            "openai", "--key-from", "K", "--base-url", provider.url + "/v1", "--into", str(tmp_path),
            "--scenarios", "one-question", env={"K": KEY},
        )  # fmt: skip
    assert result.exit_code == 1
    assert "the provider answered 401: no" in result.output


def test_certify_live_without_a_key_is_an_error():
    result = CliRunner().invoke(app, ["certify", "openai", "--live"])
    assert result.exit_code == 2
    assert "a real provider needs a key" in result.output


THEIRS = """
from art_sdk import OpenAIAdapter

class MyAdapter(OpenAIAdapter):
    provider_name = "theirs"

"""


@pytest.mark.once
def test_pytest_records_with_a_key_and_replays_the_cassette(
    provider, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    pytester.makepyfile(theirs=THEIRS)
    monkeypatch.setenv("THE_KEY", KEY)
    plain = ("-q", "-p", "no:cacheprovider", "--art-adapter", "theirs:MyAdapter", "--art-scenario", "one-question")
    plain += ("--art-cassettes", "new/ones")
    run = partial(pytester.runpytest_inprocess, no_reraise_ctrlc=True)
    missing = run(*plain)
    assert "there is no cassette folder new/ones" in missing.stdout.str() + missing.stderr.str()
    lost = run(*plain, "--art-base-url", "http://127.0.0.1:9/v1")
    assert lost.ret == 2
    assert "--art-base-url needs --art-record" in lost.stdout.str() + lost.stderr.str()
    refused = run(*plain, "--art-record")
    assert refused.ret == 2
    assert "--art-record needs a key" in refused.stdout.str() + refused.stderr.str()
    asking = ("--art-key-from", "THE_KEY", "--art-base-url", provider.url + "/v1", "--art-model", "its-model")
    done = run(*plain, "--art-record", *asking)
    assert done.ret == 0, done.stdout.str()
    done.stdout.fnmatch_lines(["*replayed answers: 1 by provider*"])
    kept = load_cassette(pytester.path / "new" / "ones" / "theirs" / "one-question.yaml")
    assert kept.provenance is not None
    assert kept.provenance.model == "its-model"
    asked = len(provider.seen())
    assert run(*plain).ret == 0
    assert len(provider.seen()) == asked
