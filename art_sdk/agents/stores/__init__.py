"""Where an agent keeps threads: their settings and their conversations."""
