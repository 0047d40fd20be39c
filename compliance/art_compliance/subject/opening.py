"""Opens an adapter for testing: starts the loopback provider, makes the adapter, and closes both at the end."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from math import inf
from typing import Final

import anyio.from_thread
from msgspec import structs

from art_compliance.dialects import DIALECTS, find_dialect
from art_compliance.findings import HarnessError
from art_compliance.provider import LoopbackProvider
from art_compliance.subject.access import Access, keys_of
from art_compliance.subject.deadlines import LIMIT, end_idle
from art_compliance.subject.factories import Factory, gateway_of
from art_compliance.subject.formats import Format
from art_compliance.subject.making import Order
from art_compliance.subject.packing import NoProcess
from art_compliance.subject.process import Far
from art_compliance.subject.reaching import Near, Reach
from art_compliance.subject.subject import Subject

LIMIT_APART: Final = 15.0
"""Seconds that a call may take in its own process: two that do not return end the run within a minute."""

IN_PROCESS: Final = "no separate process was requested"
"""Why an adapter runs in the suite's own process where nothing prevents another one."""


@contextmanager
def open_subject(
    make: Factory,
    *,
    name: str,
    dialect: str | None = None,
    access: Access | None = None,
    isolated: bool = False,
    limit: float | None = None,
    hash_seed: str | None = None,
    seconds: float = inf,
    seed: int = 0,
) -> Generator[Subject]:
    """The adapter that the factory makes, ready to be called until the block ends.

    Calls go to the loopback provider; with `access` they go to the real one. `dialect` overrides what the adapter
    declares. With `isolated` the adapter runs in its own process, or, where it cannot be made in one, in this
    process: `Subject.in_process` says why. `limit` is the seconds that a call may take, `seconds` those after which the
    adapter is not used any more, and `hash_seed` the PYTHONHASHSEED of that process. The keys come from the `seed`.
    Raises HarnessError if the adapter cannot be made, inspected or closed.
    """
    gateway = gateway_of(make)
    if gateway is not None and access is not None:
        raise HarnessError(f"{name}: a gateway calls the provider of its own settings, not the real one")
    if dialect is not None:
        find_dialect(dialect)
    with LoopbackProvider(port=0 if gateway is None else gateway.port) as server, ExitStack() as stack:
        stack.callback(end_idle)
        keys = keys_of(seed)
        order = Order(
            make=make,
            name=name,
            requested=dialect,
            access=access,
            keys=keys,
            url=server.url,
            formats=known_formats(),
            limit=limit or (LIMIT_APART if isolated else LIMIT),
            hash_seed=hash_seed,
        )
        reach, in_process = _reach(order, stack, isolated=isolated)
        subject = Subject(
            reach,
            name=name,
            make=make,
            requested_dialect=dialect,
            server=server,
            keys=keys if access is None else structs.replace(keys, own=access.key),
            in_process=in_process,
            ends=time.perf_counter() + seconds,
        )
        server.dialect = subject.dialect
        try:
            yield subject
        finally:
            reach.close()


def known_formats() -> dict[str, Format]:
    """Every format that the suite knows, by the name of its dialect."""
    return {
        name: Format(
            name=name,
            base_path=one.service.base_path,
            version_header=one.service.access.version_header or "",
            model=one.answers.models.names[0],
            any_server=not one.service.hosts,
        )
        for name, one in DIALECTS.items()
    }


def _reach(order: Order, stack: ExitStack, *, isolated: bool) -> tuple[Reach, str | None]:
    """A way to the adapter, and if it runs in this process, why."""
    why = IN_PROCESS
    if isolated:
        try:
            return Far(order), None
        except NoProcess as error:
            why = str(error)
    return Near(order, stack.enter_context(anyio.from_thread.start_blocking_portal())), why
