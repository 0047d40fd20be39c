"""Every check, in the order in which they run: one folder per stage, one decorated function per check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from art_compliance.checks import (
    addressing,
    agent,
    choices,
    failing,
    forms,
    live,
    payload,
    preflight,
    reported,
    times,
    wire,
)
from art_compliance.checks.base import Check, checks_of, in_order
from art_compliance.checks.faults import agreement, connecting, errors, retries, time_limits
from art_compliance.checks.load import (
    closed,
    concurrency,
    conversations,
    earlier,
    growth,
    isolation,
    leftovers,
    loops,
    memory,
    readers,
    settings,
    surroundings,
)
from art_compliance.checks.properties import laws as properties
from art_compliance.checks.replay import replaying
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.response import calling, delays, edited, failures, names, reading, refusals, unsupported
from art_compliance.checks.stages import STAGES
from art_compliance.checks.stream import answers, closing, methods, pieces
from art_compliance.checks.translation import (
    beside,
    canary,
    chosen,
    conservation,
    declared,
    demanding,
    laws,
    likeness,
    models,
    pairs,
    prefixes,
)
from art_compliance.checks.trial import Trial

_MODULES: Final = (
    preflight,
    wire,
    addressing,
    conservation,
    laws,
    prefixes,
    declared,
    demanding,
    likeness,
    models,
    pairs,
    chosen,
    beside,
    canary,
    payload,
    reading,
    edited,
    names,
    calling,
    failures,
    delays,
    refusals,
    unsupported,
    answers,
    closing,
    pieces,
    methods,
    forms,
    choices,
    failing,
    reported,
    times,
    time_limits,
    errors,
    retries,
    agreement,
    connecting,
    agent,
    concurrency,
    memory,
    growth,
    loops,
    readers,
    isolation,
    closed,
    conversations,
    earlier,
    settings,
    leftovers,
    surroundings,
    replaying,
    live,
)

CHECKS: Final[Mapping[str, Check]] = in_order(
    (*(one for module in _MODULES for one in checks_of(module)), *properties.CHECKS)
)

__all__ = ["CHECKS", "STAGES", "Check", "NotApplicable", "Trial"]
