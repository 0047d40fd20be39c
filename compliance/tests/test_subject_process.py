"""An adapter in its own process: what it is told, what it answers, and what becomes of it."""

from __future__ import annotations

import base64
import pickle
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
from msgspec.structs import asdict

import rude_adapters
from art_compliance import certify
from art_compliance.checks.load import memory
from art_compliance.findings import HarnessError
from art_compliance.run.selection import Selection
from art_compliance.subject.access import keys_of
from art_compliance.subject.deadlines import Stopped
from art_compliance.subject.events import Answered
from art_compliance.subject.host.host import Order
from art_compliance.subject.messages import Channel, Closed, pack, unpack
from art_compliance.subject.observations import Called, Crashed, Refused, Sent
from art_compliance.subject.opening import open_subject
from art_compliance.subject.packing import NoProcess
from art_compliance.subject.process import Far
from art_compliance.subject.serving import serve
from art_sdk import OpenAIAdapter

HELLO = [{"role": "user", "content": "hello"}]
OPTIONS = {"thread_id": "t"}
ORDER = Order(
    make=OpenAIAdapter,
    name="openai",
    requested=None,
    access=None,
    keys=keys_of(0),
    formats={},
    url="http://127.0.0.1:9",
)


@pytest.mark.parametrize(
    "value",
    [
        Answered(({"type": "TOKEN", "text": "\ud800 and more"},), (0.5,)),
        Called(Refused("PROMPT_TRANSLATION_FAILED", "no"), changed=True),
        Crashed("ValueError: x", "a.py:1 in f", timed_out=True),
        Sent({"a": [1, -0.0, 10**400, None, True, "\ud800"]}, "/v1"),
        [Crashed("x"), Sent(1)],
        {"threads": 3},
    ],
)
def test_what_is_observed_arrives_as_it_was(value: Any):
    one, other = socket.socketpair()
    with one, other:
        Channel(one).send(pack(value))
        assert unpack(Channel(other).receive()) == value


def test_of_data_that_is_no_json_the_type_and_the_look_arrive():
    payload = {1: {2}, "nan": float("nan"), "list": (b"x", [0.5])}
    arrived = unpack(pack(Sent(payload))).payload
    assert repr(arrived) == repr({1: {2}, "nan": float("nan"), "list": [b"x", [0.5]]})
    assert type(arrived["list"][0]).__name__ == "bytes"


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError


def test_a_value_without_a_look_has_a_type():
    assert "Unshowable" in repr(unpack(pack(Sent([Unshowable()]))).payload)


@pytest.mark.parametrize(
    "message",
    [None, 5, [], {}, {"is": "anything"}, {"is": "answered", "events": [1], "at": []}, {"is": "refused", "fields": {}}],
)
def test_a_message_that_means_nothing_is_the_end(message: Any):
    with pytest.raises(Closed, match="a message without meaning"):
        unpack(message)


@pytest.mark.parametrize("raw", [b"", b"\xff" * 8, b"\0" * 7 + b"\1{", b"\0" * 7 + b"\2"])
def test_bytes_that_are_no_message_are_the_end(raw: bytes):
    one, other = socket.socketpair()
    with one, other:
        one.sendall(raw)
        one.close()
        with pytest.raises(Closed):
            Channel(other).receive()


@pytest.fixture
def channel() -> Iterator[Channel]:
    """The suite's side of an adapter that is served by a thread of this process."""
    own, other = socket.socketpair()
    with own, other:
        thread = Thread(target=serve, args=(Channel(other),))
        thread.start()
        yield Channel(own)
        own.close()
        thread.join(30)


def job(make: Any, **more: Any) -> dict[str, Any]:
    factory = base64.b64encode(pickle.dumps(make)).decode()
    known = {"path": sys.path, "factory": factory, "access": None, "name": "it", "requested": None}
    formats = [{"name": "openai-chat", "model": "gpt-5.2"}]
    return {**known, "keys": asdict(ORDER.keys), "url": ORDER.url, "formats": formats, "limit": 5.0, **more}


def asked(channel: Channel, message: Any) -> dict[str, Any]:
    channel.send(message)
    answer: dict[str, Any] = channel.receive()
    return answer


class Talks(OpenAIAdapter):
    def translate(self, prompt: Any, options: Any) -> Any:
        sys.stdout.write("translating\n")
        return super().translate(prompt, options)

    def __repr__(self) -> str:
        raise ValueError("no look")


def test_a_served_adapter_answers_every_use(channel: Channel):
    made = asked(channel, job(Talks, access={"key": "k", "base_url": "http://127.0.0.1:9", "model": None}))
    assert unpack(made["given"])["dialect"] == "openai-chat"
    translated = asked(channel, ["translate", {"prompt": HELLO, "options": OPTIONS}])
    assert isinstance(unpack(translated["given"]), Sent)
    assert unpack(asked(channel, ["shown", {}])["given"]) == "ValueError: no look"
    assert asked(channel, ["fly", {}])["why"] == "AttributeError: 'Host' object has no attribute 'fly'"
    cannot = asked(channel, ["cancel_early", {"prompt": HELLO, "options": OPTIONS, "after_token": False}])
    assert cannot["is"] in ("given", "cannot")
    assert asked(channel, ["close", {}])["is"] == "given"


def test_an_adapter_that_cannot_be_made_says_why(channel: Channel):
    answer = asked(channel, job(int))
    assert (answer["is"], "the factory raised TypeError" in answer["why"]) == ("harness", True)


def test_a_factory_that_cannot_be_imported_says_so(channel: Channel):
    answer = asked(channel, {**job(int), "factory": base64.b64encode(b"cnowhere\nnothing\n.").decode()})
    assert answer["is"] == "cannot"
    assert "its factory cannot be imported by another process: ModuleNotFoundError" in answer["why"]


def test_only_a_factory_that_has_a_name_runs_in_another_process(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(NoProcess, match="its factory cannot be pickled"):
        Far(Order(make=lambda **_: None, name="x", requested=None, access=None, keys=keys_of(0), formats={}, url=""))
    monkeypatch.setattr(Talks, "__module__", "__main__")
    with pytest.raises(NoProcess, match="defined in the main program"):
        Far(Order(make=Talks, name="x", requested=None, access=None, keys=keys_of(0), formats={}, url=""))


STUCK = """
import os, sys, threading
from art_compliance.subject.serving import end_without

threading.Thread(target=end_without, args=(int(sys.argv[1]), 0.1), daemon=True).start()
os.close(1)
threading.Event().wait()
"""


@pytest.mark.once
@pytest.mark.unmeasured
def test_a_process_that_is_stuck_ends_when_its_suite_has():
    own, other = socket.socketpair()
    with own, other:
        command = [sys.executable, "-c", STUCK, str(other.fileno())]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=(other.fileno(),))
        other.close()
        with process:
            assert process.stdout is not None
            process.stdout.read()  # until it waits
            assert process.poll() is None
            own.close()
            assert process.wait(60) == 1


def test_an_adapter_is_the_same_in_its_own_process():
    with open_subject(OpenAIAdapter, name="a", isolated=True) as apart, open_subject(OpenAIAdapter, name="b") as here:
        assert apart.translate(HELLO, OPTIONS) == here.translate(HELLO, OPTIONS)
        assert [one.call(HELLO, OPTIONS).text for one in (apart, here)] == [apart.call(HELLO, OPTIONS).text] * 2  # type: ignore[union-attr]
        assert (apart.kind, apart.provider, apart.class_name) == (here.kind, here.provider, here.class_name)
        assert "threads" in apart.use("count_open")
        assert apart.leave() == here.leave() == []


def test_what_an_adapter_prints_in_its_own_process_is_printed_here(capsys: pytest.CaptureFixture[str]):
    with open_subject(Talks, name="talks", isolated=True) as subject:
        subject.translate(HELLO, OPTIONS)
        with pytest.raises(Stopped, match="no attribute 'fly'"):
            subject.use("fly")
    assert capsys.readouterr().out == "translating\n"


def test_an_adapter_that_ends_its_process_twice_is_not_started_again():
    with open_subject(rude_adapters.Ends, name="ends", isolated=True, limit=60.0) as subject:
        replies = [str(subject.call(HELLO, OPTIONS)) for _ in range(5)]
    first, second, third, fourth, fifth = replies
    assert first.startswith("Answered")
    assert third.startswith("Answered")  # it was started again
    assert second == fourth == "its process ended with exit code 0"
    assert fifth == "it is no longer used: its process ended with exit code 0"
    with pytest.raises(Stopped, match="it is no longer used"):
        subject.use("shown")


def test_an_adapter_that_its_own_process_cannot_make_is_a_harness_error():
    with (
        pytest.raises(HarnessError, match="x: the factory raised TypeError"),
        open_subject(int, name="x", isolated=True),
    ):
        pass


def test_the_process_of_an_adapter_imports_nothing_of_the_judges():
    program = "import sys, art_compliance.subject.serving; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True)
    judges = (
        "art_compliance.dialects",
        "art_compliance.judging",
        "art_compliance.comparison",
        "art_compliance.provider",
    )
    assert [one for one in ran.stdout.split() if one.startswith(judges)] == []


def test_the_memory_of_its_process_has_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "MOST_RESIDENT", 1_000_000)
    (failed,) = certify(OpenAIAdapter, selection=Selection(checks=("load.memory-stays-flat",))).failures
    assert re.fullmatch(r"its process has 0\.\d GB of memory after the calls so far", failed.findings[0].message)
