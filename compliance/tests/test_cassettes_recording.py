"""Recording calls: what a cassette contains, and why there is none."""

from __future__ import annotations

import http.client
import io
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from art_compliance import HarnessError
from art_compliance.cassettes import load_cassette
from art_compliance.cassettes.recording import recording
from art_compliance.provider import StrictProvider
from art_compliance.provider.server import Response
from art_compliance.run.recorder import Order, choose, record
from art_compliance.subject.access import Access
from art_sdk import OpenAIAdapter
from made_cassettes import ADAPTERS, KEY, access, record_into, replayed


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_cassette_has_its_provenance_and_no_key(adapter: str, provider, tmp_path: Path):
    recorded = record_into(tmp_path, adapter, "one-question", source="provider", access=access(provider, adapter))
    (one,) = recorded
    assert one.path == tmp_path / adapter / "one-question.yaml"
    known = load_cassette(one.path).provenance
    assert known is not None
    assert (known.source, known.scenario, known.model) == ("provider", "one-question", "its-model")
    assert {"python", "vcrpy", "httpx2"} <= set(known.versions)
    raw = one.path.read_text(encoding="utf-8")
    assert KEY not in raw
    assert str(urlsplit(provider.url).port) not in raw
    assert any(KEY in str(request.headers) for request in provider.seen())


def test_a_cassette_names_the_clients_in_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for package in ("requests", "openai"):
        monkeypatch.delitem(sys.modules, package, raising=False)
    (one,) = record_into(tmp_path / "one", "openai", "one-question")
    assert not {"requests", "openai"} & set(load_cassette(one.path).provenance.versions)
    monkeypatch.setitem(sys.modules, "requests", ModuleType("requests"))
    monkeypatch.setattr("art_compliance.run.recorder.version", lambda name: f"{name}-1")
    (one,) = record_into(tmp_path / "two", "openai", "one-question")
    assert load_cassette(one.path).provenance.versions["requests"] == "requests-1"


def test_recording_the_same_again_leaves_the_file_as_it_was(provider, tmp_path: Path):
    first = record_into(tmp_path, "openai", "one-question", source="provider", access=access(provider))
    path = first[0].path
    today = load_cassette(path).provenance.date
    path.write_text(path.read_text(encoding="utf-8").replace(today, "2001-01-01"), encoding="utf-8")
    before = path.read_bytes()
    again = record_into(tmp_path, "openai", "one-question", source="provider", access=access(provider))
    assert (first[0].changed, again[0].changed) == (True, False)
    assert path.read_bytes() == before
    assert b"2001-01-01" in before


def test_a_cassette_with_another_model_is_replayed_with_that_model(provider, tmp_path: Path):
    record_into(tmp_path, "openai", "one-question", source="provider", access=access(provider))
    assert replayed(tmp_path, OpenAIAdapter, "one-question").failures == []


def test_a_key_that_is_a_common_word_stays_in_texts(provider, tmp_path: Path):
    at = Access(key="ollama", base_url=provider.url + "/v1", model="ollama-tiny")
    (one,) = record_into(tmp_path, "openai", "one-question", source="local engine", access=at, engine="e 1")
    assert load_cassette(one.path).provenance.model == "ollama-tiny"
    assert "authorization" not in one.path.read_text(encoding="utf-8").lower()
    assert replayed(tmp_path, OpenAIAdapter, "one-question").failures == []


def test_the_folder_is_not_named_after_the_address_of_a_server(provider, tmp_path: Path):
    order = Order(
        scenarios=choose(("one-question",)), into=tmp_path, source="local engine", access=access(provider), engine="e 1"
    )
    (one,) = record("openai-compatible", order)
    assert one.path == tmp_path / "openai-compatible" / "one-question.yaml"


def test_the_suites_own_answer_does_not_replace_a_real_one(provider, tmp_path: Path):
    (real,) = record_into(tmp_path, "openai", "one-question", source="provider", access=access(provider))
    before = real.path.read_bytes()
    (own,) = record_into(tmp_path, "openai", "one-question")
    assert own.why == "kept: answered by a real provider or engine"
    assert real.path.read_bytes() == before


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_an_error_answer_is_reported_and_not_kept(status: int, provider, tmp_path: Path):
    def refuse(asked: Any) -> Response:
        return Response(status, asked.dialect.answers.write_error(status, f"no good: {KEY}"))

    with provider.answering(refuse):
        (one,) = record_into(tmp_path, "openai", "one-question", source="provider", access=access(provider))
    assert one.path is None
    assert one.why == f"the provider answered {status}: no good: REDACTED"
    assert not list(tmp_path.rglob("*.yaml"))


def test_a_prompt_that_the_adapter_refuses_is_not_a_failure(tmp_path: Path):
    (one,) = record_into(tmp_path, "anthropic", "sampling")
    assert (one.is_refused, one.path) == (True, None)


class Unseen(OpenAIAdapter):
    """Speaks HTTP by itself."""

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        super().__init__(api_key=api_key, base_url=base_url, model=model)
        self._at = urlsplit(base_url or "http://127.0.0.1:9")

    def call(self, prompt: Any, options: Any) -> Any:
        with socket.create_connection((self._at.hostname, self._at.port)) as wire:
            wire.sendall(b"POST /v1/chat/completions HTTP/1.0\r\ncontent-length: 2\r\n\r\n{}")
            wire.recv(10)
        yield {"type": "END", "message": {"role": "assistant", "content": "x"}, "finish": "stop"}


def test_a_client_that_vcrpy_does_not_see_is_reported(provider, tmp_path: Path):
    order = Order(scenarios=choose(("one-question",)), into=tmp_path, source="provider", access=access(provider))
    (one,) = record(Unseen, order)
    assert one.path is None
    assert "vcrpy saw no request, although the call was answered: vcrpy " in one.why
    assert " sees httpx2, httpx, requests, urllib3, aiohttp" in one.why


class Unreachable(Unseen):
    """Crashes with a message that contains the key."""

    def call(self, prompt: Any, options: Any) -> Any:
        message = f"no route to {self._at.hostname} with {KEY}"
        raise OSError(message)


@pytest.mark.parametrize("make", [OpenAIAdapter, Unreachable])
def test_an_unreachable_provider_is_reported_with_the_reason_and_without_the_key(make: Any, tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    order = Order(
        scenarios=choose(("one-question",)), into=tmp_path, source="provider", access=Access(key=KEY, base_url=nobody)
    )
    (one,) = record(make, order)
    assert one.path is None
    assert one.why.startswith("there was no answer: ")
    assert ("no route to 127.0.0.1 with REDACTED" if make is Unreachable else "onnect") in one.why
    assert "is the provider at the adapter's URL?" in one.why
    assert KEY not in one.why


def test_an_answer_of_the_strict_provider_never_counts_as_real(tmp_path: Path):
    """`art serve` may be listening at the URL that is recorded from."""
    with StrictProvider("openai-chat") as strict:
        access = Access(key=KEY, base_url=strict.base_url)
        (one,) = record_into(tmp_path, "openai", "one-question", source="provider", access=access)
    assert one.changed
    assert "answered by the suite's own strict provider: the cassette says so" in one.why
    known = load_cassette(one.path).provenance
    assert known is not None
    assert known.source == "strict provider"
    assert "x-answered-by" not in one.path.read_text(encoding="utf-8")
    assert not replayed(tmp_path, OpenAIAdapter, "one-question").levels["replay"].is_applicable


def test_a_vcrpy_that_does_not_see_httpx2_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("art_compliance.cassettes.recording.version", lambda _: "8.1.1")
    with pytest.raises(HarnessError, match=r"vcrpy 8\.1\.1 does not see httpx2, so it would record nothing"):
        record_into(tmp_path, "openai", "one-question")


@pytest.mark.unmeasured
def test_requests_to_other_paths_are_not_kept(provider, tmp_path: Path):
    class Asks(OpenAIAdapter):
        async def call(self, prompt: Any, options: Any) -> Any:
            async with httpx2.AsyncClient(timeout=60) as client:
                await client.post(f"{provider.url}/oauth/token", content=b"client_secret=hush")
            async for event in super().call(prompt, options):
                yield event

    order = Order(scenarios=choose(("one-question",)), into=tmp_path, source="provider", access=access(provider))
    (one,) = record(Asks, order)
    assert len(load_cassette(one.path).exchanges) == 1


def pieces() -> Any:
    yield b"in "
    yield b"pieces"


SENT = {
    "nothing": (None, b""),
    "bytes": (b"as bytes", b"as bytes"),
    "text": ("as text", b"as text"),
    "a file": (io.BytesIO(b"from a file"), b"from a file"),
    "pieces": (pieces(), b"in pieces"),
}


@pytest.mark.parametrize("what", SENT)
def test_a_body_of_any_kind_is_recorded_byte_for_byte(what: str, provider):
    given, body = SENT[what]
    with recording() as calls:
        client = http.client.HTTPConnection(urlsplit(provider.url).netloc, timeout=10)
        client.request("POST", "/v1/chat/completions", given, {"content-length": str(len(body))})
        status = client.getresponse().status
        client.close()
    assert [(one.method, one.request_body, one.status) for one in calls] == [("POST", body, status)]
    assert provider.seen()[-1].body == body


def test_only_one_cassette_is_active_at_a_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("art_compliance.cassettes.recording.PATIENCE", 0.01)
    with recording(), pytest.raises(HarnessError, match="another cassette is active in this process"), recording():
        pytest.fail("two at a time")
    with recording() as calls:
        assert calls == []


def test_an_adapter_without_a_call_or_a_known_format_cannot_be_recorded(tmp_path: Path):
    class Silent:
        dialect = "openai-chat"

        def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
            del api_key, base_url, model

        def translate(self, prompt: Any, options: Any) -> Any:
            return {"model": "m", "messages": [prompt, options]}

    class Foreign(Unseen):
        dialect = None

    for make, message in ((Silent, "it has no call"), (Foreign, "its wire format is unknown, .* --dialect")):
        with pytest.raises(HarnessError, match=message):
            list(record(make, Order(scenarios=choose(("one-question",)), into=tmp_path)))


def test_a_file_that_cannot_be_read_is_replaced(tmp_path: Path):
    path = tmp_path / "openai" / "one-question.yaml"
    path.parent.mkdir()
    path.write_text("version: 1\n", encoding="utf-8")
    (one,) = record_into(tmp_path, "openai", "one-question")
    assert one.changed
    assert len(load_cassette(path).exchanges) == 1


def test_an_answer_that_the_adapter_cannot_read_is_kept_and_reported(provider, tmp_path: Path):
    with provider.answering(lambda _: Response(200, b'{"choices": []}')):
        (one,) = record_into(tmp_path, "openai", "one-question", source="provider", access=access(provider))
    assert one.changed
    assert one.why.startswith("the adapter did not read the answer: ")
    assert load_cassette(one.path).exchanges[0].answer_body == b'{"choices": []}'


def test_an_error_answer_in_an_unknown_format_is_reported(provider, tmp_path: Path):
    with provider.answering(lambda _: Response(502, b"<html>Bad gateway</html>", "text/html")):
        (one,) = record_into(tmp_path, "openai", "one-question", source="provider", access=access(provider))
    assert one.why == "the provider answered 502: <html>Bad gateway</html>"


def test_an_adapter_that_calls_another_path_is_reported(provider, tmp_path: Path):
    class OtherPath(OpenAIAdapter):
        def request(self, payload: Any, options: Any) -> Any:
            sent = super().request(payload, options)
            return type(sent)(sent.method, f"{provider.url}/v1/responses", sent.headers, sent.body)

    order = Order(scenarios=choose(("one-question",)), into=tmp_path, source="provider", access=access(provider))
    (one,) = record(OtherPath, order)
    assert one.path is None
    assert one.why == "it called /v1/responses, but requests of openai-chat go to a path like /v1/chat/completions"
