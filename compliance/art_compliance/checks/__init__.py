"""Every check, in the order in which they run: one module a group, one decorated function a check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from art_compliance.checks import (
    canary,
    conservation,
    failures,
    laws,
    live,
    payload,
    preflight,
    replay,
    response,
    rules,
    wire,
)
from art_compliance.checks.base import STAGES, Check, checks_of
from art_compliance.checks.trial import NotApplicable, Trial

_MODULES: Final = (preflight, conservation, laws, canary, wire, rules, payload, response, failures, replay, live)

CHECKS: Final[Mapping[str, Check]] = {check.id: check for module in _MODULES for check in checks_of(module)}

__all__ = ["CHECKS", "STAGES", "Check", "NotApplicable", "Trial"]
