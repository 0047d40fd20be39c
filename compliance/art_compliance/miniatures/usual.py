"""Adapters that take what usually comes for all that can come: from servers, in histories, at the end of an answer."""

from __future__ import annotations

from typing import Any

from art_compliance.dialects.framing import change_data
from art_compliance.miniatures.base import Events, change_events, change_payload, miniature, retranslate
from art_compliance.miniatures.forms import reread
from art_compliance.miniatures.isolation import readdress
from art_compliance.miniatures.streams import each_event, refeed


@miniature("load.adapters-are-isolated", around=("openai-compatible",))
def needs_a_version_in_the_url(adapter: Any) -> None:
    """`/v1` is added to every base URL that has none, whatever its path is."""

    def change(request: dict[str, Any], _: Any) -> dict[str, Any]:
        url: str = request["url"]
        return request if "/v1/" in url else {**request, "url": url.replace("/chat/", "/v1/chat/")}

    readdress(adapter, change)


@miniature("translation.extensions-survive", around=("openai-compatible",))
def takes_the_reasoning_of_others(adapter: Any) -> None:
    """The reasoning that another provider gave with an answer is sent back as if it were one's own."""

    def spoiled(translate: Any, prompt: Any, options: Any) -> Any:
        payload = translate(prompt, options)
        kept = [found for one in prompt for found in _reasoning_of(one)]
        for message in payload["messages"] if kept else ():
            if message["role"] == "assistant":
                message["reasoning_content"] = kept[0]
        return payload

    retranslate(adapter, spoiled)


def _reasoning_of(message: dict[str, Any]) -> list[str]:
    kept: dict[str, dict[str, Any]] = message.get("extensions") or {}
    others = [fields for name, fields in kept.items() if name != "openai-compatible"]
    return [fields["reasoning_content"] for fields in others if isinstance(fields.get("reasoning_content"), str)]


@miniature("translation.extensions-survive", around=("gemini",))
def keeps_the_first_signature_of_a_turn(adapter: Any) -> None:
    """Texts of one turn become one, with the signature of the first."""

    def change(payload: Any) -> Any:
        for content in payload["contents"]:
            if content["role"] == "model":
                content["parts"] = _joined(content["parts"])
        return payload

    change_payload(adapter, change)


def _joined(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    joined: list[dict[str, Any]] = []
    for part in parts:
        if joined and "text" in part and "text" in joined[-1]:
            joined[-1] = {**joined[-1], "text": joined[-1]["text"] + part["text"]}
        else:
            joined.append(part)
    return joined


@miniature("translation.options-survive-together", around=("bedrock",))
def replaces_the_callers_fields(adapter: Any) -> None:
    """Where the adapter writes further fields for a model, those of the caller are lost."""

    def change(payload: Any) -> Any:
        fields = payload.get("additionalModelRequestFields", {})
        if "tool_choice" in fields:
            payload["additionalModelRequestFields"] = {"tool_choice": fields["tool_choice"]}
        return payload

    change_payload(adapter, change)


@miniature("stream.other-forms-are-read", around=("openai-compatible",))
def takes_empty_custom_calls_for_calls(adapter: Any) -> None:
    """A piece of a call with an empty object `custom` has no arguments of a function."""

    def change(event: Any) -> Any:
        for piece in _pieces_of(event):
            if "custom" in piece:
                piece["function"].pop("arguments", None)
        return event

    refeed(adapter, lambda chunk: change_data(chunk, change))


@miniature("stream.other-forms-are-read", around=("openai-compatible",))
def ends_calls_at_an_empty_text(adapter: Any) -> None:
    """After an empty text, further pieces of a call are lost."""
    over: list[bool] = [False]

    def change(event: Any) -> Any:
        pieces = _pieces_of(event)
        for piece in pieces:
            over[0] = over[0] and not piece.get("id")
            if over[0]:
                piece["function"].pop("arguments", None)
        if not pieces and any(one["delta"].get("content") == "" for one in event.get("choices") or ()):
            over[0] = True
        return event

    refeed(adapter, lambda chunk: change_data(chunk, change))


def _pieces_of(event: Any) -> list[dict[str, Any]]:
    """The pieces of calls in a chunk."""
    return [piece for one in event.get("choices") or () for piece in one["delta"].get("tool_calls") or ()]


@miniature("stream.other-forms-are-read", around=("openai-compatible",))
def counts_once(adapter: Any) -> None:
    """Counts that come after a finish with counts are not read."""
    counted: list[bool] = [False]

    def change(event: Any) -> Any:
        choices = event.get("choices") or ()
        if any(one["delta"].get("role") for one in choices):
            counted[0] = False
        if counted[0]:
            event["usage"] = None
        counted[0] = counted[0] or bool(event.get("usage") and any(one.get("finish_reason") for one in choices))
        return event

    refeed(adapter, lambda chunk: change_data(chunk, change))


@miniature("stream.other-forms-are-read", around=("anthropic",))
def believes_the_last_counts(adapter: Any) -> None:
    """The counts at the end of a stream are believed, even those that are null there and were not at its beginning."""
    own = adapter.answer_stream

    def answer_stream(head: Any, info: Any) -> Any:
        stream = own(head, info)
        own_end = stream._end  # noqa: SLF001 - a miniature spoils what it is made of

        def end(event: Any) -> None:
            own_end(event)
            message = stream._message  # noqa: SLF001 - as above
            message.usage = {**(message.usage or {}), **(event.usage or {})}

        stream._end = end  # noqa: SLF001 - as above
        return stream

    adapter.answer_stream = answer_stream


@miniature("faults.benign-faults-change-nothing", around=("anthropic", "openai"))
def takes_each_line_end_alone(adapter: Any) -> None:
    """A carriage return at the end of a piece ends a line, and a line feed that begins the next one another."""
    refeed(adapter, lambda chunk: chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


@miniature("faults.benign-faults-change-nothing", around=("anthropic", "cohere"))
def parses_data_that_did_not_come(adapter: Any) -> None:
    """An event without data ends a stream with an error, as an empty text is no JSON."""
    refeed(adapter, lambda chunk: chunk.replace(b"event: ping\n\n", b"data: {\n\n"))


@miniature("response.unknown-finish-is-other", "stream.unknown-finish-is-other", around=("anthropic",))
def knows_every_finish(adapter: Any) -> None:
    """An answer with a finish reason that it does not know is an error."""
    change_events(adapter, lambda events: _failed(events) if _is_unknown(events) else events)


def _is_unknown(events: list[dict[str, Any]]) -> bool:
    return any(event["type"] == "END" and event.get("finish") == "other" for event in events)


def _failed(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    error = {"code": "LLM_PROVIDER_ERROR", "message": "unknown finish reason"}
    stamps = {name: value for name, value in events[-1].items() if name not in ("type", "message", "finish")}
    return [
        {**stamps, "type": "ERROR", "error": error},
        {**stamps, "type": "END", "message": None, "finish": "error"},
    ]


@miniature("response.unknown-finish-is-other", "stream.unknown-finish-is-other", around=("gemini", "bedrock"))
def tells_finishes_in_small_letters(adapter: Any) -> None:
    """The provider's own word for the end of an answer is in small letters."""
    change_events(adapter, each_event(_in_small_letters))


def _in_small_letters(event: dict[str, Any]) -> dict[str, Any]:
    metadata: dict[str, Any] = event.get("metadata") or {}
    raw = {name: metadata[name].lower() for name in ("raw_stop_reason", "rawStopReason") if metadata.get(name)}
    return {**event, "metadata": {**metadata, **raw}} if raw else event


@miniature("response.answer-is-read", around=("gemini",))
def needs_parts(adapter: Any) -> None:
    """An answer without parts, which says only why it ended, is an error."""

    def change(body: Any) -> Any:
        for candidate in body.get("candidates") or ():
            candidate["content"]["parts"] = [*candidate["content"]["parts"]]
        return body

    reread(adapter, change)


@miniature(
    "response.failed-finish-is-not-success", "stream.failed-finish-is-not-success", around=("openai", "anthropic")
)
def believes_in_calls_of_nothing(adapter: Any) -> None:
    """An answer without calls, whose end says that there are some, ends with `tool_calls`."""
    change_events(adapter, _called_for_nothing)


def _called_for_nothing(events: Events) -> Events:
    message = next((event["error"]["message"] for event in events if event["type"] == "ERROR"), "")
    if "there are no calls" not in message:
        return events
    kept = [event for event in events if event["type"] not in ("ERROR", "END")]
    stamps = {name: value for name, value in events[-1].items() if name not in ("message", "finish")}
    metadata = {**stamps, "type": "METADATA", "metadata": {"stop_reason": "tool_calls"}}
    return [*kept, metadata, {**stamps, "message": {"role": "assistant", "content": "-"}, "finish": "tool_calls"}]


@miniature("response.other-forms-are-read", around=("openai-compatible",))
def takes_arguments_that_are_no_text_for_none(adapter: Any) -> None:
    """Arguments that a server gives as an object are lost."""

    def change(body: Any) -> Any:
        for choice in body.get("choices") or ():
            for call in choice["message"].get("tool_calls") or ():
                if not isinstance(call["function"]["arguments"], str):
                    call["function"]["arguments"] = "{}"
        return body

    reread(adapter, change)
