from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from art_sdk import (
    AnthropicAdapter,
    ArtStandardPrompt,
    AssistantMessage,
    BaseAdapter,
    CallInfo,
    FunctionCall,
    GeminiAdapter,
    OpenAIAdapter,
    PromptTranslationFailed,
    ResponseHead,
    ToolCall,
    parse_options,
    parse_prompt,
)

KEY = "sk-test/0123456789=="
FACTORIES: dict[str, type[BaseAdapter]] = {
    "openai": OpenAIAdapter,
    "gemini": GeminiAdapter,
    "anthropic": AnthropicAdapter,
}


@pytest.fixture
def key() -> str:
    """An API key whose characters JSON and HTML writers like to escape."""
    return KEY


@pytest.fixture(params=FACTORIES)
def make(request: pytest.FixtureRequest) -> type[BaseAdapter]:
    """Each reference adapter's factory in turn."""
    return FACTORIES[request.param]


@pytest.fixture
def adapter(make: type[BaseAdapter]) -> BaseAdapter:
    return make(api_key=KEY)


@pytest.fixture
def openai() -> OpenAIAdapter:
    return OpenAIAdapter(api_key=KEY)


@pytest.fixture
def gemini() -> GeminiAdapter:
    return GeminiAdapter(api_key=KEY)


@pytest.fixture
def anthropic() -> AnthropicAdapter:
    return AnthropicAdapter(api_key=KEY)


@pytest.fixture
def translate() -> Callable[..., dict[str, Any]]:
    """Translates JSON data. Options other than `thread_id` are keywords."""

    def make_payload(adapter: BaseAdapter, messages: Any, **options: Any) -> dict[str, Any]:
        return adapter.translate(parse_prompt(messages), parse_options({"thread_id": "t"} | options))

    return make_payload


@pytest.fixture
def refusal(translate: Callable[..., dict[str, Any]]) -> Callable[..., PromptTranslationFailed]:
    """The error that an adapter raises for such a prompt."""

    def make_error(adapter: BaseAdapter, messages: Any, **options: Any) -> PromptTranslationFailed:
        with pytest.raises(PromptTranslationFailed) as caught:
            translate(adapter, messages, **options)
        return caught.value

    return make_error


@pytest.fixture
def five_calls() -> ArtStandardPrompt:
    """A prompt with five calls."""
    return (AssistantMessage(None, tuple(ToolCall(f"p{n}", FunctionCall("f", "{}")) for n in range(5))),)


@pytest.fixture
def user() -> dict[str, Any]:
    return {"role": "user", "content": "hello"}


@pytest.fixture
def call() -> Callable[..., dict[str, Any]]:
    """An assistant message with one call for each id."""

    def assistant(*ids: str, name: str = "look", arguments: str = "{}", content: str | None = None) -> dict[str, Any]:
        calls = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i in ids]
        return {"role": "assistant", "content": content, "tool_calls": calls}

    return assistant


@pytest.fixture
def result() -> Callable[..., dict[str, Any]]:
    def tool_result(call_id: str, content: str = "ok", **more: Any) -> dict[str, Any]:
        return {"role": "tool_result", "content": content, "tool_call_id": call_id, **more}

    return tool_result


@pytest.fixture
def head() -> Callable[..., ResponseHead]:
    def make_head(status: int = 200, **headers: str) -> ResponseHead:
        return ResponseHead(status, {name.replace("_", "-"): value for name, value in headers.items()})

    return make_head


@pytest.fixture
def info() -> Callable[..., CallInfo]:
    """A call's info with a clock that always shows 2.5 seconds."""

    def make_info(**more: Any) -> CallInfo:
        facts = {"thread_id": "t", "trace_id": "r", "model": "m", "clock": lambda: 2.5} | more
        return CallInfo(**facts)

    return make_info


@pytest.fixture
def good_body() -> dict[str, bytes]:
    """By provider, an answer that says `hi`."""
    return {
        "openai": b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}',
        "gemini": b'{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}',
        "anthropic": b'{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}',
    }


@pytest.fixture
def nested() -> Callable[[int], Any]:
    def build(levels: int) -> Any:
        value: Any = 1
        for _ in range(levels):
            value = {"a": value}
        return value

    return build


@pytest.fixture
def everything(call: Callable[..., Any], result: Callable[..., Any]) -> list[dict[str, Any]]:
    """A prompt with every role and field that every reference adapter takes."""
    return [
        {"role": "system", "content": "be brief", "name": "boss"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "name": "ann"},
        call("c1", "c2", arguments='{"n": 12345678901234567890123}', content="well"),
        result("c2", "two", status="error", name="look"),
        result("c1", "one"),
        {"role": "tool_request", "content": {"id": "c3", "name": "find", "arguments": {"q": "{{x}}"}}},
        {"role": "tool", "content": "three", "tool_call_id": "c3"},
        {"role": "assistant", "content": "so", "extensions": {"elsewhere": {"sig": "="}}},
        {"role": "user", "content": "<b>system:</b> ```x```"},
    ]


Script = Callable[[socket.socket, threading.Event], None]


class ScriptServer:
    """Answers every request with a script. Each connection has its own thread."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.stop = threading.Event()
        self.asked = threading.Event()
        self.gone = threading.Event()
        self.connections = 0
        self.requests = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            self._threads.append(threading.Thread(target=self._talk, args=[connection], daemon=True))
            self._threads[-1].start()

    def _talk(self, connection: socket.socket) -> None:
        connection.settimeout(30)  # a client that waits forever is dropped, and its test fails
        with connection, contextlib.suppress(OSError):
            while _takes_a_request(connection):
                self.requests += 1
                self.asked.set()
                self._script(connection, self.stop)
        self.gone.set()

    def close(self) -> None:
        self.stop.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join(5)


def _takes_a_request(connection: socket.socket) -> bool:
    taken = b""
    while b"\r\n\r\n" not in taken:
        piece = connection.recv(65536)
        if not piece:
            return False
        taken += piece
    head, _, body = taken.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    left = (int(length[1]) if length else 0) - len(body)
    while left > 0:
        left -= len(connection.recv(65536))
    return True


@pytest.fixture
def serve() -> Iterator[Callable[[Script], ScriptServer]]:
    servers: list[ScriptServer] = []

    def start(script: Script) -> ScriptServer:
        servers.append(ScriptServer(script))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


_AWS = ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION")


@pytest.fixture
def no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys of the machine that runs the tests, and no requests for those of an instance."""
    for name in (*_AWS, "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / name))
