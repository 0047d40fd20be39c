"""The plugin's command line options, as the suite's own values."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from art_compliance.findings import HarnessError
from art_compliance.generating.profiles import Search, find_profile
from art_compliance.run.baseline import Baseline, BaselineOptions
from art_compliance.run.beforehand import require_writable
from art_compliance.run.ending import MOST_SECONDS
from art_compliance.run.selection import Selection, find_cassettes
from art_compliance.run.settings import Settings, read_settings
from art_compliance.run.sharding import read_shard
from art_compliance.subject.factories import Factory, Named, find_factory

_SETTINGS: Final = pytest.StashKey[Settings]()
_BASELINE: Final = pytest.StashKey[Baseline | None]()

HARNESS_EXIT: Final = 2
"""pytest's exit code when the suite cannot do its work."""


def option(config: pytest.Config, name: str) -> Any:
    """The value of a command line option."""
    return config.getoption(name)


def folder_option(config: pytest.Config, name: str) -> Path | None:
    """The folder that a command line option names."""
    folder: str | None = option(config, name)
    return Path(folder) if folder else None


def settings_of(config: pytest.Config) -> Settings:
    """What `pyproject.toml` in the working directory says. Raises HarnessError."""
    if _SETTINGS not in config.stash:
        config.stash[_SETTINGS] = read_settings(config.invocation_params.dir)
    return config.stash[_SETTINGS]


def adapters_of(config: pytest.Config) -> tuple[str, ...]:
    """The names of the adapters to certify, each once. Raises HarnessError if the settings name none."""
    found = option(config, "--art-adapter") or settings_of(config).adapters
    if not found:
        raise HarnessError(
            "--art certifies the adapters that pyproject.toml names, but it names none: write "
            '[tool.art] adapters = ["module:Class"], or use --art-adapter module:Class'
        )
    return tuple(dict.fromkeys(found))


def factory_of(config: pytest.Config, name: str) -> Factory:
    """The factory of the adapter with this name, imported here only for `--art-in-process`. Raises HarnessError."""
    return find_factory(name) if option(config, "--art-in-process") else Named(name)


def require_report_folder(config: pytest.Config) -> None:
    """Ends pytest with exit code 2 if the folder for the report cannot be written into: now, and not after the run."""
    folder = folder_option(config, "--art-report")
    if folder is None or hasattr(config, "workerinput"):
        return
    try:
        require_writable(folder)
    except HarnessError as error:
        leave(config, str(error))


def default_factory(config: pytest.Config) -> Factory:
    """The factory for test files that define no fixture `art_adapter`. Ends pytest if nothing names one."""
    try:
        return _default_factory(config)
    except HarnessError as error:
        leave(config, str(error))


def _default_factory(config: pytest.Config) -> Factory:
    if not (option(config, "--art-adapter") or settings_of(config).adapters):
        raise HarnessError(
            "define a session-scoped fixture art_adapter that returns your adapter's factory, "
            'use --art-adapter, or name it in pyproject.toml: [tool.art] adapters = ["module:Class"]'
        )
    add_working_directory(config)
    first, *others = adapters_of(config)
    if others:
        raise HarnessError(
            f"the fixture art_adapter returns one adapter, but {len(others) + 1} are named: "
            f"choose one with --art-adapter, such as {first}"
        )
    return find_factory(first)


def seconds_of(config: pytest.Config) -> float:
    """The seconds after which an adapter is not used any more."""
    seconds: float | None = option(config, "--art-time-limit")
    return MOST_SECONDS if seconds is None else seconds


def add_working_directory(config: pytest.Config) -> None:
    """The console script `pytest` does not put the working directory on `sys.path`."""
    here = str(config.invocation_params.dir)
    if here not in sys.path:
        sys.path.insert(0, here)


def dialect_of(config: pytest.Config, adapter: str = "") -> str | None:
    """The dialect of the adapter, if the command line or the settings name it. Raises HarnessError."""
    named: str | None = option(config, "--art-dialect")
    return named or settings_of(config).dialect_for(adapter)


def cassettes_of(config: pytest.Config) -> Path | None:
    """The folder of cassettes that the command line or the settings name. Raises HarnessError."""
    return folder_option(config, "--art-cassettes") or settings_of(config).cassettes


def selection_of(config: pytest.Config) -> Selection:
    """What the command line selects. Raises HarnessError."""
    return Selection(
        checks=tuple(option(config, "--art-check")),
        scenarios=tuple(option(config, "--art-scenario")),
        skipped=tuple(option(config, "--art-skip")),
        levels=tuple(option(config, "--art-level")),
        extra=folder_option(config, "--art-scenarios-from"),
        cassettes=find_cassettes(cassettes_of(config)),
        preview=option(config, "--art-preview"),
        shard=read_shard(option(config, "--art-shard")),
    )


def baseline_options(config: pytest.Config) -> BaselineOptions:
    """Which baseline is read or written. Raises HarnessError."""
    return BaselineOptions(
        requested=folder_option(config, "--art-baseline"),
        usual=settings_of(config).baseline,
        is_ignored=option(config, "--art-no-baseline"),
        is_written=option(config, "--art-baseline-write"),
    )


def baseline_of(config: pytest.Config) -> Baseline | None:
    """The baseline of the run, if there is one. Raises HarnessError."""
    if _BASELINE not in config.stash:
        config.stash[_BASELINE] = baseline_options(config).read(selection_of(config))
    return config.stash[_BASELINE]


def search_of(config: pytest.Config) -> Search:
    """How long to search for failing prompts. Raises HarnessError."""
    profile = option(config, "--art-profile") or settings_of(config).profile
    return Search(profile=find_profile(profile), kept=config.rootpath / ".art")


def fail(config: pytest.Config, message: str) -> NoReturn:
    """Ends pytest with exit code 1 and the message: the adapter has failed before anything else can be run."""
    _exit(config, message, int(pytest.ExitCode.TESTS_FAILED))


def leave(config: pytest.Config, message: str) -> NoReturn:
    """Ends pytest with exit code 2 and the message."""
    _exit(config, f"art: {message}", HARNESS_EXIT)


def _exit(config: pytest.Config, message: str, code: int) -> NoReturn:
    """A worker of pytest-xdist tells the controller, which ends pytest: see `pytest_testnodedown` of the plugin."""
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output["art_exit"] = (message, code)
    pytest.exit(message, returncode=code)
