"""Other forms of Gemini's streams and answers: what a response may lack, and what it has besides."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any, Final

from art_compliance.dialects.framing import change_data, data_frame
from art_compliance.dialects.variations import Events, Variation, read_data

Body = dict[str, Any]
Change = Callable[[Body], Body]


def _chunks(events: Events) -> list[Body]:
    return [data for event in events if (data := read_data(event)) is not None]


def _framed(chunks: list[Body]) -> Events:
    return tuple(data_frame(chunk, newline="\r\n") for chunk in chunks)


def _each(change: Change) -> Callable[[Events], Events]:
    return lambda events: tuple(change_data(event, change) for event in events)


def _rated(body: Body) -> Body:
    """A prompt that is not blocked has ratings, too."""
    candidates = [{**candidate, "safetyRatings": [_RATING]} for candidate in body["candidates"]]
    return {**body, "candidates": candidates, "promptFeedback": {"safetyRatings": [_RATING]}}


_RATING: Final = {"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}


def _bare(body: Body) -> Body:
    """What a message in JSON leaves out is 0, or not set: the index, the role, the version and the id."""
    usage: Body = {name: count for name, count in body.items() if name == "usageMetadata"}
    return {**usage, "candidates": [_bare_candidate(candidate) for candidate in body["candidates"]]}


def _bare_candidate(candidate: Body) -> Body:
    reason = {"finishReason": candidate["finishReason"]} if "finishReason" in candidate else {}
    return {"content": {"parts": candidate["content"]["parts"]}, **reason}


def _without_empty_args(body: Body) -> Body:
    for candidate in body["candidates"]:
        for part in candidate["content"]["parts"]:
            if part.get("functionCall", {}).get("args") == {}:
                del part["functionCall"]["args"]
    return body


def _counted_at_the_end(events: Events) -> Events:
    *chunks, last = _chunks(events)
    uncounted = [{name: value for name, value in chunk.items() if name != "usageMetadata"} for chunk in chunks]
    return _framed([*uncounted, last])


def _with_pauses(events: Events) -> Events:
    """Before each response comes one that adds nothing: without candidates, without content, or with an empty text."""
    pauses: cycle[Body] = cycle(
        (
            {},
            {"candidates": [{"groundingMetadata": {}, "index": 0}]},
            {"candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "index": 0}]},
            {"candidates": [{"content": {"role": "model"}, "index": 0}]},
        )
    )
    return _framed([one for chunk in _chunks(events) for one in (_paused(chunk, next(pauses)), chunk)])


def _paused(chunk: Body, pause: Body) -> Body:
    head = {name: value for name, value in chunk.items() if name in ("modelVersion", "responseId")}
    return {**pause, **head, "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 1}}


def _letters(events: Events) -> Events:
    return _framed([one for chunk in _chunks(events) for one in _spelled(chunk)])


def _spelled(chunk: Body) -> list[Body]:
    (candidate,) = chunk["candidates"]
    (part,) = candidate["content"]["parts"]
    text = part.get("text", "")
    if len(text) < 2 or "finishReason" in candidate:
        return [chunk]
    contents = [{**candidate["content"], "parts": [{**part, "text": letter}]} for letter in text]
    return [{**chunk, "candidates": [{**candidate, "content": content}]} for content in contents]


STREAM_FORMS: Final = (
    Variation(words="ratings of its prompt and of itself", whole=_rated, events=_each(_rated)),
    Variation(words="nothing but its parts, its finish reason and its counts", whole=_bare, events=_each(_bare)),
    Variation(
        words="a call without args where they are empty", whole=_without_empty_args, events=_each(_without_empty_args)
    ),
    Variation(words="token counts in its last response alone", events=_counted_at_the_end),
    Variation(words="a response that adds nothing before each", events=_with_pauses),
    Variation(words="one letter per response", events=_letters),
)
"""Source: `GenerateContentResponse`, `Candidate`, `Content`, `FunctionCall` and `PromptFeedback` of google-genai 3.4,
whose fields are all optional. Without an index is recorded at Vertex AI. Responses that add nothing:
https://github.com/BerriAI/litellm/issues/28884, https://github.com/symfony/ai/pull/1610 and
https://github.com/looplj/axonhub/pull/645. Counts without ratings in a response of their own:
https://github.com/docker/docker-agent/pull/2848.
"""
