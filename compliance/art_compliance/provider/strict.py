"""The strict provider: it judges each request as the real provider would, and answers in its format.

```python
with StrictProvider("anthropic-messages") as provider:
    client = anthropic.Anthropic(base_url=provider.url, api_key="any")
    ...
    provider.seen()[-1].findings
```
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Self

from msgspec import Struct, structs

from art_compliance.dialects import DIALECTS, Dialect, find_by_url, find_dialect
from art_compliance.findings import Finding, HarnessError
from art_compliance.provider.asking import Asked, ask
from art_compliance.provider.composing import ANSWERS, Compose, compose, write
from art_compliance.provider.faults import Fault
from art_compliance.provider.refusing import CHECK, Refusal, find_wrong, refuse, refuse_for
from art_compliance.provider.script import Response
from art_compliance.provider.server import LoopbackServer, Request
from art_compliance.scenarios import WrittenAnswer

MARK: Final = ("x-answered-by", "art-compliance")
"""A header of each answer, so that a recording of it is not mistaken for a real provider's."""


class Exchange(Struct, frozen=True):
    """A request and its answer. `dialect` is None for an unknown path, `said` for a refusal."""

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
        return self.said is None


class StrictProvider:
    """A provider on the loopback interface, at `url` inside a `with`. The same request gets the same answer.

    `dialect` is a name, or None for all dialects, by their paths. `answer` writes the answers to good requests: a
    function, or a name of `ANSWERS`. `fault` spoils every answer that it applies to. `on_exchange` is called with each
    exchange, in the server's thread. Raises HarnessError for an unknown name, and on entering for a port in use.
    """

    def __init__(
        self,
        dialect: str | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        answer: Compose | str = compose,
        fault: Fault | None = None,
        on_exchange: Callable[[Exchange], None] | None = None,
    ) -> None:
        self._dialect = None if dialect is None else find_dialect(dialect)
        self._compose = _find_answer(answer) if isinstance(answer, str) else answer
        self._fault = fault
        self._on_exchange = on_exchange
        self._server: Final = LoopbackServer(self._respond, host=host, port=port)
        self._lock = threading.Lock()
        self._seen: list[Exchange] = []

    @property
    def url(self) -> str:
        """The address, without a path."""
        return self._server.url

    @property
    def base_url(self) -> str:
        """The base URL for a client: `url` with the path of the provider's own base URL. Raises HarnessError."""
        if self._dialect is None:
            raise HarnessError(
                "a provider of every dialect has no single base URL; use `url` and the dialect's `service.base_path`"
            )
        return self.url + self._dialect.service.base_path

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.__exit__(*exception)

    def seen(self, since: int = 0) -> list[Exchange]:
        """The exchanges so far, oldest first, without the first `since`."""
        with self._lock:
            return self._seen[since:]

    def _respond(self, request: Request) -> Response:
        exchange = self._exchange(request)
        with self._lock:
            self._seen.append(exchange)
        if self._on_exchange is not None:
            self._on_exchange(exchange)
        return structs.replace(exchange.response, headers=(*exchange.response.headers, MARK))

    def _exchange(self, request: Request) -> Exchange:
        dialect = self._dialect or find_by_url(request.target)
        if dialect is None or not dialect.service.takes(request.target):
            return _unknown_path(request, self._dialect)
        asked = ask(dialect, request)
        refusal = refuse(asked)
        findings = refusal.findings if refusal else find_wrong(asked)
        refusal = refusal or refuse_for(asked, findings)
        if refusal is not None:
            return Exchange(request, dialect.name, findings, _response(dialect, refusal))
        said = self._compose(asked)
        fault = self._fault if self._fault is not None and self._fault.fits(asked) else None
        make, name = (_answer, None) if fault is None else (fault.make, fault.id)
        response = write(asked, said, make)
        return Exchange(request, dialect.name, findings, response, said, name, asked.wants_stream)


def answer_strictly(asked: Asked, make: Compose = compose) -> Response:
    """A strict provider's response to a request: a refusal, or the answer that `make` writes."""
    refusal = refuse(asked) or refuse_for(asked, find_wrong(asked))
    return _response(asked.dialect, refusal) if refusal else write(asked, make(asked), _answer)


def _answer(said: WrittenAnswer, asked: Asked) -> Response:
    return asked.answer(said)


def _response(dialect: Dialect, refusal: Refusal) -> Response:
    allow = (("allow", "POST"),) if refusal.status == 405 else ()
    return Response(refusal.status, dialect.answers.write_error(refusal.status, refusal.words), headers=allow)


def _unknown_path(request: Request, dialect: Dialect | None) -> Exchange:
    """In the error format of the dialect; of the first one if there are several."""
    known = (dialect,) if dialect else tuple(DIALECTS.values())
    paths = ", ".join(f"{one.service.base_path} … {one.service.path}" for one in known)
    words = f"unknown path {request.method} {request.target.partition('?')[0]}; known paths: {paths}"
    body = known[0].answers.write_error(404, words)
    finding = Finding(check=CHECK, message=words)
    return Exchange(request, None, (finding,), Response(404, body))


def _find_answer(name: str) -> Compose:
    if name not in ANSWERS:
        raise HarnessError(f"unknown answer {name!r}; known: {', '.join(ANSWERS)}")
    return ANSWERS[name]
