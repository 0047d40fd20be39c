"""Where a cassette comes from: what it says of itself, and what of that counts as reality."""

from __future__ import annotations

import hashlib
import json
from typing import Final, Literal, get_args

import msgspec
from msgspec import Struct, field

from art_compliance.scenarios import Scenario
from art_sdk.json_data import is_object

Source = Literal["provider", "provider, recorded by others", "local engine", "strict provider"]
"""Who gave the answers that a cassette holds."""

SOURCES: Final[tuple[Source, ...]] = get_args(Source)

RECORDED_REALITY: Final[frozenset[Source]] = frozenset(SOURCES) - {"strict provider"}
"""The sources that prove something of the world outside; the suite's own provider proves that nothing changed."""

KEY: Final = "art"
"""Under this name the provenance stands in a cassette's `metadata`, which vcrpy keeps as it is."""


class Provenance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a cassette was made. `date` is the day in UTC, `digest` the scenario's when it was recorded.

    `versions` names the Python, the HTTP client, the distribution of the adapter and the engine; `suite` is the
    suite's own. `matched_on` says what a request must have in common with the recorded one.
    """

    source: Source
    date: str
    adapter: str
    model: str | None
    scenario: str
    digest: str
    suite: str
    versions: dict[str, str] = field(default_factory=dict[str, str])
    matched_on: Literal["normal form"] = "normal form"

    @property
    def is_reality(self) -> bool:
        """Whether somebody outside of this suite gave the answers."""
        return self.source in RECORDED_REALITY


def scenario_digest(scenario: Scenario) -> str:
    """A digest of what a request depends on: the prompt and the options. The purpose may be reworded."""
    told = json.dumps([scenario.prompt, scenario.options], sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def read_provenance(data: object) -> Provenance:
    """The provenance that stands in a cassette. Raises ValueError, naming the field that is wrong."""
    source: object = data.get("source") if is_object(data) else None
    if source is not None and source not in SOURCES:
        message = f"its source is {source!r}; known: {'; '.join(SOURCES)}"
        raise ValueError(message)
    return msgspec.convert(data, Provenance)
