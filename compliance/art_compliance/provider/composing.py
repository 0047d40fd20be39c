"""Writes the answer to a good request: it depends only on the request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from art_compliance.dialects import CannotWrite, Decoded, DecodeFailed
from art_compliance.dialects.framing import to_json
from art_compliance.provider.asking import WRITTEN_TEXT, Asked
from art_compliance.provider.script import Response
from art_compliance.provider.signatures import sign
from art_compliance.provider.values import make_value
from art_compliance.scenarios import WrittenAnswer
from art_sdk.json_data import is_array, is_object
from art_sdk.messages import FunctionCall, ToolCall, ToolResultMessage, ToolSchema

Compose = Callable[[Asked], WrittenAnswer]
"""Writes the answer to a good request."""

THOUGHT: Final = "This thought was written, not thought: the question is read, and answered."

_PARALLEL: Final = 3
"""The most tools called in one turn."""

_LONG: Final = 200_000


class _Wish(NamedTuple):
    """What a request asks for, and the digest that makes the answer its own."""

    asked: Asked
    decoded: Decoded
    digest: str

    @property
    def options(self) -> dict[str, Any]:
        return self.decoded.options

    @property
    def is_answered(self) -> bool:
        """Whether the last message brings results."""
        return bool(self.decoded.prompt) and isinstance(self.decoded.prompt[-1], ToolResultMessage)


def compose(asked: Asked) -> WrittenAnswer:
    """Calls the request's tools, fills its schema, or says a text, within the limits that it sets."""
    wish = _wish(asked)
    tools = _called_tools(wish)
    said = _calls(wish, tools) if tools else WrittenAnswer(content=_text(wish))
    return _limited(wish, _counted(wish, _reasoned(wish, said)))


def _wish(asked: Asked) -> _Wish:
    try:
        decoded = asked.dialect.requests.decode(asked.payload, url=asked.request.target)
    except DecodeFailed:
        decoded = Decoded(prompt=())
    return _Wish(asked, decoded, hashlib.sha256(asked.request.target.encode() + asked.request.body).hexdigest())


def _called_tools(wish: _Wish) -> list[ToolSchema]:
    """Each tool once, or the one that the request chooses; none after results, or if the request forbids calls."""
    tools, choice = list(wish.decoded.tools), wish.options.get("tool_choice", "auto")
    if choice == "none" or (choice == "auto" and wish.is_answered):
        return []
    named = [tool for tool in tools if tool.name == choice]
    if named and choice not in {"auto", "required"}:
        return named
    return tools[: 1 if wish.options.get("parallel_tool_calls") is False else _PARALLEL]


def _calls(wish: _Wish, tools: list[ToolSchema]) -> WrittenAnswer:
    prefix = wish.asked.dialect.answers.call_id_prefix  # nine letters and digits are an id everywhere, Mistral included
    calls = tuple(
        ToolCall(f"{prefix}{wish.digest[:8]}{index}", FunctionCall(tool.name, to_json(_arguments(tool))))
        for index, tool in enumerate(tools)
    )
    return WrittenAnswer(tool_calls=calls, finish="tool_calls")


def _arguments(tool: ToolSchema) -> dict[str, Any]:
    made = make_value(tool.input_schema)
    return made if is_object(made) else {}


def _text(wish: _Wish) -> str:
    schema = wish.options.get("response_schema")
    return WRITTEN_TEXT if schema is None else to_json(make_value(schema))


def _reasoned(wish: _Wish, said: WrittenAnswer) -> WrittenAnswer:
    payload = wish.asked.payload if is_object(wish.asked.payload) else {}
    shown = wish.asked.dialect.answers.reasoning(payload, str(wish.options.get("model")))
    if shown is None:
        return said
    thought = f"{THOUGHT} ({wish.digest[:8]})"
    signature = sign(thought) if shown.signature else None
    return replace(said, thinking=thought if shown.text else "", signature=signature, thinking_tokens=_tokens(thought))


def _tokens(text: str) -> int:
    """About four characters are a token."""
    return -(-len(text) // 4)


def _counted(wish: _Wish, said: WrittenAnswer) -> WrittenAnswer:
    called = "".join(call.function.name + call.function.arguments for call in said.tool_calls)
    output = _tokens((said.content or "") + called) + (said.thinking_tokens or 0)
    return replace(said, input_tokens=max(1, len(wish.asked.request.body) // 4), output_tokens=output)


def _limited(wish: _Wish, said: WrittenAnswer) -> WrittenAnswer:
    """The answer, cut at the first stop sequence and at the token limit."""
    wanted: Any = wish.options.get("stop")
    stops = [stop for stop in wanted if isinstance(stop, str)] if is_array(wanted) else []
    text = said.content or ""
    ends = [text.find(stop) for stop in stops if stop and stop in text]
    if ends:
        said = _counted(wish, replace(said, content=text[: min(ends)]))
    most = wish.options.get("max_tokens")
    if not isinstance(most, int) or said.output_tokens <= most:
        return said
    left = max(0, most - (said.thinking_tokens or 0)) * 4
    cut = (said.content or WRITTEN_TEXT)[:left]
    return replace(
        said, content=cut, tool_calls=(), finish="length", output_tokens=max(most, said.thinking_tokens or 0)
    )


# Answers with a name.


def _said(**fields: Any) -> Compose:
    return lambda asked: _counted(_wish(asked), WrittenAnswer(**fields))


def _reasoning(asked: Asked) -> WrittenAnswer:
    thought = f"{THOUGHT} ({_wish(asked).digest[:8]})"
    said = replace(compose(asked), thinking=thought, thinking_tokens=_tokens(thought), signature=sign(thought))
    return _counted(_wish(asked), said)


ANSWERS: Final[Mapping[str, Compose]] = {
    "asked": compose,
    "text": _said(content=WRITTEN_TEXT),
    "refusal": _said(content="I cannot help with that.", is_refusal=True, finish="content_filter"),
    "length": _said(content=WRITTEN_TEXT[:20], finish="length"),
    "reasoning": _reasoning,
    "long": _said(content=(WRITTEN_TEXT + " ") * (_LONG // len(WRITTEN_TEXT))),
}
"""Answers by name: what the request asks for, or always the same."""


def write(asked: Asked, said: WrittenAnswer, make: Callable[[WrittenAnswer, Asked], Response]) -> Response:
    """Makes the response of an answer; what the dialect cannot express is left out.

    First the reasoning, then everything but the text. Raises CannotWrite where even that cannot be written.
    """
    unreasoned = replace(said, thinking="", signature=None)
    plain = replace(unreasoned, is_refusal=False, tool_calls=(), finish="stop")
    for one in (said, unreasoned):
        try:
            return make(one, asked)
        except CannotWrite:
            continue
    return make(plain, asked)


def answer_as_asked(asked: Asked) -> Response:
    """The answer that `compose` writes."""
    return write(asked, compose(asked), lambda said, asked: asked.answer(said))
