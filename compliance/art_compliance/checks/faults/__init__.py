"""Faults: what the network and the provider do wrong becomes an error, in time."""
