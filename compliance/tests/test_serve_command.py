"""`art serve`: what somebody sees who points a client at it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest
from typer.testing import CliRunner

from art_compliance.commands import app
from art_compliance.provider.faults import FAULTS
from art_compliance.provider.server import LoopbackServer

HEADERS = {"x-api-key": "any", "anthropic-version": "2023-06-01"}
GOOD = {"model": "claude-x", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}]}
TOOL = {
    "name": "look",
    "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
}


AT_A_TERMINAL = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells have background jobs ignore
from art_compliance.cli import main
main()
"""


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in its own process, and its greeting."""
    command = [sys.executable, "-c", AT_A_TERMINAL, "serve", *arguments]
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            greeting = os.read(process.stdout.fileno(), 65536).decode()  # written at once, and arrives so
            assert greeting, process.stderr.read() if process.stderr else ""
            yield process, greeting
        finally:
            process.kill()


@contextmanager
def served(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in its own process, and where it answers."""
    with started(*arguments) as (process, greeting):
        found = re.search(r"http://\S+?(?=;)", greeting)
        assert found, greeting
        yield process, found[0]


def stopped(process: subprocess.Popen[str], how: signal.Signals = signal.SIGINT) -> tuple[str, str]:
    process.send_signal(how)
    return process.communicate(timeout=60)


def test_sigterm_ends_it_as_ctrl_c_does():
    with served("openai-chat") as (process, _):
        assert stopped(process, signal.SIGTERM) == ("stopped\n", "")
    assert process.returncode == 0


@pytest.mark.once
def test_nothing_in_a_request_reaches_the_terminal_as_it_is():
    evil = "\x1b]0;owned\x07\x1b[2J\r\n\u202e\u2028"
    chat = {
        "model": "gpt-4.1",
        "messages": [{"role": "user", "content": "hi", evil: evil}],
        "tools": [{"type": "function", "function": {"name": evil, "parameters": {"type": "object"}}}],
        evil: [evil],
    }
    with served("openai-chat") as (process, url):
        headers = {"authorization": "Bearer any"}
        for body in (chat, chat | {"lone": "\ud800"}):
            sent = httpx2.post(f"{url}/chat/completions", content=json.dumps(body), headers=headers, timeout=60)
            assert sent.status_code == 400
        output, trouble = stopped(process)
    assert r"\x1b[2J" in output
    assert output.replace("\n", "").isprintable()
    assert trouble == ""


@pytest.mark.once
def test_of_many_findings_the_first_are_printed():
    wrong = GOOD | {f"key{number}": 1 for number in range(500)}
    with served("anthropic-messages") as (process, url):
        assert httpx2.post(f"{url}/messages", json=wrong, headers=HEADERS, timeout=60).status_code == 400
        output, _ = stopped(process)
    assert output.count("    reject  ") == 20
    assert "    ... and 81 more\n" in output


@pytest.mark.once
def test_a_reader_that_leaves_ends_it_without_a_traceback():
    with served("anthropic-messages") as (process, url):
        assert process.stdout is not None
        process.stdout.close()
        httpx2.post(f"{url}/messages", json=GOOD, headers=HEADERS, timeout=60)
        assert process.wait(60) == 2
        assert process.stderr is not None
        assert process.stderr.read() == "art: standard output is closed\n"


@pytest.mark.once
def test_each_request_is_printed_with_its_findings_and_its_answer():
    with served("--dialect", "anthropic-messages") as (process, url):
        wrong = GOOD | {"messages": [{"role": "user", "content": "hi", "nam": "x"}]}
        assert httpx2.post(f"{url}/messages", json=wrong, headers=HEADERS, timeout=60).status_code == 400
        assert (
            httpx2.post(f"{url}/messages", json=GOOD | {"tools": [TOOL]}, headers=HEADERS, timeout=60).status_code
            == 200
        )
        output, trouble = stopped(process)
    assert output.splitlines() == [
        f"POST /v1/messages  {len(json.dumps(wrong, separators=(',', ':')))} bytes",
        "    reject  /messages/0/nam",
        "            unknown field 'nam'; known fields: content, role",
        next(line for line in output.splitlines() if "wire.request-matches-the-schema; anthropic" in line),
        "    answered 400",
        f"POST /v1/messages  {len(json.dumps(GOOD | {'tools': [TOOL]}, separators=(',', ':')))} bytes",
        '    answered 200: look({"at":"written"}) (tool_calls)',
        "stopped",
    ]
    assert (process.returncode, trouble) == (0, "")


@pytest.mark.once
def test_a_request_that_is_refused_before_it_is_judged_is_printed_as_a_whole():
    with served("--dialect", "anthropic-messages") as (process, url):
        assert httpx2.get(f"{url}/messages", timeout=60).status_code == 405
        output, _ = stopped(process)
    assert output.splitlines()[:3] == [
        "GET /v1/messages  0 bytes",
        "    reject  (the request)",
        "            the method GET is not allowed; use POST",
    ]


def test_a_client_that_hangs_does_not_block_the_exit():
    with served("--dialect", "anthropic-messages", "--fault", "hang-after-head") as (process, url):
        with pytest.raises(httpx2.ReadTimeout):
            httpx2.post(f"{url}/messages", json=GOOD, headers=HEADERS, timeout=1.5)
        output, trouble = stopped(process)
    assert '    answered 200: "This answer' in output
    assert output.endswith(", fault: hang-after-head\nstopped\n")
    assert (process.returncode, trouble) == (0, "")


@pytest.mark.once
def test_every_dialect_is_served_by_default():
    with served() as (process, url):
        chat = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}
        headers = {"authorization": "Bearer any"}
        assert httpx2.post(f"{url}/v1/chat/completions", json=chat, headers=headers, timeout=60).status_code == 200
        assert (
            httpx2.post(f"{url}/v1/messages", json=GOOD | {"stream": True}, headers=HEADERS, timeout=60).status_code
            == 200
        )
        output, _ = stopped(process)
    assert (output.count("answered 200: "), output.count("answered 200 streamed: ")) == (1, 1)


@pytest.mark.once
@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (
            ("gemini-generate",),
            [
                "gemini-generate at http://127.0.0.1:PORT/v1beta; any key works; press Ctrl-C to stop",
                "    POST /v1beta/models/{model}:generateContent",
                "    POST /v1beta/models/{model}:streamGenerateContent",
                "    GET /v1beta/models",
            ],
        ),
        (
            ("--service", "azure"),
            [
                "openai-chat as azure at http://127.0.0.1:PORT/openai; any key works; press Ctrl-C to stop",
                "    POST /openai/deployments/{model}/chat/completions",
            ],
        ),
    ],
)
def test_the_greeting_has_the_paths_as_people_type_them(arguments: tuple[str, ...], lines: list[str]):
    with started(*arguments) as (_, greeting):
        assert re.sub(r"(?<=0\.1:)\d+", "PORT", greeting).splitlines() == lines


@pytest.mark.once
def test_the_greeting_of_every_dialect_says_which_path_is_whose():
    with started() as (_, greeting):
        assert "    POST /v1/chat/completions  openai-chat\n" in greeting
        assert "    POST /openai/deployments/{model}/chat/completions  openai-chat as azure\n" in greeting


def test_a_port_in_use_and_unknown_names_are_errors():
    with LoopbackServer(lambda _: pytest.fail("nobody asks")) as server:
        port = server.url.rsplit(":", 1)[1]
        taken = CliRunner().invoke(app, ["serve", "--port", port])
    assert taken.exit_code == 2
    assert f"art: cannot listen on 127.0.0.1:{port}: " in taken.output
    for arguments, said in (
        (["--dialect", "poems"], "unknown dialect 'poems'; known: "),
        (["gemini"], "unknown dialect 'gemini'; did you mean 'gemini-generate'?; known: "),
        (["mistrl-chat"], "unknown dialect 'mistrl-chat'; did you mean 'mistral-chat'?; known: "),
        (["--service", "azur"], "unknown service 'azur'; known: azure (openai-chat), "),
        (["mistral-chat", "--service", "azure"], "unknown service of mistral-chat 'azure'; known: none"),
        (["openai-chat", "--dialect", "mistral-chat"], "two dialects are named, openai-chat and mistral-chat"),
        (["--fault", "cut-after"], "unknown fault 'cut-after'; did you mean 'cut-after-event-N'?"),
        (["--answer", "poem"], "unknown answer 'poem'; known: asked, "),
    ):
        refused = CliRunner().invoke(app, ["serve", *arguments])
        assert refused.exit_code == 2
        assert f"art: {said}" in refused.output


def test_the_faults_are_listed():
    result = CliRunner().invoke(app, ["serve", "--faults"])
    assert result.exit_code == 0
    assert all(f"{fault.id}\n    {fault.words}\n" in result.output for fault in FAULTS.values())
