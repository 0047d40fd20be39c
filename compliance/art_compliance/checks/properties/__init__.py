"""Properties: laws over generated prompts, answers and dialogues."""
