"""Hypothesis strategies, one module per subject. `art_compliance.strategies` exports the public ones."""
