"""Which rules a request breaks."""

from __future__ import annotations

from typing import Any

from art_compliance.judging.rulebook import judge_rules


def broken_rules(dialect: str, payload: Any, url: str | None = None, version: str | None = None) -> set[str]:
    """The ids of the rules of which the request has a finding."""
    found = judge_rules(dialect, payload, url=url, version=version)
    return {finding.message.partition(": ")[0] for finding in found}
