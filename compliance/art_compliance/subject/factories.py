"""Finds the factory for a name: `module:attribute`, a built-in or installed adapter, a bridge's command, a gateway."""

from __future__ import annotations

import importlib
import re
import shlex
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Final, cast

from msgspec import Struct

from art_compliance.findings import HarnessError, not_made
from art_compliance.subject.bridged import Bridge
from art_compliance.subject.gateways import Gateway, is_gateway
from art_compliance.subject.imports import explain_import, hint_at_attribute, hint_at_known, hint_at_name
from art_compliance.subject.places import describe_error
from art_sdk import BUILT_IN
from art_sdk.adapters import ENTRY_POINT_GROUP

Factory = Callable[..., Any]
"""Returns an adapter; it is called with `api_key`, `base_url` and `model`."""


class Named(Struct, frozen=True):
    """The factory of a name that is found where it is needed: importing it may run anything."""

    name: str

    def __call__(self, **settings: Any) -> Any:
        """As the factory itself."""
        return find_factory(self.name)(**settings)


def imported(make: Factory) -> Factory:
    """The factory itself: one of a name is imported. Raises HarnessError."""
    return find_factory(make.name) if isinstance(make, Named) else make


def place_of(name: str) -> str:
    """`module:attribute` of the adapter of that name, which may not exist."""
    return BUILT_IN.get(name) or _installed().get(name) or name


def find_factory(name: str) -> Factory:
    """The factory of that name. Raises HarnessError if it cannot be found, imported or called."""
    if is_gateway(name):
        return _read_gateway(name)
    if is_command(name):
        return Bridge(split_command(name))
    target = place_of(name)
    module_name, _, attribute = target.partition(":")
    if not module_name or not attribute:
        known = sorted({*BUILT_IN, *_installed()})
        raise HarnessError(
            f"there is no adapter {name!r}{hint_at_name(name) or hint_at_known(name, known)}; "
            f"give module:Class, the command of a bridge, or an installed adapter: {', '.join(known)}"
        )
    found: Any = _import(name, module_name)
    for step in attribute.split("."):
        if not hasattr(found, step):
            raise HarnessError(
                f"{name}: {module_name!r} has no attribute {attribute!r}{hint_at_attribute(found, step)}"
            )
        found = getattr(found, step)
    if not callable(found):
        raise HarnessError(
            f"{name}: {attribute!r} is {with_article(found)}, not a factory; give the adapter's class or a function"
        )
    return cast("Factory", found)


def is_command(name: str) -> bool:
    """Whether a name is the command of a bridge: no module's name has a space or a slash.

    An attribute of a Python file is none: somebody meant its module. Neither is the URL of a gateway.
    """
    is_other = is_gateway(name) or _OF_FILE.fullmatch(name)
    return any(one in name.strip() for one in " /\t") and not is_other


_OF_FILE: Final = re.compile(r"[^\s:]+\.py:[\w.]+")


def split_command(name: str) -> list[str]:
    """The words of a command. Raises HarnessError for quotation marks that do not end."""
    try:
        return shlex.split(name)
    except ValueError as error:
        raise HarnessError(f"{name!r} is not a command: {error}") from error


def gateway_of(make: Factory) -> Gateway | None:
    """The gateway that a factory makes clients of, or None. Nothing is imported for it."""
    if isinstance(make, Named):
        return _read_gateway(make.name) if is_gateway(make.name) else None
    return make if isinstance(make, Gateway) else None


def _read_gateway(name: str) -> Gateway:
    """Imports what the suite knows of formats only for a gateway: the process of another adapter needs none of it."""
    found: Gateway = importlib.import_module("art_compliance.subject.gateways.reading").read_gateway(name)
    return found


def name_of(make: Factory) -> str:
    """`module:attribute` of a factory, as far as it is known."""
    module, attribute = getattr(make, "__module__", "?"), getattr(make, "__qualname__", repr(make))
    return f"{module}:{attribute}"


def with_article(value: object) -> str:
    """The value's type with its article, for a sentence."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _import(name: str, module_name: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except Exception as error:
        raise HarnessError(f"{name}: {explain_import(module_name, error)}") from error
    except BaseException as error:
        raise not_made(name, f"importing {module_name!r} raised {describe_error(error)}") from error


def _installed() -> dict[str, str]:
    return {point.name: point.value for point in entry_points(group=ENTRY_POINT_GROUP)}
