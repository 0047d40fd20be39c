"""Other forms in which an answer of the Responses API fails after its status 200."""

from __future__ import annotations

import json
from typing import Any, Final

from art_compliance.dialects.framing import data_frame
from art_compliance.dialects.openai_responses.answers import write_error, write_response
from art_compliance.dialects.variations import Events, FailureForm
from art_compliance.scenarios import WrittenAnswer


def _failed(body: dict[str, Any], status: int, message: str) -> dict[str, Any]:
    error = json.loads(write_error(status, message))["error"]
    said = {"code": error["code"] or error["type"], "message": message}
    return {**body, "status": "failed", "error": said, "output": [], "usage": None, "completed_at": None}


def _failed_event(begun: Events, status: int, message: str) -> Events:
    body = _failed(json.loads(write_response(WrittenAnswer(content=""))), status, message)
    event = {"type": "response.failed", "response": body, "sequence_number": len(begun)}
    return (data_frame(event, event="response.failed"),)


def _nested_event(begun: Events, status: int, message: str) -> Events:
    error = {**json.loads(write_error(status, message))["error"], "message": message, "param": None}
    event = {"type": "error", "error": error, "sequence_number": len(begun)}
    return (data_frame(event, event="error"),)


def _both_events(begun: Events, status: int, message: str) -> Events:
    first = _nested_event(begun, status, message)
    return (*first, *_failed_event((*begun, *first), status, message))


FAILURES: Final = (
    FailureForm(words="the status failed", whole=_failed, events=_failed_event),
    FailureForm(words="an error inside an event of that type", events=_nested_event),
    FailureForm(words="an error event, then the status failed", events=_both_events),
)
"""`ResponseFailedEvent` and `ResponseError` in openai 3.54; the others are observed, as quoted in vercel/ai#12329."""
