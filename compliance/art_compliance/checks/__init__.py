"""Every check, in the order in which they run: one module a group, one decorated function a check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from art_compliance.checks import (
    canary,
    conservation,
    failures,
    faults,
    laws,
    load,
    payload,
    preflight,
    properties,
    response,
    rules,
    stream,
    wire,
)
from art_compliance.checks.base import STAGES, Check, checks_of
from art_compliance.checks.trial import NotApplicable, Trial

_MODULES: Final = (
    preflight,
    conservation,
    laws,
    canary,
    wire,
    rules,
    payload,
    response,
    failures,
    stream,
    faults,
    load,
)

CHECKS: Final[Mapping[str, Check]] = {
    check.id: check for check in (*(one for module in _MODULES for one in checks_of(module)), *properties.CHECKS)
}

__all__ = ["CHECKS", "STAGES", "Check", "NotApplicable", "Trial"]
