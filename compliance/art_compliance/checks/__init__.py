"""Every check, in the order in which they run: one folder per stage, one decorated function per check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from art_compliance.checks import live, load, payload, preflight, rules, wire
from art_compliance.checks.base import STAGES, Check, checks_of
from art_compliance.checks.faults import errors, retries, time_limits
from art_compliance.checks.properties import laws as properties
from art_compliance.checks.replay import replaying
from art_compliance.checks.response import calling, failures, reading
from art_compliance.checks.stream import answers, pieces
from art_compliance.checks.translation import canary, conservation, laws
from art_compliance.checks.trial import NotApplicable, Trial

_MODULES: Final = (
    preflight,
    conservation,
    laws,
    canary,
    wire,
    rules,
    payload,
    reading,
    calling,
    failures,
    answers,
    pieces,
    time_limits,
    errors,
    retries,
    load,
    replaying,
    live,
)

_ALL: Final = (*(one for module in _MODULES for one in checks_of(module)), *properties.CHECKS)

CHECKS: Final[Mapping[str, Check]] = {
    check.id: check for check in sorted(_ALL, key=lambda check: STAGES.index(check.stage))
}

__all__ = ["CHECKS", "STAGES", "Check", "NotApplicable", "Trial"]
