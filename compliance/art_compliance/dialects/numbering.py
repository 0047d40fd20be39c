"""Ids for calls that have none, and the call that a result without an id answers."""

from __future__ import annotations


class OpenCalls:
    """The calls of a request, in order, and which of them still wait for a result."""

    def __init__(self) -> None:
        self._count = 0
        self.all_have_ids = True
        """Whether every call so far had its own id."""
        self._open: list[tuple[str, str]] = []

    def open(self, call_id: str | None, name: str) -> str:
        """The call's id: its own, or `call_<n>`, n counting all calls of the request."""
        self._count += 1
        self.all_have_ids = self.all_have_ids and bool(call_id)
        known = call_id or f"call_{self._count}"
        self._open.append((known, name))
        return known

    def answer(self, call_id: str | None, name: str | None) -> str | None:
        """The id of the call that a result answers: by id, else the next one of its name.

        With neither, it is the only call that waits. None: there is no such call.
        """
        if call_id is None and name is None and len(self._open) > 1:
            return None
        for waiting in self._open:
            by_id = call_id is not None and waiting[0] == call_id
            by_name = call_id is None and name in (None, waiting[1])
            if by_id or by_name:
                self._open.remove(waiting)
                return waiting[0]
        return None
