"""The baseline: failures that an author knows, with their reasons. They do not fail a run, and must go on failing."""

from __future__ import annotations

from art_compliance.run.baseline.entries import NO_BASELINE, Baseline, Entry
from art_compliance.run.baseline.options import BaselineOptions
from art_compliance.run.baseline.reading import read_baseline
from art_compliance.run.baseline.strictness import use_of, use_of_examination
from art_compliance.run.baseline.writing import is_red_after_writing

__all__ = [
    "NO_BASELINE",
    "Baseline",
    "BaselineOptions",
    "Entry",
    "is_red_after_writing",
    "read_baseline",
    "use_of",
    "use_of_examination",
]
