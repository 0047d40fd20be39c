"""HTTP: the SDK's only I/O, and the bytes next to it."""
