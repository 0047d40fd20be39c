"""Whether an adapter keeps what the provider wants back in a form of its own: docs/writing-an-adapter.md lets it."""

from __future__ import annotations

import re
from typing import Any, Final

from art_compliance.checks.requirements import NotApplicable, require_read, require_sent
from art_compliance.dialects import DecodeFailed, Dialect
from art_compliance.dialects.writing import as_sayable
from art_compliance.pointers import leaves
from art_compliance.provider import answering_with
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import next_turn
from art_compliance.subject.subject import Subject
from art_sdk import AssistantMessage, FunctionCall, ToolCall

_TOOL: Final[dict[str, Any]] = {
    "name": "look",
    "description": "Looks.",
    "inputSchema": {"type": "object", "properties": {}},
}
_THOUGHT: Final = WrittenAnswer(
    thinking="First, look.",
    signature="c2lnbmVkLCB0byBiZSBrZXB0",
    content="Let me look.",
    tool_calls=(ToolCall("call_kept", FunctionCall("look", "{}")),),
    finish="tool_calls",
)


def has_own_form(subject: Subject, dialect: Dialect, ids: dict[str, str]) -> bool:
    """Whether what it keeps of an answer has no field that the suite reads from the request in which that goes back.

    What is in it is followed by its values: see `response.signatures-go-back`.
    """
    if "call" not in subject.methods or not {"reasoning", "tools"} <= subject.capabilities:
        return False
    prompt, options = [{"role": "user", "content": "Look."}], {**ids, "tools": [_TOOL]}
    try:
        answer = as_sayable(dialect.answers.write, _THOUGHT)
        reply = require_read(subject.call(prompt, options, answering_with(answer)))
        sent = require_sent(subject.translate([*prompt, reply.message, *next_turn(reply.calls)], options))
        decoded = dialect.requests.decode(sent.payload, url=sent.url)
    except (NotApplicable, DecodeFailed):
        return False
    read = [(one.extensions or {}).get(dialect.name) for one in decoded.prompt if isinstance(one, AssistantMessage)]
    extensions: dict[str, dict[str, Any]] = reply.message.get("extensions") or {}
    kept = extensions.get(dialect.name) or {}
    is_plain = kept.keys() <= dialect.requests.kept_names
    return bool(kept) and any(read) and not is_plain and _fields_of(kept).isdisjoint(_fields_of(read))


def _fields_of(value: Any) -> set[str]:
    return {re.sub(r"/\d+(?=/|$)", "", pointer) for pointer, _ in leaves(value)}
