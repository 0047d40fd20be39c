"""Load: many calls, at once and one after the other, through one adapter and through several."""
