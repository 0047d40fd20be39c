"""Opens an adapter for testing: starts the loopback provider, makes the adapter, and closes both at the end."""

from __future__ import annotations

import inspect
from collections.abc import Generator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import anyio.from_thread
from msgspec import Struct

from art_compliance.dialects import DIALECTS, Dialect, find_dialect
from art_compliance.findings import HarnessError
from art_compliance.provider import LoopbackProvider
from art_compliance.subject.access import TEST_KEY, Access
from art_compliance.subject.calling import Caller
from art_compliance.subject.deadlines import await_bounded, run_bounded
from art_compliance.subject.declarations import read_declarations
from art_compliance.subject.factories import Factory, describe_error, with_article
from art_compliance.subject.subject import Subject


@contextmanager
def open_subject(
    make: Factory, *, name: str, dialect: str | None = None, access: Access | None = None
) -> Generator[Subject]:
    """The adapter that the factory makes, ready to be called until the block ends.

    Calls go to the loopback provider; with `access` they go to the real one. `dialect` overrides what the adapter
    declares. Raises HarnessError if the adapter cannot be made, inspected or closed.
    """
    with LoopbackProvider() as server, anyio.from_thread.start_blocking_portal() as portal:
        opening = _Opening(make=make, name=name, requested=dialect, access=access, server=server, portal=portal)
        try:
            subject = opening.open()
        except HarnessError:
            raise
        except Exception as error:
            raise HarnessError(f"{name}: inspecting the adapter raised {describe_error(error)}") from error
        try:
            yield subject
        finally:
            opening.close(subject.adapter)


class _Opening(Struct, frozen=True, kw_only=True):
    """What it takes to make one adapter."""

    make: Factory
    name: str
    requested: str | None
    access: Access | None
    server: LoopbackProvider
    portal: anyio.from_thread.BlockingPortal

    def open(self) -> Subject:
        if not callable(self.make):
            raise self._error(f"{with_article(self.make)} is not a factory; give the adapter's class or a function")
        adapter, dialect = self._make_for_dialect()
        if not any(callable(getattr(adapter, method, None)) for method in ("translate", "call")):
            raise self._error(f"the factory made {with_article(adapter)}, which has neither translate nor call")
        self.server.dialect = dialect
        return Subject(
            adapter,
            name=self.name,
            make=self.make,
            dialect=dialect,
            requested_dialect=self.requested,
            declarations=read_declarations(adapter, self.name),
            caller=Caller(adapter, self.portal),
            server=self.server,
            key=TEST_KEY if self.access is None else self.access.key,
        )

    def _make_for_dialect(self) -> tuple[Any, Dialect | None]:
        """Makes the adapter a second time if only an instance knows its dialect, which its base URL depends on."""
        dialect = self._find_dialect(self.make)
        adapter = self._make(dialect)
        if dialect is None:
            dialect = self._find_dialect(adapter)
            if dialect is not None:
                self.close(adapter)
                adapter = self._make(dialect)
        return adapter, dialect

    def _find_dialect(self, adapter: Any) -> Dialect | None:
        """The requested dialect, which must be known, or the declared one, which may be the adapter's own."""
        if self.requested is not None:
            return find_dialect(self.requested)
        declared = getattr(adapter, "dialect", None)
        if declared is None:
            return None
        if declared in DIALECTS:
            return DIALECTS[declared]
        near = get_close_matches(str(declared), DIALECTS, n=1)
        if near or not isinstance(declared, str):
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise self._error(f"its dialect is {declared!r}, which the suite does not know{hint}")
        return None

    def _make(self, dialect: Dialect | None) -> Any:
        base_url = self.server.url + ("" if dialect is None else dialect.service.base_path)
        own = self.access or Access(key=TEST_KEY, base_url=base_url)
        try:
            return run_bounded(lambda: self.make(api_key=own.key, base_url=own.base_url, model=own.model))
        except Exception as error:
            if self.access is not None:  # the error's text may contain the key
                raise self._error(f"the factory raised {type(error).__name__} when it was given the key") from None
            what = f"the factory raised {describe_error(error)}"
            raise self._error(f"{what}; it is called with api_key, base_url and model") from error

    def close(self, adapter: Any) -> None:
        """Closes the adapter if it has an asynchronous `aclose`. Raises HarnessError."""
        aclose = getattr(adapter, "aclose", None)
        if not inspect.iscoroutinefunction(aclose):
            return
        try:
            await_bounded(self.portal.start_task_soon(aclose))
        except Exception as error:
            raise self._error(f"aclose raised {describe_error(error)}") from error

    def _error(self, what: str) -> HarnessError:
        return HarnessError(f"{self.name}: {what}")
