"""What is different between a prompt and what was decoded from the request that an adapter made of it.

Every difference names its slot, the place in the prompt, the place in the payload, and the declared
loss that would allow it. What a declared repair explains is no difference: it is a repair seen.
"""

from __future__ import annotations

from art_compliance.comparison.difference import Comparison, Difference, Expected, Slot
from art_compliance.comparison.options import compare_options
from art_compliance.comparison.repairs import READINGS
from art_compliance.comparison.tools import compare_tools
from art_compliance.comparison.turns import Reading
from art_compliance.dialects import Decoded


def compare(expected: Expected, decoded: Decoded) -> Comparison:
    """The explanation of the decoded request with the fewest differences, and then the fewest repairs."""
    told = Reading(expected, decoded, frozenset()).told()
    if told.differences:
        readings = (Reading(expected, decoded, repairs).told() for repairs in READINGS)
        told = min(readings, key=lambda comparison: comparison.weight)
    rest = (*compare_tools(expected, decoded), *compare_options(expected, decoded))
    return Comparison((*told.differences, *rest), told.repairs)


__all__ = ["Comparison", "Difference", "Expected", "Slot", "compare"]
