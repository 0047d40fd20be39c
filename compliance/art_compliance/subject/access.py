"""The credentials that an adapter is made with."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from msgspec import Struct

from art_compliance.findings import HarnessError

ENVIRONMENT_LOGIN: Final = "somebody"
ENVIRONMENT_PATH: Final = "/environment"
"""The name of a login and the path of a URL in the environment, for no adapter that is given a key and a URL."""


class Keys(Struct, frozen=True):
    """The keys of a run, which open nothing: of its adapter, of a second one, and of the environment, for neither."""

    own: str
    other: str
    environment: str


def keys_of(seed: int) -> Keys:
    """The keys of the run with this seed: an adapter cannot see by its key that it is tested."""
    drawn = Random(f"keys {seed}")  # noqa: S311 - they are secrets of nobody
    return Keys(*(drawn.randbytes(20).hex() for _ in Keys.__struct_fields__))


TEST_KEY: Final = keys_of(0).own
"""The key for every adapter that calls the loopback provider outside a run, which has a seed."""


class Access(Struct, frozen=True, kw_only=True):
    """Access to a real provider: a key, and the URL and the model unless the adapter chooses them.

    `variable` is the environment variable that the key came from, if it came from one.
    """

    key: str
    base_url: str | None = None
    model: str | None = None
    variable: str | None = None

    def __repr__(self) -> str:
        return f"Access(base_url={self.base_url!r}, model={self.model!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:  # msgspec's own shows every field to rich
        return [("base_url", self.base_url), ("model", self.model)]


def require_key(value: str | None, name: str) -> str:
    """The key from the environment variable `name`. Raises HarnessError if it is missing or blank."""
    if not value or not value.strip():
        raise HarnessError(f"the environment variable {name} is not set or is blank: a real provider needs a key")
    return value
