from __future__ import annotations

import json
import random
import struct
import time
import zlib
from importlib import import_module

import pytest

from art_sdk.http.aws_event_stream import AwsEventStream
from art_sdk.http.framing import BadFrame, Frame
from art_sdk.http.size_limits import SizeLimits
from aws_messages import error, header, message, raw

EVENT = header(":event-type", b"e") + header(":message-type", b"event")
NUMBERS = b"".join(
    (
        header("true", b"", 0),
        header("false", b"", 1),
        header("byte", b"\x07", 2),
        header("short", b"\x00\x07", 3),
        header("integer", b"\x00" * 4, 4),
        header("long", b"\x00" * 8, 5),
        header("bytes", b"\xff\xfe", 6),
        header("time", b"\x00" * 8, 8),
        header("uuid", b"\x00" * 16, 9),
    )
)
WHOLE: dict[str, tuple[bytes, list[Frame]]] = {
    "nothing": (b"", []),
    "an event": (message("metadata", {"é": 1}), [Frame('{"é": 1}', "metadata")]),
    "an event without a payload": (raw(EVENT, b""), [Frame("", "e")]),
    "two events": (message("a", 1) + message("b", 2), [Frame("1", "a"), Frame("2", "b")]),
    "headers of every type": (raw(NUMBERS + EVENT, b"{}"), [Frame("{}", "e")]),
    "an exception": (
        message("throttlingException", {"message": "slow"}, "exception"),
        [Frame('{"message": "slow"}', "ThrottlingException", is_error=True)],
    ),
    "an error": (error("500", 'it "broke"'), [Frame('{"message":"it \\"broke\\""}', "500", is_error=True)]),
}


def bytewise(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


@pytest.mark.parametrize(("body", "frames"), WHOLE.values(), ids=WHOLE)
def test_frames_are_the_same_however_the_bytes_are_cut(body: bytes, frames: list[Frame]) -> None:
    dice = random.Random(7)
    cuts = sorted(dice.sample(range(len(body) + 1), min(3, len(body))))
    for chunks in ([body], bytewise(body), [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]):
        stream = AwsEventStream()
        assert [frame for chunk in chunks for frame in stream.feed(chunk)] == frames
        assert stream.close() == b""


def prelude(total: int, headers: int) -> bytes:
    begin = struct.pack("!II", total, headers)
    return begin + struct.pack("!I", zlib.crc32(begin))


GOOD = message("e", {"text": "hello"})
BROKEN: dict[str, tuple[bytes, str]] = {
    "a byte of the payload": (GOOD.replace(b"hello", b"hullo"), "the checksum of a message is wrong"),
    "a byte of the length": (b"\x01" + GOOD[1:], "the checksum of a message's prelude is wrong"),
    "text": (b"HTTP/1.1 200 OK\r\n\r\n", "the checksum of a message's prelude is wrong"),
    "less than a message": (prelude(15, 0), "a message of 15 bytes cannot have 0 bytes of headers"),
    "more headers than bytes": (prelude(100, 85), "a message of 100 bytes cannot have 85 bytes of headers"),
    "a payload beyond the format's limit": (prelude(2**25, 0), r"0 bytes of headers and 33554416 of payload; at most"),
    "headers beyond the format's limit": (prelude(2**20, 2**18), r"262144 bytes of headers and 786416 of payload"),
    "a header of an unknown type": (raw(header("h", b"", 10) + EVENT, b""), "the header 'h' has the unknown type 10"),
    "a header twice": (raw(EVENT + header(":event-type", b"f"), b""), "a message has the header ':event-type' twice"),
    "a header's value cut short": (raw(header("h", b"\x00", 5), b""), "the header 'h' is cut short"),
    "a header's name cut short": (raw(b"\x09short", b""), "the headers of a message are cut short"),
    "a header's name that is no text": (raw(b"\x01\xff\x00", b""), "a header's name is not UTF-8"),
    "a header's value that is no text": (raw(header("h", b"\xff"), b""), "a header's value is not UTF-8"),
    "no type": (raw(b"", b"{}"), "a message has the unknown type None; expected event, exception or error"),
    "an unknown type": (raw(header(":message-type", b"?"), b""), "a message has the unknown type '?'"),
    "no event's name": (raw(header(":message-type", b"event"), b""), "of the type event has no header :event-type"),
    "an event's name that is a number": (
        raw(header(":event-type", b"\x07", 2) + header(":message-type", b"event"), b""),
        "a message of the type event has no header :event-type",
    ),
    "a payload that is no text": (raw(EVENT, b'"\xff"'), "the payload is not UTF-8: invalid start byte at byte 1"),
}


@pytest.mark.parametrize(("body", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_message_is_one_clear_error_and_the_last_frame(body: bytes, reason: str) -> None:
    for chunks in ([GOOD + body + GOOD], bytewise(GOOD + body + GOOD)):
        stream = AwsEventStream()
        good, bad = [frame for chunk in chunks for frame in stream.feed(chunk)]
        assert good == Frame('{"text": "hello"}', "e")
        assert isinstance(bad, BadFrame)
        assert reason in bad.reason
        assert stream.feed(GOOD) == []
        assert stream.close() == b""


@pytest.mark.parametrize("cut", [1, 11, 12, 13, -1])
def test_the_start_of_a_message_is_left_over(cut: int) -> None:
    stream = AwsEventStream()
    assert len(stream.feed(GOOD + GOOD[:cut])) == 1
    assert stream.close() == GOOD[:cut]


def test_a_message_beyond_the_bound_is_refused_before_it_has_come() -> None:
    stream = AwsEventStream(SizeLimits(event=1000).of_event())
    [frame] = stream.feed(prelude(1001, 0))
    assert isinstance(frame, BadFrame)
    assert "'event'" in frame.reason
    assert (
        len(AwsEventStream(SizeLimits(event=1000).of_event()).feed(raw(EVENT, b" " * (1000 - len(raw(EVENT, b""))))))
        == 1
    )


@pytest.mark.unmeasured
def test_botocore_reads_the_same_three_times_slower() -> None:
    """5 MB of usual events, in pieces of 64 KB, in CPU time; the better of two runs each."""
    event_stream_buffer = import_module("botocore.eventstream").EventStreamBuffer
    dice = random.Random(7)
    texts = ["".join(dice.choices("abcdef é", k=12)) for _ in range(200)]
    event = [
        message("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}, "p": "abcdefghijklmnop"})
        for text in texts
    ]
    body = b"".join(event[at % len(event)] for at in range(5_000_000 // len(event[0])))
    pieces = [body[at : at + 65_536] for at in range(0, len(body), 65_536)]

    def ours() -> list[tuple[str, str]]:
        stream = AwsEventStream()
        frames = [frame for piece in pieces for frame in stream.feed(piece)]
        return [(frame.event, frame.data) for frame in frames if isinstance(frame, Frame)]

    def theirs() -> list[tuple[str, str]]:
        stream, found = event_stream_buffer(), []
        for piece in pieces:
            stream.add_data(piece)
            found += [(one.headers[":event-type"], one.payload.decode()) for one in stream]
        return found

    def seconds(read: object) -> float:
        before = time.process_time()
        read()  # type: ignore[operator]
        return time.process_time() - before

    assert ours() == theirs()
    assert json.loads(ours()[0][1])["delta"] == {"text": texts[0]}
    assert min(seconds(theirs) for _ in range(2)) > 3 * min(seconds(ours) for _ in range(2))
