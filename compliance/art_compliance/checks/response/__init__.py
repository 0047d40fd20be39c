"""Response: an unstreamed answer is read whole."""
