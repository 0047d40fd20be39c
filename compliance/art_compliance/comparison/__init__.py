"""Compares a prompt with what was decoded from the request that an adapter made of it, by meaning.

Every difference names its slot, its place in the prompt and in the payload, and the declared loss that would allow
it. A difference that a repair explains is not listed: the repair is.
"""

from __future__ import annotations

from art_compliance.comparison.constants import NO_CONSTANTS, Constants, Filler, Frame, Notes
from art_compliance.comparison.difference import Comparison, Difference, Expected, Slot
from art_compliance.comparison.names import ToolNames, match_names
from art_compliance.comparison.normal_form import normal_form
from art_compliance.comparison.options import compare_options, expected_options
from art_compliance.comparison.tools import compare_tools
from art_compliance.comparison.turns import compare_turns
from art_compliance.dialects import Decoded
from art_sdk.adapters.capabilities import Repair


def compare(expected: Expected, decoded: Decoded) -> Comparison:
    """The explanation of the decoded request with the fewest differences, and then the fewest repairs."""
    wanted, found = normal_form(expected.prompt), normal_form(decoded.prompt)
    may_rename = "renames_tools" in expected.declared
    names = match_names(expected, decoded, wanted, found) if may_rename else ToolNames({})
    turns = compare_turns(expected, decoded, names.after(wanted), found)
    tools, options = compare_tools(expected, decoded, names), compare_options(expected, decoded, names)
    made: set[Repair] = {*turns.repairs, *tools.repairs, *options.repairs}
    if names.renamed:
        made.add("renames_tools")
    return Comparison((*turns.differences, *tools.differences, *options.differences), frozenset(made))


__all__ = [
    "NO_CONSTANTS",
    "Comparison",
    "Constants",
    "Difference",
    "Expected",
    "Filler",
    "Frame",
    "Notes",
    "Slot",
    "ToolNames",
    "compare",
    "expected_options",
]
