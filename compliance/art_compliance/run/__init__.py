"""One certification, from selection to report."""
