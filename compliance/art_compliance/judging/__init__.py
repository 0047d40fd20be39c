"""What a provider would say about a request: judged by schemas of its published types, and by its known rules."""

from __future__ import annotations

from art_compliance.findings import Finding
from art_compliance.judging.doubts import doubt
from art_compliance.judging.rulebook import judge_rules
from art_compliance.judging.versions import judge_version
from art_compliance.judging.wire import judge_wire


def judge(
    dialect: str,
    payload: object,
    *,
    model: str | None = None,
    url: str | None = None,
    version: str | None = None,
    is_sendable: bool = False,
) -> list[Finding]:
    """All findings about a request's body; none for a good one.

    `payload` is JSON data; what cannot be sent as JSON is one finding. `model` and `url` help where the payload lacks
    them, and `version` is the version of the API that a header names (`anthropic-version`): what a service accepts
    depends on all three. Say that the payload `is_sendable` if you know that it can be sent as JSON: finding out takes
    a tenth of the time.
    `Finding.severity` is `reject` (the provider would refuse it), `ignored` (it ignores it) or `note`. A finding is a
    note at most if the URL belongs to another format, if the host is unknown and the body is not a request of this
    format, or if a recorder has masked the value. Raises HarnessError for an unknown dialect.
    """
    found = judge_wire(dialect, payload, model=model, url=url, is_sendable=is_sendable)
    if not any(finding.path is not None and finding.severity == "reject" for finding in found):  # it cannot be sent
        found = [*found, *judge_rules(dialect, payload, model=model, url=url, version=version)]
    found = [*found, *judge_version(dialect, version)]
    return doubt(dialect, payload, url, found)
