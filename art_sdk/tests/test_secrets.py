"""What shows an adapter, a request or an error shows no key: reprs, dumps, tracebacks with local variables, logs."""

from __future__ import annotations

import copy
import dataclasses
import io
import json
import logging
import pickle
import pprint
import reprlib
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import httpx2
import pytest
from rich.console import Console
from rich.pretty import pretty_repr
from rich.traceback import Traceback

from art_sdk import BaseAdapter, ErrorEvent, InvalidConfig, LLMProviderError, OpenAIAdapter, Secret
from networked import BACKENDS, BOTH, USER, Serve, gather, options
from row_tables import table

KEY = "k3y-" + "0123456789abcdef" * 10
"""As long as the keys of some providers: what shortens long texts shows their beginning."""
START = KEY[:12]
HEADERS = {"x-own-key": KEY}


def printed(error: BaseException) -> Iterator[str]:
    """The error as those show it that show local variables, each with the errors behind it."""
    yield "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    shown = Console(file=io.StringIO(), width=2000, record=True)
    shown.print(Traceback.from_exception(type(error), error, error.__traceback__, show_locals=True))
    yield shown.export_text()


SHOWN: dict[str, Callable[[Any], str]] = {
    "repr": repr,
    "str": str,
    "format": "{}".format,
    "vars": lambda adapter: str(vars(adapter)),
    "pprint": lambda adapter: pprint.pformat(vars(adapter)),
    "reprlib": lambda adapter: reprlib.repr(vars(adapter)),
    "rich": lambda adapter: pretty_repr(vars(adapter), max_string=40),
    "a copy": lambda adapter: str(vars(copy.copy(adapter))),
    "a deep copy": lambda adapter: str(vars(copy.deepcopy(adapter))),
    "asdict": lambda adapter: str(dataclasses.asdict(Holder(adapter, vars(adapter)))),
    "a request": lambda adapter: str(adapter.prepare(USER, options())),
    "headers": lambda adapter: str(adapter.prepare(USER, options()).request.headers),
    "a client's headers": lambda adapter: repr(httpx2.Headers(adapter.prepare(USER, options()).request.headers)),
    "a client's request": lambda adapter: repr(sent(adapter).headers.raw),
}


@dataclasses.dataclass
class Holder:
    adapter: Any
    parts: Any


def sent(adapter: BaseAdapter) -> httpx2.Request:
    request = adapter.prepare(USER, options()).request
    return httpx2.Client().build_request(request.method, request.url, headers=request.headers)


@table("show", SHOWN.values(), ids=SHOWN)
def test_nothing_that_shows_an_adapter_shows_its_key(make: type[BaseAdapter], show: Callable[[Any], str]) -> None:
    assert START not in show(make(api_key=KEY, headers=HEADERS))


def test_the_key_is_sent_all_the_same(make: type[BaseAdapter]) -> None:
    headers = sent(make(api_key=KEY, headers=HEADERS)).headers
    assert [name for name, value in headers.items() if value in (KEY, f"Bearer {KEY}")] == [
        "x-own-key",
        *make(api_key=KEY).auth_headers(),
    ]


def test_a_secret_is_a_string_that_no_repr_shows() -> None:
    secret = Secret("k3y")
    assert (secret, len(secret), f"{secret}", secret[1:], secret.encode().decode()) == ("k3y", 3, "k3y", "3y", "k3y")
    assert f"{secret!r} {secret[1:]!r} {secret.encode()!r} {secret.encode().decode()!r}" == " ".join(["[hidden]"] * 4)
    assert json.dumps({secret: 1}) == '{"k3y": 1}'
    assert copy.copy(secret) is copy.deepcopy(secret) is secret


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_adapter_is_not_pickled(make: type[BaseAdapter], protocol: int) -> None:
    adapter = make(api_key=KEY)
    for thing in (adapter, adapter.prepare(USER, options()).request, Secret(KEY), Secret(KEY).encode()):
        with pytest.raises(TypeError, match="an API key cannot be pickled; create the adapter in each process"):
            pickle.dumps(thing, protocol)


def _fails(connection: socket.socket, _: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 500 -\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")


def test_a_copy_shares_the_connections_of_its_original(make: type[BaseAdapter], serve: Serve) -> None:
    server = serve(_fails)
    with closing(make(api_key=KEY, base_url=f"{server.url}v1")) as adapter:
        for one in (adapter, copy.copy(adapter), copy.deepcopy(adapter)):
            list(one.call_sync(USER, options(stream=False)))
    assert (server.connections, server.requests) == (1, 3)


def test_a_copy_has_settings_of_its_own(make: type[BaseAdapter]) -> None:
    adapter = make(api_key=KEY)
    for copied in (copy.copy(adapter), copy.deepcopy(adapter)):
        copied.model = "another"
        assert adapter.model == make.default_model


def test_an_adapter_that_is_half_made_has_a_repr(make: type[BaseAdapter]) -> None:
    assert repr(object.__new__(make)) == f"{make.__name__}(model=None, base_url=None)"


@table(
    "settings",
    [
        {"api_key": f"{KEY}\n"},
        {"api_key": KEY.encode()},
        {"api_key": [KEY]},
        {"base_url": f"https://user:{KEY}@acme.test"},
        {"base_url": f"https://acme.test?key={KEY}"},
        {"headers": {"x-own-key": f"{KEY}\n"}},
        {"headers": {"x-own-key": KEY, "content-length": "5"}},
        {"headers": [KEY]},
        {"timeouts": 5},
        {"http_client": KEY},
    ],
)
def test_a_traceback_of_a_wrong_setting_shows_no_key(make: type[BaseAdapter], settings: dict[str, Any]) -> None:
    given = {"api_key": Secret(KEY), "headers": HEADERS} | settings
    values = [given.pop(name) for name in list(given)]  # the test's own frame shows what it has
    names = list({"api_key": 0, "headers": 0} | settings)
    with pytest.raises(InvalidConfig) as caught:
        make(**dict(zip(names, values, strict=True)))
    del given, values, settings
    error = caught.value
    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # without the test's frame
    assert not [text for text in printed(error) if START in text]


def fail(request: httpx2.Request) -> httpx2.Response:
    """Fails as httpx2 does: with an error of the library below behind its own."""
    try:
        write(bytes(max((value for _, value in request.headers.raw), key=len)))
    except OSError as error:
        raise httpx2.WriteError("broken pipe") from error
    raise AssertionError


def write(data: bytes) -> None:
    raise OSError(len(data))


@BOTH
def test_a_traceback_of_a_failed_call_shows_no_key(make: type[BaseAdapter], is_async: bool) -> None:  # noqa: FBT001
    mock = httpx2.MockTransport(fail)
    client: Any = (httpx2.AsyncClient if is_async else httpx2.Client)(transport=mock)
    adapter = make(api_key=KEY, headers=HEADERS, http_client=client, base_url="http://acme.test")
    events = gather(adapter, "asyncio" if is_async else "sync", client)
    [error] = [event.error for event in events if isinstance(event, ErrorEvent)]
    assert isinstance(error, LLMProviderError)
    assert isinstance(error.__cause__, httpx2.WriteError)
    assert not [text for text in printed(error) if START in text]


@pytest.mark.unmeasured
def test_a_traceback_of_another_s_error_shows_no_key_as_far_as_it_goes(make: type[BaseAdapter]) -> None:
    def raises(request: httpx2.Request) -> httpx2.Response:
        headers, raw = request.headers, request.headers.raw
        raise KeyError(len(headers) + len(raw))

    client = httpx2.Client(transport=httpx2.MockTransport(raises))
    adapter = make(api_key=KEY, headers=HEADERS, http_client=client, base_url="http://acme.test")
    with pytest.raises(KeyError) as caught:
        adapter.complete_sync(USER, options(stream=False))
    assert not [text for text in printed(caught.value) if START in text]


def test_an_error_that_the_caller_handles_keeps_its_traceback() -> None:
    def call_while_handling() -> None:
        try:
            write(b"mine")
        except OSError:
            gather(OpenAIAdapter(api_key=KEY, http_client=client, base_url="http://acme.test"), "sync", client)
            with pytest.raises(InvalidConfig):
                OpenAIAdapter(api_key="")
            raise

    client = httpx2.Client(transport=httpx2.MockTransport(fail))
    with pytest.raises(OSError, match="4") as caught:
        call_while_handling()
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][-1] == "write"


@BACKENDS
def test_no_log_shows_the_key(make: type[BaseAdapter], way: str, serve: Any, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(lambda connection, stop: connection.sendall(b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"))
    with caplog.at_level(logging.DEBUG):
        gather(make(api_key=KEY, headers=HEADERS, base_url=server.url), way)
    logged = [f"{record.getMessage()} {record.args} {vars(record)}" for record in caplog.records]
    assert logged  # httpx2 and what it calls do log at this level
    assert not [line for line in logged if START in line]
