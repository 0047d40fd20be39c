"""Cohere's chat API, version 2."""
