"""Every check, in the order in which they run: one module a group, one decorated function a check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from art_compliance.checks import (
    asking_again,
    canary,
    conservation,
    failures,
    faults,
    laws,
    live,
    load,
    payload,
    pieces,
    preflight,
    properties,
    replay,
    response,
    rules,
    stream,
    waiting,
    ways,
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
    ways,
    failures,
    stream,
    pieces,
    waiting,
    faults,
    asking_again,
    load,
    replay,
    live,
)

_ALL: Final = (*(one for module in _MODULES for one in checks_of(module)), *properties.CHECKS)

CHECKS: Final[Mapping[str, Check]] = {
    check.id: check for check in sorted(_ALL, key=lambda check: STAGES.index(check.stage))
}

__all__ = ["CHECKS", "STAGES", "Check", "NotApplicable", "Trial"]
