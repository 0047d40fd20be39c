"""The adapter under test: how it is found, opened, called and observed."""
