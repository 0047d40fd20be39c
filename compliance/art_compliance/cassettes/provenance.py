"""Where a cassette comes from, and whether it proves anything about real providers."""

from __future__ import annotations

import hashlib
import json
from typing import Final, Literal, get_args

import msgspec
from msgspec import Struct, field

from art_compliance.quoting import AT_LENGTH, shorten, show
from art_compliance.scenarios import Scenario
from art_sdk.json_data import is_object

Source = Literal["provider", "provider, recorded by others", "local engine", "strict provider"]
"""Who gave the answers in a cassette."""

SOURCES: Final[tuple[Source, ...]] = get_args(Source)

RECORDED_REALITY: Final[frozenset[Source]] = frozenset(SOURCES) - {"strict provider"}
"""The sources outside this suite. Answers of the suite's own provider only prove that nothing has changed."""

KEY: Final = "art"
"""The provenance's name in a cassette's `metadata`, which vcrpy does not touch."""


class Provenance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a cassette was made.

    `date` is the day in UTC, and `digest` the digest of the scenario at that time. `versions` has the versions of
    Python, the HTTP client, the adapter's distribution and the engine; `suite` is the suite's version. `matched_on`
    says what a request must have in common with the recorded one.
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
        """Whether the answers come from outside this suite."""
        return self.source in RECORDED_REALITY


def scenario_digest(scenario: Scenario) -> str:
    """A digest of the prompt and the options, on which a request depends. The purpose may be reworded."""
    text = json.dumps([scenario.prompt, scenario.options], sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def read_provenance(data: object) -> Provenance:
    """The provenance in a cassette's metadata. Raises ValueError, which names the wrong field."""
    source: object = data.get("source") if is_object(data) else None
    if isinstance(source, str) and source not in SOURCES:
        raise ValueError(f"its source is {show(source)}; known: {'; '.join(SOURCES)}")
    try:
        return msgspec.convert(data, Provenance)
    except msgspec.ValidationError as error:
        raise ValueError(shorten(str(error), AT_LENGTH)) from error
