"""What `art judge` prints of the requests that it judged, as lines or as JSON."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from art_compliance.commands.console import CANNOT, FAILS, describe_findings
from art_compliance.run.lines import counted
from art_compliance.traffic import Judgements


def exit_code(found: Judgements) -> int:
    """2 if something could not be judged, or there is nothing to judge; 1 if a request would be rejected."""
    if found.unread or not found.requests:
        return CANNOT
    return FAILS if found.rejected else 0


def describe_judgements(found: Judgements) -> Iterator[str]:
    """The findings of each request under its place, what could not be read, and a summary; of one request its findings.

    Requests of which there is nothing to say are only counted.
    """
    if len(found.requests) == 1 and not found.unread and not found.skipped:
        yield from describe_findings(found.requests[0].findings)
        return
    for one in found.requests:
        if one.findings:
            yield f"{one.where}  ({one.dialect})"
            yield from (f"  {line}" for line in describe_findings(one.findings))
    for bad in found.unread:
        yield f"{bad.where}: cannot be judged: {bad.why}"
    yield summarize_judgements(found)


def summarize_judgements(found: Judgements) -> str:
    """How many requests would be rejected, have notes, or could not be judged."""
    noted = sum(bool(one.findings) and not one.is_rejected for one in found.requests)
    more = {"cannot be judged": len(found.unread), "to other addresses, not judged": found.skipped}
    counts = [f"{found.rejected} rejected", f"{noted} with notes", *(f"{n} {one}" for one, n in more.items() if n)]
    return f"{counted(len(found.requests), 'request')} judged: {', '.join(counts)}"


def as_json_text(found: Judgements) -> str:
    """The same as one JSON object."""
    requests = [
        {**msgspec.to_builtins(one), "findings": one.findings, "rejected": one.is_rejected} for one in found.requests
    ]
    whole = {
        "requests": requests,
        "unread": found.unread,
        "skipped": found.skipped,
        "rejected": found.rejected,
    }
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()
