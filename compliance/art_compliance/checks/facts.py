"""What a reply states: every field of its events by name, so that two replies can be compared whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, Final

from art_compliance.checks.replies import plain_calls
from art_compliance.comparison.normal_form import same_json
from art_compliance.dialects import Dialect
from art_compliance.findings import Problem
from art_compliance.provider import Request
from art_compliance.quoting import show_both
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Refused, Reply
from art_sdk.json_data import is_object

Facts = Mapping[str, Any]
"""The fields of a reply, each by a name that a finding can show."""

METADATA: Final = (
    "stop_reason",
    "raw_stop_reason",
    "input_tokens",
    "output_tokens",
    "thinking_tokens",
    "cached_tokens",
    "provider_raw_usage",
    "request_id",
)
"""The fields of METADATA that are the answer's alone: times are the call's."""

ERROR: Final = (
    "code",
    "status",
    "provider_code",
    "provider_message",
    "retry_after",
    "is_retryable",
    "request_id",
)
"""The fields of an ERROR, without its message: that may say how long the call took."""

OF_EVENTS: Final = ("the order of the events", "TOOL_CALL", "the tokens", "the ids of the events")
"""The facts that a folded answer cannot show."""


def facts_of(reply: Reply, *, own_ids: bool) -> Facts:
    """Every fact of a reply. With `own_ids`, the ids of calls are the adapter's own, and new in every call."""
    if isinstance(reply, Refused):
        return _error_facts(reply.facts)
    if isinstance(reply, Crashed):
        return {"what it raised": reply.error.partition(":")[0]}
    facts: dict[str, Any] = {
        "the order of the events": _order(reply.kinds),
        "the ids of the events": sorted({", ".join(str(event.get(name)) for name in _IDS) for event in reply.events}),
        "the tokens": [reply.token_text, reply.thinking_text],
        "TOOL_CALL": plain_calls(reply.event_calls, own_ids=own_ids),
        "the message": _message(reply, own_ids=own_ids),
        "the finish": reply.finish,
    }
    facts |= {name: _counted(name, reply.metadata.get(name)) for name in METADATA}
    return facts | _error_facts(reply.error or {})


def _error_facts(error: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of an error, wherever it has them: in its fields, or in its details."""
    details = error.get("details")
    known = {**(details if is_object(details) else {}), **{name: error[name] for name in error if name in ERROR}}
    return {f"the error's {name}": value for name, value in known.items() if name in ERROR}


def _counted(name: str, value: Any) -> Any:
    """A count of 0 and none say the same, as everywhere in the suite."""
    return value or None if name.endswith("_tokens") else value


def _order(kinds: Iterable[str]) -> list[str]:
    """The kinds of the events in order; how many tokens there are is free."""
    found: list[str] = []
    for kind in kinds:
        if found[-1:] != [kind]:
            found.append(kind)
    return found


def _message(reply: Answered, *, own_ids: bool) -> dict[str, Any]:
    fields = {name: value for name, value in reply.message.items() if value not in (None, [], ())}
    calls = plain_calls(reply.calls, own_ids=own_ids)
    return fields | ({"tool_calls": calls} if calls else {})


_IDS: Final = ("thread_id", "trace_id", "session_id")


def essence_of(dialect: Dialect, request: Request) -> list[Any]:
    """Everything of a request that must be the same in two: method, target and body, and then key and headers.

    Headers are those that the provider requires: others may change from call to call.
    """
    access = dialect.service.access
    names = ("content-type", *access.headers, *filter(None, (access.version_header,)))
    headers = [request.headers.get(name) for name in names]
    return [request.method, request.target, request.body, access.find_key(request.headers, request.target), headers]


def changes(one: Facts, other: Facts, *, but: Iterable[str] = ()) -> Iterator[Problem]:
    """Each fact that differs, as the first and as the second reply have it. None and a missing fact say the same."""
    for name in (name for name in dict.fromkeys((*one, *other)) if name not in but):
        first, second = one.get(name), other.get(name)
        if not same_json(first, second):
            shown, then = show_both(first, second)
            of_content = name in _CONTENT
            yield Problem(f"{name}: {shown}, and {then}", finding_class="loss" if of_content else "contract")


_CONTENT: Final = ("the message", "the tokens", "TOOL_CALL")


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_count(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 0)


def _is_time(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and isfinite(value) and value >= 0)


def _is_object(value: Any) -> bool:
    return value is None or is_object(value)


def _is_code(value: Any) -> bool:
    return _is_text(value) or type(value) is int


def _is_flag(value: Any) -> bool:
    return value is None or type(value) is bool


Shape = tuple[str, Callable[[Any], bool]]

_METADATA_SHAPES: Final[Mapping[str, Shape]] = {
    **dict.fromkeys(("stop_reason", "raw_stop_reason", "trace_id", "request_id"), ("text", _is_text)),
    **dict.fromkeys((name for name in METADATA if name.endswith("_tokens")), ("a number of tokens", _is_count)),
    **dict.fromkeys(("total_generation_time_ms", "time_to_first_token_ms"), ("a time from 0 on", _is_time)),
    "provider_raw_usage": ("an object", _is_object),
}
_ERROR_SHAPES: Final[Mapping[str, Shape]] = {
    **dict.fromkeys(("message", "provider", "provider_message", "request_id"), ("text", _is_text)),
    "provider_code": ("text, or the provider's number,", _is_code),
    "status": ("a number", _is_count),
    "retry_after": ("seconds from 0 on", _is_time),
    "is_retryable": ("true or false", _is_flag),
}


def misshapen(reply: Answered) -> Iterator[Problem]:
    """Each field of METADATA and ERROR whose value has another type than the standard's."""
    for shapes, found in ((_METADATA_SHAPES, reply.metadata), (_ERROR_SHAPES, reply.error or {})):
        for name, (words, fits) in shapes.items():
            if not fits(found.get(name)):
                text = f"{name} must be {words} or null, not {_shown(found.get(name))}"
                yield Problem(text, finding_class="contract")


def _shown(value: Any) -> str:
    return show_both(value, None)[0]
