"""Makes an adapter with a test key and the suite's own provider. Each mistake in the factory is one sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, cast
from urllib.parse import urlsplit

from msgspec import Struct

from art_compliance.findings import HarnessError, not_made
from art_compliance.subject.access import Access, Keys
from art_compliance.subject.deadlines import LIMIT, Runner, Stopped, run_bounded
from art_compliance.subject.factories import Factory, with_article
from art_compliance.subject.formats import Format
from art_compliance.subject.places import describe_error, place_of


class Order(Struct, frozen=True, kw_only=True):
    """Which adapter to make: `url` is the loopback provider's, `requested` overrides the dialect that it declares.

    `formats` are all that the suite knows, by the names of their dialects.
    `limit` is the seconds that a translation or a call may take, `hash_seed` the PYTHONHASHSEED of its own process.
    """

    make: Factory
    name: str
    requested: str | None
    access: Access | None
    keys: Keys
    url: str
    formats: Mapping[str, Format]
    limit: float = LIMIT
    hash_seed: str | None = None

    def error(self, what: str) -> HarnessError:
        """An error about this adapter."""
        return HarnessError(f"{self.name}: {what}")


def find_format_of(order: Order, adapter: Any) -> Format | None:
    """The format of the requested dialect, or of the declared one, which may be the adapter's own."""
    if order.requested is not None:
        return order.formats[order.requested]
    declared = getattr(adapter, "dialect", None)
    if declared is None:
        return None
    if declared in order.formats:
        return order.formats[declared]
    near = get_close_matches(str(declared), order.formats, n=1)
    if near or not isinstance(declared, str):
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise order.error(f"its dialect is {declared!r}, which the suite does not know{hint}")
    return None


def make_adapter(order: Order, dialect: Format | None, run: Runner = run_bounded) -> Any:
    """What the factory makes for the suite's own provider, or for the real one. Raises HarnessError.

    `run` calls the factory: in a process of its own, on the main thread, as a program does.
    """
    if not callable(order.make):
        given = "nothing (None)" if order.make is None else with_article(order.make)
        raise order.error(f"{given} is not a factory; give the adapter's class or a function")
    base_url = order.url + ("" if dialect is None else dialect.base_path)
    own = order.access or Access(key=order.keys.own, base_url=base_url)
    try:
        model = own.model or needed_model(order, dialect)
        return run(lambda: order.make(api_key=own.key, base_url=own.base_url, model=model), LIMIT)
    except Stopped as error:
        raise not_made(order.name, error) from error
    except HarnessError:
        raise
    except Exception as error:
        if order.access is not None:  # the error's text may contain the key
            raise order.error(f"the factory raised {type(error).__name__} when called with the key") from None
        raise order.error(f"the factory raised {_explain(error)}") from error


def _explain(error: Exception) -> str:
    """The exception with its place; without one, the factory does not accept what it is called with."""
    place = place_of(error)
    if place:
        return f"{describe_error(error)}, at {place}"
    return f"{describe_error(error)}; it is called with api_key, base_url and model"


def require_adapter(order: Order, adapter: Any) -> None:
    """Raises HarnessError for what is not an adapter, with what the factory should do instead."""
    if adapter is None:
        raise order.error("the factory returned nothing; it must return the adapter")
    if isinstance(adapter, type):
        raise order.error(f"the factory returned the class {adapter.__name__}; it must return an instance of it")
    if inspect.iscoroutine(adapter):
        adapter.close()
        raise order.error("the factory is asynchronous (async def); it must be a class or a plain function")
    if inspect.isgenerator(adapter):
        raise order.error("the factory yields, as a fixture does; it must return the adapter")
    methods = [method for method in ("translate", "call") if callable(getattr(adapter, method, None))]
    if not methods:
        raise order.error(f"the factory made {with_article(adapter)}, which has neither translate nor call")
    for method in methods:
        _require_arguments(order, method, getattr(adapter, method))


def _require_arguments(order: Order, name: str, method: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(method)
    except (ValueError, TypeError):  # it is not written in Python
        return
    try:
        signature.bind([], {})
    except TypeError:
        raise order.error(
            f"{name} is called with two arguments, {name}(prompt, options), but yours is {name}{_short(signature)}"
        ) from None


def _short(signature: inspect.Signature) -> str:
    """The signature without its types."""
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def needed_model(order: Order, dialect: Format | None) -> str | None:
    """A model for an adapter whose class says that it has no default, or that it goes to any server."""
    if dialect is None or order.access is not None:
        return None
    default = getattr(order.make, "default_model", None)
    to_any = default is None and dialect.any_server and getattr(order.make, "dialect", None) == dialect.name
    return dialect.model if to_any or default == "" else None


def provider_name(adapter: Any, order: Order) -> Any:
    """The declared name. An adapter to any server may be named after the server's address: then its class says."""
    declared = getattr(adapter, "provider_name", None)
    url = order.access.base_url if order.access and order.access.base_url else order.url
    is_address = declared == urlsplit(url).netloc
    return getattr(cast("type[object]", type(adapter)), "provider_name", None) if is_address else declared
