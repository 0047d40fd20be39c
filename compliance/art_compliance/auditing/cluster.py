"""Reads parts on many machines, by Dask. What comes of them is merged here, exactly as on one machine."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from art_compliance.auditing.opening import is_local
from art_compliance.auditing.plan import Part, Plan, Source
from art_compliance.auditing.reading import Read, read_source_part
from art_compliance.auditing.running import Engine
from art_compliance.auditing.settings import Settings
from art_compliance.cassettes.compression import import_first
from art_compliance.findings import HarnessError
from art_compliance.run.identity import suite_version

PATIENCE: Final = 15
"""Seconds for the scheduler to answer."""

_AHEAD: Final = 3
"""Parts under way for each thread of the cluster, so that none waits for the next."""


def on_cluster(address: str) -> Engine:
    """Reads on the workers of the scheduler at this address. They need the files at the same paths.

    Raises HarnessError without Dask.
    """
    library = _library()

    def read(plan: Plan, parts: Iterable[Part]) -> Iterator[Read]:
        try:
            client: Any = library.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise HarnessError(f"there is no scheduler at {address}: {error}") from error
        try:
            _require_workers(client)
            yield from _results(library, client, address, plan, iter(parts))
        finally:
            client.close(timeout=PATIENCE)

    return read


def _library() -> Any:
    library = import_first(("distributed",))
    if library is None:
        raise HarnessError("--scheduler needs Dask: pip install 'art-adapter-sdk[cluster]'")
    return library


def _require_workers(client: Any) -> None:
    """Raises HarnessError unless there are workers with this version of the suite: another may judge differently."""
    try:
        versions: dict[str, str] = client.run(suite_version)
    except Exception as error:
        raise HarnessError(
            f"a worker cannot run this suite: install art-adapter-sdk[cluster] there: {error}"
        ) from error
    if not versions:
        raise HarnessError("the scheduler has no workers")
    other = {name: version for name, version in versions.items() if version != suite_version()}
    for name, version in other.items():
        raise HarnessError(f"the worker {name} has version {version} of the suite, and this is {suite_version()}")


def _results(library: Any, client: Any, address: str, plan: Plan, parts: Iterator[Part]) -> Iterator[Read]:
    """What came of each part. A part whose worker died is read by another one: Dask sees to it."""
    under_way: dict[Any, Part] = {}

    def submit(part: Part) -> Any:
        task = _Task(plan.settings, _absolute(plan.sources[part.file]), part)
        future = client.submit(_read, msgspec.msgpack.encode(task), pure=False)
        under_way[future] = part
        return future

    threads = max(sum(client.nthreads().values()), 1)
    first = [submit(part) for part in islice(parts, _AHEAD * threads)]
    waiting = library.as_completed(first, loop=client.loop)
    for future in waiting:
        part = under_way.pop(future)
        yield _result(library, address, future, part)
        following = next(parts, None)
        if following is not None:
            waiting.add(submit(following))


def _result(library: Any, address: str, future: Any, part: Part) -> Read:
    try:
        return msgspec.msgpack.decode(future.result(timeout=PATIENCE), type=Read)
    except library.KilledWorker as error:
        return Read(part, problem=f"reading the bytes from {part.start:,} to {part.end:,} ended its workers: {error}")
    except (asyncio.CancelledError, concurrent.futures.CancelledError, TimeoutError, OSError) as error:
        raise HarnessError(f"the scheduler at {address} is gone; the counts so far are saved") from error


class _Task(Struct):
    """The settings that each worker is sent."""

    settings: Settings
    source: Source
    part: Part


def _absolute(source: Source) -> Source:
    """The file by a path that does not depend on where a worker was started."""
    return replace(source, path=str(Path(source.path).absolute())) if is_local(source.path) else source


def _read(sent: bytes) -> bytes:
    """On a worker: reads a part."""
    task = msgspec.msgpack.decode(sent, type=_Task)
    return msgspec.msgpack.encode(read_source_part(task.settings, task.source, task.part))
