"""Where requests of each format go, as its dialect has it: a new format needs no line in a test for that."""

from __future__ import annotations

from art_compliance.dialects import DIALECTS
from art_compliance.dialects.endpoints import own_endpoint


def path_of(dialect: str, model: str = "m") -> str:
    """The path of an unstreamed request."""
    return own_endpoint(DIALECTS[dialect]).paths[0].format(model=model)


PATHS = {name: path_of(name) for name in DIALECTS}
HOMES = {
    name: f"https://{own_endpoint(dialect).host or '127.0.0.1:8000'}{PATHS[name]}" for name, dialect in DIALECTS.items()
}
"""The URLs at the provider itself."""
