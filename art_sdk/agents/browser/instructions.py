"""What every prompt tells the model to do, and how to reason."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from art_sdk.agents.browser.models import InstructionSection
from art_sdk.agents.browser.options import EffectiveOptions

GUIDELINES: Final = (
    "Act only on elements that are in the outline.",
    "Do one thing at a time: the next page tells you what it did.",
    "If the page shows an error, deal with it before you go on.",
    "Never type a secret as text: use its name.",
)

REASONING: Final = MappingProxyType(
    {
        "basic": "one sentence.",
        "detailed": "what you see, what the step needs, and why this action brings it about.",
        "comprehensive": "what you see, what the step needs, which other actions would do, what could go wrong with "
        "this one, and why it is the best.",
    }
)
"""How to reason, by the depth that is asked for."""


def instruction_section(step: str, custom: str | None, options: EffectiveOptions) -> InstructionSection:
    """The section for a step."""
    return InstructionSection(
        step_instruction=step,
        guidelines=GUIDELINES,
        reasoning_requirement=REASONING[options.reasoning_depth],
        custom_instructions=custom,
    )
