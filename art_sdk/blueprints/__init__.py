"""The prompt assembler: a Mustache blueprint and a context become an `ArtStandardPrompt`."""
