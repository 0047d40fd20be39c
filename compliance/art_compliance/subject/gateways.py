"""A gateway as an adapter: a client calls it in one format, and it calls the strict provider in another.

Its name is its URL, with what else is to be known of it behind a `#`:
`http://localhost:4000/v1#speaks=openai-chat&to=anthropic-messages`.
"""

from __future__ import annotations

import importlib
import os
import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from msgspec import Struct, structs

from art_compliance.dialects import DIALECTS, find_dialect
from art_compliance.dialects.endpoints import find_service
from art_compliance.findings import HarnessError
from art_compliance.subject.access import TEST_KEY
from art_sdk import (
    BUILT_IN,
    CAPABILITIES,
    LOSSES,
    REPAIRS,
    ARTError,
    BaseAdapter,
    Capability,
    PromptTranslationFailed,
)
from art_sdk.json_data import is_object

PORT: Final = 8765
"""Where the strict provider listens for a gateway, unless another port is given."""

REFUSALS: Final = frozenset({400, 404, 409, 413, 415, 422})
"""Statuses by which a gateway refuses a prompt, where nothing arrives at the provider."""

_CONNECT: Final = 5.0
"""Seconds that a gateway may take to accept a connection."""

_ONE_FORMAT_ALONE: Final[frozenset[Capability]] = frozenset({"reasoning", "provider_fields"})
"""What no other format has a place for."""


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
        return f"{self.url}#{urlencode({_QUERY[name]: value for name, value in fields.items()}, doseq=True)}"

    @property
    def dialect(self) -> str:
        """The format in which its requests arrive at the provider."""
        return self.to

    @property
    def upstream(self) -> str:
        """What the gateway must have as the base URL of its provider."""
        return f"http://127.0.0.1:{self.port}{DIALECTS[self.to].service.base_path}"

    def __call__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> GatewayClient:
        """The client. Raises HarnessError for a gateway that is not there, and for settings that do not fit."""
        del api_key, base_url  # the gateway has its own
        self._require_listener()
        key = TEST_KEY if self.key_from is None else os.environ.get(self.key_from, "")
        if not key:
            raise HarnessError(f"{self.url}: the environment variable {self.key_from} has no key")
        name = model or self.model or reference(self.to).default_model
        try:
            headers = read_headers(self.header)
            client = _client_of(self.speaks)(api_key=key, base_url=self.url, model=name or "any-model", headers=headers)
        except ARTError as error:
            raise HarnessError(f"{self.url}: {error.message}") from error
        return GatewayClient(self, client)

    def _require_listener(self) -> None:
        try:
            parts = urlsplit(self.url)
            port = parts.port or {"https": 443}.get(parts.scheme, 80)
            socket.create_connection((parts.hostname or "", port), timeout=_CONNECT).close()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise HarnessError(
                f"nothing listens at {self.url} ({why}); start the gateway first, with {self.upstream} as the URL of "
                "its provider"
            ) from error


_QUERY: Final[Mapping[str, str]] = {name: name.replace("_", "-") for name in Gateway.__struct_fields__} | {
    "port": "provider-port"
}
"""The fields of a gateway, by their names in its own name: those of the options."""


class GatewayClient:
    """The client of a gateway, as a black box: what counts is what arrives at the provider, and what comes back."""

    def __init__(self, gateway: Gateway, client: BaseAdapter) -> None:
        behind = reference(gateway.to)
        is_same = gateway.speaks == gateway.to
        self._client = client
        self._gateway = gateway
        self.dialect = gateway.to
        self.speaks = gateway.speaks
        own = frozenset[Capability]() if is_same else _ONE_FORMAT_ALONE
        self.capabilities = (client.capabilities & behind.capabilities) - own - frozenset(gateway.without)
        self.losses = client.losses | behind.losses | LOSSES.intersection(gateway.allow)
        self.repairs = client.repairs | behind.repairs | REPAIRS.intersection(gateway.allow)

    def call(self, prompt: Any, options: Any) -> AsyncGenerator[Any]:
        """The events that the client makes of the gateway's answer. Raises what the client raises."""
        if self._gateway.speaks != self._gateway.to:
            self._require_expressible(prompt, options)
            options = {name: value for name, value in options.items() if name != "provider"}
        return self._client.call(prompt, options)

    def _require_expressible(self, prompt: Any, options: Any) -> None:
        """Fields of the provider behind the gateway, and what it keeps of its answers, have no place in a request.

        Neither has the option to hoist, where the client itself need not.
        """
        to = self._gateway.to
        given: Any = options.get("provider")
        is_kept = any(is_object(one) and to in (one.get("extensions") or ()) for one in prompt)
        if options.get("late_system") == "hoist" and "late_system" in self._client.capabilities:
            raise PromptTranslationFailed(f"{self.speaks} has no field for late_system")
        if is_kept or (is_object(given) and given.get(to)):
            raise PromptTranslationFailed(f"{self.speaks} has no place for what only {to} has")

    @property
    def last_words(self) -> str:
        """What follows the message of a call that did not return."""
        return f"; it is the client of the gateway at {self._gateway.url}"

    async def aclose(self) -> None:
        """Closes its connections."""
        await self._client.aclose()


def is_gateway(name: str) -> bool:
    """Whether an adapter's name is that of a gateway."""
    return name.startswith(("http://", "https://"))


def read_gateway(name: str) -> Gateway:
    """The gateway of that name. Raises HarnessError, which says what is wrong in it."""
    url, _, rest = name.partition("#")
    fields = parse_qs(rest, keep_blank_values=True)
    names = {shown: field for field, shown in _QUERY.items() if field != "url"}
    unknown = sorted(fields.keys() - names.keys())
    missing = [one for one in ("speaks", "to") if one not in fields]
    if unknown or missing:
        wrong = f"it has no {' and no '.join(missing)}" if missing else f"it has no field {unknown[0]!r}"
        raise HarnessError(f"{name}: the name of a gateway is URL#speaks=FORMAT&to=FORMAT; {wrong}")
    read = {names[one]: tuple(v) if names[one] in _LISTS else v[-1] for one, v in fields.items()}
    return make_gateway(url=url.rstrip("/"), **read)


_LISTS: Final = ("allow", "without", "header")


def read_headers(lines: Sequence[str]) -> dict[str, str]:
    """Headers that are written as `name: value`. Raises HarnessError for one that is not."""
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not (name.strip() and colon and value.strip()):
            raise HarnessError(f"header: {line!r} is not a header such as 'x-provider: anthropic'")
        headers[name.strip()] = value.strip()
    return headers


def make_gateway(**fields: Any) -> Gateway:
    """A gateway of these fields, with the port as a number or as text. Raises HarnessError for a wrong one."""
    for name in ("speaks", "to"):
        find_dialect(fields[name])
        reference(fields[name])
    given: dict[str, Any] = dict(fields)
    port = str(given.pop("port", PORT))
    if not port.isdecimal() or not 0 < int(port) < _PORTS:
        raise HarnessError(f"provider-port must be a port, 1 to {_PORTS - 1}, not {port!r}")
    _require_known("allow", fields.get("allow", ()), LOSSES | REPAIRS)
    require_capabilities(fields.get("without", ()))
    read_headers(fields.get("header", ()))
    return Gateway(**given, port=int(port))


_PORTS: Final = 65536


def require_capabilities(names: Sequence[str]) -> None:
    """Raises HarnessError for a name that is none of a capability."""
    _require_known("without", names, CAPABILITIES)


def _require_known(what: str, names: Sequence[str], known: frozenset[str]) -> None:
    unknown = sorted(set(names) - known)
    if unknown:
        raise HarnessError(f"{what}: {unknown[0]!r} is not known; known: {', '.join(sorted(known))}")


@cache
def _client_of(dialect: str) -> type[BaseAdapter]:
    """The reference adapter of a format, whose errors speak of the gateway."""
    found = reference(dialect)
    return type(found.__name__, (found,), {"provider_name": "the gateway", "__module__": __name__})


@cache
def reference(dialect: str) -> type[BaseAdapter]:
    """The reference adapter of a format. Raises HarnessError where there is none."""
    for place in BUILT_IN.values():
        module, _, attribute = place.partition(":")
        found: type[BaseAdapter] = getattr(importlib.import_module(module), attribute)
        if found.dialect == dialect and find_service(DIALECTS[dialect], found.provider_name) is None:
            return found
    raise HarnessError(f"there is no reference adapter for {dialect}, which would be the gateway's client")
