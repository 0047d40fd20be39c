"""Makes requests from a seed, with Hypothesis, outside pytest.

The seed makes bytes, and `fuzz_one_input`, Hypothesis's entry for fuzzers, makes a request of them. `find` would not
do: it mixes in constants from the source of whatever modules are loaded, so that one seed would give other requests
under pytest than in a command. What fails is made smaller by `shrinking.py` and kept by `checks/properties/kept.py`.
"""

from __future__ import annotations

from functools import lru_cache, partial
from random import Random
from typing import TYPE_CHECKING, Any, Final, cast

from art_compliance.findings import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from art_compliance.generating.requests import Request

_SIZE: Final = 8 * 1024
"""Bytes for one request. Those that need more are left out, and another one is made."""


@lru_cache(maxsize=8)
def make_requests(family: str, seed: int, count: int) -> tuple[Request, ...]:
    """The requests of a family that a seed gives, the simplest one first. Raises HarnessError without Hypothesis."""
    try:
        from hypothesis import HealthCheck, given, settings  # noqa: PLC0415 - slow, and only needed here
    except ModuleNotFoundError as error:
        raise HarnessError(
            "hypothesis is not installed; install the suite with: pip install 'art-adapter-sdk[compliance]'"
        ) from error
    made: list[Request] = []
    quiet: Any = list(HealthCheck)

    @settings(database=None, suppress_health_check=quiet)
    @given(_strategy_of(family))
    def collect(request: Request) -> None:
        made.append(request)

    make_one = cast("Any", collect).hypothesis.fuzz_one_input
    make_one(bytes(_SIZE))
    random = Random(f"{seed} {family}")
    while len(made) < count:
        make_one(random.randbytes(_SIZE))
    return tuple(made[:count])


def _strategy_of(family: str) -> SearchStrategy[Request]:
    from art_compliance.generating.strategies.answers import dialogues, exchanges  # noqa: PLC0415 - as above
    from art_compliance.generating.strategies.options import requests  # noqa: PLC0415 - as above

    strategies: dict[str, Callable[[], SearchStrategy[Request]]] = {
        "generated-conversations": requests,
        "generated-broken-conversations": partial(requests, broken=True),
        "generated-answers": exchanges,
        "generated-dialogues": dialogues,
    }
    return strategies[family]()
