"""The options of `art certify --endpoint`, as the server that is examined."""

from __future__ import annotations

import os
from typing import Final

from art_compliance.commands.certify_options import CertifyOptions
from art_compliance.dialects import find_dialect
from art_compliance.examining.examination import Server
from art_compliance.findings import HarnessError
from art_compliance.subject.access import TEST_KEY, require_key
from art_compliance.subject.gateways.reading import read_headers, require_capabilities


def read_server(url: str, options: CertifyOptions) -> Server:
    """The server at this URL, as the options describe it. Raises HarnessError for wrong ones."""
    _require_alone(options)
    if not url.startswith(("http://", "https://")):
        raise HarnessError(f"--endpoint {url}: give a URL such as http://localhost:4000/v1")
    if options.speaks is None:
        raise HarnessError("--endpoint needs --speaks FORMAT")
    without = options.without or ()
    require_capabilities(without)
    return Server(
        url=url.rstrip("/"),
        speaks=find_dialect(options.speaks).name,
        key=require_key(os.environ.get(options.key_from), options.key_from) if options.key_from else TEST_KEY,
        model=options.model,
        without=frozenset(without),
        headers=read_headers(options.header or ()),
        at_once=options.jobs or 1,
    )


def _require_alone(options: CertifyOptions) -> None:
    """Raises HarnessError for another subject, and for an option that is for adapters or gateways alone."""
    for name in _OF_ADAPTERS:
        if getattr(options, name):
            what = "adapters" if name == "adapters" else f"--{name.replace('_', '-')}"
            raise HarnessError(f"--endpoint examines a server alone: leave out {what}")


_OF_ADAPTERS: Final = (
    "adapters",
    "gateway",
    "to",
    "built_in",
    "live",
    "dialect",
    "provider_port",
    "allow",
    "check",
    "skip",
    "level",
    "shard",
    "sensitivity",
    "cassettes",
    "seed",
    "profile",
    "base_url",
    "in_process",
    "preview",
)
"""What `--endpoint` refuses rather than ignores."""
