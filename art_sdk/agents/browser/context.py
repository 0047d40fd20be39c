"""Calls the context manager, within time limits, and falls back to a minimal context."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

from art_sdk.agents.browser.digest import digest_of
from art_sdk.agents.browser.errors import ContextUnavailable, PromptManagerError
from art_sdk.agents.browser.integrations import ContextManagerIntegration
from art_sdk.agents.browser.options import AIContextJson
from art_sdk.agents.browser.reading import read_model
from art_sdk.agents.browser.trace import Trace
from art_sdk.json_data import is_array

T = TypeVar("T")


@dataclass(frozen=True)
class Gathered:
    """What the context manager returned. Pages are HTML; None means unknown."""

    session: AIContextJson
    steps: Sequence[Any]
    current: str | None
    previous: str | None

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """The hashes of the current and the previous page. Empty for an unknown one."""
        return tuple("" if page is None else digest_of(page) for page in (self.current, self.previous))


class ContextReader:
    """The calls for one prompt. `concurrently` starts all at once; else each begins after the one before it."""

    def __init__(
        self,
        source: ContextManagerIntegration,
        *,
        time_limit: float,
        concurrently: bool,
        falls_back: bool,
        trace: Trace,
    ) -> None:
        self._source = source
        self._time_limit = time_limit
        self._concurrently = concurrently
        self._falls_back = falls_back
        self._trace = trace
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    def begin(self, session_id: str, step_index: int, *, with_history: bool, previous_of: int | None) -> None:
        """Says which calls there will be. `previous_of`: the step before which the previous page was seen."""
        self._calls: dict[str, Callable[[], Awaitable[Any]]] = {
            "execution_context": lambda: self._source.get_execution_context(session_id, step_index)
        }
        if with_history:
            self._calls["step_history"] = lambda: self._source.get_step_history(session_id)
        if previous_of is not None:
            self._calls["previous_page"] = lambda: self._source.get_previous_page_state(session_id, previous_of)
        self._calls["current_page"] = lambda: self._source.get_current_page_state(session_id)
        if self._concurrently:
            self._tasks = {name: asyncio.ensure_future(self._limited(name)) for name in self._calls}

    async def session(self, session_id: str) -> AIContextJson:
        """The session. Minimal if the call fails."""
        minimal = AIContextJson(session_id=session_id)
        return await self._read("execution_context", lambda one: _read_session(one, session_id), minimal)

    async def steps(self) -> Sequence[Any]:
        """The executed steps. Empty if the call fails."""
        return await self._read("step_history", _read_steps, ())

    async def page(self, which: str) -> str | None:
        """A page's HTML."""
        return await self._read(f"{which}_page", lambda one: _read_page(one, which), None)

    def cancel(self) -> None:
        """Ends the calls that are still under way."""
        for task in self._tasks.values():
            task.cancel()

    async def _read(self, name: str, read: Callable[[Any], T], otherwise: T) -> T:
        if name not in self._calls:
            return otherwise
        try:
            return read(await (self._tasks.get(name) or self._limited(name)))
        except (ContextUnavailable, PromptManagerError) as error:
            if not self._falls_back:
                raise
            self._trace.fall_back("minimal_context")
            self._trace.warnings.append(f"{name}: {error.message}")
            return otherwise

    async def _limited(self, name: str) -> Any:
        """Calls within the time limit. Raises ContextUnavailable, without the message of the original error."""
        where = {"call": name}
        try:
            async with asyncio.timeout(self._time_limit):
                return await self._calls[name]()
        except TimeoutError as error:
            reason = f"the context manager returned no {name} within {self._time_limit:g} s"
            raise ContextUnavailable(reason, context=where, cause=error) from error
        except Exception as error:
            reason = f"the context manager returned no {name}: {type(error).__name__}"
            raise ContextUnavailable(reason, context=where, cause=error) from error


def _read_session(data: Any, session_id: str) -> AIContextJson:
    session = read_model(_as_object(data), AIContextJson, what="the execution context")
    if session.session_id != session_id:
        raise ContextUnavailable(
            "the execution context belongs to another session", context={"call": "execution_context"}
        )
    return session


def _as_object(data: Any) -> Any:
    return dict(cast("Mapping[str, Any]", data)) if isinstance(data, Mapping) else data


def _read_steps(data: Any) -> Sequence[Any]:
    if not is_array(data):
        raise ContextUnavailable("the step history must be a list", context={"call": "step_history"})
    return data


def _read_page(data: Any, which: str) -> str | None:
    if data is None and which == "previous":
        return None
    if not isinstance(data, str):
        raise ContextUnavailable(f"the {which} page must be text", context={"call": f"{which}_page"})
    return data
