"""Runs Hypothesis outside pytest: makes requests from a seed.

They are made once, and every law is run on them; what fails is made smaller by `reducing.py`. Hypothesis's
own database is off (a seed disables it); failing requests are kept by `keeping.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any, Final

from art_compliance.findings import HarnessError

if TYPE_CHECKING:
    from types import ModuleType

    from hypothesis.strategies import SearchStrategy

    from art_compliance.generating.requests import Request

_MADE_BY: Final[Mapping[str, Callable[[ModuleType], SearchStrategy[Request]]]] = {
    "generated-conversations": lambda strategies: strategies.requests(),
    "generated-broken-conversations": lambda strategies: strategies.requests(broken=True),
    "generated-answers": lambda strategies: strategies.exchanges(),
    "generated-dialogues": lambda strategies: strategies.dialogues(),
}
"""A family's strategy, out of the package that is imported when it is needed."""


@lru_cache(maxsize=8)
def make_requests(family: str, seed: int, count: int) -> tuple[Request, ...]:
    """The requests of a family that a seed gives, the simplest one first. Raises HarnessError without Hypothesis."""
    try:
        from hypothesis import HealthCheck, Phase, find, settings  # noqa: PLC0415 - slow, and only needed here
        from hypothesis.errors import NoSuchExample  # noqa: PLC0415 - likewise

        from art_compliance import strategies  # noqa: PLC0415 - likewise
        from art_compliance.generating.drawing import backend  # noqa: PLC0415 - likewise
    except ModuleNotFoundError as error:
        message = "hypothesis is not installed; install the suite with: pip install 'art-adapter-sdk[compliance]'"
        raise HarnessError(message) from error
    made: list[Request] = []
    quiet: Any = list(HealthCheck)
    told = settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=False,
        phases=(Phase.generate,),
        suppress_health_check=quiet,
        backend=backend(),
    )
    random = Random(f"{seed} {family}")
    key = f"{family} {seed}".encode()

    def is_found(request: Request) -> bool:
        made.append(request)
        return False

    try:
        find(_MADE_BY[family](strategies), is_found, settings=told, random=random, database_key=key)
    except NoSuchExample:
        return tuple(made[:count])
    raise AssertionError  # nothing is ever found
