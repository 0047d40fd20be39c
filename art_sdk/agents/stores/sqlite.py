"""A store in one SQLite file, which several processes may use at the same time.

Write-ahead logging with full synchronization: a commit is on disk before a write returns, so that neither a killed
process nor a power failure loses what was acknowledged (https://sqlite.org/wal.html, https://sqlite.org/pragma.html).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
import msgspec

from art_sdk.agents.history import ConversationMessage
from art_sdk.agents.thread_config import ThreadConfig, dump_thread_config, parse_thread_config
from art_sdk.errors import InvalidConfig

_Result = TypeVar("_Result")

_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE thread_config (thread_id TEXT PRIMARY KEY, config BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE message (id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT NOT NULL, message BLOB NOT NULL);
CREATE INDEX message_of_thread ON message (thread_id, id);
PRAGMA user_version = 1;
"""
_BUSY: Final = 30.0
"""Seconds that a writer waits for another one."""

_decode: Final = msgspec.json.Decoder(ConversationMessage).decode


class SQLiteStore:
    """Settings and conversations in the file at `path`, which is made if it does not exist.

    Raises InvalidConfig for a file that cannot be opened or is not such a store. Reads and writes are in a worker
    thread. A store may be shared by threads and inherited by a forked process, which opens the file anew. A store that
    nothing refers to any more closes its file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Final = Path(path)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._closing: weakref.finalize[..., SQLiteStore] | None = None
        try:
            with self._opened():
                pass
        except (sqlite3.Error, ValueError) as error:
            raise InvalidConfig(f"the store {str(self.path)!r} cannot be used: {error}", cause=error) from error

    async def get_thread_config(self, thread_id: str) -> ThreadConfig:
        """As in `StateStore`."""
        return await self._run(lambda connection: _read_config(connection, thread_id))

    async def get_thread_config_value(self, thread_id: str, key: str) -> Any:
        """As in `StateStore`."""
        return dump_thread_config(await self.get_thread_config(thread_id)).get(key)

    async def set_thread_config(self, thread_id: str, config: ThreadConfig | dict[str, Any]) -> None:
        """As in `StateStore`."""
        row = (thread_id, msgspec.json.encode(parse_thread_config(config)))
        await self._run(lambda connection: _write(connection, "REPLACE INTO thread_config VALUES (?, ?)", [row]))

    async def append_messages(self, thread_id: str, messages: Sequence[ConversationMessage]) -> None:
        """As in `ConversationStore`."""
        rows = [(thread_id, msgspec.json.encode(message)) for message in messages]
        insert = "INSERT INTO message (thread_id, message) VALUES (?, ?)"
        await self._run(lambda connection: _write(connection, insert, rows))

    async def get_messages(self, thread_id: str, limit: int | None = None) -> tuple[ConversationMessage, ...]:
        """As in `ConversationStore`."""
        return await self._run(lambda connection: _read_messages(connection, thread_id, limit))

    def close(self) -> None:
        """Closes the file. The next use opens it again."""
        with self._lock:
            if self._closing is not None:
                self._closing()
            self._connection = None

    async def _run(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        def locked() -> _Result:
            with self._opened() as connection:
                return work(connection)

        return await anyio.to_thread.run_sync(locked)

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        """The connection of this process, for one thread at a time."""
        with self._lock:
            if self._connection is None or self._process != os.getpid():
                self._connection, self._process = _open(self.path), os.getpid()
                self._closing = weakref.finalize(self, _close, self._connection, self._process)
            yield self._connection


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if _version(connection) != _VERSION:
            with _transaction(connection):
                _make_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _close(connection: sqlite3.Connection, process: int) -> None:
    """Closes a connection that this process opened. One that it inherited holds locks of the process before it."""
    if process == os.getpid():
        connection.close()


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _make_tables(connection: sqlite3.Connection) -> None:
    version = _version(connection)
    has_tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if version == 0 and not has_tables:
        for statement in filter(str.strip, _SCHEMA.split(";")):
            connection.execute(statement)
    elif version != _VERSION:
        raise ValueError(f"its version is {version}, not {_VERSION}; it was made by another program or version")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    """All or nothing. It takes the right to write at once, so that it never fails midway for another writer."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _write(connection: sqlite3.Connection, statement: str, rows: list[tuple[str, bytes]]) -> None:
    with _transaction(connection):
        connection.executemany(statement, rows)


def _read_config(connection: sqlite3.Connection, thread_id: str) -> ThreadConfig:
    found = connection.execute("SELECT config FROM thread_config WHERE thread_id = ?", (thread_id,)).fetchone()
    return ThreadConfig() if found is None else msgspec.json.decode(found[0], type=ThreadConfig)


def _read_messages(
    connection: sqlite3.Connection, thread_id: str, limit: int | None
) -> tuple[ConversationMessage, ...]:
    query = "SELECT message FROM message WHERE thread_id = ? ORDER BY id DESC LIMIT ?"
    rows = connection.execute(query, (thread_id, -1 if limit is None else limit)).fetchall()
    return tuple(_decode(row[0]) for row in reversed(rows))
