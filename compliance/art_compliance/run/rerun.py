"""The command lines that run a check again, and that record a cassette again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from msgspec import Struct

from art_compliance.generating.profiles import DEFAULT_PROFILE


class Rerun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings of a run: the adapter's name, the seed, and what differs from the defaults."""

    adapter: str
    seed: int
    dialect: str | None = None
    scenarios_from: str | None = None
    cassettes: str | None = None
    profile: str = DEFAULT_PROFILE.name

    def command(self, check: str, scenario: str) -> str:
        """The shell command that runs one check on one scenario again."""
        return shlex.join(["art", "certify", self.adapter, *self._options(), "--check", check, "--scenario", scenario])

    def recording(self, scenario: str, source_options: Sequence[str]) -> str:
        """The shell command that records one scenario again; `source_options` say who is to answer."""
        into = () if self.cassettes is None else ("--into", self.cassettes)
        command = ["art", "record", self.adapter, *self._scope()]
        return shlex.join([*command, "--scenarios", scenario, *source_options, *into])

    def _options(self) -> Iterator[str]:
        yield from self._scope()
        if self.cassettes is not None:
            yield from ("--cassettes", self.cassettes)
        if self.profile != DEFAULT_PROFILE.name:
            yield from ("--profile", self.profile)
        yield from ("--seed", str(self.seed))

    def _scope(self) -> Iterator[str]:
        if self.dialect is not None:
            yield from ("--dialect", self.dialect)
        if self.scenarios_from is not None:
            yield from ("--scenarios-from", self.scenarios_from)
