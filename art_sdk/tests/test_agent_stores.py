"""Stores: in memory and in a file, for several threads and processes."""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from art_sdk import AssistantMessage, InvalidConfig, UserMessage
from art_sdk.agents.pes import ConversationMessage, ConversationStore, InMemoryStore, SQLiteStore, StateStore
from scripted import PLAN, AgentOnTrial

FIELDS = {"systemPrompt": "Be brief.", "enabledTools": ("a",), "provider": {"name": "x", "options": {"model": "m"}}}


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return InMemoryStore() if request.param == "memory" else SQLiteStore(tmp_path / "store.db")


def stored(text: str) -> ConversationMessage:
    return ConversationMessage(message=UserMessage(text), timestamp=1.5, trace_id="r")


def test_both_stores_are_both_protocols(store: Any):
    assert isinstance(store, StateStore)
    assert isinstance(store, ConversationStore)


def test_messages_come_back_in_order_the_latest_if_there_is_a_limit(store: Any):
    async def run() -> tuple[Any, ...]:
        await store.append_messages("t", [stored("1"), stored("2")])
        await store.append_messages("other", [stored("x")])
        await store.append_messages("t", [stored("3")])
        return (
            await store.get_messages("t"),
            await store.get_messages("t", 2),
            await store.get_messages("t", 0),
            await store.get_messages("nobody"),
        )

    everything, latest, none, nobody = anyio.run(run)
    assert everything == (stored("1"), stored("2"), stored("3"))
    assert latest == everything[1:]
    assert none == nobody == ()


def test_settings_come_back_and_are_replaced(store: Any):
    async def run() -> list[Any]:
        await store.set_thread_config("t", {"systemPrompt": "old"})
        await store.set_thread_config("t", FIELDS)
        return [await store.get_thread_config_value("t", key) for key in (*FIELDS, "nothing")] + [
            await store.get_thread_config_value("nobody", "systemPrompt")
        ]

    assert anyio.run(run) == [*FIELDS.values(), None, None]


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"blueprints": {}}, "$.blueprints: a thread cannot have a blueprint: blueprints are how an agent works"),
        ({"planningBlueprint": "x"}, "$.planningBlueprint: a thread cannot have a blueprint"),
        ({"promptTemplate": "x"}, "$.promptTemplate: a thread cannot have a blueprint"),
        ({"temperature": 1}, "$.temperature: unknown field"),
        ({"enabledTools": "a"}, "$.enabledTools"),
        ({"provider": {"name": ""}}, "$.provider"),
        ({"provider": {"name": "a", "options": {"tools": []}}}, "$.provider.options.tools: the agent sets this option"),
        ({"provider": {"name": "a", "options": {"temprature": 1}}}, "$.provider.options: bad call options: "),
        ([], "$: "),
    ],
)
def test_settings_that_no_thread_may_have_are_refused(store: Any, config: Any, reason: str):
    with pytest.raises(InvalidConfig) as caught:
        anyio.run(store.set_thread_config, "t", config)
    assert f"bad thread config: {reason}" in caught.value.message


def test_a_store_in_memory_may_forget():
    store = InMemoryStore(messages=2)
    anyio.run(store.append_messages, "t", [stored(text) for text in "123"])
    assert anyio.run(store.get_messages, "t") == (stored("2"), stored("3"))


def test_a_file_is_read_by_the_next_program(tmp_path: Path):
    path = tmp_path / "store.db"
    first = SQLiteStore(path)
    anyio.run(first.append_messages, "t", [stored("1")])
    anyio.run(first.set_thread_config, "t", FIELDS)
    first.close()
    second = SQLiteStore(path)
    assert anyio.run(second.get_messages, "t") == (stored("1"),)
    assert anyio.run(second.get_thread_config_value, "t", "systemPrompt") == "Be brief."
    assert anyio.run(first.get_messages, "t") == (stored("1"),)
    first.close()
    second.close()


def test_a_store_that_nothing_refers_to_closes_its_file(tmp_path: Path):
    """From Python 3.13 on, a connection that is not closed by then warns; and warnings are errors here."""
    path = tmp_path / "store.db"
    kept: list[Any] = [SQLiteStore(path)]
    kept.append(kept)
    del kept
    gc.collect()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["store.db"]  # the last connection removes its own files


def _text(path: Path) -> None:
    path.write_bytes(b"This is not a database, whatever its name may say. " * 20)


def _other_version(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()


def _other_tables(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE invoice (id)")
    connection.close()


@pytest.mark.parametrize("spoil", [_text, _other_version, _other_tables, Path.mkdir])
def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(tmp_path: Path, spoil: Callable[[Path], None]):
    path = tmp_path / "store.db"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InvalidConfig, match=r"the store '.*store\.db' cannot be used: "):
        SQLiteStore(path)
    if before is not None and spoil is _text:
        assert path.read_bytes() == before


def test_a_write_that_fails_keeps_nothing_of_it(tmp_path: Path):
    path = tmp_path / "store.db"
    store = SQLiteStore(path)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TRIGGER no_second BEFORE INSERT ON message WHEN CAST(NEW.message AS TEXT) LIKE '%second%' "
            "BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    connection.close()
    with pytest.raises(sqlite3.IntegrityError):
        anyio.run(store.append_messages, "t", [stored("first"), stored("second")])
    assert anyio.run(store.get_messages, "t") == ()
    store.close()


def test_two_agents_on_one_thread_keep_whole_exchanges(tmp_path: Path):
    stores = [SQLiteStore(tmp_path / "store.db") for _ in range(2)]
    agents = [AgentOnTrial(script=_echo, store=store).agent for store in stores]

    async def run() -> list[Any]:
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(agents[number % 2].process, "t", f"Question {number}")
        return [one.message for one in await stores[0].get_messages("t")]

    kept = anyio.run(run)
    for store in stores:
        store.close()
    exchanges = list(zip(kept[::2], kept[1::2], strict=True))
    assert len(exchanges) == 20
    assert all(answer == AssistantMessage(f"Answer to {query.content}") for query, answer in exchanges)


def _echo(prompt: Any, options: Any) -> str:
    if options.call_context == "AGENT_THOUGHT":
        return PLAN
    return f"Answer to {prompt[-1].content.removeprefix('User Query: ').partition(chr(10))[0]}"


@pytest.mark.once
@pytest.mark.unmeasured
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forked")
def test_killed_writers_lose_nothing_that_was_acknowledged(tmp_path: Path):
    script = Path(__file__).with_name("killed_writers.py")
    command = [sys.executable, str(script), str(tmp_path / "store.db"), "200"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("200 kills, "), run.stdout
