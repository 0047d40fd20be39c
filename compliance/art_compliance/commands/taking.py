"""Commands with many options: one frozen value, whose fields typer reads as the options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Any, TypeVar, get_type_hints

from msgspec import NODEFAULT, Struct, structs

from art_compliance.commands.console import Command

Options = TypeVar("Options", bound=Struct)


def taking(kind: type[Options]) -> Callable[[Callable[[Options], None]], Command]:
    """Decorates a function of one value: the fields of its type are the options of the command, in their order.

    The annotation of a field is `Annotated` with typer's own Option or Argument, as of a function's parameter.
    """
    hints = get_type_hints(kind, include_extras=True)
    parameters = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is NODEFAULT else field.default,
            annotation=hints[field.name],
        )
        for field in structs.fields(kind)
    ]

    def decorate(run: Callable[[Options], None]) -> Command:
        def command(**given: Any) -> None:
            run(kind(**given))

        command.__doc__ = inspect.getdoc(run)
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return command

    return decorate
