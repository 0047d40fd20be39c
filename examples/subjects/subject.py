"""What the subjects share: options, messages in the form of chat completions, events.

A subject is written as a user of its library would write it: from its documentation, by its public names. It
translates nothing itself, and refuses what the library has no parameter for.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, ClassVar, Final, cast
from uuid import uuid4

from art_sdk import PromptTranslationFailed

FINISHES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "STOP"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_context_window_exceeded", "MAX_TOKENS"), "length"),
    **dict.fromkeys(("tool_calls", "tool_use", "tool_call"), "tool_calls"),
    **dict.fromkeys(("content_filter", "refusal", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST"), "content_filter"),
    **dict.fromkeys(("SPII", "RECITATION", "IMAGE_SAFETY"), "content_filter"),
}
_NOT_SENT: Final = {"thread_id", "trace_id", "session_id", "user_id", "call_context", "late_system", "stream"}
_CAPABILITIES: Final = ("system", "late_system", "tools", "parallel_tools", "tool_choice", "streaming", "images")
_SAME: Final = ("temperature", "top_p", "max_tokens", "stop")


@dataclass(frozen=True)
class Request:
    """A call in the form of chat completions: `settings` has the library's names, `tool_choice` is a word or a name."""

    model: str
    messages: list[dict[str, Any]]
    settings: dict[str, Any]
    tools: list[dict[str, Any]]
    tool_choice: str | None
    parallel_tool_calls: bool | None
    schema: dict[str, Any] | None
    is_streamed: bool

    def has_plain_choice(self) -> bool:
        """Whether the choice is not a tool's name."""
        return self.tool_choice in (None, "auto", "none", "required")

    def functions(self) -> list[dict[str, Any]]:
        """The tools: name, description, parameters."""
        return [tool["function"] for tool in self.tools]

    def chat_choice(self) -> Any:
        """The choice in the form of chat completions."""
        if self.has_plain_choice():
            return self.tool_choice
        return {"type": "function", "function": {"name": self.tool_choice}}

    def chat_schema(self) -> Any:
        """The schema of the answer in the form of chat completions."""
        named = {"name": "answer", "schema": self.schema}
        return {"type": "json_schema", "json_schema": named} if self.schema else None

    def chat_settings(self) -> dict[str, Any]:
        """The settings with everything about tools and schemas in the form of chat completions."""
        asked = chosen(tool_choice=self.chat_choice(), parallel_tool_calls=self.parallel_tool_calls)
        return self.settings | asked | chosen(tools=self.tools or None, response_format=self.chat_schema())


class Subject:
    """A library at one provider. `answer` is to be written: it yields texts, then calls, then metadata."""

    dialect: str
    default: str
    adds: str = ""  # what the library puts behind the base URL itself
    capabilities: tuple[str, ...] = (*_CAPABILITIES, "stop", "response_schema", "prefill")
    losses: tuple[str, ...] = ("tool_output_schema",)
    repairs: tuple[str, ...] = ()
    refusals: tuple[type, ...] = ()  # the library's errors for what it does not translate
    renamed: ClassVar[Mapping[str, str]] = {}  # options that have other names there
    missing: tuple[str, ...] = ()  # options that the library has no parameter for
    needs_tools_to_choose = False  # where the choice is a parameter of what binds tools

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.url = api_key, base_url and base_url.removesuffix(self.adds)
        self.default = model or self.default
        self.model = cache(self.made)

    def call(self, prompt: list[dict[str, Any]], options: Mapping[str, Any]) -> AsyncIterator[Any]:
        """The events of a call."""
        return write_events(self.answer(self.read(prompt, options)), options, self.refusals, self.key)

    def read(self, prompt: list[dict[str, Any]], options: Mapping[str, Any]) -> Request:
        """The call as chat completions have it. Raises PromptTranslationFailed for what the library does not have."""
        check_messages(prompt, self.dialect)
        given = {
            name: value for name, value in options.items() if value not in (None, [], {}) and name not in _NOT_SENT
        }
        model, tools = given.pop("model", self.default), [chat_tool(tool) for tool in given.pop("tools", ())]
        has_provider = given.pop("provider", {}).get(self.dialect)
        known = {*_SAME, "tool_choice", "parallel_tool_calls", "response_schema"}.difference(self.missing)
        if unknown := [*given.keys() - known, *(["provider"] if has_provider else [])]:
            raise refuse(f"these options are not supported: {', '.join(sorted(unknown))}")
        if given.keys() & {"tool_choice", "parallel_tool_calls"} and not tools and self.needs_tools_to_choose:
            raise refuse("a choice of tools needs tools")
        settings = {self.renamed.get(name, name): given[name] for name in _SAME if name in given}
        return Request(
            model,
            chat_messages(prompt),
            settings,
            tools,
            tool_choice=given.get("tool_choice"),
            parallel_tool_calls=given.get("parallel_tool_calls"),
            schema=given.get("response_schema"),
            is_streamed=bool(options.get("stream")),
        )

    def made(self, model: str) -> Any:
        """The library's object for a model. `self.model` makes it once, as a program does: each has a client."""
        raise NotImplementedError

    def answer(self, request: Request) -> AsyncGenerator[Any]:
        """Texts as they come, then calls, then metadata."""
        raise NotImplementedError


def refuse(why: str) -> PromptTranslationFailed:
    """The error for a prompt or an option that the library has no parameter for."""
    return PromptTranslationFailed(why)


def check_messages(prompt: list[dict[str, Any]], dialect: str) -> None:
    """Reasoning that was kept for the next turn, and requests of tools without a content, are not supported."""
    for message in prompt:
        if dialect in (message.get("extensions") or {}) or (
            message["role"] == "tool_request" and not message["content"]
        ):
            raise refuse(f"this {message['role']} message is not supported")


def chat_messages(prompt: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages in the form of chat completions, which many libraries take; tool requests join their turn."""
    messages: list[dict[str, Any]] = []
    for message in prompt:
        chat = _chat_message(message)
        if message["role"] == "tool_request" and messages and messages[-1]["role"] == "assistant":
            messages[-1] |= {"tool_calls": [*messages[-1].get("tool_calls", ()), *chat["tool_calls"]]}
        else:
            messages.append(chat)
    if any(one["role"] == "assistant" and one["content"] is None and not one.get("tool_calls") for one in messages):
        raise refuse("an assistant message has neither a text nor a call")
    return messages


def _chat_message(message: dict[str, Any]) -> dict[str, Any]:
    match message:
        case {"role": "tool_request", "content": request}:
            function = {"name": request["name"], "arguments": request["arguments"]}
            if not isinstance(function["arguments"], str):
                function["arguments"] = json.dumps(function["arguments"])
            calls = [{"id": request["id"], "type": "function", "function": function}]
            return {"role": "assistant", "content": None, "tool_calls": calls}
        case {"role": "tool" | "tool_result"}:
            return {**message, "role": "tool"}
        case {"role": "user", "content": list()}:
            return {**message, "content": [_chat_part(part) for part in message["content"]]}
        case _:
            pass
    return {name: value for name, value in message.items() if name != "extensions" and value != []}


def _chat_part(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return part
    url = part.get("url") or f"data:{part['mime_type']};base64,{part['data']}"
    return {"type": "image_url", "image_url": {"url": url}}


def plain_messages(request: Request) -> list[dict[str, Any]]:
    """The messages as a provider of chat completions takes them: without the status of results."""
    return [{name: chat[name] for name in chat if name != "status"} for chat in request.messages]


def chosen(**options: Any) -> dict[str, Any]:
    """The options that are set."""
    return {name: value for name, value in options.items() if value is not None}


class Names(dict[str, str]):
    """The tool of each call so far, for libraries whose results need its name. A later turn may use an id again."""

    def learn(self, chat: dict[str, Any]) -> None:
        """Adds the calls of a message."""
        self.update((call["id"], call["function"]["name"]) for call in chat.get("tool_calls", ()))

    def of(self, call: str) -> str:
        """Its name. Raises PromptTranslationFailed if there is no such call."""
        if call not in self:
            raise refuse(f"the result of {call!r} has no call")
        return self[call]


def read_arguments(text: str) -> dict[str, Any] | None:
    """Arguments as the object that libraries take in place of their text, or None if they are not an object.

    Raises PromptTranslationFailed if the object would not say the same as the text.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise refuse("a key of the arguments is repeated")
        return dict(pairs)

    def finite(number: str) -> float:
        if math.isinf(float(number)):
            raise refuse("a number of the arguments is too large")
        return float(number)

    def constant(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    try:
        value = json.loads(text.strip() or "{}", object_pairs_hook=unique, parse_float=finite, parse_constant=constant)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def object_arguments(call: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, for libraries that take nothing but an object."""
    if (read := read_arguments(call["function"]["arguments"])) is None:
        raise refuse("the arguments of a call are no object")
    return read


def chat_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool in the form of chat completions."""
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": function}


class Loose(dict[str, Any]):
    """JSON data whose keys are attributes, as the types of chat completions have them."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    @staticmethod
    def of(value: Any) -> Any:
        """The data of a library that has no types."""
        return json.loads(json.dumps(value), object_hook=Loose)


async def read_chat(answer: Any, *, is_streamed: bool, has_refusals: bool = True) -> AsyncGenerator[Any]:
    """The pieces of an answer in the types of chat completions, or of a stream of their chunks.

    `has_refusals`: what is in `refusal` is the model's text, and not the library's own words about it.
    """

    def text_of(said: Any) -> str:
        return said.content or (has_refusals and getattr(said, "refusal", None)) or ""

    if is_streamed:
        usage, reason, calls = None, None, dict[int, list[str]]()
        async for chunk in answer:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                reason = choice.finish_reason or reason
                yield text_of(choice.delta)
                for part in choice.delta.tool_calls or ():
                    call = calls.setdefault(part.index, ["", "", ""])
                    said = part.function and (part.id, part.function.name, part.function.arguments)
                    calls[part.index] = [f"{old}{new or ''}" for old, new in zip(call, said or call, strict=True)]
        found = list(calls.values())
    else:
        message, reason, usage = answer.choices[0].message, answer.choices[0].finish_reason, answer.usage
        yield text_of(message)
        found = [[call.id, call.function.name, call.function.arguments] for call in message.tool_calls or ()]
    cached, thinking = getattr(usage, "prompt_tokens_details", None), getattr(usage, "completion_tokens_details", None)
    counted = (usage and usage.prompt_tokens, usage and usage.completion_tokens)
    details = (cached and cached.cached_tokens, thinking and thinking.reasoning_tokens)
    for piece in the_end(found, reason, *counted, *details):
        yield piece


def the_end(
    calls: Iterable[Iterable[Any]],
    said: Any,
    input_tokens: Any = None,
    output_tokens: Any = None,
    cached: Any = None,
    thinking: Any = None,
) -> list[dict[str, Any]]:
    """The last pieces of an answer: its calls (id, name, and arguments as text or object), then metadata.

    A provider always gives a finish reason: an answer without it was cut off.
    """
    if not isinstance(said, str):
        raise TypeError("the answer has no finish reason")
    found = [_call_piece(*call) for call in calls]
    reason = "tool_calls" if found and FINISHES.get(said) == "stop" else FINISHES.get(said, "other")
    counts = {"input_tokens": input_tokens, "output_tokens": output_tokens}
    return [*found, {**counts, "cached_tokens": cached, "thinking_tokens": thinking, "stop_reason": reason}]


def _call_piece(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


async def write_events(
    pieces: AsyncGenerator[Any], options: Mapping[str, Any], refusals: tuple[type, ...], key: str
) -> AsyncIterator[Any]:
    """The events of a call. A text is a TOKEN, a dict with an `id` a TOOL_CALL, any other dict the metadata at the end.

    An error of exactly one of the types `refusals` is the library's refusal; every other error is an ERROR event.
    """
    context = options.get("call_context")
    kind = f"{context}_LLM_RESPONSE" if context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS") else "LLM_RESPONSE"
    books = {"thread_id": options["thread_id"], "session_id": options.get("session_id")}
    books["trace_id"] = options.get("trace_id") or str(uuid4())
    text, calls, counted, failure = "", list[dict[str, Any]](), dict[str, Any](), None
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, str):
                    text += piece
                    if piece:
                        yield {"type": "TOKEN", "text": piece, "token_type": kind, **books}
                elif "id" in piece:
                    calls.append(piece)
                    yield {"type": "TOOL_CALL", "call": piece, **books}
                else:
                    counted = piece
    except PromptTranslationFailed:
        raise
    except Exception as error:  # noqa: BLE001 - a library lets any error of its clients through
        if type(error) in refusals:
            raise refuse(str(error).replace(key, "***")) from None
        failure = error
    message: dict[str, Any] = {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}
    if failure is None:
        yield {"type": "METADATA", "metadata": counted, **books}
        yield {"type": "END", "message": message, "finish": counted["stop_reason"], **books}
        return
    yield {"type": "ERROR", "error": describe(failure, key), **books}
    yield {"type": "END", "message": message if text or calls else None, "finish": "error", **books}


def describe(failure: Any, key: str) -> dict[str, Any]:
    """The error of an ERROR event, with the HTTP status where the library's exception has one."""
    words, causes = f"{type(failure).__name__}: {failure}".replace(key, "***"), [failure]
    while causes[-1].__cause__:
        causes.append(causes[-1].__cause__)
    known = [getattr(cause, name, None) for cause in causes for name in ("status_code", "code")]
    status = next((one for one in known if isinstance(one, int)), None)
    answers = [answer for cause in causes if (answer := getattr(cause, "response", None)) is not None]
    headers = getattr(answers[0], "headers", {}) if answers else {}
    error = {"code": "LLM_PROVIDER_ERROR", "message": words, "provider_message": words, "status": status}
    retryable = status in {408, 409, 429} or (status or 500) >= 500
    return {**error, "retry_after": wait_of(headers), "is_retryable": retryable}


def wait_of(headers: Any) -> float | None:
    """The seconds to wait, of `retry-after-ms` or `retry-after`: a number or a date; None where neither can be read."""
    milliseconds, after = headers.get("retry-after-ms"), headers.get("retry-after")
    for text, unit in ((milliseconds, 1000), (after, 1)):
        with suppress(TypeError, ValueError):
            return float(text) / unit
    with suppress(ValueError):
        return max(0.0, (parsedate_to_datetime(after or "") - datetime.now(UTC)).total_seconds())
    return None
