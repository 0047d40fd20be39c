"""Prompts that nobody wrote: made from strategies, searched for failures, shrunk, and rewritten."""
