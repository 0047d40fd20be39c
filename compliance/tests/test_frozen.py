"""Values that checks and dialects share are frozen: they run in parallel, and none may change what another reads."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest
from msgspec import Struct

from art_compliance import checks, dialects

GROWS = {"Exploration", "RecordedCall"}
"""Values that are filled while they are made, when nobody else reads them."""


def structs_of(package: ModuleType) -> Iterator[type[Struct]]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(found.name)).values():
            if isinstance(value, type) and issubclass(value, Struct) and value.__module__ == found.name:
                yield value


@pytest.mark.parametrize("package", [checks, dialects], ids=lambda package: package.__name__)
def test_shared_values_are_frozen(package: ModuleType):
    known = list(structs_of(package))
    assert len(known) > 3
    assert {one.__name__ for one in known if not one.__struct_config__.frozen} <= GROWS
