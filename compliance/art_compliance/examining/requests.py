"""The requests that a server is asked: those of every scenario, and some that it must refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from art_compliance.dialects import DIALECTS
from art_compliance.judging import judge
from art_compliance.judging.examples import load_examples, unfold
from art_compliance.pointers import look_up
from art_compliance.scenarios import Scenario
from art_sdk import ARTError, BaseAdapter, HttpRequest

Kind = Literal["whole", "streamed", "malformed", "against a rule"]
"""Two good kinds, and two bad ones: what no server of the format can read, and what its provider alone may refuse."""


class Asked(Struct, frozen=True):
    """A request, named after the scenario, the fault or the rule that it is of, and what it is for.

    `may_be_refused`: it is good, but some provider or other refuses its prompt.
    """

    name: str
    kind: Kind
    request: HttpRequest
    purpose: str
    may_be_refused: bool = False

    @property
    def is_good(self) -> bool:
        """Whether it is to be answered."""
        return self.kind in ("whole", "streamed")


def good_requests(adapter: BaseAdapter, scenarios: Sequence[Scenario], without: frozenset[str]) -> Iterator[Asked]:
    """Each scenario that the format can say, whole and streamed. Those that need a capability of `without` are not."""
    for scenario in scenarios:
        if without.intersection(scenario.needs):
            continue
        options = {**scenario.call_options(), "model": adapter.model}
        options.pop("timeouts", None)
        for streamed in (False, True):
            try:
                prepared = adapter.prepare(scenario.prompt, {**options, "stream": streamed})
            except ARTError:  # a good adapter refuses it: nobody would send it
                break
            if _is_signed(adapter, prepared.request):  # by a key of the provider's
                break
            kind: Kind = "streamed" if streamed else "whole"
            yield Asked(scenario.id, kind, prepared.request, scenario.purpose, _may_be_refused(scenario))


def _may_be_refused(scenario: Scenario) -> bool:
    return any(one.startswith("refused:") for right in scenario.outcomes.values() for one in right)


def _is_signed(adapter: BaseAdapter, request: HttpRequest) -> bool:
    return any(DIALECTS[adapter.dialect].requests.find_signatures(json.loads(request.body)))


def bad_requests(adapter: BaseAdapter) -> Iterator[Asked]:
    """Bodies that cannot be read, and bodies that break one rule of the provider each."""
    good = adapter.prepare([{"role": "user", "content": "hello"}], {"thread_id": "t"}).request
    for name, body in _malformed(json.loads(good.body), DIALECTS[adapter.dialect].requests.history):
        yield Asked(name, "malformed", structs.replace(good, body=body), "An unreadable body.")
    for rule, example in load_examples(adapter.dialect).items():
        if example.url is not None or example.version is not None:
            continue
        payload = unfold(example.breaks)
        found = judge(adapter.dialect, payload)
        if any(one.severity == "reject" and one.message.startswith(f"{rule}:") for one in found):
            broken = structs.replace(good, body=json.dumps(payload).encode())
            yield Asked(rule, "against a rule", broken, f"A request that breaks the provider's rule {rule}.")


def _malformed(good: dict[str, Any], history: str) -> Iterator[tuple[str, bytes]]:
    """Bodies without what every server needs. The conversation is at the pointer `history`, a field of the body."""
    field = history.removeprefix("/")
    turns: Any = look_up(good, history)
    yield "not-json", b'{"model": '
    yield "a-list", b"[]"
    yield "no-conversation", json.dumps({name: value for name, value in good.items() if name != field}).encode()
    yield "conversation-is-a-number", json.dumps({**good, field: 7}).encode()
    yield "unknown-role", json.dumps({**good, field: [{**turns[0], "role": "nobody"}]}).encode()
