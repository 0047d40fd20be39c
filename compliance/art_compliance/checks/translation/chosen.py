"""Translation of tool choices whose words are names of tools, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.translation import conservation, laws
from art_compliance.checks.translation.conservation import CAUSES
from art_compliance.checks.translation.laws import first_difference
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import same_json
from art_compliance.findings import Problem
from art_compliance.subject.observations import Sent
from art_sdk.json_data import is_array, is_object


@check(
    "translation.choices-are-not-names",
    clause="`auto`, `none` and `required` choose so even if a tool has that name; any other word chooses its tool.",
    requires=("dialect", "sent"),
    once=True,
    leaves_to=(*CAUSES, conservation.options_survive, laws.same_prompt_same_request),
)
def choices_are_not_names(trial: Trial) -> Iterator[Problem]:
    """A tool may have any name: a word of a provider's own, such as Mistral's `any`, is one."""
    if not trial.subject.capabilities.issuperset(("tools", "tool_choice")):
        raise NotApplicable("not declared: tools, tool_choice")
    for name, plain, is_chosen in _NAMES:
        made = _made(trial, name, name)
        usual = _made(trial, plain, plain if is_chosen else name)
        if made is None or usual is None:
            continue  # it refuses such a choice, or such a name
        wanted = _renamed(usual, plain, name)
        if not same_json(made, wanted):
            what = f"the tool of that name is {'not chosen' if is_chosen else 'chosen'}"
            pointer = first_difference(wanted, made)
            yield Problem(f"with a tool named {name!r} and the tool_choice {name!r}, {what}", pointer=pointer)


def _made(trial: Trial, name: str, choice: str) -> Any:
    """The payload of a call that offers a tool of this name, and another one; None where it is refused."""
    tools = [{"name": one, "description": "Looks.", "inputSchema": {"type": "object"}} for one in (name, "listen")]
    seen = trial.observe(_PROMPT, {"thread_id": trial.id_of("choices"), "tools": tools, "tool_choice": choice})
    return seen.payload if isinstance(seen, Sent) else None


def _renamed(value: Any, before: str, after: str) -> Any:
    """The value with another name in each place where the name is a whole text."""
    if is_object(value):
        return {key: _renamed(item, before, after) for key, item in value.items()}
    if is_array(value):
        return [_renamed(item, before, after) for item in value]
    return after if value == before else value


_PROMPT: Final[list[dict[str, Any]]] = [{"role": "user", "content": "Where is the moon?"}]
_NAMES: Final = (
    ("auto", "tool_of_another_name", False),
    ("none", "tool_of_another_name", False),
    ("required", "tool_of_another_name", False),
    ("any", "tool_of_another_name", True),
)
"""Names of tools, with one that nobody mistakes, and whether the word chooses the tool."""
