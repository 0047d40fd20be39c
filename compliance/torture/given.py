"""What callers give: hostile settings, options, prompts and JSON texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

from calling import GOOD, OPTIONS, must
from faulty_server import USER, serving
from rows import Failed, Row

from art_sdk import ARTError, OpenAIAdapter, parse_prompt, parse_prompt_json


class Text(str):
    """A text whose methods raise."""

    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("hostile")

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:  # noqa: D102 - as in str
        del encoding, errors
        raise RuntimeError("hostile")


class Items(list[Any]):
    """A list that cannot be read."""

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("hostile")


def endless_list() -> list[Any]:
    """A list that contains itself."""
    value: list[Any] = []
    value.append(value)
    return value


def doubling(levels: int) -> Any:
    """Lists of 2 to the power of `levels` values, in as many lists as it has levels."""
    value: Any = "x"
    for _ in range(levels):
        value = [value, value]
    return value


def settle(work: Callable[[], Any]) -> str:
    """The work is done, or ends in an error of the SDK."""
    try:
        work()
    except ARTError as error:
        return f"{type(error).__name__}: {error}"
    return "taken"


def call_with(settings: dict[str, Any], options: dict[str, Any], prompt: Any = None) -> str:
    """A call with these settings, options and prompt: events, or an error of the SDK."""
    with serving(GOOD) as server:
        given: dict[str, Any] = {"api_key": "key", "base_url": server.url, **settings}

        def work() -> None:
            with closing(OpenAIAdapter(**given)) as adapter:
                list(adapter.call_sync(USER if prompt is None else prompt, OPTIONS | options))

        return settle(work)


def call_with_each(cases: dict[str, dict[str, Any]]) -> str:
    """As `call_with`, for each of the settings."""
    refused = 0
    for name, settings in cases.items():
        try:
            refused += call_with(settings, {}) != "taken"
        except Exception as error:
            raise Failed(f"{name}: {type(error).__name__}: {error}") from error
    return f"{refused} refused with an error of the SDK, {len(cases) - refused} taken"


HOST = "http://127.0.0.1:1"
URLS = {
    f"base_url {url!r:.60}": {"base_url": url}
    for url in (
        "http://a..b",
        "http://user:pass@127.0.0.1:1",
        f"{HOST}/v1?x=1",
        f"{HOST}/v1#f",
        "http://",
        "http://[::1",
        "ftp://x",
        "//x",
        "",
        " ",
        "http://x:99999",
        "http://x:-1",
        "http://\0",
        "http://a\r\nb",
        "http://\u0661.\u0662",
        "http://xn--a",
        "http://" + "a" * 300,
        "http://" + "a." * 200,
        "http://\ud800",
        "http://%zz",
        "javascript:1",
    )
}
HEADERS = {
    f"header {name!r:.40}: {value!r:.20}": {"headers": {name: value}}
    for name, value in (
        ("content-length", "1"),
        ("Transfer-Encoding", "chunked"),
        ("Host", "x"),
        ("x", "a\r\nb: c"),
        ("x\r\ny", "z"),
        ("", "x"),
        ("x y", "z"),
        ("x", "\0"),
        ("\u00e9", "z"),
        ("x", "\ud800"),
        ("x", 1),
        (1, "x"),
        ("AUTHORIZATION", "Bearer other"),
        ("x", "a" * 10**6),
    )
}
SETTINGS: dict[str, dict[str, Any]] = {
    "key with a line end": {"api_key": "a\r\nb: c"},
    "key with a lone surrogate": {"api_key": "\ud800"},
    "key that is empty": {"api_key": ""},
    "key that is None": {"api_key": None},
    "model of a str subclass that raises": {"model": Text("m")},
    "timeouts of 10^400": {"timeouts": {"whole_call": 10**400}},
    "timeouts that are NaN": {"timeouts": {"whole_call": float("nan")}},
    "retries of 10^400": {"retries": 10**400},
}  # fmt: skip
OPTION_CASES: dict[str, dict[str, Any]] = {
    "max_tokens of 5,000 digits": {"max_tokens": 10**4999},
    "max_tokens of 1,000,000 digits": {"max_tokens": 10**1_000_000},
    "temperature that is infinite": {"temperature": float("inf")},
    "temperature that is NaN": {"temperature": float("nan")},
    "stop that contains itself": {"stop": endless_list()},
    "stop that cannot be read": {"stop": Items(["x"])},
    "a model of a str subclass that raises": {"model": Text("m")},
    "a schema that contains itself": {"response_schema": {"type": "object", "x": endless_list()}},
    "a schema with 10^60 paths": {"response_schema": {"type": "object", "x": doubling(199)}},
    "tools that cannot be read": {"tools": Items([1])},
    "a tool named \\ud800": {"tools": [{"name": "\ud800", "description": "d", "inputSchema": {"type": "object"}}]},
    "provider fields that contain themselves": {"provider": {"x": endless_list()}},
    "a thread id of a megabyte": {"thread_id": "t" * 2**20},
    "a key that is not text": {1: 2},  # type: ignore[dict-item]
}
PROMPTS: dict[str, Any] = {
    "a prompt that cannot be read": Items([1]),
    "a prompt that contains itself": endless_list(),
    "a text with a lone surrogate": [{"role": "user", "content": "\ud800"}],
    "an integer of 5,000 digits": [{"role": "assistant", "content": "x", "extensions": {"d": {"v": 10**4999}}}],
    "a text whose methods raise": [{"role": "user", "content": Text("x")}],
    "10^60 paths": [{"role": "assistant", "content": "x", "extensions": {"d": {"v": doubling(199)}}}],
}
TEXTS: dict[str, str] = {
    "doubled keys": '[{"role": "user", "role": "assistant", "content": "x"}]',
    "JSON 1,000,000 deep": "[" * 1_000_000,
    "an integer of 1,000,000 digits": "[" + "9" * 1_000_000 + "]",
    "3,000,000 numbers": "[" + "0," * 3_000_000 + "0]",
    "NaN": '[{"role": "user", "content": NaN}]',
    "a lone surrogate": '[{"role": "user", "content": "\\ud800"}]',
}


def refuse_doubled(text: str) -> str:
    """The text must be refused."""
    said = settle(lambda: parse_prompt_json(text))
    must(said != "taken", "it was taken")
    return said


ROWS = [
    Row("settings", f"{len(URLS)} hostile base URLs", partial(call_with_each, URLS)),
    Row("settings", f"{len(HEADERS)} hostile headers", partial(call_with_each, HEADERS)),
    *(Row("settings", what, partial(call_with, settings, {})) for what, settings in SETTINGS.items()),
    *(Row("options", what, partial(call_with, {}, options)) for what, options in OPTION_CASES.items()),
    *(Row("prompts", f"{what}, sent", partial(call_with, {}, {}, prompt)) for what, prompt in PROMPTS.items()),
    *(
        Row("prompts", f"{what}, parsed", partial(settle, partial(parse_prompt, prompt)))
        for what, prompt in PROMPTS.items()
    ),
    *(Row("JSON texts", what, partial(refuse_doubled, text)) for what, text in TEXTS.items()),
]
