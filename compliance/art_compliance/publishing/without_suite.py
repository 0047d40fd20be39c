"""How to see a failure without this suite: a few lines of Python around the adapter, and the request for curl."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pprint import pformat
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from art_compliance.dialects import DIALECTS, Dialect
from art_compliance.findings import Example, Finding, WireExchange
from art_compliance.run.exchanges import LONGEST
from art_compliance.run.report import ENDPOINT, Report
from art_compliance.run.results import Result
from art_compliance.subject.factories import is_command, place_of
from art_compliance.subject.gateways import is_gateway
from art_sdk.json_data import is_object

_NOT_ALONE: Final[Mapping[str, str]] = {
    "faults": "the provider misbehaves on purpose, at a time that the suite chooses",
    "load": "it takes many calls at once",
    "live": "it is about the real provider",
    "replay": "it compares with a recorded call, which is in the cassettes",
}
"""Stages whose failures a prompt and an answer do not show, and why."""


class Alone(NamedTuple):
    """A program that shows a failure: what it does, and its lines."""

    title: str
    lines: tuple[str, ...]


class Reproduction(NamedTuple):
    """The programs that show a failure; without any, `why_none` is a sentence."""

    programs: tuple[Alone, ...]
    why_none: str = ""


def without_suite(report: Report, result: Result, found: Finding, *, longest: int) -> Reproduction:
    """How to see what was found; `found` has an example or an exchange. No program is longer than `longest`."""
    stage = result.check.partition(".")[0]
    if stage in _NOT_ALONE:
        return Reproduction((), f"Only the suite can show this: {_NOT_ALONE[stage]}.")
    example, exchanges = _example_of(result), _exchanges_of(result)
    if example and len(repr((example.prompt, example.options))) > longest:
        return Reproduction((), _TOO_LONG)
    programs = [
        *_request(report, found, example, exchanges),
        *([] if example is None else _script(report, example, exchanges)),
    ]
    short = tuple(one for one in programs if sum(map(len, one.lines)) <= longest)
    if short:
        return Reproduction(short)
    if programs:
        return Reproduction((), _TOO_LONG)
    return Reproduction((), _why_none(report, exchanges))


_TOO_LONG: Final = "The prompt is too long for this page: repro/ and report.json have it."


def _example_of(result: Result) -> Example | None:
    return next((one.example for one in result.findings if one.example), None)


def _exchanges_of(result: Result) -> list[WireExchange]:
    return [one.exchange for one in result.findings if one.exchange]


def _why_none(report: Report, exchanges: Sequence[WireExchange]) -> str:
    if exchanges and not _can_answer(exchanges):
        return f"The answer is cut after {LONGEST:,} characters in report.json: only the suite has all of it."
    if is_gateway(report.rerun.adapter):
        return "The gateway is a program of its own: start it, and send it the prompt."
    if is_command(report.rerun.adapter):
        return "The adapter is a program in another language: give its bridge the prompt."
    return "The adapter has no name that could be imported: call it with the prompt."


def _request(report: Report, found: Finding, example: Example | None, exchanges: Sequence[WireExchange]) -> list[Alone]:
    """The request for the provider itself, or for the server that was examined: it shows what that says."""
    dialect = DIALECTS.get(report.adapter.dialect or "")
    sent = next((one for one in exchanges if len(one.body.encode()) == one.body_bytes), None)
    payload = example.payload if example else None
    is_server = report.adapter.kind == ENDPOINT
    if not (is_server or found.finding_class == "refused") or dialect is None or not (sent or is_object(payload)):
        return []
    body = sent.body if sent else json.dumps(payload)
    target = sent.url if sent else _target(dialect, payload, example)
    host = _host_of(report.adapter.title) if is_server else _host(dialect)
    address = shlex.quote(host + target) if host else f'"$BASE_URL"{shlex.quote(target)}'
    headers = [*(f'"{one}"' for one in _headers(dialect)), *map(shlex.quote, report.rerun.headers)]
    lines = [f"curl {address} \\", *(f"  -H {one} \\" for one in headers)]
    text = body.split("\n")  # not `splitlines`: a JSON text may contain U+2028 as it is
    end = next(word for word in _ENDS if word not in text)
    return [
        Alone(
            f"curl, to ask the {'server' if is_server else 'provider'}",
            (*lines, f"  --data-binary @- <<'{end}'", *text, end),
        )
    ]


def _host(dialect: Dialect) -> str:
    return f"https://{dialect.service.hosts[0]}" if dialect.service.hosts else ""


def _host_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


_ENDS: Final = ("JSON", *(f"JSON{number}" for number in range(LONGEST)))
"""Ends of the shell's here-document: a line of the body must not be one."""


def _target(dialect: Dialect, payload: Any, example: Example | None) -> str:
    """Path and query of the request; `MODEL` where nothing says which model it is."""
    asked = (example.options if example else {}).get("model") or payload.get("model") or "MODEL"
    return dialect.service.base_path + dialect.service.endings[0].replace("{model}", str(asked))


_KEYS: Final[Mapping[str, str]] = {
    "anthropic-messages": "x-api-key: $ANTHROPIC_API_KEY",
    "bedrock-converse": "authorization: Bearer $AWS_BEARER_TOKEN_BEDROCK",
    "gemini-generate": "x-goog-api-key: $GEMINI_API_KEY",
}
"""The header of the key, where it is none of `authorization: Bearer`."""


def _headers(dialect: Dialect) -> list[str]:
    access = dialect.service.access
    needed = [f"{name}: {access.known_values[name][0]}" for name in access.headers if name in access.known_values]
    return ["content-type: application/json", _KEYS.get(dialect.name, "authorization: Bearer $API_KEY"), *needed]


def _script(report: Report, example: Example, exchanges: Sequence[WireExchange]) -> list[Alone]:
    """A program that calls the adapter, and is its provider."""
    module, _, attribute = place_of(report.rerun.adapter).partition(":")
    known = module.replace(".", "").isidentifier() and attribute.replace(".", "").isidentifier()
    if not known or report.rerun.test is not None or not _can_answer(exchanges):
        return []
    first, *rest = attribute.split(".")
    is_mute = report.adapter.kind == "translate only"
    text = (_TRANSLATING if is_mute else _CALLING).format(
        name=f"{module}:{attribute}",
        module=module,
        first=first,
        make=".".join((first, *rest)),
        prompt=pformat(example.prompt, width=_WIDTH, sort_dicts=False),
        options=pformat(example.options, width=_WIDTH, sort_dicts=False),
        answers=pformat([_answer(one) for one in exchanges] or [_NO_ANSWER], width=_WIDTH),
        base_path=_base_path(report),
        model=repr(_model(report, example)),
        note=_IN_PIECES if any("event" in one.content_type for one in exchanges) else "",
    )
    return [Alone("Python, with the adapter and nothing else", tuple(text.splitlines()))]


_WIDTH: Final = 110
_NO_ANSWER: Final = (400, "application/json", '{"error": {"message": "this server has no other answer"}}')
_IN_PIECES: Final = "  # at once; the suite may have sent it in pieces"


def _answer(exchange: WireExchange) -> tuple[int, str, str]:
    return exchange.status or 500, exchange.content_type, exchange.answer


def _can_answer(exchanges: Sequence[WireExchange]) -> bool:
    """Whether the answers are whole: those that are cut end in an ellipsis."""
    return all(one.status is not None and len(one.answer) <= LONGEST for one in exchanges)


def _base_path(report: Report) -> str:
    dialect = DIALECTS.get(report.adapter.dialect or "")
    return dialect.service.base_path if dialect else ""


def _model(report: Report, example: Example) -> str | None:
    """The model that the suite makes the adapter with, if it has none of its own: the request has it then."""
    dialect = DIALECTS.get(report.adapter.dialect or "")
    sent = example.payload.get("model") if is_object(example.payload) else None
    return sent if dialect is not None and sent == dialect.answers.models.names[0] else None


_TRANSLATING: Final = '''\
"""What {name} makes of this prompt."""
import json

from {module} import {first}

PROMPT = {prompt}
OPTIONS = {options}

adapter = {make}(api_key="test-key", base_url="http://127.0.0.1:9{base_path}", model={model})
print(json.dumps(adapter.translate(PROMPT, OPTIONS), indent=2))
'''

_CALLING: Final = '''\
"""What {name} sends for this prompt, and what it makes of the answer."""
import asyncio
import inspect
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from {module} import {first}

PROMPT = {prompt}
OPTIONS = {options}
ANSWERS = {answers}


class Provider(BaseHTTPRequestHandler):
    def do_POST(self):
        print("SENT", self.path, self.rfile.read(int(self.headers["content-length"])).decode(), sep="\\n")
        status, kind, text = ANSWERS.pop(0) if len(ANSWERS) > 1 else ANSWERS[0]
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode()){note}

    def log_message(self, *_):
        pass


async def show(events):
    if inspect.isawaitable(events):
        events = await events
    async for event in events:
        print("GAVE", event)


server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{{server.server_port}}{base_path}"
adapter = {make}(api_key="test-key", base_url=url, model={model})
try:
    events = adapter.call(PROMPT, OPTIONS)
    if inspect.isawaitable(events) or hasattr(events, "__aiter__"):
        asyncio.run(show(events))
    else:
        print(*events, sep="\\n")
except Exception as error:
    print("RAISED", repr(error))
'''
