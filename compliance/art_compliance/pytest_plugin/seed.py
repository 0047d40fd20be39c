"""The seed of a test run. It imports only pytest: pytest-xdist's hook needs it in every project."""

from __future__ import annotations

import os
from typing import Any, Final

import pytest

_SEED: Final = pytest.StashKey[int]()


def seed_of(config: pytest.Config) -> int:
    """The seed of this test run: the controller's in a worker of pytest-xdist, or `--art-seed`, or a random one."""
    if _SEED not in config.stash:
        workerinput: dict[str, Any] = getattr(config, "workerinput", {})
        seed: Any = workerinput.get("art_seed", config.getoption("--art-seed"))
        config.stash[_SEED] = int.from_bytes(os.urandom(4)) if seed is None else seed
    return config.stash[_SEED]
