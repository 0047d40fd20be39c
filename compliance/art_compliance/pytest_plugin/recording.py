"""`--art-record`: records the selected scenarios from the real provider before they are replayed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from art_compliance.cassettes import BadCassette
from art_compliance.findings import HarnessError
from art_compliance.pytest_plugin.options import cassettes_of, dialect_of, folder_option, option
from art_compliance.run.recorder import Order, choose, record
from art_compliance.run.selection import FOLDER
from art_compliance.subject.access import Access, require_key
from art_compliance.subject.factories import Factory

if TYPE_CHECKING:
    import pytest


def record_cassettes(config: pytest.Config, make: Factory, name: str) -> None:
    """Records the selected scenarios.

    Raises HarnessError if there is no key, if a cassette cannot be written, and if a call fails.
    """
    order = _order(config)
    try:
        recorded = list(record(make, order, dialect=dialect_of(config, name), name=name))
    except BadCassette as error:
        raise HarnessError(str(error)) from error
    failed = [f"{one.scenario}: {one.why}" for one in recorded if one.path is None and not one.is_refused]
    if failed:
        raise HarnessError("not recorded: " + "; ".join(failed))


def _order(config: pytest.Config) -> Order:
    variable = option(config, "--art-key-from") or ""
    if not variable:
        raise HarnessError("--art-record needs a key: name its environment variable with --art-key-from")
    return Order(
        scenarios=choose(tuple(option(config, "--art-scenario")), folder_option(config, "--art-scenarios-from")),
        into=cassettes_of(config) or FOLDER,
        source="provider",
        access=Access(
            key=require_key(os.environ.get(variable), variable),
            base_url=option(config, "--art-base-url"),
            model=option(config, "--art-model"),
        ),
    )
