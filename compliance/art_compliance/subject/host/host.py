"""One adapter in the process that it runs in, and every use that the suite makes of it: JSON data in, observations out.

`Host` is what `Reach.use` names: the same uses, in this process or in another one.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import structs

from art_compliance.findings import HarnessError
from art_compliance.subject.bridged import BridgedAdapter
from art_compliance.subject.deadlines import Runner, run_bounded, start_bounded
from art_compliance.subject.events import Answered, event_data
from art_compliance.subject.factories import imported
from art_compliance.subject.facts import facts_of
from art_compliance.subject.host.calling import Caller
from art_compliance.subject.host.closing import close_adapter
from art_compliance.subject.host.collecting import answered_whole, is_folded
from art_compliance.subject.host.counting import count_open, count_open_in
from art_compliance.subject.host.interrupting import Cancelled, CannotDo
from art_compliance.subject.host.sharing import with_shared_parts
from art_compliance.subject.host.siblings import Asking, AskingBy, Made, Siblings
from art_compliance.subject.host.surroundings import from_seed, look_around
from art_compliance.subject.host.watching import Watch
from art_compliance.subject.host.written import as_text, why_unwritable
from art_compliance.subject.making import Order, find_format_of, make_adapter, require_adapter
from art_compliance.subject.observations import (
    Called,
    Crashed,
    Observation,
    Refused,
    Reply,
    Sent,
    Translation,
    observe_each,
    observe_error,
)
from art_compliance.subject.places import describe_error
from art_sdk import HttpRequest, parse_options, parse_prompt

if TYPE_CHECKING:
    import anyio.from_thread

T = TypeVar("T")


class Host(Siblings, Watch):
    """An adapter that was made. Methods return what they observe, and raise nothing that the adapter raises."""

    def __init__(self, made: Made, surroundings: Mapping[str, str]) -> None:
        """`surroundings` are as they were before the adapter was made."""
        Siblings.__init__(self, made)
        Watch.__init__(self, surroundings)
        self._caller = Caller(made.adapter, made.portal, made.order.limit, made.run)
        self._kept: list[tuple[Any, dict[str, Any]]] = []
        self._version_header = "" if made.format is None else made.format.version_header
        self.facts = facts_of(made.adapter, made.order, made.format)

    def translate(self, prompt: Any, options: Any) -> Observation:
        """The payload that `translate` returns, with the URL that it would go to, if known."""
        return self._observe(lambda: self._typing.translated(self._translate, prompt, options))

    def _observe(self, translate: Callable[[], tuple[Any, Any]]) -> Observation:
        """What is seen of the arguments and the payload that it returns."""
        try:
            arguments, payload = translate()
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return observe_error(error)
        if (depth := why_unwritable(payload)) is not None:
            return Crashed(f"translate returned a payload that is {depth}", is_rude=True)
        request = self._request(payload, arguments[1])
        if request is None:
            return Sent(payload)
        return Sent(payload, request.url, version=request.headers.get(self._version_header))

    def watch_translations(self, calls: Sequence[Asking]) -> list[Translation]:
        """As `translate`, of one prompt after the other, with whether it changes its arguments."""
        return [self._watch_translation(*call) for call in calls]

    def _watch_translation(self, prompt: Any, options: Any) -> Translation:
        try:
            arguments = self._typing.arguments(prompt, options)
        except Exception as error:  # noqa: BLE001 - whatever the adapter's types raise is what is judged
            return Translation(observe_error(error))
        before = as_text(arguments)
        seen = self._observe(lambda: (arguments, self._translate(*arguments)))
        return Translation(seen, as_text(arguments) != before)

    def translate_together(self, calls: Sequence[Asking]) -> list[Observation]:
        """What `translate` makes of prompts and their options at the same time, each on its own thread."""
        begun = [start_bounded(partial(self.translate, *call)) for call in calls]
        return [future.result() for future in begun]

    def call(self, prompt: Any, options: Any, method: str = "call", seconds: float | None = None) -> Called:
        """The reply to a call, read to its end, and whether the call changed the prompt or the options."""
        before = as_text((prompt, options))
        reply = self._reply(lambda: self._caller.read(prompt, options, method=method, seconds=seconds))
        return Called(reply, as_text((prompt, options)) != before)

    def call_in_running_loop(self, prompt: Any, options: Any, method: str) -> Reply:
        """The reply to a call by a synchronous method, in the thread of an event loop that runs."""
        return self._reply(lambda: self._caller.read_in_running_loop(prompt, options, method))

    def fold(self, prompt: Any, options: Any, method: str) -> Reply:
        """The whole answer that another method than `call` returns, as events."""

        def ask() -> Answered:
            return answered_whole(self._caller.ask(prompt, options, method))

        return self._reply(ask)

    def call_together(self, calls: Sequence[AskingBy], seconds: float) -> list[Reply]:
        """The replies to concurrent calls, each by its method. One that takes longer than `seconds` has crashed."""
        replies = self._caller.read_together(calls, seconds=seconds)
        return observe_each(replies)

    def call_by_steps(self, prompt: Any, options: Any, method: str) -> Reply:
        """The reply to a call whose events are each read in another task, or on another thread."""
        return self._reply(lambda: self._caller.read_by_steps(prompt, options, method))

    def call_slowly(self, calls: Sequence[AskingBy], pause: float, seconds: float) -> list[Reply]:
        """As `call_together`, by readers who pause for so many seconds after the first token."""
        return observe_each(self._caller.read_slowly(calls, pause=pause, seconds=seconds))

    def keep(self, prompt: Any, options: Any, method: str = "call") -> dict[str, Any] | Refused | Crashed:
        """Of the events of a call, the numbers of those that changed after they came; and whether the arguments did.

        `earlier` says whether events of the call that was kept before have changed meanwhile. A method that gives a
        whole answer has no events, and may raise.
        """
        before = as_text((prompt, options))
        kept = self._attempt(lambda: self._caller.keep(prompt, options, method))
        if isinstance(kept, Refused) and is_folded(method):
            kept = []
        if not isinstance(kept, list):
            return kept
        changed = [number for number, (event, data) in enumerate(kept) if event_data(event) != data]
        earlier = any(event_data(event) != data for event, data in self._kept)
        self._kept = [] if changed else kept
        return {"events": changed, "earlier": earlier, "arguments": as_text((prompt, options)) != before}

    def call_again(self, prompt: Any, options: Any, *, index: int, message: dict[str, Any]) -> Called:
        """Makes a call twice with the same list, in which this message, in place, becomes another in between."""
        self._reply(lambda: self._caller.read(prompt, options))
        prompt[index].clear()
        prompt[index].update(message)
        return self.call(prompt, options)

    def call_typed(self, prompt: Any, options: Any, method: str) -> Reply:
        """The reply to a call that is given typed values, by an adapter that takes these."""
        arguments = parse_prompt(prompt), parse_options(options)
        if is_folded(method):
            return self.fold(*arguments, method)
        return self._reply(lambda: self._caller.read(*arguments, method=method))

    def call_with_shared_parts(self, prompt: Any, options: Any) -> Called:
        """The reply to a call whose equal parts are one Python object each, as a program's constants are."""
        return self.call(with_shared_parts(prompt), with_shared_parts(options))

    def converse(
        self, messages: Sequence[Any], steps: Sequence[tuple[Sequence[int], Any]], *, typed: bool
    ) -> list[Reply]:
        """The replies to calls, each with options and some of the messages, given by their indexes.

        JSON data comes in one list, which changes from call to call; typed values come in a new list, but are the same
        objects in each call.
        """
        prompt: list[Any] = []
        known: dict[int, Any] = {}
        replies: list[Reply] = []
        for indexes, options in steps:
            prompt[:] = [messages[at] for at in indexes]
            arguments: tuple[Any, Any] = (prompt, options)
            if typed:
                parsed = zip(indexes, parse_prompt(prompt), strict=True)
                arguments = [known.setdefault(at, one) for at, one in parsed], parse_options(options)
            replies.append(self._reply(partial(self._caller.read, *arguments)))
        return replies

    def cost(self, prompt: Any, options: Any, method: str) -> float | Refused | Crashed:
        """The seconds of processor time that a call takes on the thread that reads it."""
        return self._attempt(lambda: self._caller.cost(prompt, options, method))

    def close_early(self, prompt: Any, options: Any, *, method: str = "call") -> float | Refused | Crashed:
        """Closes the call after its first token: how many seconds that took. Raises CannotDo."""
        return self._attempt(lambda: self._caller.close_early(prompt, options, method=method))

    def cancel_early(
        self, prompt: Any, options: Any, *, after_token: bool, method: str = "call"
    ) -> Cancelled | Refused | Crashed:
        """Cancels the call while it waits, and says what came of it. Raises CannotDo."""
        return self._attempt(lambda: self._caller.cancel_early(prompt, options, method, after_token=after_token))

    def cancel_together(self, calls: Sequence[AskingBy], *, after_token: bool) -> list[Cancelled] | Refused | Crashed:
        """As `cancel_early`, for concurrent calls: what came of each, or what one of them raised. Raises CannotDo."""
        return self._attempt(lambda: self._caller.cancel_together(calls, after_token=after_token))

    def shown(self) -> str:
        """The adapter's `repr`, or what that raised."""
        try:
            return repr(self.adapter)
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises
            return describe_error(error)

    def count_open(self, *, collected: bool = True) -> dict[str, int]:
        """How many threads, tasks, processes, sockets and files this process has; those that the system tells.

        With `collected`, garbage is collected first.
        """
        if isinstance(self.adapter, BridgedAdapter):
            return count_open_in(self.adapter.pid)
        return {**count_open(collected=collected), "tasks": self._caller.count_tasks()}

    def random_after(self, seed: int, prompt: Any, options: Any) -> float:
        """The next of Python's random numbers after a call, which begins with this seed."""
        with from_seed(seed):
            self.call(prompt, options)
            return random.random()  # noqa: S311 - it is compared

    def close(self) -> None:
        """Closes the adapter if it has an asynchronous `aclose`. Raises HarnessError."""
        close_adapter(self.adapter, self._order, self._portal)

    def _reply(self, read: Callable[[], Answered]) -> Reply:
        try:
            return read()
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return observe_error(error)

    def _attempt(self, work: Callable[[], T]) -> T | Refused | Crashed:
        try:
            return work()
        except CannotDo:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            return observe_error(error)

    def _translate(self, prompt: Any, options: Any) -> Any:
        payload = self._run(lambda: self.adapter.translate(prompt, options), self._order.limit)
        if inspect.iscoroutine(payload):
            payload.close()  # preflight reports it: a coroutine is not JSON data
        return payload

    def _request(self, payload: Any, options: Any) -> HttpRequest | None:
        """The request that would carry the payload, if known. Errors of `request` are left for a call to find."""
        if not self.facts.takes_types:
            return None
        try:
            request: HttpRequest = self.adapter.request(payload, options)
        except Exception:  # noqa: BLE001 - a payload that cannot be encoded has no request either
            return None
        return request


def make_host(order: Order, portal: anyio.from_thread.BlockingPortal, run: Runner = run_bounded) -> Host:
    """Makes the adapter, a second time if only an instance knows its dialect, which its base URL depends on.

    Raises HarnessError if it cannot be made or inspected.
    """
    order = structs.replace(order, make=imported(order.make))
    try:
        return _make_host(order, portal, run)
    except HarnessError:
        raise
    except Exception as error:
        raise order.error(f"inspecting the adapter raised {describe_error(error)}") from error


def _make_host(order: Order, portal: anyio.from_thread.BlockingPortal, run: Runner) -> Host:
    surroundings = look_around()
    spoken = find_format_of(order, order.make)
    adapter = make_adapter(order, spoken, run)
    if spoken is None:
        spoken = find_format_of(order, adapter)
        if spoken is not None:
            close_adapter(adapter, order, portal)
            adapter = make_adapter(order, spoken, run)
    require_adapter(order, adapter)
    return Host(Made(adapter, order, spoken, portal, run), surroundings)
