"""The rest of a browser agent, in memory: managers that record what they are asked, and a session of several steps."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from art_sdk.agents.browser import AIPromptManager, ResponseSchema, SchemaOptions

BEGAN = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
LOGIN = (
    "<title>Log in</title><main><h1>Log in</h1><form id=f><input name=user value=''>"
    "<input name=password type=password value='correct horse'><button id=go>Sign in</button></form></main>"
)
FAILED = LOGIN.replace("<h1>", "<div role=alert>Wrong password</div><h1>")
HOME = "<title>Home</title><main><h1>Welcome, Bob</h1><a href='/orders'>Your orders</a></main>"


def step(index: int, status: str = "SUCCESS", **more: Any) -> dict[str, Any]:
    """An executed step as a context manager gives it."""
    return {
        "stepIndex": index,
        "stepName": f"do thing {index}",
        "reasoning": f"because of {index}",
        "executorMethod": "click",
        "status": status,
        "timestamp": BEGAN + timedelta(minutes=index),
    } | more


def event(index: int, outcome: str = "done", **more: Any) -> dict[str, Any]:
    """An event as a context manager gives it."""
    return {
        "stepIndex": index,
        "reasoning": f"because of {index}",
        "executorMethod": "click",
        "outcome": outcome,
        "timestamp": BEGAN + timedelta(minutes=index),
    } | more


class Contexts:
    """A context manager. `calls` has the names of what it was asked; what is an exception is raised."""

    def __init__(self, current: Any = LOGIN, previous: Any = None, **session: Any) -> None:
        self.calls: list[str] = []
        self.current = current
        self.previous = previous
        self.session: Any = session
        self.steps: Any = []
        self.delay = 0.0
        self.under_way = 0
        self.most_under_way = 0

    async def get_execution_context(self, session_id: str, step_index: int) -> Mapping[str, Any]:
        given = {"session_id": session_id} | self.session if isinstance(self.session, dict) else self.session
        return await self._give("execution_context", given)

    async def get_step_history(self, session_id: str, max_steps: int | None = None) -> Sequence[Any]:
        return await self._give("step_history", self.steps)

    async def get_current_page_state(self, session_id: str) -> str:
        return await self._give("current_page", self.current)

    async def get_previous_page_state(self, session_id: str, step_index: int) -> str | None:
        return await self._give(f"previous_page before {step_index}", self.previous)

    async def _give(self, name: str, value: Any) -> Any:
        self.calls.append(name)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(self.delay)
        self.under_way -= 1
        if isinstance(value, Exception):
            raise value
        return value


SCHEMA = ResponseSchema(
    schema_id="act",
    version="2.1.0",
    json_schema={
        "type": "object",
        "properties": {"reasoning": {"type": "string"}, "action": {"type": "string"}, "parameters": {"type": "object"}},
        "required": ["reasoning", "action", "parameters"],
    },
    examples=({"reasoning": "The form is filled.", "action": "click", "parameters": {"selector": "#go"}},),
)


class Schemas:
    """A schema manager."""

    def __init__(self, schema: Any = SCHEMA, *, compatible: bool = True) -> None:
        self.calls: list[str] = []
        self.schema = schema
        self.compatible = compatible
        self.version = "7"

    async def get_response_schema(self, options: SchemaOptions | None = None) -> ResponseSchema:
        self.calls.append("get_response_schema")
        if isinstance(self.schema, Exception):
            raise self.schema
        return self.schema

    def validate_schema_compatibility(self, schema: ResponseSchema) -> bool:
        self.calls.append("validate_schema_compatibility")
        return self.compatible

    def get_schema_version(self) -> str:
        return self.version


class Executor:
    """An executor with two commands."""

    def __init__(self, error: str | None = None) -> None:
        self.error = error

    async def get_command_definitions(self) -> Sequence[dict[str, Any]]:
        return [{"name": "click", "description": "Clicks."}, {"name": "fill", "parameters": {"type": "object"}}]

    async def get_parameter_schema(self, command: str) -> dict[str, Any] | None:
        wanted = {"type": "object", "required": ["selector"], "properties": {"selector": {"type": "string"}}}
        return wanted if command == "click" else None

    async def get_last_error(self, session_id: str) -> str | None:
        return self.error


def manager(
    contexts: Contexts | None = None, schemas: Schemas | None = None, config: Any = None, **more: Any
) -> AIPromptManager:
    """A manager with fixed ids, nonces and clock."""
    ids, nonces = count(1), count(1)
    fixed: dict[str, Any] = {
        "clock": lambda: BEGAN,
        "id_factory": lambda: f"p{next(ids)}",
        "nonce_factory": lambda: f"nonce{next(nonces)}",
    }
    return AIPromptManager(schemas or Schemas(), contexts or Contexts(), config, **(fixed | more))


def action(index: int = 0, content: str = "Sign in as Bob", **more: Any) -> dict[str, Any]:
    """A request for an action."""
    given = {"session_id": "s1", "current_step_index": index, "current_step_content": content}
    return given | {"include_validation": False} | more


def reflection(completed: int = 0, index: int = 1, content: str = "Open your orders", **more: Any) -> dict[str, Any]:
    """A request for a reflection."""
    given = {"session_id": "s1", "completed_step_index": completed, "next_step_index": index}
    return given | {"next_step_content": content} | more
