"""Every check, in the order in which they run: one folder per stage, one decorated function per check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from art_compliance.checks import live, load, payload, preflight, wire
from art_compliance.checks.base import Check, checks_of, in_order
from art_compliance.checks.faults import errors, retries, time_limits
from art_compliance.checks.properties import laws as properties
from art_compliance.checks.replay import replaying
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.response import calling, failures, reading
from art_compliance.checks.stages import STAGES
from art_compliance.checks.stream import answers, closing, pieces
from art_compliance.checks.translation import canary, conservation, laws
from art_compliance.checks.trial import Trial

_MODULES: Final = (
    preflight,
    conservation,
    laws,
    canary,
    wire,
    payload,
    reading,
    calling,
    failures,
    answers,
    closing,
    pieces,
    time_limits,
    errors,
    retries,
    load,
    replaying,
    live,
)

CHECKS: Final[Mapping[str, Check]] = in_order(
    (*(one for module in _MODULES for one in checks_of(module)), *properties.CHECKS)
)

__all__ = ["CHECKS", "STAGES", "Check", "NotApplicable", "Trial"]
