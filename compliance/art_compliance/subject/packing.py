"""The factory of an adapter as text, for another process that makes the adapter."""

from __future__ import annotations

import base64
import pickle
import sys
from collections.abc import Mapping
from typing import Any

from art_compliance.subject.places import without_addresses


class NoProcess(Exception):
    """The adapter cannot be made in another process; the text says why."""


def pack_factory(make: object) -> dict[str, Any]:
    """The factory, and where modules are found, as JSON data. Raises NoProcess."""
    if getattr(make, "__module__", "") == "__main__":
        raise NoProcess("its factory is defined in the main program, which another process cannot import")
    try:
        factory = base64.b64encode(pickle.dumps(make)).decode()
    except Exception as error:
        reason = without_addresses(str(error))
        raise NoProcess(f"its factory cannot be pickled for another process: {reason}") from error
    return {"path": sys.path, "factory": factory}


def unpack_factory(job: Mapping[str, Any]) -> Any:
    """The factory of a job that the suite's own process has packed. Raises whatever its import raises."""
    sys.path[:] = job["path"]
    return pickle.loads(base64.b64decode(job["factory"]))  # noqa: S301 - written by the suite
