"""The chat completions family: one wire format, one file of data per provider."""
