from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk.http.framing import BadFrame, Frame, JsonLines, ServerSentEvents
from art_sdk.http.size_limits import SizeLimits
from row_tables import table

pytestmark = pytest.mark.unmeasured  # other tests run the same lines


def read(chunks: Iterator[bytes] | list[bytes]) -> tuple[list[Frame | BadFrame], bytes]:
    framer = ServerSentEvents()
    return [frame for chunk in chunks for frame in framer.feed(chunk)], framer.close()


def bytewise(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


BOM = b"\xef\xbb\xbf"
EVENTS: dict[str, tuple[bytes, list[Frame], bytes]] = {
    "nothing": (b"", [], b""),
    "one line": (b"data: a\n\n", [Frame("a")], b""),
    "no space after the colon": (b"data:a\n\n", [Frame("a")], b""),
    "one space is dropped, and no more": (b"data:  a \n\n", [Frame(" a ")], b""),
    "several lines": (b"data: a\ndata: b\ndata\n\n", [Frame("a\nb\n")], b""),
    "data without a value is data": (b"data\n\n", [Frame("")], b""),
    "data that is empty is data": (b"data:\n\ndata: \n\n", [Frame(""), Frame("")], b""),
    "blank lines alone": (b"\n\n\r\n\r\n", [], b""),
    "a type": (b"event: ping\ndata: {}\n\n", [Frame("{}", "ping")], b""),
    "the last type counts": (b"event: a\nevent: b\ndata: {}\n\n", [Frame("{}", "b")], b""),
    "an empty type is the default": (b"event:\ndata: x\n\n", [Frame("x")], b""),
    "a type lasts for one event": (b"event: a\ndata: 1\n\ndata: 2\n\n", [Frame("1", "a"), Frame("2")], b""),
    "a type without data is dropped": (b"event: a\n\ndata: 2\n\n", [Frame("2")], b""),
    "comments": (b": hello\n\n:\ndata: a\n: b\n\n", [Frame("a")], b""),
    "unknown fields": (b"id: 7\nretry: 10\nfoo: bar\nDATA: x\ndata : y\ndata: a\n\n", [Frame("a")], b""),
    "a colon in the value": (b"data: a:b: c\n\n", [Frame("a:b: c")], b""),
    "carriage returns": (b"data: a\r\rdata: b\r\r", [Frame("a"), Frame("b")], b""),
    "both": (b"data: a\r\n\r\ndata: b\r\n\r\n", [Frame("a"), Frame("b")], b""),
    "all three in one": (b"data: a\rdata: b\ndata: c\r\n\n", [Frame("a\nb\nc")], b""),
    "a line feed, then a carriage return": (b"data: a\n\rdata: b\n\r", [Frame("a"), Frame("b")], b""),
    "a BOM before the first line": (BOM + b"data: a\n\n", [Frame("a")], b""),
    "a BOM later is no BOM": (b"data: a\n\n" + BOM + b"data: b\n\ndata: c\n\n", [Frame("a"), Frame("c")], b""),
    "two BOMs": (BOM + BOM + b"data: a\n\n", [], b""),
    "a BOM alone": (BOM, [], BOM),
    "without the blank line": (b"data: a\n\ndata: b\n", [Frame("a")], b"b\n"),
    "without the end of the line": (b"data: a\n\ndata: b", [Frame("a")], b"data: b"),
    "cut between two lines of data": (b"data: a\ndata: b", [], b"a\ndata: b"),
    "separators that are none": (
        "data: a\x0b\x0c\x1c\x85\u2028b\n\n".encode(),
        [Frame("a\x0b\x0c\x1c\x85\u2028b")],
        b"",
    ),
    "a null byte": (b"data: a\x00b\n\n", [Frame("a\x00b")], b""),
    "beyond the basic plane": ("data: \U0001f600\u00e9\n\n".encode(), [Frame("\U0001f600\u00e9")], b""),
}
CUTS: dict[str, Callable[[bytes], list[bytes]]] = {
    "whole": lambda body: [body],
    "byte by byte": bytewise,
    "with empty chunks": lambda body: [piece for byte in bytewise(body) for piece in (b"", byte)],
    "in threes": lambda body: [body[at : at + 3] for at in range(0, len(body), 3)],
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@table(("body", "frames", "rest"), EVENTS.values(), ids=EVENTS)
def test_bytes_become_frames(body: bytes, frames: list[Frame], rest: bytes, cut: Callable) -> None:
    assert read(cut(body)) == (frames, rest)


PIECES = [
    b"data: a",
    b"data:",
    b"event: e",
    b": c",
    b"\r",
    b"\n",
    b"\r\n",
    b"\n\n",
    BOM,
    "é\U0001f600".encode(),
    b"\xff",
]


@given(pieces=st.lists(st.sampled_from(PIECES)), sizes=st.lists(st.integers(1, 9), min_size=1))
def test_however_the_bytes_are_cut_the_frames_are_the_same(pieces: list[bytes], sizes: list[int]) -> None:
    body = b"".join(pieces)
    whole = read([body])
    chunks: list[bytes] = []
    for size in itertools.cycle(sizes):
        if not body:
            break
        chunks.append(body[:size])
        body = body[size:]
    assert read(chunks) == whole


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_bytes_that_are_not_utf8_make_a_bad_frame_and_the_next_is_read(cut: Callable) -> None:
    body = b"data: a\xffb\n\ndata: ok\n\nevent: \xc3\ndata: x\n\n: \xff\nid: \xff\ndata: too\n\n"
    first, good, second, too = read(cut(body))[0]
    assert (good, too) == (Frame("ok"), Frame("too"))
    assert (first, second.data) == (BadFrame(b"a\xffb", "the bytes are not UTF-8: invalid start byte at byte 1"), b"x")


LENGTH = 5_000_000


def test_a_line_of_five_megabytes_is_read_in_no_time_in_any_chunks() -> None:
    body = b"data: " + b"x" * LENGTH + b"\n\n"
    for size in (len(body), 65_536, 1_000):
        began = time.process_time()
        [frame], rest = read([body[at : at + size] for at in range(0, len(body), size)])
        assert (len(frame.data), rest) == (LENGTH, b"")
        assert time.process_time() - began < 5  # a copy per chunk would take minutes


@pytest.mark.parametrize("line", [b"data: " + b"x" * 100 + b"\n", b"data: x"], ids=["many lines", "one line"])
def test_twice_the_bytes_one_by_one_take_about_twice_the_time(line: bytes) -> None:
    def seconds(times: int) -> float:
        chunks = bytewise(line + b"x" * times if not line.endswith(b"\n") else line * (times // len(line)))
        began = time.process_time()
        read(chunks)
        return time.process_time() - began

    short = min(seconds(50_000) for _ in range(3))
    assert min(seconds(400_000) for _ in range(2)) < short * 24  # 8 where it is linear, 64 where it is quadratic


LINES: dict[str, tuple[bytes, list[Frame], bytes]] = {
    "nothing": (b"", [], b""),
    "lines": (b'{"a":1}\n{"b":2}\n', [Frame('{"a":1}'), Frame('{"b":2}')], b""),
    "blank lines": (b"\n \r\n\t\n{}\n\n", [Frame("{}")], b""),
    "other line ends": (b"{}\r\n[]\r1\n", [Frame("{}"), Frame("[]"), Frame("1")], b""),
    "a BOM before the first line": (BOM + b"{}\n", [Frame("{}")], b""),
    "a whole line without its end": (b'{}\n{"a":1}', [Frame("{}"), Frame('{"a":1}')], b""),
    "a line cut short": (b'{}\n{"a":', [Frame("{}")], b'{"a":'),
    "what is not JSON": (b"data: {}\n", [Frame("data: {}")], b""),
    "separators that are none": ('"\x0b\u2028"\n'.encode(), [Frame('"\x0b\u2028"')], b""),
}


def read_lines(chunks: list[bytes]) -> tuple[list[Frame | BadFrame], bytes]:
    framer = JsonLines()
    frames = [frame for chunk in chunks for frame in framer.feed(chunk)]
    return frames + framer.finish(), framer.close()


@pytest.mark.parametrize(("body", "frames", "rest"), LINES.values(), ids=LINES)
def test_lines_of_json_are_the_same_however_they_are_cut(body: bytes, frames: list[Frame], rest: bytes) -> None:
    assert read_lines([body]) == (frames, rest)
    assert read_lines(bytewise(body)) == (frames, rest)


def test_a_line_that_is_not_utf8_or_too_long_is_a_bad_frame() -> None:
    [bad, good] = JsonLines().feed(b'"\xff"\n{}\n')
    assert isinstance(bad, BadFrame)
    assert "not UTF-8" in bad.reason
    assert good == Frame("{}")
    bound = SizeLimits(event=4).of_event()
    for body in (b'"12345"\n', b'"12345'):
        [large] = JsonLines(bound).feed(body)
        assert isinstance(large, BadFrame)
        assert "more than 4 bytes" in large.reason
