"""The scenarios that a real provider is asked if none is named: real calls cost money and time."""

from __future__ import annotations

import tomllib
from functools import cache

from art_compliance.resources import data_folder


@cache
def live_scenarios() -> tuple[str, ...]:
    """Their ids, from `fixtures/live-scenarios.toml`: each is short and covers something of its own."""
    text = (data_folder("fixtures") / "live-scenarios.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["scenarios"])
