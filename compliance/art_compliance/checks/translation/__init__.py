"""Translation: the request says what the prompt says."""
