"""Observations: what an agent did, step by step, for people who look for a fault."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any, Final, Literal

from msgspec import Struct

from art_sdk.errors import ARTError

ObservationType = Literal["INTENT", "PLAN", "TOOL_CALL", "TOOL_EXECUTION", "SYNTHESIS", "ERROR"]
Listener = Callable[["Observation"], object]

_log: Final = logging.getLogger(__name__)


class Observation(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One thing that happened. `content` is JSON data that depends on the type; `timestamp` is seconds since 1970.

    An ERROR has the error's `code` (of other exceptions than an ARTError, the class), its `message`, and if the
    manager keeps them, its `traceback`, without the values of local variables.
    """

    id: int
    type: ObservationType
    thread_id: str
    trace_id: str
    timestamp: float
    content: dict[str, Any]
    code: str | None = None
    message: str | None = None
    traceback: str | None = None


class ObservationManager:
    """Keeps the latest observations, `limit` in all, and passes each one on to its listeners.

    A listener is called in the thread of the agent, at once; what it raises is logged and stops nothing. `tracebacks`
    says whether an ERROR keeps its traceback.
    """

    def __init__(self, *, limit: int = 1_000, tracebacks: bool = False, clock: Callable[[], float] = time.time) -> None:
        self._kept: deque[Observation] = deque(maxlen=limit)
        self._lock = threading.Lock()
        self._ids = count(1)
        self._listeners: tuple[Listener, ...] = ()
        self._tracebacks = tracebacks
        self._clock = clock

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Calls the listener with every observation from now on, until the function that is returned is called."""
        self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            self._listeners = tuple(one for one in self._listeners if one is not listener)

        return unsubscribe

    def record(self, kind: ObservationType, thread_id: str, trace_id: str, content: dict[str, Any]) -> Observation:
        """Keeps an observation and returns it."""
        return self._add(self._make(kind, thread_id, trace_id, content))

    def record_error(self, error: Exception, thread_id: str, trace_id: str, step: str) -> Observation:
        """Keeps an ERROR and returns it. `step` says what the agent was doing."""
        known = error if isinstance(error, ARTError) else None
        code = type(error).__name__ if known is None else str(known.code)
        message = str(error) if known is None else known.message
        text = "".join(traceback.format_exception(error)) if self._tracebacks else None
        facts = {"code": code, "message": message, "traceback": text}
        return self._add(self._make("ERROR", thread_id, trace_id, {"step": step}, **facts))

    def find(
        self, *, thread_id: str | None = None, trace_id: str | None = None, kind: ObservationType | None = None
    ) -> tuple[Observation, ...]:
        """The kept observations of a thread, a question or a type, oldest first."""
        with self._lock:
            kept = tuple(self._kept)
        return tuple(
            one
            for one in kept
            if thread_id in (None, one.thread_id) and trace_id in (None, one.trace_id) and kind in (None, one.type)
        )

    def _make(
        self, kind: ObservationType, thread_id: str, trace_id: str, content: dict[str, Any], **facts: str | None
    ) -> Observation:
        return Observation(
            id=next(self._ids),
            type=kind,
            thread_id=thread_id,
            trace_id=trace_id,
            timestamp=self._clock(),
            content=content,
            **facts,
        )

    def _add(self, observation: Observation) -> Observation:
        with self._lock:
            self._kept.append(observation)
        for listener in self._listeners:
            try:
                listener(observation)
            except Exception:  # noqa: BLE001 - an observer must not stop what it observes
                _log.exception("a listener failed on an observation of the type %s", observation.type)
        return observation
