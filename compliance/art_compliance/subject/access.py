"""The credentials that an adapter is made with."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from art_compliance.findings import HarnessError

TEST_KEY: Final = "art-compliance-key-0123456789abcdef"
"""The key for every adapter that calls the loopback provider. It opens nothing."""

OTHER_KEY: Final = "art-compliance-key-fedcba9876543210"
"""The key of a second adapter. It opens nothing either."""

ENVIRONMENT_KEY: Final = "art-compliance-key-of-the-environment"
ENVIRONMENT_LOGIN: Final = "art-compliance"
ENVIRONMENT_PATH: Final = "/environment"
"""A key, the name of a login and the path of a URL in the environment, for no adapter that is given a key and a URL."""


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
