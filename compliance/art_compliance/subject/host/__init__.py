"""An adapter in the process that it runs in: called, interrupted, watched and closed."""
