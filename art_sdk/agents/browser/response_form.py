"""Asks the schema manager and the executor for the form of the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import structs

from art_sdk.agents.browser.errors import PromptManagerError, SchemaGenerationFailed
from art_sdk.agents.browser.integrations import ExecutorIntegration, SchemaManagerIntegration
from art_sdk.agents.browser.models import DecisionAction, ExamplesSection, ResponseSchema, SchemaSection
from art_sdk.agents.browser.options import CommandDefinition, SchemaOptions
from art_sdk.agents.browser.reading import read_model
from art_sdk.agents.browser.redaction import Redactor
from art_sdk.agents.browser.schema import (
    basic_schema,
    check_schema,
    examples_section,
    schema_section,
    valid_only,
    with_commands,
    with_decision,
)
from art_sdk.agents.browser.trace import Trace


class ResponseForm(NamedTuple):
    """The schema and the sections about it."""

    schema: ResponseSchema
    section: SchemaSection
    examples: ExamplesSection | None


class FormReader:
    """The form of the answers of one prompt."""

    def __init__(
        self,
        schemas: SchemaManagerIntegration,
        executor: ExecutorIntegration | None,
        *,
        time_limit: float,
        falls_back: bool,
        trace: Trace,
        redactor: Redactor,
    ) -> None:
        self._schemas = schemas
        self._executor = executor
        self._time_limit = time_limit
        self._falls_back = falls_back
        self._trace = trace
        self._redactor = redactor

    async def read(self, options: SchemaOptions, decisions: Sequence[DecisionAction]) -> ResponseForm:
        """The response schema and its sections. Falls back to the basic schema if the calls fail or take too long.

        Raises SchemaGenerationFailed if there are no fallbacks.
        """
        try:
            async with asyncio.timeout(self._time_limit):
                return await self._read(options, decisions)
        except SchemaGenerationFailed as error:
            failed = error
        except Exception as error:  # noqa: BLE001 - whatever an integration raises
            reason = error.message if isinstance(error, PromptManagerError) else type(error).__name__
            failed = SchemaGenerationFailed(f"there is no response schema: {reason}", cause=error)
        if not self._falls_back:
            raise failed
        self._trace.fall_back("basic_schema")
        self._trace.warnings.append(failed.message)
        schema = with_decision(basic_schema(), decisions) if decisions else basic_schema()
        return ResponseForm(schema, schema_section(schema, schema.version), None)

    async def _read(self, options: SchemaOptions, decisions: Sequence[DecisionAction]) -> ResponseForm:
        stage = self._trace.stage
        with stage("schema.query"):
            given: Any = await self._schemas.get_response_schema(options)
            schema = self._redacted(read_model(given, ResponseSchema, what="the response schema"))
        with stage("schema.options"):
            check_schema(schema)
            if not self._schemas.validate_schema_compatibility(schema):
                raise SchemaGenerationFailed("the schema manager says that its schema is not compatible")
        with stage("schema.decision"):
            schema = with_decision(schema, decisions) if decisions else schema
        with stage("schema.commands"):
            schema = with_commands(schema, await self._commands(options))
            check_schema(schema)
        with stage("schema.format"):
            schema = structs.replace(schema, examples=valid_only(schema))  # not those of other commands
            section = schema_section(schema, self._schemas.get_schema_version())
        with stage("schema.examples"):
            wanted = options.include_examples and not self._trace.skip_if_late()
            return ResponseForm(schema, section, examples_section(schema) if wanted else None)

    def _redacted(self, schema: ResponseSchema) -> ResponseSchema:
        return structs.replace(
            schema,
            json_schema=self._redactor.redact_data(schema.json_schema),
            examples=tuple(self._redactor.redact_data(schema.examples)),
        )

    async def _commands(self, options: SchemaOptions) -> list[CommandDefinition]:
        if self._executor is None:
            return []
        given: Sequence[Any] = await self._executor.get_command_definitions()
        commands = [read_model(one, CommandDefinition, what="a command") for one in given]
        wanted = [one for one in commands if options.commands is None or one.name in options.commands]
        missing = set(options.commands or ()) - {one.name for one in wanted}
        if missing:
            raise SchemaGenerationFailed(f"the executor has no command '{min(missing):.60}'")
        return [await self._with_parameters(self._executor, one) for one in wanted]

    async def _with_parameters(self, executor: ExecutorIntegration, command: CommandDefinition) -> CommandDefinition:
        own = await executor.get_parameter_schema(command.name)
        return command if own is None else structs.replace(command, parameters=self._redactor.redact_data(own))
