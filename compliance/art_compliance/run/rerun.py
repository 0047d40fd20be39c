"""The command lines that run a check again, and that record a cassette again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from art_compliance.generating.profiles import DEFAULT_PROFILE, Search
from art_compliance.run.selection import FOLDER, Selection, with_own_cassettes
from art_compliance.subject.access import Access


class Rerun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings of a run: the adapter's name, the seed, and what differs from the defaults.

    `live` are the options that only checks on the real provider need. `test` is the test function, as an argument of
    pytest, that certifies the adapter of a fixture: the adapter may have no name there. `endpoint` are the options that
    name a server which is examined alone: its requests are named like scenarios.
    """

    adapter: str
    seed: int
    dialect: str | None = None
    scenarios_from: str | None = None
    cassettes: str | None = None
    profile: str = DEFAULT_PROFILE.name
    in_process: bool = False
    preview: bool = False
    live: tuple[str, ...] = ()
    test: str | None = None
    endpoint: tuple[str, ...] = ()

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers of each request to a server."""
        words = zip(self.endpoint, self.endpoint[1:], strict=False)
        return tuple(value for option, value in words if option == "--header")

    def command(self, check: str, scenario: str) -> str:
        """The shell command that runs one check on one scenario again."""
        if self.endpoint:
            return shlex.join(["art", "certify", *self.endpoint, "--scenario", scenario])
        options = [*self._options(), "--check", check, "--scenario", scenario]
        if self.test is not None:
            under_pytest = (f"--art-{word[2:]}" if word.startswith("--") else word for word in options)
            return shlex.join(["pytest", self.test, *under_pytest])
        live = self.live if check.startswith("live.") else ()
        return shlex.join(["art", "certify", self.adapter, *live, *options])

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
        if self.in_process:
            yield "--in-process"
        if self.preview:
            yield "--preview"
        yield from ("--seed", str(self.seed))

    def _scope(self) -> Iterator[str]:
        if self.dialect is not None:
            yield from ("--dialect", self.dialect)
        if self.scenarios_from is not None:
            yield from ("--scenarios-from", self.scenarios_from)


def rerun_of(
    name: str, seed: int, dialect: str | None, selection: Selection, search: Search, factory_name: str = ""
) -> Rerun:
    """The settings of a run on the adapter with this name; `factory_name` is its factory's, where that is known."""
    found = with_own_cassettes(structs.replace(selection, cassettes=None), factory_name).cassettes
    usual = (None, FOLDER, found)  # what is found without being named
    return Rerun(
        adapter=name,
        seed=seed,
        dialect=dialect,
        scenarios_from=str(selection.extra) if selection.extra else None,
        cassettes=None if selection.cassettes in usual else str(selection.cassettes),
        profile=search.profile.name,
        preview=selection.preview,
        live=() if selection.live is None else tuple(_live_options(selection.live)),
    )


def _live_options(access: Access) -> Iterator[str]:
    yield "--live"
    named = {"--key-from": access.variable, "--base-url": access.base_url, "--model": access.model}
    for option, value in named.items():
        if value is not None:
            yield from (option, value)
