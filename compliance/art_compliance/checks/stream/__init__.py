"""Stream: an answer that comes in pieces is the answer that comes whole."""
