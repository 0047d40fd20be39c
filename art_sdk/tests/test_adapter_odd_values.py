"""Whatever Python values a caller gives, only errors of the SDK come out: values with methods of their own, too."""

from __future__ import annotations

import collections
import contextlib
import datetime as dt
import decimal
import enum
import types
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from art_sdk import (
    AnthropicAdapter,
    ARTError,
    AssistantMessage,
    BaseAdapter,
    CallOptions,
    GeminiAdapter,
    InvalidConfig,
    OpenAIAdapter,
    PromptTranslationFailed,
    PromptValidationFailed,
    UserMessage,
    parse_options,
    parse_prompt,
)

USER = {"role": "user", "content": "hi"}
OPTIONS = {"thread_id": "t"}


def no(*_: Any, **__: Any) -> Any:
    raise RuntimeError("no")


class Reprless:
    __repr__ = no


class Closed:
    __getattribute__ = no


class Unmatched:
    __eq__ = no
    __bool__ = no
    __hash__ = None  # type: ignore[assignment]


class Scalar:
    """As a library of numbers has them."""

    def __index__(self) -> int:
        return 3

    def __float__(self) -> float:
        return 3.0


class Silent(str):
    __slots__ = ()
    __str__ = __repr__ = __format__ = no


class Unequal(str):
    __slots__ = ()
    __eq__ = no
    __hash__ = str.__hash__


class Unhashable(str):
    __slots__ = ()
    __hash__ = no


class Endless(str):
    __slots__ = ()
    __len__ = no


class Number(int):
    __eq__ = __lt__ = __le__ = no
    __hash__ = int.__hash__


class Items(list[Any]):
    __iter__ = __len__ = no


class Table(dict[str, Any]):
    __iter__ = __getitem__ = items = keys = get = no


class Foreign(collections.UserDict[str, Any]):
    __iter__ = __len__ = __getitem__ = no


class Word(enum.StrEnum):
    USER = "user"


class Choice(enum.Enum):
    ONE = 1


def nested(wrap: Callable[[Any], Any]) -> Any:
    value: Any = 1
    for _ in range(1200):
        value = wrap(value)
    return value


ROUND: list[Any] = []
ROUND.append(ROUND)

VALUES: dict[str, Any] = {
    **{
        f"{value!r}": value for value in (None, True, 0, -1, 2**64, 1e400, float("nan"), "", "x", "a\0b", "\ud800", ...)
    },
    **{type(value).__name__: value for value in (b"x", bytearray(b"x"), memoryview(b"x"), 1j, {1}, range(3), len, int)},
    **{
        type(value).__name__: value
        for value in (decimal.Decimal("sNaN"), dt.datetime.max.replace(tzinfo=dt.UTC), uuid.UUID(int=1))
    },
    **{type(value).__name__: value for value in (Reprless(), Closed(), Scalar(), Number(3), Items([1]), Table(a=1))},
    **{kind.__name__: kind("x") for kind in (Silent, Unequal, Unhashable, Endless)},
    "5,000 digits": 10**5000,
    "unmatched": Unmatched(),
    "a key of 5,000 digits": {10**5000: 1},
    "a silent key": {Silent("x"): 1},
    "a member": Word.USER,
    "another member": Choice.ONE,
    "an enum": Choice,
    "a proxy": types.MappingProxyType({"a": 1}),
    "a proxy of a table": types.MappingProxyType(Table(a=1)),
    "a foreign mapping": Foreign(),
    "a deque": collections.deque([1]),
    "itself": ROUND,
    "deep lists": nested(lambda inner: [inner]),
    "deep objects": nested(lambda inner: {"a": inner}),
    "silent texts": [Silent("x"), Unequal("y")],
}

TOOL = {"name": "f", "description": "d", "inputSchema": {"type": "object"}}


def options_with(value: Any, dialect: str) -> Iterator[Any]:
    yield value
    for name in (*CallOptions.__struct_fields__, "unknown"):
        yield from (OPTIONS | {name: given} for given in (value, [value], {"a": value}))
    yield from (OPTIONS | {"tools": [TOOL | {name: value}]} for name in TOOL)
    yield OPTIONS | {"tools": [TOOL | {"inputSchema": {"type": "object", "properties": {"a": value}}}]}
    yield from (OPTIONS | {"provider": {dialect: given}} for given in (value, {"new": value}))
    yield CallOptions(thread_id=value, stop=value, temperature=value)
    yield CallOptions(thread_id="t", provider={dialect: {"new": value}})


MESSAGES: list[dict[str, Any]] = [
    USER,
    {"role": "system", "content": "s"},
    {"role": "assistant", "content": "a"},
    {"role": "tool_request", "content": {"id": "a", "name": "f", "arguments": {}}},
    {"role": "tool_result", "content": "x", "tool_call_id": "a"},
]
PARTS = ({"type": "text", "text": "x"}, {"type": "image", "mime_type": "image/png", "data": "AAAA"})


def prompts_with(value: Any, dialect: str) -> Iterator[Any]:
    yield from (value, [value], (USER, value))
    for message in MESSAGES:
        for name in (*message, "name", "new", "extensions", "tool_calls", "status"):
            yield from ([USER, message | {name: given}] for given in (value, [value]))
    yield from ([{**USER, "content": [part | {name: value}]}] for part in PARTS for name in (*part, "url"))
    call = {"id": "a", "name": "f", "arguments": {}}
    yield from ([USER, {"role": "tool_request", "content": call | {name: value}}] for name in call)
    yield [USER, {"role": "tool_request", "content": call | {"arguments": {"x": value}}}, MESSAGES[-1]]
    extension = {"blocks": [{"at": 0, "block": value}], "text": value, "parts": value, "calls": value}
    for given in (value, extension):
        yield [USER, {"role": "assistant", "content": "a", "extensions": {dialect: given}}]
    yield from ([UserMessage(value)], [UserMessage("x", name=value)], [AssistantMessage(value, value)])
    yield [AssistantMessage("x", extensions={dialect: {"a": value}})]


def settings_with(value: Any) -> Iterator[dict[str, Any]]:
    names = ("api_key", "base_url", "model", "timeouts", "size_limits", "retries", "headers", "http_client")
    yield from ({name: value} for name in names)
    yield from ({"headers": {"x": value}}, {"timeouts": {"connect": value}}, {"size_limits": {"answer": value}})


def attempt(do: Callable[[], object], *kinds: type[ARTError]) -> None:
    """Lets only these errors be raised, which must be such that they can be shown."""
    with contextlib.suppress(*kinds):
        try:
            do()
        except ARTError as error:
            f"{error} {error!r} {error.details}".encode("utf-8", "replace")
            raise


# Some 50 values, each in every place: other tests run the same lines.
pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

NESTED = ("itself", "deep lists", "deep objects")
"""What every adapter refuses in the same lines, before its own code sees it, and what takes longest."""

# By name: pytest asks a value for its class.
EACH = pytest.mark.parametrize("name", VALUES)
AROUND_EACH = pytest.mark.parametrize(
    ("make", "name"),
    [
        pytest.param(make, name, marks=pytest.mark.thorough if name in NESTED and make is not OpenAIAdapter else ())
        for make in (OpenAIAdapter, GeminiAdapter, AnthropicAdapter)
        for name in VALUES
    ],
)


@AROUND_EACH
def test_odd_settings_are_refused_or_used(make: type[BaseAdapter], name: str) -> None:
    for settings in settings_with(VALUES[name]):
        attempt(lambda: make(**{"api_key": "k"} | settings).prepare([USER], OPTIONS), InvalidConfig)  # noqa: B023


@AROUND_EACH
def test_odd_options_are_refused_or_used(make: type[BaseAdapter], name: str) -> None:
    adapter = make(api_key="k")
    for options in options_with(VALUES[name], adapter.dialect or ""):
        attempt(lambda: adapter.prepare([USER], options), InvalidConfig, PromptTranslationFailed)  # noqa: B023


@AROUND_EACH
def test_odd_prompts_are_refused_or_sent(make: type[BaseAdapter], name: str) -> None:
    adapter = make(api_key="k")
    for prompt in prompts_with(VALUES[name], adapter.dialect or ""):
        attempt(lambda: adapter.prepare(prompt, OPTIONS), PromptValidationFailed, PromptTranslationFailed)  # noqa: B023


@EACH
def test_odd_options_and_prompts_are_parsed_or_refused(name: str) -> None:
    for options in options_with(VALUES[name], "openai-chat"):
        attempt(lambda: parse_options(options), InvalidConfig)  # noqa: B023
    for prompt in prompts_with(VALUES[name], "openai-chat"):
        attempt(lambda: parse_prompt(prompt, conversation=True), PromptValidationFailed)  # noqa: B023


@pytest.mark.parametrize("kind", [Silent, Unequal, Unhashable, Endless])
def test_a_text_with_methods_of_its_own_is_sent_as_the_text_that_it_is(adapter: BaseAdapter, kind: type[str]) -> None:
    call = {"id": kind("a"), "name": kind("f"), "arguments": {"x": kind("y")}}
    results = {"role": "tool_result", "content": kind("z"), "tool_call_id": kind("a")}
    odd = [{**USER, "content": kind("hi")}, {"role": "tool_request", "content": call}, results]
    plain = [
        USER,
        {"role": "tool_request", "content": {"id": "a", "name": "f", "arguments": {"x": "y"}}},
        {**results, "content": "z", "tool_call_id": "a"},
    ]
    options = OPTIONS | {"model": kind("m"), "stop": [kind("s")]} if adapter.dialect == "openai-chat" else OPTIONS
    sent = adapter.prepare(odd, options).request
    wanted = adapter.prepare(plain, OPTIONS | {"model": "m", "stop": ["s"]} if options is not OPTIONS else OPTIONS)
    assert (sent.url, sent.body) == (wanted.request.url, wanted.request.body)


def test_what_is_wrong_is_named_with_its_place() -> None:
    adapter = OpenAIAdapter(api_key="k")
    for prompt, options, words in (
        ([{**USER, "content": Closed()}], OPTIONS, "$[0].content: Expected `str | array`, got `Closed`"),
        ([UserMessage(Unmatched())], OPTIONS, "$[0].content: Expected `str | array`, got `Unmatched`"),  # type: ignore[arg-type]
        ([USER], OPTIONS | {"response_schema": {"a": [Closed()]}}, "$.response_schema.a[0]: a value of type Closed"),
        ([USER], OPTIONS | {"response_schema": {"a": {10**5000: 1}}}, "$.response_schema.a: the key of type int is"),
    ):
        with pytest.raises(ARTError) as caught:
            adapter.prepare(prompt, options)
        assert words in caught.value.message


def test_a_fault_of_an_adapter_is_not_taken_for_one_of_the_prompt() -> None:
    class Faulty(OpenAIAdapter):
        def translate(self, *_: Any) -> Any:
            raise KeyError("mine")

    for content in ("hi", Silent("hi")):
        with pytest.raises(KeyError, match="mine"):
            Faulty(api_key="k").prepare([{**USER, "content": content}], OPTIONS)
