"""What the subjects share: the options of a call, and what a subject declares.

A subject is written as a user of its library would write it: from its documentation, by its public names. It
translates nothing itself, and refuses what the library has no parameter for.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, NamedTuple

from answering import CHAT_COUNTS, End, end_of, write_events
from chat_form import chat_messages, chat_tool, check_messages, refuse
from turns import Turn, read_turns

_NOT_SENT: Final = {"thread_id", "trace_id", "session_id", "user_id", "call_context", "late_system", "stream"}
_CAPABILITIES: Final = ("system", "late_system", "tools", "parallel_tools", "streaming", "images", "prefill")
_OPTIONAL: Final = ("stop", "tool_choice", "response_schema")  # capabilities with the names of their options
_SAME: Final = ("temperature", "top_p", "max_tokens", "stop")

_MODELS: Final = {
    "openai-chat": "gpt-4.1-mini",
    "openai-responses": "gpt-4.1-mini",
    "anthropic-messages": "claude-haiku-4-5",
    "gemini-generate": "gemini-2.5-flash",
}
_WITHOUT_FIELD: Final = {  # what no library can send, as the format has no field for it
    "openai-chat": ("result_status",),
    "openai-responses": ("result_status", "message_name"),
    "anthropic-messages": ("message_name",),
    "gemini-generate": ("message_name",),
}


class Function(NamedTuple):
    """A tool."""

    name: str
    description: str
    parameters: dict[str, Any]


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

    def plain_messages(self) -> list[dict[str, Any]]:
        """The messages as a provider of chat completions takes them: without the status of results."""
        return [{name: chat[name] for name in chat if name != "status"} for chat in self.messages]

    def turns(self) -> list[Turn]:
        """The messages, for libraries that have types of their own."""
        return read_turns(self.messages)

    def functions(self) -> list[Function]:
        """The tools, for libraries that have a type of their own."""
        return [Function(**tool["function"]) for tool in self.tools]

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
    """A library at one provider. `answer` is to be written: it yields texts, then what `end` returns."""

    dialect: str
    adds: str = ""  # what the library puts behind the base URL itself
    losses: tuple[str, ...] = ()  # beside what the format has no field for
    repairs: tuple[str, ...] = ()
    refusals: tuple[type, ...] = ()  # the library's errors for what it does not translate
    renamed: ClassVar[Mapping[str, str]] = {}  # options that have other names there
    missing: tuple[str, ...] = ()  # options that the library has no parameter for
    needs_tools_to_choose = False  # where the choice is a parameter of what binds tools
    counts: tuple[str, ...] = CHAT_COUNTS  # where the library's usage has the tokens: see `end_of`

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.url = api_key, base_url and base_url.removesuffix(self.adds)
        self.default = model or _MODELS[self.dialect]
        self.capabilities = (*_CAPABILITIES, *(one for one in _OPTIONAL if one not in self.missing))
        self.losses = ("tool_output_schema", *_WITHOUT_FIELD[self.dialect], *self.losses)
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
        """Texts as they come, then the end."""
        raise NotImplementedError

    def end(self, calls: Iterable[Iterable[Any]], said: Any, used: Any) -> End:
        """The last piece of an answer: calls as (id, name, arguments), the finish reason, the library's usage."""
        return end_of(calls, said, used, self.counts)


def chosen(**options: Any) -> dict[str, Any]:
    """The options that are set."""
    return {name: value for name, value in options.items() if value is not None}
