"""The memory providers by name: built in, or registered by decorator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from art_sdk.contributors.memory.in_process import InMemory, NoMemory
from art_sdk.contributors.memory.provider import MemoryProvider
from art_sdk.contributors.memory.redis_server import RedisMemory
from art_sdk.contributors.options import option_violations
from art_sdk.json_data import is_object
from art_sdk.validation import Violation

MemoryFactory = Callable[..., MemoryProvider]
"""Opens a memory: takes the connection string if it connects, and its options as keyword arguments."""

_Factory = TypeVar("_Factory", bound=MemoryFactory)


class KnownMemory(NamedTuple):
    """A registered provider, and whether it takes a connection string."""

    factory: MemoryFactory
    connects: bool


class MemoryRegistry(Mapping[str, KnownMemory]):
    """Memory providers by name."""

    def __init__(self) -> None:
        self._known: dict[str, KnownMemory] = {}

    def provider(self, name: str, *, connects: bool) -> Callable[[_Factory], _Factory]:
        """Registers the decorated class or function under this name, in place of another.

        `connects` says whether it needs a `connectionString`, which is then its first argument.
        """

        def register(factory: _Factory) -> _Factory:
            self._known[name] = KnownMemory(factory, connects)
            return factory

        return register

    def __getitem__(self, name: str) -> KnownMemory:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


memory_providers: Final = MemoryRegistry()
"""The providers that a `MemoryConfig` can name."""

memory_providers.provider("none", connects=False)(NoMemory)
memory_providers.provider("in-memory", connects=False)(InMemory)
memory_providers.provider("redis", connects=True)(RedisMemory)


def memory_violations(memory: object, path: str, registry: Mapping[str, KnownMemory]) -> Iterator[Violation]:
    """What is wrong with a memory beyond the types of its fields."""
    name = memory.get("provider") if is_object(memory) else None
    if not is_object(memory) or not isinstance(name, str) or not name:
        return
    known = registry.get(name)
    if known is None:
        names = ", ".join(registry)
        yield {"path": f"{path}.provider", "message": f"unknown memory provider {name!r}; known providers: {names}"}
        return
    yield from _provider_violations(memory, name, known, path)


def _provider_violations(memory: dict[str, Any], name: str, known: KnownMemory, path: str) -> Iterator[Violation]:
    is_given = memory.get("connectionString") is not None
    if is_given != known.connects:
        needs = "needs a" if known.connects else "takes no"
        yield {"path": f"{path}.connectionString", "message": f"the memory provider {name!r} {needs} connectionString"}
    options = memory.get("options", {})
    if is_object(options):
        yield from option_violations(known.factory, options, f"{path}.options")
