"""What more than one test file needs: a provider on the loopback, and the calls that others recorded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from art_compliance.cassettes.corpus import Found, Unreachable, load_packages, read_package
from art_compliance.provider import LoopbackProvider

PACKAGES = {package.name: package for package in load_packages()}


@cache
def read_once(name: str) -> tuple[Found, ...] | str:
    try:
        return read_package(PACKAGES[name])
    except Unreachable as error:
        return str(error)


@pytest.fixture(params=PACKAGES)
def packaged(request: pytest.FixtureRequest) -> tuple[Found, ...]:
    """Every recorded call of a package. Skips where the index cannot be asked, with what it said."""
    found = read_once(request.param)
    if isinstance(found, str):
        pytest.skip(f"the corpus is not to be had: {found}")
    return found


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    """A provider on the loopback that answers every request."""
    with LoopbackProvider() as server:
        yield server
