"""Reads the name and the fields of a gateway, and says what is wrong in them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import parse_qs

from art_compliance.dialects import DIALECTS, find_dialect
from art_compliance.dialects.endpoints import find_service
from art_compliance.findings import HarnessError
from art_compliance.subject.gateways import PORT, QUERY, Gateway
from art_sdk import BUILT_IN, CAPABILITIES, LOSSES, REPAIRS, BaseAdapter


def read_gateway(name: str) -> Gateway:
    """The gateway of that name. Raises HarnessError, which says what is wrong in it."""
    url, _, rest = name.partition("#")
    fields = parse_qs(rest, keep_blank_values=True)
    names = {shown: field for field, shown in QUERY.items() if field != "url"}
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
def reference(dialect: str) -> type[BaseAdapter]:
    """The reference adapter of a format. Raises HarnessError where there is none."""
    for place in BUILT_IN.values():
        module, _, attribute = place.partition(":")
        found: type[BaseAdapter] = getattr(importlib.import_module(module), attribute)
        if found.dialect == dialect and find_service(DIALECTS[dialect], found.provider_name) is None:
            return found
    raise HarnessError(f"there is no reference adapter for {dialect}, which would be the gateway's client")
