"""One certification, from the selection to the report."""
