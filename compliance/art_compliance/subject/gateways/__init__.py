"""A gateway as an adapter: a client calls it in one format, and it calls the strict provider in another.

Its name is its URL, with what else is to be known of it behind a `#`:
`http://localhost:4000/v1#speaks=openai-chat&to=anthropic-messages`. What its client and its name's reader know of the
formats is imported where there is a gateway.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlencode

from msgspec import Struct, structs

PORT: Final = 8765
"""Where the strict provider listens for a gateway, unless another port is given."""

REFUSALS: Final = frozenset({400, 404, 409, 413, 415, 422})
"""Statuses by which a gateway refuses a prompt, where nothing arrives at the provider."""


class Gateway(Struct, frozen=True, kw_only=True):
    """The factory of the client of a gateway at `url`, which takes requests in `speaks` and sends them on in `to`.

    The strict provider, to which it must send them, listens at `port`. `key_from` is the environment variable with
    the gateway's own key. `allow` are losses and repairs that its documents admit, and `without` are capabilities
    that it says it does not have. Each `header`, such as `x-provider: anthropic`, goes with every request.
    """

    url: str
    speaks: str
    to: str
    port: int = PORT
    model: str | None = None
    key_from: str | None = None
    allow: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    header: tuple[str, ...] = ()

    def __str__(self) -> str:
        fields = {name: value for name, value in structs.asdict(self).items() if name != "url" and value}
        if self.port == PORT:
            del fields["port"]
        return f"{self.url}#{urlencode({QUERY[name]: value for name, value in fields.items()}, doseq=True)}"

    @property
    def dialect(self) -> str:
        """The format in which its requests arrive at the provider."""
        return self.to

    def __call__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> Any:
        """The client. Raises HarnessError for a gateway that is not there, and for settings that do not fit."""
        del api_key, base_url  # the gateway has its own
        return import_module(f"{__name__}.client").make_client(self, model)


QUERY: Final[Mapping[str, str]] = {name: name.replace("_", "-") for name in Gateway.__struct_fields__} | {
    "port": "provider-port"
}
"""The fields of a gateway, by their names in its own name: those of the options."""


def is_gateway(name: str) -> bool:
    """Whether an adapter's name is that of a gateway."""
    return name.startswith(("http://", "https://"))
