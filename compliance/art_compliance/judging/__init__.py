"""What a provider would say about a request: judged by schemas of its published types, and by its known rules."""

from __future__ import annotations

from art_compliance.findings import Finding
from art_compliance.judging.rulebook import judge_rules
from art_compliance.judging.wire import judge_wire


def judge(dialect: str, payload: object, *, model: str | None = None, url: str | None = None) -> list[Finding]:
    """All findings about a request's body; none for a good one.

    `payload` is JSON data. `model` and `url` help where the payload lacks them: what a service accepts depends on both.
    `Finding.severity` is `reject` (the provider would refuse it), `ignored` (it ignores it) or `note`.
    Raises HarnessError for an unknown dialect.
    """
    return [
        *judge_wire(dialect, payload, model=model, url=url),
        *judge_rules(dialect, payload, model=model, url=url),
    ]
