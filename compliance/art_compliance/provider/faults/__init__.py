"""What goes wrong between a provider and its client, as a table: each fault turns a good answer into a script.

A benign fault leaves the answer complete, and clients must read it. `find_fault` knows the faults of the table and
those with a number, such as `cut-after-event-3`.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from art_compliance.findings import HarnessError
from art_compliance.provider.faults.base import BOTH, STREAMED, Fault, Good, good_answer
from art_compliance.provider.faults.bodies import LONG, RETRY_AFTER
from art_compliance.provider.faults.numbered import NUMBERED, faults_at_events, numbered_fault
from art_compliance.provider.faults.table import FAULTS, KEPT_ALIVE, LATE, PAUSED, STEADY


def find_fault(name: str) -> Fault:
    """The fault of that name. Raises HarnessError, which names similar or all faults."""
    if name in FAULTS:
        return FAULTS[name]
    numbered = re.fullmatch(r"(.+)-([1-9][0-9]{0,5})", name)
    if numbered is not None and numbered[1] in NUMBERED:
        return numbered_fault(numbered[1], int(numbered[2]))
    known = (*FAULTS, *(f"{kind}-N" for kind in NUMBERED))
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
    raise HarnessError(f"unknown fault {name!r}{hint}")


__all__ = [
    "BOTH",
    "FAULTS",
    "KEPT_ALIVE",
    "LATE",
    "LONG",
    "PAUSED",
    "RETRY_AFTER",
    "STEADY",
    "STREAMED",
    "Fault",
    "Good",
    "faults_at_events",
    "find_fault",
    "good_answer",
    "numbered_fault",
]
