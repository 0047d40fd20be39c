"""Every fault does what it says, to the byte, and says how it is to be taken."""

from __future__ import annotations

import gzip
import json
import re
import socket
from typing import Any

import pytest

from art_compliance.dialects import DIALECTS, Dialect
from art_compliance.dialects.aws_events import is_messages, read_messages
from art_compliance.dialects.order import PASSED, read_events
from art_compliance.findings import HarnessError
from art_compliance.provider import Asked, Crawl, Drop, Hang, Request, Reset, Response, Send, Start
from art_compliance.provider.faults import (
    FAULTS,
    LONG,
    RETRY_AFTER,
    Fault,
    faults_at_events,
    find_fault,
    good_answer,
)
from art_compliance.provider.server import LoopbackServer
from art_compliance.scenarios import WrittenAnswer
from art_sdk import FunctionCall, ToolCall
from request_paths import PATHS
from row_tables import table

SAID = WrittenAnswer(
    content="I look twice. \u2713",
    tool_calls=(ToolCall("a", FunctionCall("look", '{"at": 1}')), ToolCall("b", FunctionCall("see", "{}"))),
    finish="tool_calls",
)


def asked(dialect: Dialect, *, stream: bool) -> Asked:
    target = PATHS[dialect.name]
    if stream and dialect.name == "gemini-generate":
        target = target.replace(":generate", ":streamGenerate") + "?alt=sse"
    if stream and dialect.name == "bedrock-converse":
        target += "-stream"
    return Asked(dialect, Request("POST", target, {}, b""), {"stream": stream})


def sent(response: Response) -> bytes:
    if response.steps is None:
        return response.body
    return b"".join(step.data for step in response.steps if isinstance(step, Send))


def made(fault: Fault, dialect: Dialect, *, stream: bool) -> Response:
    return fault.make(SAID, asked(dialect, stream=stream))


each = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
EVERY = [
    pytest.param(fault, dialect, kind == "streamed", id=f"{fault.id}-{dialect.name}-{kind}")
    for fault in FAULTS.values()
    for dialect in DIALECTS.values()
    for kind in sorted(fault.on)
    if fault.is_for(dialect)
]


def test_faults_differ_in_id_words_and_effect_and_a_name_finds_each():
    assert [find_fault(name) for name in FAULTS] == list(FAULTS.values())
    assert len({fault.words for fault in FAULTS.values()}) == len(FAULTS)
    dialects = [DIALECTS[name] for name in ("openai-chat", "bedrock-converse", "ollama-chat")]
    firsts = [(fault, next(filter(fault.is_for, dialects))) for fault in FAULTS.values()]
    responses = [repr(made(fault, dialect, stream="streamed" in fault.on)) for fault, dialect in firsts]
    assert len(set(responses)) == len(FAULTS)


def is_read_whole(fault: Fault, dialect: Dialect) -> bool:
    """Whether the spoiled stream ends in order with the events of the good one, as the suite reads event streams."""
    good, response = good_answer(SAID, asked(dialect, stream=True)), made(fault, dialect, stream=True)
    body, steps = sent(response), response.steps or ()
    if response.status != 200 or {Drop(), Reset(), Hang()} & set(steps) or fault.hangs:
        return False
    try:
        body = gzip.decompress(body) if ("content-encoding", "gzip") in response.headers else body
        return shown(body, dialect) == shown(good.body, dialect)
    except (EOFError, ValueError):
        return False


def shown(stream: bytes, dialect: Dialect) -> list[tuple[str | None, Any]]:
    """The events that mean something: names and data."""
    unknown = list(read_events(dialect.streams.unknown_event))
    events = [event for event in read_events(stream) if event not in unknown]
    return [(one.name, one.body or one.data) for one in events if dialect.streams.order.kind(one) != PASSED]


@pytest.mark.unmeasured
@each
def test_the_benign_faults_are_those_after_which_a_stream_reads_the_same(dialect: Dialect):
    streamed = [fault for fault in FAULTS.values() if "streamed" in fault.on and fault.is_for(dialect)]
    decided = [fault for fault in streamed if fault.expects != "either"]
    assert {fault.id for fault in decided if fault.is_benign} == {
        fault.id for fault in decided if is_read_whole(fault, dialect)
    }


@table(("fault", "dialect", "stream"), EVERY)
def test_a_fault_spoils_the_answer_or_is_benign(fault: Fault, dialect: Dialect, stream: Any):
    good, response = good_answer(SAID, asked(dialect, stream=stream)), made(fault, dialect, stream=stream)
    headers = dict(response.headers)
    body = sent(response)
    steps = response.steps or ()
    if fault.hangs:
        assert Hang() in steps or len(steps) > 10_000 or isinstance(steps[0], Crawl)
    elif fault.status:
        assert response.status == fault.status
    elif fault.is_benign:
        whole = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        assert len(whole) >= len(good.body.rstrip(b"\n")) - good.body.count(b"\r\n") - good.body.count(b": ")
        assert not {Drop(), Reset(), Hang()} & set(steps)
    else:
        differs = body != good.body or {Drop(), Reset()} & set(steps) or response.content_type != good.content_type
        assert differs


@table("status", [400, 401, 403, 404, 408, 413, 422, 429, 500, 503, 529])
@each
def test_a_status_comes_in_the_providers_own_form(dialect: Dialect, status: int):
    for stream in (True, False):
        response = made(FAULTS[f"status-{status}"], dialect, stream=stream)
        assert response.body == dialect.answers.write_error(status, f"written error {status}")
        named = dict(dialect.answers.error_headers(status, f"written error {status}"))
        assert dict(response.headers) == named | ({"retry-after": str(RETRY_AFTER)} if status == 429 else {})


@each
def test_bad_utf8_is_inside_a_text_and_half_a_gzip_cannot_be_unpacked(dialect: Dialect):
    for stream in (True, False):
        bad = sent(made(FAULTS["bad-utf8"], dialect, stream=stream))
        before = bad.partition(b"\xff\xfe")[0]
        assert SAID.content.encode().startswith(before.rpartition(b'"')[2])
        with pytest.raises(UnicodeDecodeError):
            bad.decode()
        with pytest.raises(EOFError):
            gzip.decompress(sent(made(FAULTS["truncated-gzip"], dialect, stream=stream)))


@each
def test_a_long_body_is_ten_million_bytes(dialect: Dialect):
    for name in ("long-page", "long-page-502", "long-body"):
        assert len(sent(made(FAULTS[name], dialect, stream=True))) >= LONG


@each
def test_the_events_of_broken_streams(dialect: Dialect):
    good = good_answer(SAID, asked(dialect, stream=True))
    known = {name: one for name, one in FAULTS.items() if "streamed" in one.on}
    faults = {name: one for name, one in known.items() if not one.hangs and one.is_for(dialect)}
    bodies = {name: sent(made(one, dialect, stream=True)) for name, one in faults.items()}
    assert bodies["missing-end"] == b"".join(good.events[:-1])
    assert bodies["double-end"] == good.body + good.events[-1]
    assert bodies["unknown-event"].replace(dialect.streams.unknown_event, b"") == good.body
    if FAULTS["byte-order-mark"].is_for(dialect):
        assert bodies["byte-order-mark"] == b"\xef\xbb\xbf" + good.body
        assert bodies["lines-end-with-crlf"].replace(b"\r\n", b"\n") == good.body.replace(b"\r\n", b"\n")
    if FAULTS["comments"].is_for(dialect):
        assert bodies["lines-end-with-cr"].replace(b"\r", b"\n") == good.body.replace(b"\r\n", b"\n")
        assert bodies["comments"].replace(b": keep-alive\n\n:\n", b"") == good.body + b": keep-alive\n\n"
        without_data = re.compile(rb"retry: 3000\n\nid: \d+\n\nevent: ping\n\n")
        assert without_data.subn(b"", bodies["events-without-data"]) == (good.body, len(good.events))
    begun, error, rest = bodies["error-in-stream"].partition(dialect.streams.write_error(503, "written error 503"))
    assert (good.body.startswith(begun), bool(error), rest) == (True, True, b"")


@each
def test_a_malformed_frame_has_half_of_its_data(dialect: Dialect):
    steps = made(FAULTS["malformed-frame"], dialect, stream=True).steps or ()
    broken = [step.data for step in steps if isinstance(step, Send) and not is_json(step.data)]
    assert len(broken) == 1
    assert broken[0].endswith(b"\n\n") or len(list(read_messages(broken[0]))) == 1


def data_of(line: bytes) -> bytes:
    return line[5:] if line.startswith(b"data:") else b""


def is_json(event: bytes) -> bool:
    event = b"".join(one.payload for one in read_messages(event)) if is_messages(event) else event
    data = event if event.startswith(b"{") else b"".join(map(data_of, event.splitlines()))
    try:
        json.loads(data)
    except ValueError:
        return data.strip() == b"[DONE]" or event.startswith(b":")
    return True


@each
def test_cuts_come_inside_each_event_and_after_each_but_the_last(dialect: Dialect):
    one = asked(dialect, stream=True)
    events = good_answer(SAID, one).events
    faults = {fault.id: fault for fault in faults_at_events(SAID, one)}
    count = len(events)
    assert len(faults) == 4 * count - 2
    for number in range(1, count):
        cut, end = (faults[f"{kind}-after-event-{number}"].make(SAID, one) for kind in ("cut", "end"))
        assert sent(cut) == sent(end) == b"".join(events[:number])
        assert (Drop() in (cut.steps or ()), Drop() in (end.steps or ())) == (True, False)
    inside = faults[f"cut-in-event-{count}"].make(SAID, one)
    assert b"".join(events[:-1]) < sent(inside) < b"".join(events)


def test_a_number_beyond_the_last_event_means_the_last():
    one = asked(DIALECTS["openai-chat"], stream=True)
    last = sent(find_fault("cut-in-event-999999").make(SAID, one))
    assert last == sent(find_fault(f"cut-in-event-{len(good_answer(SAID, one).events)}").make(SAID, one))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("status-418", r"unknown fault 'status-418'; did you mean 'status-4\d\d'\?"),
        ("cut-after-event", "did you mean 'cut-after-event-N'"),
        ("cut-after-event-0", "did you mean 'cut-after-event-N'"),
        ("zzz", "unknown fault 'zzz'; known: status-400, "),
    ],
)
def test_an_unknown_fault_fails_with_similar_or_known_ones(name: str, said: str):
    with pytest.raises(HarnessError, match=said):
        find_fault(name)


def test_a_fault_of_streams_fails_for_unstreamed_answers():
    with pytest.raises(HarnessError, match="the fault missing-end applies only to streamed answers"):
        made(FAULTS["missing-end"], DIALECTS["openai-chat"], stream=False)


@each
def test_a_cut_is_exact_on_the_wire(dialect: Dialect):
    one = asked(dialect, stream=True)
    events = good_answer(SAID, one).events
    for number in range(1, len(events)):
        response = find_fault(f"cut-after-event-{number}").make(SAID, one)
        with LoopbackServer(lambda _, response=response: response) as server:
            host, port = server.url.removeprefix("http://").split(":")
            with socket.create_connection((host, int(port)), timeout=60) as client:
                client.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
                got = b"".join(iter(lambda client=client: client.recv(65536), b""))
        body = got.partition(b"\r\n\r\n")[2]
        assert body == b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in events[:number])


def test_a_hang_after_the_head_sends_the_head():
    assert made(FAULTS["hang-after-head"], DIALECTS["openai-chat"], stream=True).steps == (Start(), Hang())
