"""What goes wrong between a provider and its client, as a table: each fault makes a script of a good answer.

A fault may be benign: the answer is still there, and must be read whole. `find_fault` knows the faults of the
table and those that are told with a number: `cut-after-event-3` and its like.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from art_compliance.findings import HarnessError
from art_compliance.provider.faults.base import BOTH, STREAMED, Fault, Good, good_answer
from art_compliance.provider.faults.bodies import LONG, RETRY_AFTER
from art_compliance.provider.faults.numbered import NUMBERED, faults_at_events, numbered_fault
from art_compliance.provider.faults.table import FAULTS, STEADY


def find_fault(name: str) -> Fault:
    """The fault of that name. Raises HarnessError with those that there are."""
    if name in FAULTS:
        return FAULTS[name]
    told = re.fullmatch(r"(.+)-([1-9][0-9]{0,5})", name)
    if told is not None and told[1] in NUMBERED:
        return numbered_fault(told[1], int(told[2]))
    known = (*FAULTS, *(f"{kind}-N" for kind in NUMBERED))
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
    raise HarnessError(f"there is no fault {name!r}{hint}")


__all__ = [
    "BOTH",
    "FAULTS",
    "LONG",
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
