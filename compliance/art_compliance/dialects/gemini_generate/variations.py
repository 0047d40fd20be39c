"""Other forms of Gemini's answers: recorded ones have several texts and thoughts, and several parts per response.

Where Google's own tools ran, their tokens are counted apart from the prompt's: recorded with googleSearch.

Source of the signatures: Google's documentation of thought signatures, which come with calls and with empty texts.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from art_compliance.dialects.framing import change_data, data_frame
from art_compliance.dialects.gemini_generate.stream_forms import STREAM_FORMS
from art_compliance.dialects.variations import Events, SeveralAnswers, Variation, in_halves, in_turns, read_data

Part = dict[str, Any]
_SIGNATURES: Final = ("Zmlyc3Qgc2lnbmF0dXJl", "c2Vjb25kIHNpZ25hdHVyZQ==", "dGhpcmQgc2lnbmF0dXJl")


def _with_parts(body: dict[str, Any], parts: list[Part]) -> dict[str, Any]:
    (candidate,) = body["candidates"]
    return {**body, "candidates": [{**candidate, "content": {**candidate["content"], "parts": parts}}]}


def _parts(body: dict[str, Any]) -> list[Part]:
    parts: list[Part] = body["candidates"][0]["content"]["parts"]
    return parts


def _two_texts(body: dict[str, Any]) -> dict[str, Any]:
    return _with_parts(body, [one for part in _parts(body) for one in _split(part)])


def _thought_between(body: dict[str, Any]) -> dict[str, Any]:
    thought = {"text": "A thought between.", "thought": True}
    parts = [one for part in _parts(body) for one in _split(part)]
    return _with_parts(body, [*parts[:1], thought, *parts[1:]])


def _split(part: Part) -> list[Part]:
    return [{**part, "text": half} for half in in_halves(part["text"])] if len(part.get("text", "")) > 1 else [part]


def _text_last(body: dict[str, Any]) -> dict[str, Any]:
    return _with_parts(body, sorted(_parts(body), key=lambda part: "text" in part))


def _signed_calls(body: dict[str, Any]) -> dict[str, Any]:
    signatures = iter(_SIGNATURES)
    parts = [
        {**part, "thoughtSignature": next(signatures)} if "functionCall" in part else part for part in _parts(body)
    ]
    return _with_parts(body, parts)


def _streamed_signed_calls(events: Events) -> Events:
    """A text and calls in one response, each call with its signature: https://github.com/vercel/ai/pull/12402."""
    (joined,) = _in_one(events)
    return (change_data(joined, _signed_calls),)


def _thought_in_one(events: Events) -> Events:
    (joined,) = _in_one(events)
    thought = {"text": _THOUGHT, "thought": True}
    return (change_data(joined, lambda body: _with_parts(body, [thought, *_parts(body)])),)


_THOUGHT: Final = "A thought in passing."


def _signed_at_the_end(body: dict[str, Any]) -> dict[str, Any]:
    return _with_parts(body, [*_parts(body), {"text": "", "thoughtSignature": _SIGNATURES[0]}])


def _signed_first(body: dict[str, Any]) -> dict[str, Any]:
    """As recorded at Vertex AI, in the first response of a stream."""
    first, *others = [one for part in _parts(body) for one in _split(part)]
    return _with_parts(body, [_signed(first), *others])


def _streamed_signed_first(events: Events) -> Events:
    first, *others = events
    return (change_data(first, lambda body: _with_parts(body, [_signed(part) for part in _parts(body)])), *others)


def _signed(part: Part) -> Part:
    return {**part, "thoughtSignature": _SIGNATURES[0]} if part.get("text") else part


def _tools_counted_apart(body: dict[str, Any]) -> dict[str, Any]:
    usage = body["usageMetadata"]
    read = usage["promptTokenCount"] // 2
    apart = {"promptTokenCount": usage["promptTokenCount"] - read, "toolUsePromptTokenCount": read}
    return {**body, "usageMetadata": usage | apart}


def _with_code(body: dict[str, Any]) -> dict[str, Any]:
    """`Part.executable_code` and `Part.code_execution_result` of google-genai 3.4. Its `text` has neither."""
    return _with_parts(body, [*_CODE, *_parts(body)])


def _streamed_code(events: Events) -> Events:
    first, *others = events
    return (*(change_data(first, partial(_with_parts, parts=[part])) for part in _CODE), first, *others)


_CODE: Final[tuple[Part, ...]] = (
    {"executableCode": {"language": "PYTHON", "code": "print(6 * 7)"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "42\n"}},
)


def _in_one(events: Events) -> Events:
    chunks = [data for event in events if (data := read_data(event)) is not None]
    parts = [part for chunk in chunks for part in _parts(chunk)]
    return (data_frame(_with_parts(chunks[-1], parts), newline="\r\n"),)


def _finished_apart(events: Events) -> Events:
    """A last response without content has the finish reason: pydantic/pydantic-ai#2631, agentjido/req_llm#638."""
    *chunks, last = [data for event in events if (data := read_data(event)) is not None]
    (candidate,) = last["candidates"]
    speaking = {name: value for name, value in candidate.items() if name != "finishReason"}
    finish = {name: value for name, value in candidate.items() if name != "content"}
    parts = [{**last, "candidates": [speaking]}, {**last, "candidates": [finish]}]
    return tuple(data_frame(chunk, newline="\r\n") for chunk in (*chunks, *parts))


def _counted_apart(events: Events) -> Events:
    """A last response has the counts alone: livekit/agents#5404, genkit-ai/genkit#5736."""
    chunks = [data for event in events if (data := read_data(event)) is not None]
    counted = {name: value for name, value in chunks[-1].items() if name != "candidates"}
    speaking = [{name: value for name, value in chunk.items() if name != "usageMetadata"} for chunk in chunks]
    return tuple(data_frame(chunk, newline="\r\n") for chunk in (*speaking, counted))


def _both_candidates(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return {**first, "candidates": [*first["candidates"], *_numbered(second)["candidates"]]}


def _numbered(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "candidates": [{**candidate, "index": 1} for candidate in body["candidates"]]}


def _candidates_in_turns(first: Events, second: Events) -> Events:
    """Each response has a piece of one candidate. Inferred: recorded streams have one candidate."""
    own = [data for event in first if (data := read_data(event)) is not None]
    others = [_numbered(data) for event in second if (data := read_data(event)) is not None]
    return tuple(data_frame(chunk, newline="\r\n") for chunk in in_turns(own, others))


TWO_CANDIDATES: Final = SeveralAnswers(
    fields={"generationConfig": {"candidateCount": 2}}, whole=_both_candidates, events=_candidates_in_turns
)
"""Source: `candidate_count` and `Candidate.index` of google-genai 3.4."""

VARIATIONS: Final = (
    Variation(words="its text in two parts", whole=_two_texts),
    Variation(words="a thought between two parts of its text", whole=_thought_between),
    Variation(words="its text behind its calls", whole=_text_last),
    Variation(words="a signature at each call", whole=_signed_calls, goes_back=_SIGNATURES),
    Variation(words="a signature in an empty text at the end", whole=_signed_at_the_end, goes_back=_SIGNATURES[:1]),
    Variation(words="the tokens of Google's own tools counted apart", whole=_tools_counted_apart),
    Variation(words="code that Google's own tool ran before it", whole=_with_code, events=_streamed_code),
    Variation(words="all of its parts in one response", events=_in_one),
    Variation(
        words="all of its parts in one response, and a signature at each call",
        events=_streamed_signed_calls,
        goes_back=_SIGNATURES,
    ),
    Variation(words="a thought and all of its parts in one response", events=_thought_in_one, thoughts=(_THOUGHT,)),
    Variation(words="its finish reason in a response without content", events=_finished_apart),
    Variation(words="its counts in a response of their own, at its end", events=_counted_apart, counts=True),
    Variation(
        words="a signature at the first of its texts",
        whole=_signed_first,
        events=_streamed_signed_first,
        goes_back=_SIGNATURES[:1],
    ),
    *STREAM_FORMS,
)
