"""A bridge that misbehaves is one sentence, with its last words; one that behaves is an adapter as any other."""

from __future__ import annotations

import asyncio
import gc
import json
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from art_compliance.bridges.messages import Cancel, Start, Stop, Translate, read_line, write_line
from art_compliance.bridges.process import LONGEST_LINE
from art_compliance.bridges.schema import bridge_schema
from art_compliance.checks import CHECKS
from art_compliance.commands.bridge import join_command
from art_compliance.findings import HarnessError
from art_compliance.subject.bridged import Bridge, BridgedAdapter, Patience, RaisedThere
from art_compliance.subject.deadlines import TimedOut
from art_compliance.subject.factories import find_factory
from art_compliance.subject.opening import open_subject

RUDE = [sys.executable, "-S", "-E", str(Path(__file__).with_name("rude_bridge.py"))]
HASTY = Patience(answer=0.3, end=0.3)
HELLO = [{"role": "user", "content": "2"}]
OPTIONS = {"thread_id": "t"}


def made(way: str, patience: Patience = Patience()) -> BridgedAdapter:  # noqa: B008 - frozen
    return Bridge([*RUDE, way], patience)(api_key="k-123", base_url="http://127.0.0.1:9", model=None)


@pytest.fixture(scope="module")
def good() -> Iterator[BridgedAdapter]:
    adapter = made("good")
    yield adapter
    asyncio.run(adapter.aclose())


async def read(adapter: BridgedAdapter, text: str = "2") -> list[Any]:
    assert adapter.call is not None
    return [event async for event in adapter.call([{"role": "user", "content": text}], OPTIONS)]


def translate(adapter: BridgedAdapter, prompt: Any) -> Any:
    assert adapter.translate is not None
    return adapter.translate(prompt, OPTIONS)


NO_MESSAGE = "its standard output has a line that is not a message: "


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("exits", "it ended with exit code 3; its last output: Error: Cannot find module './adapter.js'"),
        ("is_killed", "it was ended by SIGKILL"),
        ("hangs", "it did not answer start within 2 s; its last output: waiting for a debugger"),
        ("prints", f"{NO_MESSAGE}Listening on port 3000 (JSON is malformed"),
        ("repeats", f"{NO_MESSAGE}start with [the key] (JSON is malformed"),
        ("closes", "it closed its standard output"),
        ("stops_in_a_line", "its standard output ended in the middle of a line"),
        ("writes_bytes", f"{NO_MESSAGE}"),
        ("nests", f"{NO_MESSAGE}"),
        ("floods", f"it wrote a line of more than {LONGEST_LINE:,} bytes"),
        ("answers_another", "it answered 99, which is not the id of a request in progress"),
        ("says_too_much", "(Object contains unknown field `colour`)"),
        ("is_no_object", f"{NO_MESSAGE}[1, 2] (Expected `object`, got `array`)"),
        ("has_a_text_as_id", "(Expected `int`, got `str` - at `$.id`)"),
        ("answers_with_a_payload", "it answered payload to 1, where started or error was expected"),
    ],
)
def test_a_bridge_that_does_not_start_says_why(way: str, why: str):
    with pytest.raises(TimedOut) as caught:
        made(f"{way}_at_start", Patience(start=2) if way == "hangs" else Patience())
    assert str(caught.value).startswith("its bridge failed: it")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_adapter_that_cannot_be_made_says_why_without_the_key():
    with pytest.raises(HarnessError, match=r"its bridge cannot make the adapter: no model for \[the key\]"):
        made("refuses_at_start")


@pytest.mark.parametrize(
    ("way", "kind", "why"),
    [
        ("exits", TimedOut, "it ended with exit code 2; its last output: panic: nil pointer"),
        ("is_cancelled", TimedOut, "it answered cancelled to 2, where event or done or error was expected"),
        ("fails", RaisedThere, "TypeError: x is not a function"),
        ("refuses", RaisedThere, "no"),
    ],
)
def test_a_call_that_fails_says_why(way: str, kind: type[Exception], why: str):
    with pytest.raises(kind, match=why):
        asyncio.run(read(made(f"{way}_at_call")))


def is_running(pid: int) -> bool:
    """A process that has ended and was not waited for has no command line."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except FileNotFoundError:
        return False


def test_a_bridge_that_has_failed_is_started_again_with_the_next_adapter():
    bridge = Bridge([*RUDE, "goes_on_at_call"])
    adapter = bridge(api_key="k")
    assert asyncio.run(read(adapter)) == []
    with pytest.raises(TimedOut, match="it answered 2, which is not the id of a request in progress"):
        translate(adapter, HELLO)
    assert not is_running(adapter.pid)
    assert translate(bridge(api_key="k"), HELLO) == {"messages": HELLO}


def test_a_translation_that_hangs_ends():
    with pytest.raises(TimedOut, match=r"it did not answer translate within 0\.3 s"):
        translate(made("hangs_at_translate", HASTY), HELLO)


def test_an_adapter_that_does_not_stop_says_so():
    with pytest.raises(TimedOut, match=r"it did not answer stop within 0\.3 s"):
        asyncio.run(made("hangs_at_stop", HASTY).aclose())


def test_an_adapter_that_cannot_be_closed_ends_the_run_with_what_the_bridge_did():
    why = r"it cannot be closed: its bridge failed: it did not answer stop within 0\.3 s"
    with (
        pytest.raises(HarnessError, match=why),
        open_subject(Bridge([*RUDE, "hangs_at_stop"], HASTY), name="rude"),
    ):
        pass


def test_a_bridge_that_does_not_end_is_ended():
    bridge = Bridge([*RUDE, "never_ends"])
    pid = bridge(api_key="k").pid
    del bridge
    gc.collect()
    assert not is_running(pid)


def test_calls_at_the_same_time_get_their_own_events_in_their_order(good: BridgedAdapter):
    async def read_all() -> list[list[Any]]:
        return await asyncio.gather(*(read(good, str(length)) for length in (3, 25_000, 0, 2)))

    for length, events in zip((3, 25_000, 0, 2), asyncio.run(read_all()), strict=True):
        assert [event["text"] for event in events] == [f"{at} " for at in range(length)]


def test_texts_of_every_kind_arrive_and_return(good: BridgedAdapter):
    prompt = [{"role": "user", "content": "\u2028 \ud800 \x00 🧪 " + "x" * 300_000}]
    assert translate(good, prompt) == {"messages": prompt}


async def begin(adapter: BridgedAdapter) -> Any:
    assert adapter.call is not None
    events = adapter.call([{"role": "user", "content": "wait"}], OPTIONS)
    assert (await anext(events))["text"] == "\ud800"
    return events


async def cancel(adapter: BridgedAdapter) -> str:
    """What comes of a task that reads a call which waits, and is cancelled."""
    events = await begin(adapter)
    task = asyncio.ensure_future(anext(events, "its end"))
    await asyncio.sleep(0)
    task.cancel()
    try:
        return await task
    except asyncio.CancelledError:
        return "cancelled"


def test_a_call_is_cancelled(good: BridgedAdapter):
    assert asyncio.run(cancel(good)) == "cancelled"


@pytest.mark.parametrize("way", ["goes_on_at_cancel", "comes_to_its_end_at_cancel"])
def test_a_bridge_that_does_not_cancel_is_seen(way: str):
    assert asyncio.run(cancel(made(way, HASTY))) == "its end"


async def close(adapter: BridgedAdapter) -> None:
    await (await begin(adapter)).aclose()


def test_a_call_is_closed(good: BridgedAdapter):
    asyncio.run(close(good))


def test_a_call_that_cannot_be_closed_says_so():
    with pytest.raises(TimedOut, match=r"it did not end a call within 0\.3 s of cancel"):
        asyncio.run(close(made("goes_on_at_cancel", HASTY)))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no-such-program --flag", "there is no command 'no-such-program'; an adapter in Python is module:attribute"),
        ("./my_pkg/adapters", "there is no command './my_pkg/adapters'"),
        ("node 'my bridge.mjs", "is not a command: No closing quotation"),
        (str(Path(__file__)), "there is no command"),
    ],
)
def test_a_command_that_is_none_says_why(name: str, why: str):
    with pytest.raises(HarnessError, match="command") as caught:
        find_factory(name)
    assert why in str(caught.value)


def test_a_program_that_cannot_be_run_says_why(tmp_path: Path):
    program = tmp_path / "program"
    program.write_text("no program")
    program.chmod(0o755)
    with pytest.raises(HarnessError, match="it cannot be started: Exec format error"):
        find_factory(str(program))(api_key="k")


@pytest.mark.parametrize(
    ("words", "joined"),
    [
        (["openai", "--seed", "1"], ["openai", "--seed", "1"]),
        (["--seed", "1", "--", "node", "my bridge.mjs", "--seed"], ["--seed", "1", "node 'my bridge.mjs' --seed"]),
        (["--", "my_pkg:Adapter"], ["my_pkg:Adapter"]),
        (["--", "./bridge"], ["./bridge"]),
        (["--", "openai"], ["openai"]),
        (["--"], []),
    ],
)
def test_what_follows_two_dashes_is_one_name(words: list[str], joined: list[str]):
    assert join_command(words) == joined


def test_a_program_of_the_path_is_found_behind_two_dashes():
    (found,) = join_command(["--", "sh"])
    assert found.endswith("/sh")


def test_a_bridge_goes_to_another_process_as_its_command():
    one = Bridge([*RUDE, "good"], HASTY)
    other: Bridge = pickle.loads(pickle.dumps(one))  # noqa: S301 - written here
    assert (other.command, other.patience) == (one.command, HASTY)


def test_the_page_names_every_check_that_does_not_apply_behind_a_bridge():
    page = (Path(__file__).resolve().parents[2] / "docs" / "bridges.md").read_text(encoding="utf-8")
    skipped = [name for name, check in CHECKS.items() if "python" in check.requires]
    assert [name for name in skipped if f"`{name}`" not in page] == []
    assert len(skipped) == 10


PROMPT = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    "line",
    [
        write_line(Start(id=1, api_key="k", base_url="http://127.0.0.1/v1", model=None)),
        write_line(Translate(id=2, adapter=1, prompt=PROMPT, options={"thread_id": "t", "stop": ["x"]})),
        write_line(Cancel(id=3)),
        write_line(Stop(id=4, adapter=1)),
        b'{"id": 1, "is": "started", "name": "n", "version": "", "call": true, "translate": false, "losses": []}',
        b'{"id": 3, "is": "event", "event": {"type": "END", "thread_id": "t", "message": null, "finish": "error"}}',
        b'{"id": 2, "is": "error", "message": "no", "code": "PROMPT_TRANSLATION_FAILED"}',
        b'{"id": 2, "is": "payload", "payload": [null]}',
    ],
)
def test_messages_are_valid_by_the_published_schema(line: bytes):
    jsonschema.Draft202012Validator(bridge_schema()).validate(json.loads(line))
    if b'"is"' in line:
        read_line(line)


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "is": "started", "name": "n", "version": "1", "call": True},
        {"id": 0, "is": "done"},
        {"id": 1, "is": "ready"},
        {"id": 1, "verb": "poke"},
        {"id": 1, "is": "done", "more": 1},
        {"id": 1, "is": "started", "name": "n", "version": "1", "call": True, "translate": True, "repairs": ["none"]},
    ],
)
def test_what_is_no_message_is_not_valid(message: Any):
    assert list(jsonschema.Draft202012Validator(bridge_schema()).iter_errors(message))
