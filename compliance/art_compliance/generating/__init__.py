"""Generated prompts: made from strategies, searched for failures, shrunk, and rewritten."""
