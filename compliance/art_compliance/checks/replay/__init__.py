"""Replay: recorded calls, made again without a network."""
