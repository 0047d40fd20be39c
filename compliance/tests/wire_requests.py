"""Requests for the tests of wire schemas, and what their judge rejects."""

from __future__ import annotations

from typing import Any

from art_compliance.judging.wire import judge_wire


def refusals(dialect: str, payload: Any, url: str | None = None) -> list[tuple[str | None, str]]:
    found = judge_wire(dialect, payload, url=url)
    return [(finding.pointer, finding.message) for finding in found if finding.severity == "reject"]


def chat(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages) or [{"role": "user", "content": "hi"}], **fields}
