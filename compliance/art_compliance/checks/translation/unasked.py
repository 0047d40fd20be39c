"""What a request has that neither the prompt nor the options ask for: texts, options, settings of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.quoting import show


def unasked_texts(trial: Trial) -> Iterator[Problem]:
    """Texts in fields for which the standard format has no slot."""
    for pointer, leaf in _unasked_leaves(trial):
        if not _is_constant(leaf, trial):
            yield Problem(f"text that is not in the prompt: {show(leaf)}", pointer=pointer)


def unasked_settings(trial: Trial) -> Iterator[Problem]:
    """Options that the call does not set, and fields without a slot that change what is generated as options do."""
    for option, value in trial.decoded.options.items():
        defaults = (*_DEFAULTS.get(option, ()), *trial.dialect.requests.defaults.get(option, ()))
        is_harmless = option in _OWN_TO_CHOOSE or value in defaults
        if option not in trial.scenario.options and not is_harmless:
            place = trial.decoded.places.get(f"options/{option}")
            text = f"the option {option} = {show(value)} is sent, but the call does not set it"
            yield Problem(text, pointer=place, finding_class="contract")
    fields = trial.dialect.requests.generation
    for pointer, leaf in _unasked_leaves(trial):
        usual = _usual_values(pointer, fields)
        if usual is not None and leaf is not None and leaf not in usual:
            text = f"{_path_of(pointer)} = {show(leaf)} changes the answer, but the call does not set it"
            yield Problem(text, pointer=pointer, finding_class="contract")


def _unasked_leaves(trial: Trial) -> Iterator[tuple[str, Any]]:
    """The scalars in fields without a slot that are not the caller's own, with their pointers."""
    known = dict(leaves(trial.provider_fields))
    for place, value in trial.decoded.opaque.items():
        yield from ((pointer, leaf) for pointer, leaf in leaves(value, place) if known.get(pointer) != leaf)


def _usual_values(pointer: str, fields: Mapping[str, tuple[Any, ...]]) -> tuple[Any, ...] | None:
    """The values of the field that change nothing; None for a field that is no such setting."""
    path = _path_of(pointer)
    return next((usual for field, usual in fields.items() if path == field or path.startswith(f"{field}/")), None)


def _path_of(pointer: str) -> str:
    """The names on the way to a field, without indexes: `messages/content/image_url/detail`."""
    return "/".join(step for step in pointer.split("/") if step and not step.isdecimal())


_OWN_TO_CHOOSE: Final = frozenset({"model", "max_tokens", "stream"})
"""Some providers require a model and a token limit, so the adapter must choose where the caller does not. How the
answer travels is the adapter's own affair: it may stream inside, and give a whole answer.
"""

_DEFAULTS: Final[dict[str, tuple[Any, ...]]] = {"tool_choice": ("auto",)}
"""The providers' own defaults."""

_OWN_BOOKS: Final = ("thread_id", "trace_id", "session_id", "user_id", "call_context")
"""Options for the caller's own records, which are not sent."""

_CONSTANT: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,24}")


def _is_constant(leaf: object, trial: Trial) -> bool:
    """A number, a flag, or one short word that is not the caller's: `ephemeral` is a setting, a sentence is text."""
    if not isinstance(leaf, str):
        return True
    options = trial.options
    return bool(_CONSTANT.fullmatch(leaf)) and leaf not in [options.get(name) for name in _OWN_BOOKS]
