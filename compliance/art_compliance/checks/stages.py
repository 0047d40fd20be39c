"""The stages of a certification, in their order, and what is special about each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from art_compliance.findings import FindingClass
from art_compliance.scenarios import Level


class Stage(Struct, frozen=True, kw_only=True):
    """How the checks of a stage are run, and what their results count for."""

    name: str
    finding_class: FindingClass
    """The class of what its checks find, where neither the check nor the problem says otherwise."""
    level: Level | None = None
    """The level that it counts for. Without one that is `tools` on scenarios that use tools, and `core` on others."""
    stops_the_run: bool = False
    """Whether a failure is a harness error, after which no other stage is run."""
    reads_answers: bool = False
    """Whether it runs only on scenarios that have an answer."""
    counts_refusals: bool = False
    """Whether prompts that the adapter may refuse count for `level`. In other stages they count for `core`."""
    replays_cassettes: bool = False
    """Whether its results name the cassette, and who gave the answers in it."""


STAGES: Final[Mapping[str, Stage]] = {
    stage.name: stage
    for stage in (
        Stage(name="preflight", finding_class="contract", stops_the_run=True),
        Stage(name="translation", finding_class="loss"),
        Stage(name="wire", finding_class="refused"),
        Stage(name="payload", finding_class="contract"),
        Stage(name="response", finding_class="loss", reads_answers=True),
        Stage(name="stream", finding_class="loss", level="streaming", reads_answers=True),
        Stage(name="agent", finding_class="loss", level="tools"),
        Stage(name="faults", finding_class="contract", level="resilience"),
        Stage(name="load", finding_class="loss", level="resilience"),
        Stage(name="properties", finding_class="loss", level="properties"),
        Stage(name="replay", finding_class="loss", level="replay", counts_refusals=True, replays_cassettes=True),
        Stage(name="live", finding_class="loss", level="live", counts_refusals=True),
    )
}
