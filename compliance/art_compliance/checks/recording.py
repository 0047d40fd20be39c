"""A scenario's recorded call: its cassette, who gave its answers, and how to record it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from art_compliance.cassettes import BadCassette, Cassette, Source, load_cassette
from art_compliance.checks.requirements import NotApplicable
from art_compliance.scenarios import Scenario

RecordCommand = Callable[[str, Sequence[str]], str]
"""The command line that records a scenario again, from its id and the options that say who is to answer."""


class Recording:
    """`path` is where the scenario's cassette would be, and `command` makes the command line that records it."""

    def __init__(self, scenario: Scenario, path: Path | None = None, command: RecordCommand | None = None) -> None:
        self._scenario = scenario
        self._path = path
        self._command = command

    @cached_property
    def cassette(self) -> Cassette:
        """The cassette. Raises NotApplicable if there is none, and BadCassette."""
        if self._path is None or not self._path.exists():
            raise NotApplicable("the scenario has no cassette")
        return load_cassette(self._path)

    @property
    def source(self) -> Source | None:
        """Who gave the answers; None where that is unknown, or there is no cassette."""
        try:
            known = self.cassette.provenance
        except (NotApplicable, BadCassette):
            return None
        return None if known is None else known.source

    @property
    def options(self) -> dict[str, Any]:
        """The options of the recorded call, with its model: the adapter itself may choose another."""
        options, known = self._scenario.call_options(), self.cassette.provenance
        if known is not None and known.model is not None:
            options.setdefault("model", known.model)
        return options

    def describe_command(self, source_options: Sequence[str]) -> str:
        """How to record the scenario again; `source_options` say who is to answer."""
        return "art record" if self._command is None else self._command(self._scenario.id, source_options)
