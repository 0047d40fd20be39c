"""Cassettes: provider calls, recorded and replayed.

Only `recording` imports vcrpy. `reading` reads a cassette, `parts` its calls, `compression` and `bodies` what they
sent. `writing` writes one, after `scrubbing` has removed the secrets and `scanning` has looked for any that are left.
`matching` decides whether a request is the recorded one, and `provenance` says who answered.
"""

from __future__ import annotations

from art_compliance.cassettes.errors import BadCassette, ContainsSecret
from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.provenance import RECORDED_REALITY, SOURCES, Provenance, Source, scenario_digest
from art_compliance.cassettes.reading import Cassette, load_cassette, read_cassette
from art_compliance.cassettes.writing import write_cassette

__all__ = [
    "RECORDED_REALITY",
    "SOURCES",
    "BadCassette",
    "Cassette",
    "ContainsSecret",
    "Exchange",
    "Provenance",
    "Source",
    "load_cassette",
    "read_cassette",
    "scenario_digest",
    "write_cassette",
]
