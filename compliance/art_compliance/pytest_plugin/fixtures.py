"""The fixture `art_adapter` of a test file: what is wrong with it is one message, and not one for every check."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from art_compliance.pytest_plugin.options import leave
from art_compliance.subject.places import describe_error, place_of


def explain_fixtures(config: pytest.Config) -> None:
    """From now on, what the fixture raises ends pytest with one message."""
    config.pluginmanager.register(_Explaining(config))


class _Explaining:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        if fixturedef.argname != "art_adapter":
            return (yield)
        try:
            return (yield)
        except Exception as error:  # noqa: BLE001 - it is the author's
            place = place_of(error)
            leave(
                self._config,
                f"the fixture art_adapter raised {describe_error(error)}" + (f", at {place}" if place else ""),
            )
