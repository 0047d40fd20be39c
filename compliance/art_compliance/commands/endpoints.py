"""The options of `art certify --endpoint`, as the server that is examined."""

from __future__ import annotations

import os
from collections.abc import Sequence

from art_compliance.dialects import find_dialect
from art_compliance.examining.examination import Server
from art_compliance.findings import HarnessError
from art_compliance.subject.access import TEST_KEY, require_key
from art_compliance.subject.gateways.reading import read_headers, require_capabilities


def require_alone(**others: object) -> None:
    """Raises HarnessError for another subject, and for an option that is for adapters or gateways alone."""
    for name, value in others.items():
        if value:
            what = "adapters" if name == "adapters" else f"--{name.replace('_', '-')}"
            raise HarnessError(f"--endpoint examines a server alone: leave out {what}")


def read_server(
    url: str,
    speaks: str | None,
    *,
    key_from: str,
    model: str | None,
    without: Sequence[str],
    headers: Sequence[str],
    at_once: int,
) -> Server:
    """The server that the options name. Raises HarnessError for a wrong one."""
    if not url.startswith(("http://", "https://")):
        raise HarnessError(f"--endpoint {url}: give a URL such as http://localhost:4000/v1")
    if speaks is None:
        raise HarnessError("--endpoint needs --speaks FORMAT")
    require_capabilities(without)
    return Server(
        url=url.rstrip("/"),
        speaks=find_dialect(speaks).name,
        key=require_key(os.environ.get(key_from), key_from) if key_from else TEST_KEY,
        model=model,
        without=frozenset(without),
        headers=read_headers(headers),
        at_once=at_once,
    )
