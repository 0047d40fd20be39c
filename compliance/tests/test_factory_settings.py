"""Which settings of a factory are known: those that it names itself, or hands on to a base that names them."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.miniatures import find_miniature
from art_compliance.subject.factories import find_factory
from art_compliance.subject.settings import find_settings
from art_sdk import OpenAICompatibleAdapter


class OfOwn:
    def __init__(self, *, api_key: str, default_headers: Any = None, max_retries: int = 2, headers: Any = None) -> None:
        del api_key, default_headers, max_retries, headers


class HandsOn(OfOwn):
    def __init__(self, *, name: str = "", **others: Any) -> None:
        del name
        super().__init__(**others)


class TakesNone(OfOwn):
    def __init__(self, api_key: str) -> None:
        super().__init__(api_key=api_key)


class Derived(OpenAICompatibleAdapter):
    pass


ALL = {"headers": "headers", "retries": "retries", "timeouts": "timeouts"}


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (OfOwn, {"headers": "headers", "retries": "max_retries"}),
        (HandsOn, {"headers": "headers", "retries": "max_retries"}),
        (TakesNone, {}),
        (lambda **settings: settings, {}),
        (lambda *retries: retries, {}),
        (lambda api_key, default_headers=None: (api_key, default_headers), {"headers": "default_headers"}),
        (dict, {}),
        (7, {}),
        (Derived, ALL),
        (find_miniature("shares-headers").of(find_factory("openai")), ALL),
    ],
    ids=(
        "its own",
        "a base's",
        "none",
        "any",
        "some",
        "of a function",
        "not in Python",
        "no factory",
        "kept",
        "spoiled",
    ),
)
def test_a_factory_s_settings_are_those_that_it_names(make: Any, settings: dict[str, str]):
    assert find_settings(make) == settings
