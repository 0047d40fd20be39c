"""Choices that depend on the seed alone.

Hypothesis 6 mixes constants into its choices which it finds in the source of whatever modules are loaded
(`hypothesis.internal.conjecture.providers`), so that one seed gives other prompts under pytest than in a
command. A backend of ours, a way to draw that Hypothesis has a place for, leaves such constants out: the
strategies bring their own.
"""

from __future__ import annotations

from typing import Any, Final

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

NAME: Final = "art-compliance"


class SeededProvider(HypothesisProvider):
    """Draws as Hypothesis does, but for the constants."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> Any:
        return None


def backend() -> str:
    """The name under which Hypothesis knows how to draw by the seed alone."""
    AVAILABLE_PROVIDERS[NAME] = SeededProvider
    return NAME
