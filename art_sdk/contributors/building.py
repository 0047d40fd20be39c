"""build_system_prompt: asks all contributors at once, and makes one prompt of what they give."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import anyio
from msgspec import Struct

from art_sdk.contributors.budget import fit
from art_sdk.contributors.configuration import TIME_LIMIT, ErrorPolicy, SystemPromptConfig
from art_sdk.contributors.context import DynamicContributorContext
from art_sdk.contributors.contributor import SystemPromptContributor
from art_sdk.contributors.levels import LevelSource, Placed, place
from art_sdk.contributors.system_prompt import IN_THE_PROMPT, PromptPart, SystemPrompt
from art_sdk.errors import ARTError, PromptAssemblyFailed

_logger: Final = logging.getLogger(__name__)

_REASON: Final = 150
"""Characters of another's error that ours has."""


class BuildOptions(Struct, frozen=True, kw_only=True):
    """How a system prompt is built.

    With `on_error="raise"` a contributor that fails fails the build; with `skip` its part is left out. Each may take
    `time_limit` seconds. A prompt of more than `max_chars` characters loses the parts whose ids are in `drop_order`,
    one after the other as far as needed; then it is cut at its end, which is marked.
    """

    on_error: ErrorPolicy = "raise"
    time_limit: float = TIME_LIMIT
    max_chars: int | None = None
    drop_order: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: str | SystemPromptConfig | None) -> BuildOptions:
        """Those of a configuration."""
        if not isinstance(config, SystemPromptConfig):
            return cls()
        return cls(
            on_error=config.on_error,
            time_limit=config.time_limit,
            max_chars=config.max_chars,
            drop_order=config.drop_order,
        )


DEFAULT_OPTIONS: Final = BuildOptions()


async def build_system_prompt(
    contributors: Sequence[SystemPromptContributor],
    context: DynamicContributorContext | None = None,
    *,
    instance: LevelSource = (),
    thread: LevelSource = (),
    call: LevelSource = (),
    options: BuildOptions = DEFAULT_OPTIONS,
) -> SystemPrompt:
    """The system prompt of the contributors, and of those of the wider levels around them.

    `contributors` are the base, which no level replaces. All run at once; their texts are sorted by level and
    priority, and empty ones are left out.

    Raises PromptAssemblyFailed, with `details["contributor"]`, if one fails and the policy is `raise`; InvalidConfig
    for ids that clash.
    """
    placed = place(contributors, (("instance", instance), ("thread", thread), ("call", call)))
    parts = await _Build(placed, context or DynamicContributorContext(), options).run()
    fitted = fit(_without_repeated(placed, parts), options.max_chars, options.drop_order)
    prompt = SystemPrompt(tuple(fitted))
    _logger.debug("built a %r", prompt)
    return prompt


class _Build:
    """One build: a task per contributor."""

    def __init__(self, placed: list[Placed], context: DynamicContributorContext, options: BuildOptions) -> None:
        self._placed = placed
        self._context = context
        self._options = options
        self._parts: list[PromptPart | None] = [None] * len(placed)
        self._causes: dict[int, Exception] = {}

    async def run(self) -> list[PromptPart]:
        async with anyio.create_task_group() as group:
            for index in range(len(self._placed)):
                group.start_soon(self._ask, index, group.cancel_scope)
        parts = [part or self._part(index, 0.0, error="was cancelled") for index, part in enumerate(self._parts)]
        failed = [index for index, part in enumerate(parts) if part.error is not None]
        if failed and self._options.on_error == "raise":
            first = min(failed, key=lambda index: index not in self._causes)  # it cancelled those without a cause
            raise _failed(parts[first], self._causes.get(first))
        return parts

    async def _ask(self, index: int, scope: anyio.CancelScope) -> None:
        start = time.perf_counter()
        try:
            text = await self._content_of(self._placed[index].contributor)
        except Exception as error:  # noqa: BLE001 - whatever a contributor raises
            self._causes[index] = error
            self._parts[index] = self._part(index, start, error=_explain(error))
            if self._options.on_error == "raise":
                scope.cancel()
        else:
            self._parts[index] = self._part(index, start, text=text)

    async def _content_of(self, contributor: SystemPromptContributor) -> str:
        with anyio.move_on_after(self._options.time_limit):
            return _checked(await contributor.get_content(self._context))
        raise _TookTooLong(f"took longer than {self._options.time_limit:g} s")

    def _part(self, index: int, start: float, *, text: str = "", error: str | None = None) -> PromptPart:
        level, contributor = self._placed[index]
        return PromptPart(
            id=contributor.id,
            priority=contributor.priority,
            level=level,
            stability=contributor.stability,
            text=text,
            state="failed" if error is not None else "kept" if text.strip() else "empty",
            milliseconds=(time.perf_counter() - start) * 1000 if start else 0.0,
            error=error,
            is_wrapped=getattr(contributor, "is_wrapped", False),
        )


def _failed(part: PromptPart, cause: Exception | None) -> PromptAssemblyFailed:
    return PromptAssemblyFailed(
        f"Failed to build the system prompt: the contributor {part.id!r} failed: {part.error}",
        cause=cause,
        details={"contributor": part.id, "level": part.level, "reason": part.error},
    )


class _TookTooLong(TimeoutError):
    pass


def _explain(error: Exception) -> str:
    if isinstance(error, _TookTooLong):
        return str(error)
    reason = error.message if isinstance(error, ARTError) else f"{type(error).__name__}: {error}"
    return reason if len(reason) <= _REASON else f"{reason[:_REASON]}…"


def _checked(text: object) -> str:
    if text is None or isinstance(text, str):
        return text or ""
    raise TypeError(f"its content must be text, not of type {type(text).__name__}")


def _without_repeated(placed: list[Placed], parts: list[PromptPart]) -> list[PromptPart]:
    """The parts; one that gives the same as an earlier part is marked as repeated."""
    given: set[str] = set()
    marked: list[PromptPart] = []
    for (_, contributor), part in zip(placed, parts, strict=True):
        gives = getattr(contributor, "gives", None)
        is_repeated = gives in given and part.state in IN_THE_PROMPT
        marked.append(replace(part, state="repeated") if is_repeated else part)
        if gives is not None and part.state in IN_THE_PROMPT:
            given.add(gives)
    return marked
