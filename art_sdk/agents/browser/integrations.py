"""The parts of an agent that the prompt manager calls. Any object with these methods will do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from art_sdk.agents.browser.models import ResponseSchema, StepExecutionSummary
from art_sdk.agents.browser.options import AIContextJson, CommandDefinition, SchemaOptions


class SchemaManagerIntegration(Protocol):
    """Provides the response schema."""

    async def get_response_schema(self, options: SchemaOptions | None = None) -> ResponseSchema:
        """The response schema."""
        ...

    def validate_schema_compatibility(self, schema: ResponseSchema) -> bool:
        """Whether the agent can use replies of this schema."""
        ...

    def get_schema_version(self) -> str:
        """The version of the schemas: a new one makes cached prompts invalid."""
        ...


class ContextManagerIntegration(Protocol):
    """Provides the state of a session. Models and plain objects are both accepted."""

    async def get_execution_context(self, session_id: str, step_index: int) -> AIContextJson | Mapping[str, Any]:
        """The session as a whole."""
        ...

    async def get_step_history(
        self, session_id: str, max_steps: int | None = None
    ) -> Sequence[StepExecutionSummary | Mapping[str, Any]]:
        """The executed steps, the oldest first."""
        ...

    async def get_current_page_state(self, session_id: str) -> str:
        """The page as HTML."""
        ...

    async def get_previous_page_state(self, session_id: str, step_index: int) -> str | None:
        """The page before the last action as HTML, or None if there was none."""
        ...


class ExecutorIntegration(Protocol):
    """Provides the commands that a reply may use."""

    async def get_command_definitions(self) -> Sequence[CommandDefinition | Mapping[str, Any]]:
        """The commands."""
        ...

    async def get_parameter_schema(self, command: str) -> dict[str, Any] | None:
        """The JSON Schema of a command's parameters. None: the one of its definition."""
        ...

    async def get_last_error(self, session_id: str) -> str | None:
        """The error of the last command. None if it succeeded."""
        ...


class SessionGuard(Protocol):
    """Decides who may do what."""

    def may_read(self, principal: str | None, session_id: str) -> bool:
        """Whether the principal may generate prompts for the session."""
        ...

    def may_modify_templates(self, principal: str | None) -> bool:
        """Whether the principal may change templates."""
        ...


class AllowAll:
    """The default guard."""

    def may_read(self, principal: str | None, session_id: str) -> bool:
        """Yes."""
        del principal, session_id
        return True

    def may_modify_templates(self, principal: str | None) -> bool:
        """Yes."""
        del principal
        return True
