"""What is known of an adapter without calling it."""

from __future__ import annotations

from typing import Any, Final, cast

from msgspec import Struct

from art_compliance.subject.bridged import BridgedAdapter
from art_compliance.subject.declarations import Declarations, read_declarations
from art_compliance.subject.factories import name_of
from art_compliance.subject.formats import Format
from art_compliance.subject.gateways import Gateway
from art_compliance.subject.making import Order, provider_name
from art_compliance.subject.settings import find_settings
from art_compliance.subject.typed import takes_types

METHODS: Final = ("translate", "call", "call_sync", "complete", "complete_sync")
"""What an adapter may have."""


class Facts(Struct, frozen=True, kw_only=True):
    """What is known of an adapter without calling it. `methods` are of `METHODS`.

    `takes_types` says whether its calls may be given typed values instead of JSON data, as those of a `BaseAdapter`.

    `settings` are the known settings of its factory, as `find_settings` has them.

    `bridged` is the name and the version that an adapter behind a bridge has there; `speaks` is the format that a
    gateway is called in. Both are None for an adapter in Python.
    """

    factory_name: str
    class_name: str
    dialect: str | None
    provider_name: str | None
    declarations: Declarations
    methods: frozenset[str]
    takes_types: bool = False
    settings: dict[str, str] = {}
    bridged: str | None = None
    speaks: str | None = None


def facts_of(adapter: Any, order: Order, spoken: Format | None) -> Facts:
    """What an adapter that was made says of itself, and what its class has."""
    named = provider_name(adapter, order)
    return Facts(
        factory_name=name_of(order.make),
        class_name=name_of(cast("type[object]", type(adapter))),
        dialect=None if spoken is None else spoken.name,
        provider_name=named if isinstance(named, str) else None,
        declarations=read_declarations(adapter, order.name),
        methods=frozenset(one for one in METHODS if callable(getattr(adapter, one, None))),
        takes_types=takes_types(adapter),
        settings=find_settings(order.make),
        bridged=adapter.title if isinstance(adapter, BridgedAdapter) else None,
        speaks=order.make.speaks if isinstance(order.make, Gateway) else None,
    )
