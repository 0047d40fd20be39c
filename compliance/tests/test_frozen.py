"""What checks and dialects share is frozen: they run beside each other, and no one changes what another reads."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest
from msgspec import Struct

from art_compliance import checks, dialects

GROWS = {"Exploration", "RecordedCall"}
"""What is filled while it is made, and read by nobody else meanwhile."""


def structs_of(package: ModuleType) -> Iterator[type[Struct]]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(found.name)).values():
            if isinstance(value, type) and issubclass(value, Struct) and value.__module__ == found.name:
                yield value


@pytest.mark.parametrize("package", [checks, dialects], ids=lambda package: package.__name__)
def test_what_is_shared_is_frozen(package: ModuleType):
    known = list(structs_of(package))
    assert len(known) > 3
    assert {one.__name__ for one in known if not one.__struct_config__.frozen} <= GROWS
