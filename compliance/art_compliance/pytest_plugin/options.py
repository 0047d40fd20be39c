"""The plugin's command line options, as the suite's own values."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from art_compliance.generating.profiles import Search, find_profile
from art_compliance.run.selection import Selection, find_cassettes

HARNESS_EXIT: Final = 2
"""pytest's exit code when the suite cannot do its work."""


def option(config: pytest.Config, name: str) -> Any:
    """The value of a command line option."""
    return config.getoption(name)


def folder_option(config: pytest.Config, name: str) -> Path | None:
    """The folder that a command line option names."""
    folder: str | None = option(config, name)
    return Path(folder) if folder else None


def selection_of(config: pytest.Config) -> Selection:
    """What the command line selects. Raises HarnessError."""
    return Selection(
        checks=tuple(option(config, "--art-check")),
        scenarios=tuple(option(config, "--art-scenario")),
        extra=folder_option(config, "--art-scenarios-from"),
        cassettes=find_cassettes(folder_option(config, "--art-cassettes")),
    )


def search_of(config: pytest.Config) -> Search:
    """How long to search for failing prompts. Raises HarnessError."""
    return Search(profile=find_profile(option(config, "--art-profile")), kept=config.rootpath / ".art")


def fail(message: str) -> NoReturn:
    """Ends pytest with exit code 1 and the message: the adapter has failed before anything else can be run."""
    pytest.exit(message, returncode=pytest.ExitCode.TESTS_FAILED)


def leave(message: str) -> NoReturn:
    """Ends pytest with exit code 2 and the message."""
    pytest.exit(f"harness: {message}", returncode=HARNESS_EXIT)
