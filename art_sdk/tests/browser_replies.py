"""Replies of a real engine to the browser agent's prompts, and the prompts that they answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from art_sdk.agents.browser import GeneratedPrompt
from browser_agent import HOME, LOGIN, Contexts, Executor, action, manager, reflection, step

FILE: Final = Path(__file__).parent / "data" / "browser_replies.json"
"""Written by `make record-local`."""


def _first() -> GeneratedPrompt:
    return asyncio.run(manager().generate_action_prompt(action()))


def _reflection() -> GeneratedPrompt:
    contexts = Contexts(HOME, LOGIN)
    contexts.steps = [step(0)]
    return asyncio.run(manager(contexts).generate_reflection_prompt(reflection()))


def _commands() -> GeneratedPrompt:
    return asyncio.run(manager(executor=Executor()).generate_action_prompt(action()))


PROMPTS: Final[dict[str, Callable[[], GeneratedPrompt]]] = {
    "first action": _first,
    "reflection": _reflection,
    "commands of an executor": _commands,
}


class Case(NamedTuple):
    """Which prompt, whether the engine is to hold the model to its schema, and to what part of the branches."""

    prompt: str
    fits_schema: bool = True
    most_tokens: int = 300
    has_bare_branches: bool = False

    def schema(self) -> dict[str, Any]:
        """The schema that the engine is given, if it is given one."""
        schema = PROMPTS[self.prompt]().schema.json_schema
        return schema | {"oneOf": [_bare(one) for one in schema["oneOf"]]} if self.has_bare_branches else schema


def _bare(branch: dict[str, Any]) -> dict[str, Any]:
    """A branch that says nothing of what is next to the branches."""
    return {"properties": {name: branch["properties"][name] for name in ("action", "parameters")}}


CASES: Final[dict[str, Case]] = {
    "held to the schema": Case("first action"),
    "held to the schema of a reflection": Case("reflection"),
    "held to the schema with commands": Case("commands of an executor"),
    "held to bare branches": Case("commands of an executor", has_bare_branches=True),
    "cut": Case("first action", most_tokens=6),
    "without the schema": Case("first action", fits_schema=False, most_tokens=40),
}


def read_replies() -> dict[str, Any]:
    """The file: who answered, and the replies by case."""
    return json.loads(FILE.read_text("utf-8"))
