"""Gateways: what goes in at one end in one format is judged where it arrives in another, and what comes back, too."""

from __future__ import annotations

import asyncio
import runpy
import socket
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio.from_thread
import pytest
from typer.testing import CliRunner

from art_compliance.commands import app
from art_compliance.provider import Drop, Hang, Response, Send
from art_compliance.provider.server import LoopbackServer
from art_compliance.run.report import Report
from art_compliance.run.runner import certify, describe
from art_compliance.run.selection import Selection
from art_compliance.subject.gateways import PORT, Gateway
from art_compliance.subject.gateways.reading import read_gateway
from art_compliance.subject.observations import Refused
from art_compliance.subject.opening import open_subject
from art_sdk import AnthropicAdapter, ErrorEvent, PromptTranslationFailed, TokenEvent

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "gateway.py"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


async def delayed(events: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """The events of a gateway that loses what waits to be sent when the provider's connection breaks."""
    waiting: list[Any] = []
    async for event in events:
        if isinstance(event, TokenEvent):
            waiting.append(event)
            continue
        for one in () if isinstance(event, ErrorEvent) else waiting:
            yield one
        waiting = []
        yield event


@contextmanager
def gateway(
    change: Callable[[list[Any]], list[Any]] = list, answer: Callable[[Any], Any] | None = None
) -> Generator[str]:
    """The name of the example gateway, which sends on what `change` makes of messages, and `answer` of events."""
    port = free_port()
    adapter = AnthropicAdapter(api_key="any", base_url=f"http://127.0.0.1:{port}/v1")

    class Changing:
        def call(self, prompt: list[Any], options: Any) -> Any:
            events = adapter.call(change(prompt), options)
            return events if answer is None else answer(events)

    attend = partial(runpy.run_path(str(EXAMPLE))["attend"], Changing())

    async def serve() -> asyncio.Server:
        return await asyncio.start_server(attend, "127.0.0.1", 0, limit=2**26)

    with anyio.from_thread.start_blocking_portal() as portal:
        server = portal.call(serve)
        own = server.sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{own}/v1#speaks=openai-chat&to=anthropic-messages&provider-port={port}"
        finally:
            portal.call(server.close)
            portal.call(adapter.aclose)


def judged(name: str, *scenarios: str) -> Report:
    """The report on these scenarios."""
    return certify(name, selection=Selection(scenarios=scenarios), isolated=False, seed=1)


def test_a_gateway_over_a_reference_adapter_passes():
    with gateway() as name:
        report = judged(name, "long-persona", "everything-at-once")
    assert not report.is_red
    assert sum(one.verdict == "pass" for one in report.results) > 20


def test_a_gateway_that_drops_the_system_message_is_not_certified():
    with gateway(lambda messages: [one for one in messages if one["role"] != "system"]) as name:
        report = judged(name, "long-persona")
    (failed,) = report.failures
    assert (failed.check, report.is_certified) == ("translation.system-text-survives", False)
    assert failed.findings[0].message.startswith('the system turn is lost: "# Role')


def test_what_the_client_cannot_say_is_no_fault_of_the_gateway():
    """A name that chat completions do not accept, and a fifth stop sequence: Anthropic takes both."""
    with gateway() as name:
        report = judged(name, "name-with-blank", "five-stops", "late-system-hoisted")
    assert not report.is_red
    reasons = [one.reason for one in report.results if one.check == "translation.outcome-is-right"]
    assert reasons == ["its client cannot express this in openai-chat"] * 3


def test_a_gateway_s_status_is_a_refusal_and_its_client_s_format_is_in_the_report():
    def refuse(messages: list[Any]) -> list[Any]:
        raise PromptTranslationFailed("not today")

    with gateway(refuse) as name, open_subject(read_gateway(name), name=name) as subject:
        seen = subject.translate([{"role": "user", "content": "hello"}], {"thread_id": "t"})
        assert describe(subject).speaks == "openai-chat"
        assert subject.kind == "gateway"
    assert isinstance(seen, Refused)
    assert (seen.status, seen.message) == (400, "the gateway answered 400: not today")


_BODY: Final = b'{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": ['
_ANSWERS: Final = {
    "text/html": Response(200, b"<!doctype html><title>Welcome</title>", "text/html"),
    "answered 404: Not Found": Response(404, b"<title>Not Found</title>", "text/html"),
    "no choices": Response(200, b'{"type": "message", "content": [], "stop_reason": "end_turn"}'),
    "was cut off": Response(200, content_type="application/json", steps=(Send(_BODY), Drop())),
    "did not return within 0.5 s; it is the client of the gateway at {}/v1": Response(200, steps=(Hang(),)),
}


@pytest.mark.parametrize("words", _ANSWERS)
def test_what_is_no_gateway_is_one_sentence(words: str):
    with LoopbackServer(lambda _: _ANSWERS[words]) as server:
        name = f"{server.url}/v1#speaks=openai-chat&to=anthropic-messages&provider-port={free_port()}"
        report = certify(name, isolated=False, call_seconds=0.5)
    (found,) = (one for one in report.results if one.findings)
    assert found.verdict in ("harness error", "fail")
    assert words.format(server.url) in found.findings[0].message
    assert len(report.results) <= 3


def certify_command(*options: str) -> str:
    result = CliRunner().invoke(app, ["certify", *options])
    assert result.exit_code == 2
    return result.stderr.replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--speaks", "openai-chat"), "--speaks needs --gateway or --endpoint URL"),
        (("--to", "openai-chat"), "--to needs --gateway URL"),
        (("--gateway", "http://a/v1", "--to", "openai-chat"), "--gateway needs --speaks FORMAT"),
        (("--gateway", "a:4000", "--speaks", "openai-chat", "--to", "openai-chat"), "give a URL such as"),
        (("--gateway", "http://a", "--speaks", "chat", "--to", "openai-chat"), "unknown dialect 'chat'"),
        (("http://a#speaks=openai-chat&to=openai-chat", "--sensitivity"), "cannot do to a gateway"),
        (("http://a#speaks=openai-chat&to=openai-chat&port=4",), "it has no field 'port'"),
        (("http://a#speaks=openai-chat&to=openai-chat&provider-port=x",), "must be a port, 1 to 65535, not 'x'"),
        (("http://a#speaks=openai-chat&to=openai-chat&allow=joins",), "allow: 'joins' is not known"),
        (("http://127.0.0.1:1/v1#speaks=openai-chat&to=gemini-generate",), "8765/v1beta as the URL of its provider"),
    ],
)
def test_a_wrong_option_is_one_sentence(options: tuple[str, ...], words: str):
    assert words in certify_command(*options)


def test_a_gateway_s_name_says_all_of_it():
    asked = Gateway(
        url="https://box/v1",
        speaks="openai-chat",
        to="gemini-generate",
        port=PORT + 1,
        model="a model",
        key_from="KEY",
        allow=("call_ids", "joins_turns"),
        without=("images",),
    )
    assert read_gateway(str(asked)) == asked
    plain = Gateway(url="http://box", speaks="openai-chat", to="openai-chat")
    assert str(plain) == "http://box#speaks=openai-chat&to=openai-chat"
    assert read_gateway(str(plain)) == plain


def test_a_gateway_may_lose_what_waits_when_the_providers_connection_breaks():
    selection = Selection(checks=("stream.cut-short-is-an-error",), scenarios=("answer-text",))
    with gateway(answer=delayed) as name:
        report = certify(name, selection=selection, seed=1, isolated=False)
    assert {one.check: one.verdict for one in report.results}["stream.cut-short-is-an-error"] == "pass"
