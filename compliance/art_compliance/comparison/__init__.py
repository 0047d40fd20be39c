"""Compares a prompt with what was decoded from the request that an adapter made of it, by meaning.

Every difference names its slot, its place in the prompt and in the payload, and the declared loss that would allow
it. A difference that a repair explains is not listed: the repair is.
"""

from __future__ import annotations

from art_compliance.comparison.difference import Comparison, Difference, Expected, Slot
from art_compliance.comparison.options import compare_options, expected_options
from art_compliance.comparison.repairs import TURN_REPAIRS
from art_compliance.comparison.tools import compare_tools
from art_compliance.comparison.turns import compare_turns
from art_compliance.dialects import Decoded


def compare(expected: Expected, decoded: Decoded) -> Comparison:
    """The explanation of the decoded request with the fewest differences, and then the fewest repairs."""
    turns = compare_turns(expected, decoded, frozenset())
    if turns.differences:
        explanations = (compare_turns(expected, decoded, repairs) for repairs in TURN_REPAIRS)
        turns = min(explanations, key=lambda comparison: comparison.weight)
    rest = (*compare_tools(expected, decoded), *compare_options(expected, decoded))
    return Comparison((*turns.differences, *rest), turns.repairs)


__all__ = ["Comparison", "Difference", "Expected", "Slot", "compare", "expected_options"]
