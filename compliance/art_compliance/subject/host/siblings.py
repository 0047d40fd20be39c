"""Sibling adapters, made as the first one was: what calls of one do to another, and what closing leaves open."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from art_compliance.findings import HarnessError
from art_compliance.subject.access import ENVIRONMENT_PATH
from art_compliance.subject.deadlines import Runner, await_bounded, run_bounded, start_bounded
from art_compliance.subject.events import Answered
from art_compliance.subject.formats import Format
from art_compliance.subject.host.calling import Caller, read_in_own_loop, read_together_in_own_loop
from art_compliance.subject.host.closing import CLOSERS, close_adapter, close_in_own_loop
from art_compliance.subject.host.environment import environment_with, home_with_login
from art_compliance.subject.host.interrupting import Cancelled, CannotDo
from art_compliance.subject.host.written import as_text
from art_compliance.subject.making import Order, needed_model
from art_compliance.subject.observations import (
    Crashed,
    Observation,
    Refused,
    Reply,
    Sent,
    observe_each,
    observe_error,
)
from art_compliance.subject.places import describe_error
from art_compliance.subject.typed import Typing

if TYPE_CHECKING:
    import anyio.from_thread

Asking = tuple[Any, Any]
"""Prompt and options of a call, as JSON data."""

AskingBy = tuple[Any, Any, str]
"""As `Asking`, with the method."""


class Made(NamedTuple):
    """An adapter that was made, of what order and format, and what runs its calls."""

    adapter: Any
    order: Order
    format: Format | None
    portal: anyio.from_thread.BlockingPortal
    run: Runner


class Siblings:
    """Makes more adapters of the kind of the one that was made, and uses them."""

    def __init__(self, made: Made) -> None:
        self.adapter, self._order, _, self._portal, self._run = made
        self._base_path = "" if made.format is None else made.format.base_path
        self._model = needed_model(made.order, made.format)
        self._typing = Typing(self.adapter)
        self._environment = ExitStack()
        self._another: Any = None
        self._set: Any = None
        self._settings: Mapping[str, Any] = {}
        self._closed: list[Any] = []

    def call_in_own_loops(self, calls: Sequence[AskingBy], *, at_once: bool) -> list[Reply]:
        """The replies of another adapter, made as this one was, to calls each in its own event loop.

        They run one after the other, or `at_once`, each on its own thread.
        """
        adapter = self._make_another(self._order.keys.own)
        futures = (start_bounded(partial(read_in_own_loop, adapter, *call)) for call in calls)
        replies = [reply_of(future) for future in ([*futures] if at_once else futures)]
        with suppress(Exception):  # what is left open is another check's business
            run_bounded(lambda: close_in_own_loop(adapter))
        return replies

    def call_together_in_own_loops(self, loops: Sequence[Sequence[Asking]], method: str) -> list[list[Reply]]:
        """The replies of another adapter to calls at the same time in one event loop, then to others in the next.

        Raises CannotDo if its calls are not asynchronous.
        """
        adapter = self._make_another(self._order.keys.own)
        try:
            return [_replies_in_a_loop(adapter, calls, method) for calls in loops]
        finally:
            with suppress(Exception):  # what is left open is another check's business
                run_bounded(lambda: close_in_own_loop(adapter))

    def call_in_new_loops(self, calls: Sequence[AskingBy]) -> None:
        """Makes calls of this adapter, one after the other, each in an event loop that ends with it."""
        for call in calls:
            reply_of(start_bounded(partial(read_in_own_loop, self.adapter, *call)))

    def open_another(self, key: str, path: str) -> None:
        """Makes a second adapter, with another key and a base URL with this path.

        Until `close_another`, the environment has another key and URL, by the names that official clients read, and
        the user's netrc file has a login for the host.
        """
        url = self._order.url + ENVIRONMENT_PATH + self._base_path
        host = urlsplit(url).hostname or ""
        nobodys = self._order.keys.environment
        self._environment.enter_context(home_with_login(host, nobodys))
        self._environment.enter_context(environment_with({"API_KEY": nobodys, "AUTH_TOKEN": nobodys, "BASE_URL": url}))
        self._another = self._make_another(key, path)

    def call_another(self, prompt: Any, options: Any, method: str) -> Reply:
        """The second adapter's reply to a call, read in its own event loop."""
        return reply_of(start_bounded(partial(read_in_own_loop, self._another, prompt, options, method)))

    def open_with(self, settings: dict[str, Any]) -> None:
        """Makes another adapter with more settings, or another model. Raises CannotDo if the factory makes none."""
        self._settings = deepcopy(settings)  # the caller's own objects from now on
        self._set = self._make_with(self._order.keys.own)

    def open_with_the_same(self, key: str) -> None:
        """Makes one more in its place, with this key and the very objects that it was given. Raises CannotDo."""
        self.close_with()
        self._set = self._make_with(key)

    def _make_with(self, key: str) -> Any:
        own, url = self._order, self._order.url + self._base_path
        given = {"api_key": key, "base_url": url, "model": self._model, **self._settings}
        try:
            return run_bounded(lambda: own.make(**given))
        except Exception as error:
            raise CannotDo(f"the factory raised {describe_error(error)}") from error

    def changes_settings(self, settings: dict[str, Any]) -> list[str]:
        """The names of the settings that have changed since they were given as these."""
        return [name for name, value in self._settings.items() if as_text(value) != as_text(settings[name])]

    def call_with(self, prompt: Any, options: Any, method: str) -> Reply:
        """That adapter's reply to a call by this method."""
        caller = Caller(self._set, self._portal, self._order.limit, self._run)
        try:
            return caller.use(prompt, options, method)
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return observe_error(error)

    def cancel_after(self, prompt: Any, options: Any, seconds: float) -> Cancelled | Refused | Crashed:
        """Cancels a call so many seconds after it began, by that adapter, or by the first one if there is no other.

        Returns what came of it. Raises CannotDo if the call is not asynchronous.
        """
        adapter = self.adapter if self._set is None else self._set
        caller = Caller(adapter, self._portal, self._order.limit, self._run)
        try:
            return caller.cancel_after(prompt, options, seconds)
        except CannotDo:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return observe_error(error)

    def call_together_with(self, calls: Sequence[AskingBy], seconds: float) -> list[Reply]:
        """That adapter's replies to concurrent calls, each by its method."""
        replies = Caller(self._set, self._portal, self._order.limit, self._run).read_together(calls, seconds=seconds)
        return observe_each(replies)

    def close_with(self) -> None:
        """Closes that adapter."""
        adapter, self._set = self._set, None
        with suppress(Exception):  # what is left open is another check's business
            close_adapter(adapter, self._order, self._portal)

    def call_at(self, address: str, prompt: Any, options: Any) -> Reply:
        """The reply of another adapter to a call; its base URL is at this address. It is closed then."""
        adapter = self._make_another(self._order.keys.own, address=address)
        reply = reply_of(start_bounded(partial(read_in_own_loop, adapter, prompt, options)))
        with suppress(Exception):  # what is left open is another check's business
            run_bounded(lambda: close_in_own_loop(adapter))
        return reply

    def close_another(self) -> None:
        """Closes the second adapter."""
        self._environment.close()
        another, self._another = self._another, None
        with suppress(Exception):  # what is left open is another check's business
            run_bounded(lambda: close_in_own_loop(another))

    def open_and_close(
        self, calls: Sequence[Asking], methods: Sequence[str], closing: str = "aclose", *, keep: bool = False
    ) -> str | None:
        """Makes another adapter for each call, calls it by these methods and closes it, one after the other.

        `closing` is `aclose`, or `close`, which is not asynchronous. Returns why one could not be closed, if so.
        Raises CannotDo if it has nothing that closes it. `keep` has the adapters live on until `forget_closed`:
        garbage collection would close what they leave open.
        """
        closer = CLOSERS[closing]
        if not closer.can_close(self.adapter):
            raise CannotDo(f"it has no {closer.words}")
        for prompt, options in calls:
            adapter = self._make_another(self._order.keys.own)
            self._closed += [adapter] if keep else []
            caller = Caller(adapter, self._portal, self._order.limit, self._run)
            for method in methods:
                with suppress(Exception):  # other checks look at that
                    caller.use(prompt, options, method)
            try:
                closer.close(adapter, self._order, self._portal)
            except HarnessError as error:
                return str(error).removeprefix(f"{self._order.name}: ")
        return None

    def call_around_another(self, calls: Sequence[Asking], method: str) -> Reply:
        """The reply to the first call; in its midst, another adapter makes the second one, and is closed.

        Raises CannotDo if it has nothing that closes it.
        """
        asked, other = calls
        if not CLOSERS["aclose"].can_close(self.adapter):
            raise CannotDo("it has no aclose")
        another = self._make_another(self._order.keys.own)
        caller = Caller(another, self._portal, self._order.limit, self._run)

        def meanwhile() -> None:
            with suppress(Exception):  # other checks look at that
                caller.use(*other, "call")
                CLOSERS["aclose"].close(another, self._order, self._portal)

        return self._around(asked, method, meanwhile)

    def call_around_its_own(self, calls: Sequence[Asking], method: str, other_method: str) -> Reply:
        """The reply to the first call; in its midst, its reader makes the second one on the same thread."""
        asked, other = calls

        def meanwhile() -> None:
            with suppress(Exception):  # as above
                made = getattr(self.adapter, other_method)(*self._typing.arguments(*other))
                deque(made if hasattr(made, "__next__") else (), maxlen=0)

        return self._around(asked, method, meanwhile)

    def _around(self, asked: Asking, method: str, meanwhile: Callable[[], None]) -> Reply:
        caller = Caller(self.adapter, self._portal, self._order.limit, self._run)
        try:
            return caller.read_around(*asked, method, meanwhile)
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return observe_error(error)

    def forget_closed(self) -> None:
        """Lets go of the closed adapters that were kept."""
        self._closed.clear()

    def translate_for(
        self, calls: Sequence[Asking], key: str, base_url: str, model: str | None = None
    ) -> list[Observation]:
        """What another adapter, with this key, base URL and model, makes of prompts.

        Raises CannotDo if none can be made, or one with other capabilities.
        """
        own = self._order
        try:
            adapter = run_bounded(lambda: own.make(api_key=key, base_url=base_url, model=model or self._model))
        except Exception as error:
            raise CannotDo(f"the factory raised {describe_error(error)}") from error
        if getattr(adapter, "capabilities", None) != getattr(self.adapter, "capabilities", None):
            raise CannotDo("it declares other capabilities")
        return [self._translate_by(adapter, *call) for call in calls]

    def _translate_by(self, adapter: Any, prompt: Any, options: Any) -> Observation:
        try:
            return Sent(run_bounded(partial(adapter.translate, *self._typing.arguments(prompt, options))))
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return observe_error(error)

    def _make_another(self, key: str, path: str | None = None, address: str | None = None) -> Any:
        own, at = self._order, self._order.url if address is None else address
        url = at + (self._base_path if path is None else path)
        return run_bounded(lambda: own.make(api_key=key, base_url=url, model=self._model))


def _replies_in_a_loop(adapter: Any, calls: Sequence[Asking], method: str) -> list[Reply]:
    try:
        return observe_each(run_bounded(partial(read_together_in_own_loop, adapter, calls, method)))
    except CannotDo:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
        return [observe_error(error)] * len(calls)


def reply_of(future: Future[Answered]) -> Reply:
    """What a call gave that was begun."""
    try:
        return await_bounded(future)
    except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
        return observe_error(error)
