"""Requests inside other JSON: lines of a provider's batch, and recordings of the exam. Anything else is a body itself.

- OpenAI's batches, and those of services like it: `custom_id` and `body`, mostly with `url`
  (https://docs.together.ai/docs/inference/batch/tutorial, https://platform.openai.com/docs/guides/batch).
- Anthropic's: `custom_id` and `params` (anthropic 2.12, types/messages/batch_create_params.py).
- Gemini's: `key` and `request` (https://ai.google.dev/gemini-api/docs/batch-api).
- A recording: `request`, `response` and `url` or `shape`, as `art exam` reads them. `time`, `client` and `model`, and
  the answer's `body` (JSON, or the text of a stream) are for `art audit`.
"""

from __future__ import annotations

from typing import Any, Final

from art_compliance.judging.exam import SHAPES
from art_compliance.traffic.found import Answer, Found
from art_sdk.json_data import is_object


def unwrap(where: str, data: Any, *, is_sendable: bool = False) -> Found:
    """The request that the data contains, or is."""
    match data:
        case {"custom_id": _, "params": params} if is_object(params):
            return Found(where=where, body=params, dialect="anthropic-messages", is_sendable=is_sendable)
        case {"custom_id": _, "body": body} if is_object(body):
            return Found(where=where, body=body, url=_text(data.get("url")), is_sendable=is_sendable)
        case {"key": _, "request": request} if is_object(request):
            return Found(where=where, body=request, dialect="gemini-generate", is_sendable=is_sendable)
        case {"request": request, "response": response} if is_object(request) and is_object(response):
            return _recording(where, data, request, _answer(response), is_sendable=is_sendable)
        case {"request": request, "url": str()} if is_object(request):
            return _recording(where, data, request, None, is_sendable=is_sendable)
        case _:
            return Found(where=where, body=data, is_sendable=is_sendable)


def _recording(where: str, data: dict[str, Any], request: Any, answer: Answer | None, *, is_sendable: bool) -> Found:
    time: Any = data.get("time")
    return Found(
        where=where,
        body=request,
        url=_text(data.get("url")),
        dialect=SHAPES.get(_text(data.get("shape")) or ""),
        answer=answer,
        time=time if isinstance(time, (str, int, float)) and not isinstance(time, bool) else None,
        client=_text(data.get("client")),
        model=_text(data.get("model")),
        is_sendable=is_sendable,
    )


def _answer(response: dict[str, Any]) -> Answer | None:
    """The answer; its body is called `json` or `sse` in the recordings of the exam."""
    status: Any = response.get("status")
    body: Any = next((response[name] for name in _BODIES if response.get(name) is not None), None)
    return Answer(status=status if isinstance(status, int) and not isinstance(status, bool) else None, body=body)


_BODIES: Final = ("body", "json", "sse")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
