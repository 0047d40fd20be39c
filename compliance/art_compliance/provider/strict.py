"""The strict provider: it judges each request as the real provider would, and answers in its format.

```python
with StrictProvider("anthropic-messages") as provider:
    client = anthropic.Anthropic(base_url=provider.url, api_key="any")
    ...
    provider.seen()[-1].findings
```
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Self

from msgspec import Struct, structs

from art_compliance.dialects import Dialect
from art_compliance.dialects.endpoints import Endpoint
from art_compliance.findings import Finding, HarnessError
from art_compliance.provider.asking import Asked, ask
from art_compliance.provider.composing import ANSWERS, Compose, compose, write
from art_compliance.provider.endpoints import find_endpoint, find_endpoints
from art_compliance.provider.faults import Fault, find_fault
from art_compliance.provider.history import History
from art_compliance.provider.limits import DEFAULT, ServerLimits
from art_compliance.provider.models import answer_models, find_lister, models_path
from art_compliance.provider.receiving import BadRequest, Request
from art_compliance.provider.refusing import CHECK, Refusal, find_wrong, refuse, refuse_for, refuse_listing
from art_compliance.provider.script import Response, Send
from art_compliance.provider.server import LoopbackServer
from art_compliance.quoting import shorten
from art_compliance.scenarios import WrittenAnswer

MARK: Final = ("x-answered-by", "art-compliance")
"""A header of each answer, so that a recording of it is not mistaken for a real provider's."""


class Exchange(Struct, frozen=True):
    """A request and its answer. `dialect` is None for an unknown path, `said` for a refusal and a list of models."""

    request: Request
    dialect: str | None
    findings: tuple[Finding, ...]
    response: Response
    said: WrittenAnswer | None = None
    fault: str | None = None
    is_streamed: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether the request was refused."""
        return self.said is None and self.response.status >= 400

    @property
    def size(self) -> int:
        """The bytes of both bodies."""
        sent = sum(len(step.data) for step in self.response.steps or () if isinstance(step, Send))
        return len(self.request.body) + len(self.response.body) + sent


class StrictProvider:
    """A provider on the loopback interface, at `url` inside a `with`. The same request gets the same answer.

    `dialect` is a name, or None for all dialects, by their paths. `service` is the name of a service that speaks the
    dialect at paths and with keys of its own, such as `azure`; without it the provider itself is played. Without a
    dialect, a request to a path that several dialects share is judged by that path alone: what some of their services
    accept is a note. `answer` writes the answers to good requests: a function, or a name of `ANSWERS`. `fault`, or the
    fault of that name, spoils every answer that it applies to. `on_exchange` is called with each exchange, in the
    server's thread. `limits` bound what a client may take, and how much `seen` remembers. Raises
    HarnessError for an unknown name, and on entering for a port in use.
    """

    def __init__(
        self,
        dialect: str | None = None,
        *,
        service: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        answer: Compose | str = compose,
        fault: Fault | str | None = None,
        on_exchange: Callable[[Exchange], None] | None = None,
        limits: ServerLimits = DEFAULT,
    ) -> None:
        self._endpoints: Final = find_endpoints(dialect, service)
        self._compose = _find_answer(answer) if isinstance(answer, str) else answer
        self._fault = find_fault(fault) if isinstance(fault, str) else fault
        self._on_exchange = on_exchange
        unremembered = structs.replace(limits, kept=0)
        self._server: Final = LoopbackServer(
            self._respond, refuse=self._refuse, host=host, port=port, limits=unremembered
        )
        self._history: Final[History[Exchange]] = History(limits, lambda exchange: exchange.size)

    @property
    def url(self) -> str:
        """The address, without a path."""
        return self._server.url

    @property
    def base_url(self) -> str:
        """The base URL for a client: `url` with the path of the provider's own base URL. Raises HarnessError."""
        first, *others = self._endpoints
        if others:
            raise HarnessError(
                "a provider of every dialect has no single base URL; use `url` and the dialect's `service.base_path`"
            )
        return self.url + first.base_path

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The services that are played."""
        return self._endpoints

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.__exit__(*exception)

    def seen(self, since: int = 0) -> list[Exchange]:
        """The latest exchanges, oldest first, without the first `since` that there were."""
        return self._history.since(since)

    def _respond(self, request: Request) -> Response:
        try:
            exchange = self._exchange(request)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client sees it, in the form that it reads
            exchange = self._failed(request, 500, f"this server failed: {type(error).__name__}: {error}")
        return self._note(exchange)

    def _refuse(self, bad: BadRequest) -> Response:
        return self._note(self._failed(bad.request, bad.status, bad.words))

    def _note(self, exchange: Exchange) -> Response:
        self._history.add(exchange)
        if self._on_exchange is not None:
            self._on_exchange(exchange)
        return structs.replace(exchange.response, headers=(*exchange.response.headers, MARK))

    def _failed(self, request: Request, status: int, words: str) -> Exchange:
        """An error answer in the form of the dialect that is asked, or of the first."""
        endpoint = self._find_endpoint(request) or self._endpoints[0]
        return Exchange(request, endpoint.dialect, _found(words), _response(endpoint.spoken, status, words))

    def _find_endpoint(self, request: Request) -> Endpoint | None:
        return find_endpoint(self._endpoints, request.target)

    def _exchange(self, request: Request) -> Exchange:
        endpoint = self._find_endpoint(request)
        if endpoint is not None:
            return self._answered(request, endpoint)
        lister = find_lister(self._endpoints, request)
        return _unknown_path(request, self._endpoints) if lister is None else _listed(request, lister)

    def _answered(self, request: Request, endpoint: Endpoint) -> Exchange:
        dialect = endpoint.spoken
        asked = ask(dialect, request, endpoint)
        refusal = refuse(asked)
        findings = refusal.findings if refusal else find_wrong(asked)
        refusal = refusal or refuse_for(asked, findings)
        if refusal is not None:
            return Exchange(request, dialect.name, findings, _refused(dialect, refusal))
        other = dialect.answers.write_other(asked.payload, request.target)
        if other is not None:
            return Exchange(request, dialect.name, findings, Response(200, other))
        said = self._compose(asked)
        fault = self._fault if self._fault is not None and self._fault.fits(asked) else None
        make, name = (_answer, None) if fault is None else (fault.make, fault.id)
        response = write(asked, said, make)
        return Exchange(request, dialect.name, findings, response, said, name, asked.wants_stream)


def answer_strictly(asked: Asked, make: Compose = compose) -> Response:
    """A strict provider's response to a request: a refusal, or the answer that `make` writes."""
    refusal = refuse(asked) or refuse_for(asked, find_wrong(asked))
    return _refused(asked.dialect, refusal) if refusal else write(asked, make(asked), _answer)


def _answer(said: WrittenAnswer, asked: Asked) -> Response:
    return asked.answer(said)


def _refused(dialect: Dialect, refusal: Refusal, method: str = "POST") -> Response:
    allow = (("allow", method),) if refusal.status == 405 else ()
    return _response(dialect, refusal.status, refusal.words, allow)


def _response(dialect: Dialect, status: int, words: str, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    named = dialect.answers.error_headers(status, words)
    return Response(status, dialect.answers.write_error(status, words), headers=(*named, *headers))


def _found(words: str) -> tuple[Finding, ...]:
    return (Finding(check=CHECK, finding_class="refused", message=words),)


def _listed(request: Request, endpoint: Endpoint) -> Exchange:
    """The answer to a request for models."""
    dialect = endpoint.spoken
    refusal = refuse_listing(Asked(dialect, request, endpoint=endpoint))
    if refusal is not None:
        return Exchange(request, dialect.name, refusal.findings, _refused(dialect, refusal, "GET, HEAD"))
    return Exchange(request, dialect.name, (), answer_models(endpoint, request))


def _unknown_path(request: Request, known: tuple[Endpoint, ...]) -> Exchange:
    """In the error format of the first endpoint's dialect."""
    posted = [f"POST {path}" for one in known for path in one.paths]
    listed = [f"GET {path}" for path in dict.fromkeys(map(models_path, known)) if path is not None]
    path = shorten(request.target.partition("?")[0])
    words = f"unknown path {request.method} {path}; known paths: {', '.join([*posted, *listed])}"
    return Exchange(request, None, _found(words), _response(known[0].spoken, 404, words))


def _find_answer(name: str) -> Compose:
    if name not in ANSWERS:
        raise HarnessError(f"unknown answer {name!r}; known: {', '.join(ANSWERS)}")
    return ANSWERS[name]
