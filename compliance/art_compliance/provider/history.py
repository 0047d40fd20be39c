"""What a server remembers: the latest items, bounded in number and in bytes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Generic, TypeVar

from art_compliance.provider.limits import ServerLimits

T = TypeVar("T")


class History(Generic[T]):
    """Items in the order in which they were added, from any thread. `size` says how many bytes an item takes."""

    def __init__(self, limits: ServerLimits, size: Callable[[T], int]) -> None:
        self._limits = limits
        self._size = size
        self._lock = threading.Lock()
        self._items: deque[T] = deque()
        self._bytes = 0
        self._forgotten = 0

    def add(self, item: T) -> None:
        """Adds the item, and forgets the oldest ones beyond the bounds."""
        with self._lock:
            self._items.append(item)
            self._bytes += self._size(item)
            while len(self._items) > 1 and self._is_over():
                self._bytes -= self._size(self._items.popleft())
                self._forgotten += 1

    def _is_over(self) -> bool:
        return len(self._items) > self._limits.kept or self._bytes > self._limits.kept_bytes

    def since(self, first: int) -> list[T]:
        """The remembered items, without the `first` ones that were ever added."""
        with self._lock:
            return list(islice(self._items, max(0, first - self._forgotten), None))

    def at(self, number: int) -> T | None:
        """The item that was added as this one, counted from 1; None if it is forgotten, or was never added."""
        with self._lock:
            at = number - 1 - self._forgotten
            return self._items[at] if 0 <= at < len(self._items) else None

    @property
    def count(self) -> int:
        """How many items were ever added."""
        with self._lock:
            return self._forgotten + len(self._items)

    def forget(self) -> None:
        """Forgets the items so far."""
        with self._lock:
            self._forgotten += len(self._items)
            self._items.clear()
            self._bytes = 0
