"""How the suite reaches an adapter: in its own process, or in one that the adapter has for itself.

Both stop an adapter that hangs, ends its process or never stops giving events, and count how often that happened.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Protocol

from art_compliance.subject.deadlines import Stopped
from art_compliance.subject.facts import Facts
from art_compliance.subject.host.host import make_host
from art_compliance.subject.making import Order
from art_compliance.subject.observations import Called, Crashed

if TYPE_CHECKING:
    import anyio.from_thread

MOST_STOPS: Final = 2
"""After so many calls that did not return, or ends of its process, an adapter is not used any more."""


class Reach(Protocol):
    """A way to one adapter.

    `stops` says of each call that did not return, or that ended the process, what it did.
    """

    facts: Facts
    stops: list[str]

    def use(self, verb: str, /, **arguments: Any) -> Any:
        """What a method of `Host` gives for these arguments, which are JSON data and stay as they are.

        Raises Stopped for an adapter that is not used any more, and what `Host` raises.
        """
        ...

    def leave(self) -> list[str]:
        """Closes the adapter and ends its process: what is left then. The next use makes it again.

        What is in this process stays open, and leaves nothing. Raises Stopped and HarnessError if it cannot be closed.
        """
        ...

    def close(self) -> None:
        """Closes the adapter. Raises HarnessError."""
        ...


class Near:
    """An adapter in this process."""

    def __init__(self, order: Order, portal: anyio.from_thread.BlockingPortal) -> None:
        self._host = make_host(order, portal)
        self.facts = self._host.facts
        self.stops: list[str] = []

    def use(self, verb: str, /, **arguments: Any) -> Any:
        """As `Reach.use`."""
        require_used(self.stops)
        try:
            found = getattr(self._host, verb)(**json.loads(json.dumps(arguments)))
        except Stopped as error:
            self.stops.append(str(error))
            raise
        if (why := why_stopped(found)) is not None:
            self.stops.append(why)
        return found

    def leave(self) -> list[str]:
        """As `Reach.leave`."""
        return []

    def close(self) -> None:
        """As `Reach.close`."""
        self._host.close()


def require_used(stops: list[str]) -> None:
    """Raises Stopped for an adapter that is not used any more."""
    if len(stops) >= MOST_STOPS:
        raise Stopped(f"it is no longer used: {stops[-1]}")


def why_stopped(found: Any) -> str | None:
    """Why a use did not return in time; None if it did."""
    reply = found.reply if isinstance(found, Called) else found
    return reply.error if isinstance(reply, Crashed) and reply.timed_out else None
