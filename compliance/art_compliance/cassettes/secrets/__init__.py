"""What looks like a secret: the tables of shapes, and what finds and removes them in a text.

`shapes` has the keys that begin with letters of their own, `frames` what is known by its surroundings, and `addresses`
which of the matches are harmless. `codings` undoes base64 and other encodings, `cleaning` puts all of it together, and
`streams` joins what a stream split over its events.
"""

from __future__ import annotations

from art_compliance.cassettes.secrets.changes import REDACTED, Change
from art_compliance.cassettes.secrets.cleaning import Cleaner, spellings
from art_compliance.cassettes.secrets.codings import read_bytes, unescape
from art_compliance.cassettes.secrets.randomness import looks_random
from art_compliance.cassettes.secrets.streams import join_events

__all__ = ["REDACTED", "Change", "Cleaner", "join_events", "looks_random", "read_bytes", "spellings", "unescape"]
