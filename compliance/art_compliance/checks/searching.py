"""Runs Hypothesis outside pytest: makes prompts from a seed, and shrinks one that fails to the least that does.

Prompts are made once and every law is run on them. A law's first failure is searched again from the
same seed, which brings the same prompts, and shrunk for that law alone: what shrinks must fail by the
same check, or one defect would slip into another. Hypothesis's own database is off (a seed disables
it); failing prompts are kept by `keeping.py`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any, Final

from art_compliance.checks.reducing import reduce
from art_compliance.findings import HarnessError

if TYPE_CHECKING:
    from art_compliance.strategies import Request

_IS_BROKEN: Final = {"generated-conversations": False, "generated-broken-conversations": True}


class _TimeIsUp(BaseException):
    """Leaves Hypothesis, which takes an Exception for a failure of the law."""


@lru_cache(maxsize=8)
def make_requests(family: str, seed: int, count: int) -> tuple[Request, ...]:
    """The requests of a family that a seed gives, the simplest one first. Raises HarnessError without Hypothesis."""
    made: list[Request] = []

    def is_failing(request: Request) -> bool:
        made.append(request)
        return False

    _search(family, seed, count, is_failing)
    return tuple(made[:count])


def shrink(
    family: str, seed: int, *, after: int, count: int, fails: Callable[[Request], bool], seconds: float
) -> Request | None:
    """The least request found within the time that fails; None where the failure does not come again.

    `after` is how many requests of the same seed come before the first that fails: they are not judged again.
    """
    until = time.monotonic() + seconds
    least: list[Request] = []
    calls = 0

    def is_failing(request: Request) -> bool:
        nonlocal calls
        calls += 1
        if calls <= after:
            return False
        if least and time.monotonic() > until:
            raise _TimeIsUp
        failed = fails(request)
        if failed and (not least or _size(request) <= _size(least[0])):
            least[:] = [request]
        return failed

    _search(family, seed, count, is_failing)
    if not least:
        return None
    rest = max(until - time.monotonic(), seconds / 4)
    return reduce(least[0], fails, seconds=rest, alone=_IS_BROKEN[family])


def _size(request: Request) -> tuple[int, int]:
    return len(request.prompt), len(json.dumps(request))


def _search(family: str, seed: int, count: int, is_failing: Callable[[Request], bool]) -> None:
    try:
        from hypothesis import HealthCheck, Phase, find, settings  # noqa: PLC0415 - slow, and only needed here
        from hypothesis.errors import Flaky, NoSuchExample, Unsatisfiable  # noqa: PLC0415 - likewise

        from art_compliance.strategies import requests  # noqa: PLC0415 - likewise
    except ModuleNotFoundError as error:
        message = "hypothesis is not installed; install the suite with: pip install 'art-adapter-sdk[compliance]'"
        raise HarnessError(message) from error
    quiet: Any = list(HealthCheck)
    told = settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=quiet,
    )
    random = Random(f"{seed} {family}")
    key = f"{family} {seed}".encode()
    try:
        find(requests(broken=_IS_BROKEN[family]), is_failing, settings=told, random=random, database_key=key)
    except (NoSuchExample, Unsatisfiable, Flaky, _TimeIsUp):
        return
