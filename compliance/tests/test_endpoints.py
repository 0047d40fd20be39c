"""Servers that are examined alone: the strict provider passes, and each wrong answer is found."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from threading import Barrier
from typing import Any, Final

import httpx2
import pytest
from typer.testing import CliRunner

from art_compliance.commands import app
from art_compliance.dialects import DIALECTS
from art_compliance.examining import asking
from art_compliance.examining.asking import Got, NoAnswer
from art_compliance.examining.examination import Examined, Server, Stopped, examine, requests_to
from art_compliance.findings import HarnessError
from art_compliance.provider import Asked, Drop, Hang, Request, Response, Send, StrictProvider, ask
from art_compliance.provider.server import LoopbackServer
from art_compliance.run.reading import read_every_report
from art_compliance.scenarios import Scenario, WrittenAnswer
from art_sdk import HttpRequest
from trials import suite_scenario

SCENARIOS: Final = tuple(map(suite_scenario, ("one-user", "everything-at-once", "extensions-go-back")))
DIALECT: Final = DIALECTS["openai-chat"]
Spoil = Callable[[Asked, Response], Response]


def ask_all(server: Server, scenarios: Sequence[Scenario], **limits: float) -> Iterator[Examined]:
    return examine(server, requests_to(server, scenarios), **limits)


@pytest.mark.parametrize("dialect", ["anthropic-messages", "gemini-generate"])
def test_the_strict_provider_passes_every_law(dialect: str):
    with StrictProvider(dialect) as provider:
        found = list(ask_all(Server(url=provider.base_url, speaks=dialect), SCENARIOS))
    assert [one for one in found if one.findings] == []
    kinds = {one.kind: one.status for one in found}
    assert {"whole": 200, "streamed": 200, "against a rule": 400}.items() <= kinds.items()
    assert len(found) > 20


def examined(spoil: Spoil) -> list[Examined]:
    """What is found at a server that answers every request with a text, made wrong by `spoil`."""

    def answer(request: Request) -> Response:
        asked = ask(DIALECT, request)
        return spoil(asked, asked.answer(WrittenAnswer(content="hello")))

    with LoopbackServer(answer) as server:
        return list(ask_all(Server(url=f"{server.url}/v1", speaks=DIALECT.name, seconds=0.5), SCENARIOS[:1]))


def whole(change: Callable[[Any], Any]) -> Spoil:
    """Changes whole answers."""
    return lambda asked, good: (
        good if asked.wants_stream else Response(200, json.dumps(change(json.loads(good.body))).encode())
    )


def streamed(change: Callable[[list[bytes]], list[bytes]]) -> Spoil:
    """Changes the events of streams."""

    def spoil(asked: Asked, good: Response) -> Response:
        if not asked.wants_stream:
            return good
        events = change(list(asked.events(WrittenAnswer(content="hello"))))
        return Response(200, content_type="text/event-stream", steps=tuple(map(Send, events)))

    return spoil


_LAWS: Final[dict[str, tuple[str, str, Spoil]]] = {
    "no choices": ("whole", "answer-is-of-its-format", whole(lambda body: {**body, "choices": []})),
    "an unknown finish": (
        "whole",
        "answer-is-of-its-format",
        whole(lambda body: {**body, "choices": [{**body["choices"][0], "finish_reason": "end_turn"}]}),
    ),
    "HTML": ("whole", "answer-is-of-its-format", lambda asked, good: Response(200, b"<p>hi</p>", "text/html")),
    "no end mark": ("streamed", "stream-is-of-its-format", streamed(lambda events: events[:-1])),
    "no event": ("streamed", "stream-is-of-its-format", streamed(lambda events: events[-1:])),
    "a whole answer for a stream": ("streamed", "stream-is-of-its-format", lambda asked, good: asked_whole(asked)),
    "anything goes": ("malformed", "bad-request-is-refused", lambda asked, good: good),
    "it fails": ("malformed", "bad-request-is-refused", lambda asked, good: Response(500, b"{}")),
    "a bare error": ("malformed", "error-is-of-its-format", lambda asked, good: Response(400, b'{"detail": "no"}')),
    "a refusal": ("whole", "good-request-is-answered", lambda asked, good: Response(404, b"{}")),
    "a refusal of a stream": ("streamed", "stream-request-is-answered", lambda asked, good: Response(404, b"{}")),
}


def asked_whole(asked: Asked) -> Response:
    return Response(200, DIALECT.answers.write(asked.named(WrittenAnswer(content="hello"))))


@pytest.mark.parametrize("fault", _LAWS)
def test_a_wrong_server_is_found_by_the_law_that_it_breaks(fault: str):
    kind, law, spoil = _LAWS[fault]
    own = [one for one in examined(spoil) if one.kind == kind]
    assert own
    for one in own:
        assert one.is_wrong
        assert {found.check for found in one.findings} == {f"endpoint.{law}"}


def test_a_refusal_where_providers_differ_is_a_note():
    """A temperature of 2 is too much for some of them."""
    refusal = Response(400, DIALECT.answers.write_error(400, "no"))
    with LoopbackServer(lambda _: refusal) as server:
        asked = [suite_scenario(name) for name in ("temperature-two", "one-user")]
        found = list(ask_all(Server(url=f"{server.url}/v1", speaks=DIALECT.name), asked))[:4]
    assert [(one.name, one.is_wrong) for one in found[::2]] == [("temperature-two", False), ("one-user", True)]
    assert all(one.findings for one in found)


def test_whole_and_streamed_requests_of_a_scenario_have_verdicts_of_their_own(tmp_path: Path):
    """A server that refuses every stream, in words of its own."""

    def answer(request: Request) -> Response:
        wants_stream = ask(DIALECT, request).wants_stream
        return Response(400, b'{"detail": "no streams"}') if wants_stream else never_streaming(request)

    with LoopbackServer(answer) as server:
        run(*options_for(server, tmp_path, "--scenario", "one-user", "--scenario", "temperature-two"))
    (report,) = read_every_report(tmp_path / "report.json")
    verdicts = {(one.check.removeprefix("endpoint."), one.scenario): one.verdict for one in report.results}
    assert verdicts == {
        ("good-request-is-answered", "one-user"): "pass",
        ("answer-is-of-its-format", "one-user"): "pass",
        ("stream-request-is-answered", "one-user"): "fail",
        ("good-request-is-answered", "temperature-two"): "pass",
        ("answer-is-of-its-format", "temperature-two"): "pass",
        ("stream-request-is-answered", "temperature-two"): "pass",
        ("stream-request-error-is-of-its-format", "temperature-two"): "fail",
    }


def test_what_the_provider_alone_refuses_is_a_note():
    own = [one for one in examined(lambda asked, good: good) if one.kind == "against a rule"]
    assert own
    assert not any(one.is_wrong for one in own)
    assert {found.severity for one in own for found in one.findings} == {"note"}


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (Response(200, steps=(Hang(),)), "it did not answer within 0.5 s"),
        (Response(200, steps=(Send(b"{"), Drop())), "it closed the connection after 1 bytes of its answer"),
    ],
)
def test_a_server_that_cannot_be_asked_is_one_sentence(response: Response, words: str):
    with LoopbackServer(lambda _: response) as server, pytest.raises(HarnessError, match=words):
        list(ask_all(Server(url=f"{server.url}/v1", speaks=DIALECT.name, seconds=0.5), SCENARIOS[:1]))


def run(*options: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["certify", *options])
    return result.exit_code, result.output


def never_streaming(request: Request) -> Response:
    """The answer of a server that cannot stream."""
    return asked_whole(ask(DIALECT, request))


def options_for(server: LoopbackServer, folder: Path, *more: str) -> list[str]:
    return ["--endpoint", f"{server.url}/v1", "--speaks", DIALECT.name, "--report", str(folder), *more]


def test_the_command_prints_what_is_wrong_and_writes_a_report_as_of_an_adapter(tmp_path: Path):
    with LoopbackServer(never_streaming) as server:
        code, shown = run(*options_for(server, tmp_path, "--scenario", "one-user"))
    assert code == 1
    assert "FAIL endpoint.stream-is-of-its-format" in shown
    assert "streamed: the content type is" in shown
    assert "whole              1 right     0 wrong" in shown
    assert "1 law broken, on 1 of 1 scenarios and rules" in shown
    lines = json.loads((tmp_path / "endpoint.json").read_text())
    assert [(one["name"], one["kind"], one["status"]) for one in lines] == [
        ("one-user", "whole", 200),
        ("one-user", "streamed", 200),
    ]
    (report,) = read_every_report(tmp_path / "report.json")
    assert (report.adapter.kind, report.is_certified, report.levels) == ("endpoint", False, {})
    verdicts = {one.check.removeprefix("endpoint."): one.verdict for one in report.results}
    assert verdicts == {
        "good-request-is-answered": "pass",
        "stream-request-is-answered": "pass",
        "answer-is-of-its-format": "pass",
        "stream-is-of-its-format": "fail",
    }
    (failure,) = report.failures
    exchange = failure.findings[0].exchange
    assert exchange is not None
    assert (exchange.url, exchange.headers["authorization"]) == ("/v1/chat/completions", "(hidden)")
    page = (tmp_path / "index.html").read_text()
    assert "endpoint.stream-is-of-its-format" in page
    assert "A stream has events" in page
    assert "curl, to ask the server" in page
    assert f"curl {server.url}/v1/chat/completions" in page


def failing_on_bad_json(request: Request) -> Response:
    return Response(500, b"{}") if request.body.endswith(b": ") else never_streaming(request)


def test_the_command_that_a_report_prints_asks_the_same_again(tmp_path: Path):
    with LoopbackServer(
        lambda request: Response(500, b"{}") if b'"model": ' in request.body else never_streaming(request)
    ) as server:
        run(*options_for(server, tmp_path, "--scenario", "one-user", "--header", "x-provider: one"))
        (report,) = read_every_report(tmp_path / "report.json")
        again = shlex.split(report.rerun.command("endpoint.bad-request-is-refused", "not-json"))
        assert again[-2:] == ["--scenario", "not-json"]
        assert "x-provider: one" in again
        assert "-H &#39;x-provider: one&#39;" in (tmp_path / "index.html").read_text()
        code, shown = run(*again[2:], "--report", str(tmp_path))
    assert (code, "malformed          0 right     1 wrong" in shown) == (1, True)


def test_a_baseline_has_the_failures_that_are_known_and_names_those_that_are_gone(tmp_path: Path):
    baseline = ("--baseline", str(tmp_path / "known.toml"))
    asked = ("--scenario", "one-user")
    with LoopbackServer(never_streaming) as server:
        assert run(*options_for(server, tmp_path, *asked, *baseline, "--baseline-write"))[0] == 0
        code, shown = run(*options_for(server, tmp_path, *asked, *baseline))
        assert (code, "no law is broken except known failures" in shown) == (0, True)
        assert run(*options_for(server, tmp_path, *asked, "--no-baseline"))[0] == 1
    with StrictProvider(DIALECT.name) as provider:
        code, shown = run("--endpoint", provider.base_url, "--speaks", DIALECT.name, *asked, *baseline)
    assert code == 1
    assert "endpoint.stream-is-of-its-format on one-user passes now; remove the entry" in shown


def test_a_server_that_hangs_is_given_up_after_three_requests():
    def answer(request: Request) -> Response:
        return Response(200, steps=(Hang(),)) if b'"stream":true' in request.body else never_streaming(request)

    with LoopbackServer(answer) as server:
        here = Server(url=f"{server.url}/v1", speaks=DIALECT.name, seconds=0.4)
        coming = ask_all(here, SCENARIOS * 2)
        found = list(islice(coming, 6))
        with pytest.raises(Stopped, match=r"3 requests had no answer within 0\.4 s"):
            next(coming)
    assert [one.kind for one in found if one.got is None] == ["streamed"] * 3
    assert found[-1].hung


def test_a_server_that_ends_is_given_up_after_three_requests():
    with LoopbackServer(never_streaming) as server:
        coming = ask_all(Server(url=f"{server.url}/v1", speaks=DIALECT.name), SCENARIOS)
        assert next(coming).status == 200
    found = list(islice(coming, 3))
    assert ["nothing listens there" in one.findings[0].message for one in found] == [True] * 3
    with pytest.raises(Stopped, match="the server is gone: nothing listens there"):
        next(coming)


def test_a_connection_that_was_kept_open_may_be_closed_before_the_next_request():
    """Such as llama-server's: the request is sent again, and a server that always closes is found."""

    def answers(every: int) -> Callable[[Request], Response]:
        came: list[Request] = []

        def answer(request: Request) -> Response:
            came.append(request)
            return Response(200, steps=(Drop(),)) if len(came) % every == 0 else never_streaming(request)

        return answer

    for every, words in ((3, None), (1, "it closed the connection")):
        with LoopbackServer(answers(every)) as server, httpx2.Client() as client:
            here = Server(url=f"{server.url}/v1", speaks=DIALECT.name, seconds=5)
            for one in requests_to(here, SCENARIOS[:1])[:4]:
                if words is None:
                    assert asking.ask(client, one.request, 5).status == 200
                else:
                    with pytest.raises(NoAnswer, match=words):
                        asking.ask(client, one.request, 5)


def test_the_time_limit_ends_an_examination(tmp_path: Path):
    with LoopbackServer(never_streaming) as server:
        code, shown = run(*options_for(server, tmp_path, "--scenario", "one-user", "--time-limit", "0"))
    assert code == 1
    assert "stopped: the time limit of 0 s passed after 1 of 2 requests" in shown


def test_requests_are_under_way_at_once_and_reported_in_their_order(monkeypatch: pytest.MonkeyPatch):
    together, begun = Barrier(2, timeout=5), list[str]()

    def ask_slowly(client: Any, request: HttpRequest, seconds: float) -> Got:
        begun.append(request.url)
        if len(begun) > 1:  # the first one is alone
            together.wait()
        return Got(500, "", b"")

    monkeypatch.setattr("art_compliance.examining.examination.ask", ask_slowly)
    here = Server(url="http://127.0.0.1:1/v1", speaks=DIALECT.name, at_once=2)
    every = requests_to(here, SCENARIOS)[:5]
    found = list(examine(here, every))
    assert [one.asked for one in found] == every
    assert all(one.status == 500 for one in found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--endpoint", "http://a/v1"), "--endpoint needs --speaks FORMAT"),
        (("--endpoint", "a", "--speaks", "openai-chat"), "give a URL such as"),
        (("--endpoint", "http://a", "--speaks", "openai-chat", "openai"), "leave out adapters"),
        (("--endpoint", "http://a", "--speaks", "openai-chat", "--provider-port", "1"), "leave out --provider-port"),
        (("--endpoint", "http://127.0.0.1:1/v1", "--speaks", "openai-chat"), "nothing listens there"),
        (("--endpoint", "http://a", "--speaks", "openai-chat", "--without", "sight"), "'sight' is not known"),
        (("--endpoint", "http://a", "--speaks", "openai-chat", "--header", "x"), "header: 'x' is not a header such as"),
        (("--endpoint", "http://a", "--speaks", "openai-chat", "--scenario", "one-usr"), "did you mean one-user?"),
        (("--endpoint", "http://a", "--speaks", "openai-chat", "--profile", "quick"), "leave out --profile"),
    ],
)
def test_a_wrong_option_is_one_sentence(options: tuple[str, ...], words: str):
    code, shown = run(*options)
    assert code == 2
    assert words in shown
