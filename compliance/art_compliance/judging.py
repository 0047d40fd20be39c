"""The one door to judging: what a provider would find wrong with a request, by things that nobody here wrote."""

from __future__ import annotations

from typing import Final, Protocol

from art_compliance.findings import Finding
from art_compliance.rules import judge_rules
from art_compliance.wire import judge_wire


class Judge(Protocol):
    """A judge of one payload. Raises HarnessError for a dialect that it does not know."""

    def __call__(
        self, dialect: str, payload: object, *, model: str | None = None, url: str | None = None
    ) -> list[Finding]:
        """The findings; none where the payload is good."""
        ...


_JUDGES: Final[tuple[Judge, ...]] = (judge_wire, judge_rules)


def judge(dialect: str, payload: object, *, model: str | None = None, url: str | None = None) -> list[Finding]:
    """Every finding about a request's body, by each judge in turn; none where it is good.

    `payload` is JSON data; `model` and `url` help where they are not in it: what a service takes depends on both.
    `Finding.severity` is `reject` (the provider would refuse it), `ignored` (it disregards it) or `note`.
    Raises HarnessError for a dialect that is not known.
    """
    return [finding for judged in _JUDGES for finding in judged(dialect, payload, model=model, url=url)]
