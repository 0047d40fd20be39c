"""The client of a gateway: a reference adapter, whose requests go to the gateway."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncGenerator
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from art_compliance.dialects import DIALECTS
from art_compliance.findings import HarnessError
from art_compliance.subject.access import TEST_KEY
from art_compliance.subject.gateways import Gateway
from art_compliance.subject.gateways.reading import read_headers, reference
from art_sdk import LOSSES, REPAIRS, ARTError, BaseAdapter, Capability, PromptTranslationFailed
from art_sdk.json_data import is_object

_CONNECT: Final = 5.0
"""Seconds that a gateway may take to accept a connection."""

_ONE_FORMAT_ALONE: Final[frozenset[Capability]] = frozenset({"reasoning", "provider_fields"})
"""What no other format has a place for."""


def make_client(gateway: Gateway, model: str | None) -> GatewayClient:
    """The client. Raises HarnessError for a gateway that is not there, and for settings that do not fit."""
    _require_listener(gateway)
    key = TEST_KEY if gateway.key_from is None else os.environ.get(gateway.key_from, "")
    if not key:
        raise HarnessError(f"{gateway.url}: the environment variable {gateway.key_from} has no key")
    name = model or gateway.model or reference(gateway.to).default_model or "any-model"
    try:
        headers = read_headers(gateway.header)
        client = _client_of(gateway.speaks)(api_key=key, base_url=gateway.url, model=name, headers=headers)
    except ARTError as error:
        raise HarnessError(f"{gateway.url}: {error.message}") from error
    return GatewayClient(gateway, client)


def _require_listener(gateway: Gateway) -> None:
    try:
        parts = urlsplit(gateway.url)
        port = parts.port or {"https": 443}.get(parts.scheme, 80)
        socket.create_connection((parts.hostname or "", port), timeout=_CONNECT).close()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise HarnessError(
            f"nothing listens at {gateway.url} ({why}); start the gateway first, with {upstream_of(gateway)} as the "
            "URL of its provider"
        ) from error


def upstream_of(gateway: Gateway) -> str:
    """What the gateway must have as the base URL of its provider."""
    return f"http://127.0.0.1:{gateway.port}{DIALECTS[gateway.to].service.base_path}"


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


@cache
def _client_of(dialect: str) -> type[BaseAdapter]:
    """The reference adapter of a format, whose errors speak of the gateway."""
    found = reference(dialect)
    return type(found.__name__, (found,), {"provider_name": "the gateway", "__module__": __name__})
