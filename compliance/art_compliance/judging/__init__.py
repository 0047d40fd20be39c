"""What a provider would say of a request: by schemas from its published types, and by its documented rules."""

from __future__ import annotations

from art_compliance.findings import Finding
from art_compliance.judging.rulebook import judge_rules
from art_compliance.judging.wire import judge_wire


def judge(dialect: str, payload: object, *, model: str | None = None, url: str | None = None) -> list[Finding]:
    """Every finding about a request's body; none where it is good.

    `payload` is JSON data; `model` and `url` help where they are not in it: what a service takes depends on both.
    `Finding.severity` is `reject` (the provider would refuse it), `ignored` (it disregards it) or `note`.
    Raises HarnessError for a dialect that is not known.
    """
    return [
        *judge_wire(dialect, payload, model=model, url=url),
        *judge_rules(dialect, payload, model=model, url=url),
    ]
