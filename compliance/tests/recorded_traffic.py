"""Calls that were recorded from real providers, in one form for every test: those next to the checkout, and others'
own.

`shared/corpus` next to the checkout holds a file a call, `<provider>/<name>.json`, and more refusals as lines of
`errors.jsonl`. What others publish comes as `packaged` (conftest.py). Where there is no such folder, its tests skip.
"""

from __future__ import annotations

import base64
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import urlsplit

import httpx2
import msgspec
import pytest
from msgspec import Struct

from art_compliance import Decoded, decode
from art_compliance.cassettes.bodies import json_of
from art_compliance.cassettes.corpus import Found, dialect_of
from art_compliance.comparison import Comparison, Expected, compare
from art_compliance.dialects import DIALECTS, Dialect, find_dialect
from art_compliance.dialects.aws_events import is_messages, read_messages
from art_compliance.dialects.endpoints import find_spoken
from art_compliance.dialects.urls import host_of, is_one_of
from art_compliance.judging.exam import SHAPES
from art_compliance.subject.factories import find_factory
from art_compliance.traffic.judged import dialect_at
from art_sdk import (
    BUILT_IN,
    AnthropicAdapter,
    AzureOpenAIAdapter,
    BaseAdapter,
    OpenAIAdapter,
    OpenAICompatibleAdapter,
    parse_options,
)
from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.chat_completions.provider import ChatProvider

FOLDER: Final = Path(__file__).resolve().parents[3] / "shared" / "corpus"
SECOND_FOLDER: Final = FOLDER.with_name("corpus-second")
ABSENT: Final = f"no recorded traffic: {FOLDER.parent.name}/{FOLDER.name} is not beside the checkout"
needs_traffic: Final = pytest.mark.skipif(not FOLDER.is_dir(), reason=ABSENT)

_CLASSES: Final[Mapping[str, Any]] = {name: find_factory(name) for name in BUILT_IN}


def _speaks(dialect: str) -> type[BaseAdapter]:
    """The adapter of the format: the only one, or that of the provider whose format it is."""
    hosts = DIALECTS[dialect].service.hosts
    all_of_it = [kind for kind in _CLASSES.values() if kind.dialect == dialect]
    own = [kind for kind in all_of_it if is_one_of(host_of(getattr(kind, "default_base_url", "")) or "", hosts)]
    return (own or all_of_it)[0]


ADAPTERS: Final[Mapping[str, type[BaseAdapter]]] = {dialect: _speaks(dialect) for dialect in SHAPES.values()}
"""By dialect of a recorded shape, who speaks it."""

READERS: Final[Mapping[str, type[BaseAdapter]]] = {shape: ADAPTERS[dialect] for shape, dialect in SHAPES.items()}
"""By recorded shape, who reads it."""

READERS_OF_STREAMS: Final = {**READERS, "vertex_raw": AnthropicAdapter}  # Anthropic's own format, served by Vertex

_OTHERS: Final = (
    "cerebras",
    "cloudflare",
    "databricks",
    "huggingface",
    "perplexity",
    "redacted",
    "snowflake",
    "together",
    "vercel-gateway",
    "zai",
)
FAMILY: Final[Mapping[str, type[BaseAdapter]]] = {
    **{name: _CLASSES[name] for name in ("azure", "deepseek", "groq", "mistral", "ollama", "openrouter", "xai")},
    **dict.fromkeys(_OTHERS, OpenAICompatibleAdapter),
}
"""By recorded provider, who speaks chat completions there. A new adapter of the family is one name here."""

_OPEN: Final[Mapping[type[BaseAdapter], Mapping[str, Any]]] = {
    AzureOpenAIAdapter: {"base_url": "https://recorded.openai.azure.com/openai/v1", "model": "recorded"},
    OpenAICompatibleAdapter: {
        "base_url": "https://recorded.test/v1",
        "model": "recorded",
        "capabilities": CAPABILITIES,
        "provider": ChatProvider(kept=("reasoning_content", "reasoning", "reasoning_details")),
    },
}
"""What an adapter without its own host is given: who calls an unknown server says what goes back to it."""

DECLARED_REPAIRS: Final[Mapping[str, frozenset[str]]] = defaultdict(
    frozenset,
    {
        "openai-chat": frozenset({"maps_call_ids"}),
        "openai-responses": frozenset({"joins_turns", "maps_call_ids"}),
        "mistral-chat": frozenset({"maps_call_ids"}),
        "gemini-generate": frozenset({"joins_turns", "wraps_result"}),
        "bedrock-converse": frozenset({"joins_turns"}),
    },
)
"""By dialect, what our adapter may change in a request that is rebuilt: by default, nothing."""

NO_SLOT: Final = "the format has no slot for it"
"""Why a part of a recorded request has no place in a decoding."""

_SHAPES_BY_DIALECT: Final = {dialect: shape for shape, dialect in SHAPES.items()}


# One recorded call.


class Recorded(Struct, frozen=True, kw_only=True):
    """A call, whoever recorded it. `provider` is the package's name where others did.

    `answer` is JSON or an event stream, and empty where it was anything else. `url`, `model` and
    `retry_after` (seconds) are what was recorded next to it, if they were.
    """

    name: str
    provider: str
    shape: str
    status: int
    request: Any
    answer: bytes
    url: str | None = None
    model: str | None = None
    retry_after: str | None = None

    @property
    def dialect(self) -> str:
        """The dialect of its reader. Raises KeyError where it has none, see `is_accepted`."""
        return reader_of(self).dialect

    @property
    def spoken(self) -> Dialect:
        """The dialect of its reader, as the recorded service speaks it."""
        return find_spoken(find_dialect(self.dialect), self.url)

    @property
    def data(self) -> Any:
        """The JSON of an answer that came whole, else None."""
        return json_of(self.answer)

    @property
    def frames(self) -> list[bytes]:
        """A stream cut after each event, blank lines included, after each line of JSON, or after each message."""
        if self.answer.startswith(b"{"):
            return self.answer.splitlines(keepends=True)
        if is_messages(self.answer):
            return [message.write() for message in read_messages(self.answer)]
        blank = b"\r\n\r\n" if b"\r\n\r\n" in self.answer else b"\n\n"
        return [frame + blank for frame in self.answer.split(blank) if frame.strip()]

    @property
    def is_accepted(self) -> bool:
        """Whether it is a good answer to a request of a dialect of ours."""
        return self.status == 200 and self.shape in SHAPES

    @property
    def has_numbers_for_enums(self) -> bool:
        """Whether the client asked for enums as numbers, which ours never does and Google's own cannot read."""
        return "enum-encoding%3Dint" in (self.url or "")


def reader_of(one: Recorded) -> type[BaseAdapter]:
    """The provider's own adapter if there is one, else the first of the shape. Raises KeyError if there is none."""
    return FAMILY.get(one.provider, OpenAIAdapter) if one.shape == "chat_completions" else READERS_OF_STREAMS[one.shape]


def open_reader(reader: type[BaseAdapter], **settings: Any) -> BaseAdapter:
    """An adapter of the class, at its own host or a made-up one, unless the settings say where."""
    return reader(**{"api_key": "no-key", **_OPEN.get(reader, {}), **settings})


def place_of(one: Recorded) -> dict[str, str]:
    """The settings with which an adapter of the family calls the recorded URL.

    Empty where none can: the host is masked, or it is Azure's URL for models of others.
    """
    url = one.url or ""
    dated = _DATED.fullmatch(url)
    if dated is not None:
        return {"base_url": dated[1], "model": dated[2], "api_version": dated[3]}
    base = url.removesuffix("/chat/completions")
    is_open = url.startswith("http") and base != url
    return {"base_url": base if urlsplit(base).path else f"{base}/"} if is_open else {}


_DATED: Final = re.compile(r"(.*/openai)/deployments/([^/]+)/chat/completions\?api-version=([^&]+)")
"""A URL of Azure OpenAI's older API."""


class _Answer(Struct, frozen=True):
    status: int
    json: Any = None
    sse: str | None = None
    ndjson: str | None = None
    raw_base64: str | None = None

    @property
    def body(self) -> bytes:
        if self.raw_base64 is not None:
            return base64.b64decode(self.raw_base64)
        streamed = self.sse or self.ndjson
        if streamed is not None:
            return streamed.encode()
        return b"" if self.json is None else json.dumps(self.json).encode()


class _File(Struct, frozen=True):
    provider: str
    shape: str
    url: str
    request: Any
    response: _Answer


class _Refusal(Struct, frozen=True):
    provider: str
    shape: str
    status: int
    request: Any
    response: Any
    model: str | None
    retry_after: str | None


@cache
def recorded_files(folder: Path = FOLDER) -> tuple[Recorded, ...]:
    """Every call that has its own file. Empty where the folder is not there."""
    found = [(path, msgspec.json.decode(path.read_bytes(), type=_File)) for path in sorted(folder.glob("*/*.json"))]
    return tuple(
        Recorded(
            name=f"{path.parent.name}/{path.stem}",
            provider=one.provider,
            shape=one.shape,
            status=one.response.status,
            request=one.request,
            answer=one.response.body,
            url=one.url,
        )
        for path, one in found
    )


@cache
def listed_refusals() -> tuple[Recorded, ...]:
    """The refusals that have a line instead. Some are without their request."""
    path = FOLDER / "errors.jsonl"
    lines = path.read_bytes().splitlines() if path.is_file() else []
    found = [msgspec.json.decode(line, type=_Refusal) for line in lines]
    return tuple(
        Recorded(
            name=f"{one.provider}/errors.jsonl:{number}",
            provider=one.provider,
            shape=one.shape,
            status=one.status,
            request=one.request,
            answer=json.dumps(one.response).encode(),
            model=one.model,
            retry_after=one.retry_after,
        )
        for number, one in enumerate(found, 1)
    )


def accepted() -> list[Recorded]:
    """What a provider next to the checkout took, of our dialects."""
    return [one for one in recorded_files() if one.is_accepted]


def _provider_at(url: str) -> str | None:
    """The name in `FAMILY` of who answered chat completions at this URL; None where it is OpenAI, or masked."""
    host, dialect = host_of(url), dialect_at(url)
    if dialect == "openai-chat":
        return None if host is None or find_dialect(dialect).service.covers(url) else "redacted"
    named = (dialect or "").removesuffix("-chat")
    return named if named in FAMILY else "redacted" if dialect == "openai-compatible" else None


def accepted_in_packages(packaged: Iterable[Found]) -> Iterator[Recorded]:
    """What a provider took, by the recordings of others, of our dialects."""
    for found in packaged:
        dialect, exchange = dialect_of(found), found.exchange
        if dialect is not None and exchange.status == 200:
            yield Recorded(
                name=found.id,
                provider=_provider_at(exchange.uri) or found.package,
                shape=_SHAPES_BY_DIALECT[dialect],
                status=200,
                request=json_of(exchange.request_body),
                answer=exchange.answer_body,
                url=None if "REDACTED" in exchange.uri else exchange.uri,
            )


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def params(rows: Iterable[_Named]) -> list[Any]:
    """A case a row, under its name. Without the folder, one that is skipped and says why."""
    if not FOLDER.is_dir():
        return [pytest.param(None, marks=needs_traffic, id="absent")]
    return [pytest.param(one, id=one.name) for one in rows]


# A recorded request, decoded and made again.


class Rebuilt(NamedTuple):
    """Our adapter's request of a decoding: what it says otherwise, and what it holds itself."""

    compared: Comparison
    again: Decoded


def decoded_of(one: Recorded) -> Decoded:
    """The request, decoded by the dialect of its reader."""
    return decode(one.dialect, one.request, url=one.url)


def rebuild(one: Recorded) -> Rebuilt:
    """The request out of our adapter, against the decoding. Raises PromptTranslationFailed where it refuses that."""
    adapter, decoded = open_reader(reader_of(one)), decoded_of(one)
    wanted = {name: value for name, value in decoded.options.items() if (name, value) != ("stream", False)}
    own = {} if decoded.tools or "tool_choice" not in wanted else {"tools": one.request.get("tools", [])}
    options = parse_options(
        {"thread_id": "corpus", "tools": decoded.tools, "provider": {one.dialect: own}, **wanted}
    )  # a choice among the provider's own tools needs them
    payload = adapter.translate(decoded.prompt, options)
    again = decode(one.dialect, payload, url=adapter.request(payload, options).url)
    expected = Expected(dialect=one.dialect, prompt=decoded.prompt, tools=decoded.tools, options=wanted)
    return Rebuilt(compare(expected, again), again)


# The official clients, over what was recorded.


def official(package: str) -> Any:
    """The official client's module, or a skip."""
    reason = f"the official client {package!r} is the judge here; install '.[judges]'"
    return pytest.importorskip(package, reason=reason)


def replaying(body: bytes, headers: Mapping[str, str], *, status: int = 200) -> httpx2.Client:
    """A client whose every request is answered with these bytes."""
    answer = httpx2.MockTransport(lambda _: httpx2.Response(status, content=body, headers=headers))
    return httpx2.Client(transport=answer)
