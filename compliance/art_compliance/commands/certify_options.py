"""The options of `art certify`, and the values that they become."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec import Struct

from art_compliance.commands.gateways import AskedGateway
from art_compliance.commands.options import Adapters, DialectOfAdapter, find_access, find_names
from art_compliance.generating.profiles import Search, find_profile
from art_compliance.run.baseline import BaselineOptions
from art_compliance.run.ending import MOST_SECONDS
from art_compliance.run.selection import Selection, find_cassettes
from art_compliance.run.settings import Settings
from art_compliance.run.sharding import read_shard
from art_compliance.subject.gateways import PORT

KEPT: Final = Path(".art")
"""The folder for failing prompts, in the author's repository."""

_gateway: Final = partial(typer.Option, rich_help_panel="A gateway or a server")
_selection: Final = partial(typer.Option, rich_help_panel="What to run")
_provider: Final = partial(typer.Option, rich_help_panel="The real provider")
_known: Final = partial(typer.Option, rich_help_panel="Known failures")
_output: Final = partial(typer.Option, rich_help_panel="Output")

Texts = list[str] | None
"""What typer gives for an option that may be repeated."""


class CertifyOptions(Struct, frozen=True, kw_only=True):
    """The options as typer reads them: see `taking`."""

    adapters: Adapters = None
    built_in: Annotated[bool, typer.Option("--built-in", help="Certify every reference adapter.")] = False
    dialect: DialectOfAdapter = None
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Run the adapter in this process, as debuggers need it.")
    ] = False
    jobs: Annotated[
        int | None, typer.Option(min=1, help="How many adapters to certify, or requests to send to a server, at once.")
    ] = None
    time_limit: Annotated[float, typer.Option(min=0, help="The seconds that one adapter or server may take.")] = (
        MOST_SECONDS
    )

    gateway: Annotated[str | None, _gateway(help="Certify the gateway at this URL, with --speaks and --to.")] = None
    endpoint: Annotated[str | None, _gateway(help="Examine the server at this URL, with --speaks.")] = None
    speaks: Annotated[
        str | None, _gateway(help="With --gateway or --endpoint: the wire format that it is called in.")
    ] = None
    to: Annotated[str | None, _gateway(help="With --gateway: the wire format that it calls its provider in.")] = None
    provider_port: Annotated[
        int | None, _gateway(help=f"With --gateway: the strict provider's port; {PORT} if not given.")
    ] = None
    allow: Annotated[Texts, _gateway(help="With --gateway: a loss or repair it admits (repeatable).")] = None
    without: Annotated[
        Texts, _gateway(help="With --gateway or --endpoint: a capability it does not have (repeatable).")
    ] = None

    header: Annotated[
        Texts, _gateway(help="With --gateway or --endpoint: a header of each request, 'name: value' (repeatable).")
    ] = None

    check: Annotated[Texts, _selection(help="Run only this check (repeatable).")] = None
    skip: Annotated[Texts, _selection(help="Do not run this check (repeatable).")] = None
    level: Annotated[Texts, _selection(help="Run only what counts for this level (repeatable).")] = None
    scenario: Annotated[Texts, _selection(help="Run only this scenario (repeatable).")] = None
    scenarios_from: Annotated[Path | None, _selection(help="Also run the scenarios in this folder.")] = None
    cassettes: Annotated[Path | None, _selection(help="Your recorded calls; ./cassettes if it exists.")] = None
    seed: Annotated[int | None, _selection(help="The seed of all random choices; random if not given.")] = None
    profile: Annotated[str | None, _selection(help="How long to search: quick, default or thorough.")] = None
    preview: Annotated[
        bool, _selection("--preview", help="Also count checks that are newer than the requirement set.")
    ] = False
    fail_fast: Annotated[bool, _selection("--fail-fast", "-x", help="Stop at the first failure.")] = False
    shard: Annotated[
        str | None, _selection(help="Run one part of several, as 2/3; art merge combines their reports.")
    ] = None
    sensitivity: Annotated[bool, _selection("--sensitivity", help="Only count which faults this run would find.")] = (
        False
    )

    live: Annotated[bool, _provider("--live", help="Also call the real provider, with a key.")] = False
    key_from: Annotated[
        str, _provider(help="With --live, --gateway or --endpoint: the environment variable with the key.")
    ] = ""
    base_url: Annotated[str | None, _provider(help="With --live: the provider's URL, if not the usual one.")] = None
    model: Annotated[
        str | None, _provider(help="With --live, --gateway or --endpoint: the model, if not the adapter's default.")
    ] = None

    baseline: Annotated[Path | None, _known(help="The known failures; ./art-baseline.toml if it exists.")] = None
    no_baseline: Annotated[bool, _known("--no-baseline", help="Ignore the baseline: its failures count.")] = False
    baseline_write: Annotated[
        bool, _known("--baseline-write", help="Write the failures of this run into the baseline.")
    ] = False

    report: Annotated[Path, _output(help="The folder to write report.json into.")] = Path("art-report")
    verbose: Annotated[bool, _output("--verbose", "-v", help="Show every failure in full.")] = False
    quiet: Annotated[bool, _output("--quiet", "-q", help="Show only the verdicts.")] = False

    def names(self, settings: Settings) -> list[str]:
        """The adapters to certify, with the gateway if one is named. Raises HarnessError."""
        asked = AskedGateway(
            url=self.gateway,
            speaks=self.speaks,
            to=self.to,
            provider_port=self.provider_port,
            allow=self.allow,
            without=self.without,
            header=self.header,
            key_from=self.key_from,
            model=self.model,
        )
        named = [*(self.adapters or ()), *asked.names(is_live=self.live, dialect=self.dialect)]
        return find_names(named, settings, built_in=self.built_in)

    def dialect_for(self, name: str, settings: Settings) -> str | None:
        """The wire format of the adapter, if it is not the one that the adapter declares."""
        return self.dialect or settings.dialect_for(name)

    def selection(self, settings: Settings) -> Selection:
        """What to run. Raises HarnessError."""
        return Selection(
            checks=tuple(self.check or ()),
            scenarios=tuple(self.scenario or ()),
            skipped=tuple(self.skip or ()),
            levels=tuple(self.level or ()),
            fail_fast=self.fail_fast,
            extra=self.scenarios_from,
            cassettes=find_cassettes(self.cassettes or settings.cassettes),
            live=find_access(self.key_from, self.base_url, self.model) if self.live else None,
            preview=self.preview,
            shard=read_shard(self.shard),
        )

    def baseline_options(self, settings: Settings) -> BaselineOptions:
        """What to do with known failures."""
        return BaselineOptions(
            requested=self.baseline,
            usual=settings.baseline,
            is_ignored=self.no_baseline,
            is_written=self.baseline_write,
        )

    def search(self, settings: Settings) -> Search:
        """How long to search, and where to keep what was found. Raises HarnessError."""
        return Search(profile=find_profile(self.profile or settings.profile), kept=KEPT)
