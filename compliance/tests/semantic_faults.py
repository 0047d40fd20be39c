"""Requests that are wrong though their JSON is right: the faults that every format is tried with, in one list.

A format says how each fault looks in it: functions that spoil a copy of a good request. What the provider is known to
accept is in `accepted` with its evidence; what nothing is known about is in `unknown` with what was looked up.
Every other fault must be refused. `chat_faults` has the chat completions family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
"""A picture of one pixel."""

FAULTS: Final[Mapping[str, str]] = {
    "unanswered-call": "a call has no result",
    "orphan-result": "a result answers a call that nobody made",
    "doubled-result": "a call has two results",
    "doubled-call-id": "two calls of one turn have the same id",
    "result-after-other-turn": "a turn of the user stands between a call and its result",
    "tool-name-with-space": "the name of a tool has a space in it",
    "tool-name-too-long": "the name of a tool has 200 characters",
    "two-tools-of-one-name": "two tools have the same name",
    "choice-of-unknown-tool": "the tool that must be called is not among the tools",
    "choice-without-tools": "a tool must be called, and there are no tools",
    "empty-conversation": "there are no turns",
    "unknown-role": "a turn has a role that does not exist",
    "absent-user-content": "a turn of the user has no content",
    "temperature-out-of-range": "the temperature is 5",
    "top-p-out-of-range": "top_p is 1.5",
    "no-tokens": "the limit of tokens is 0",
    "negative-tokens": "the limit of tokens is -1",
    "too-many-stops": "there are 40 stop sequences",
    "invalid-base64": "the data of an image is not base64",
    "arguments-not-json": "the arguments of a call are not a JSON object",
    "invalid-parameters": "a parameter's schema has a type that does not exist",
    "answer-schema-without-name": "the schema of the answer lacks the name that it needs, or is no schema",
    "missing-model": "neither the body nor the URL names a model",
}
"""The faults, each with what is wrong."""

SHAPE_AND_PAIRING: Final = frozenset(
    {
        "unanswered-call",
        "orphan-result",
        "doubled-result",
        "doubled-call-id",
        "result-after-other-turn",
        "empty-conversation",
        "absent-user-content",
    }
)
"""The faults that any server of a format would refuse or get wrong, whatever its limits, its tools and its model."""

Spoil = Callable[[dict[str, Any]], object]
"""Spoils a copy of a request, in place."""


OF_MESSAGES: Final[Mapping[str, Spoil]] = {
    "empty-conversation": lambda body: body.update(messages=[]),
    "unknown-role": lambda body: body["messages"][-1].update(role="narrator"),
    "absent-user-content": lambda body: body["messages"][-1].pop("content"),
    "temperature-out-of-range": lambda body: body.update(temperature=5),
    "missing-model": lambda body: body.pop("model"),
}
"""How faults look in a format with the fields `messages`, `temperature` and `model`; the last turn is the user's."""


class Format(Struct, frozen=True, kw_only=True):
    """One format: a good request and its URL, and how each fault spoils a copy of it, in place."""

    good: Callable[[], dict[str, Any]]
    url: str
    spoil: Mapping[str, Spoil]
    accepted: Mapping[str, str] = {}
    """Faults that the provider takes, each with the evidence: recorded traffic, a document or a thread."""
    unknown: Mapping[str, str] = {}
    """Faults that are at most a note, each with why: nothing quotes a refusal, or it depends on the model behind."""
    spoiled_urls: Mapping[str, str] = {}
    """Other URLs for faults that are in the URL."""

    def spoiled(self, fault: str) -> tuple[dict[str, Any], str]:
        """The request with the fault, and its URL."""
        payload = self.good()
        self.spoil[fault](payload)
        return payload, self.spoiled_urls.get(fault, self.url)
