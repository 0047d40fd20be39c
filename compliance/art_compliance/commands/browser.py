"""`art browser-prompt`: shows the prompt that a model would get for a page, and what it leaves out."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from art_compliance.commands.console import say, width_of_terminal
from art_compliance.commands.html_file import HtmlFile, read_bytes, read_html
from art_compliance.findings import HarnessError
from art_sdk import ARTError, InvalidConfig
from art_sdk.json_data import is_object

if TYPE_CHECKING:
    from art_sdk.agents.browser import AIPromptManager, GeneratedPrompt, ResponseSchema


def browser_prompt_command(
    page: Annotated[Path, typer.Argument(help="The page as HTML.")],
    step: Annotated[str, typer.Option(help="What the agent should do.")],
    previous: Annotated[
        Path | None, typer.Option(help="The page before the last action; the prompt then asks to compare the two.")
    ] = None,
    secrets: Annotated[
        Path | None, typer.Option(help="A JSON file with secrets by name, which no prompt shows.")
    ] = None,
) -> None:
    """Build the prompt of a browser agent for a page, and print it with what was left out and how large it is."""
    if not step.strip():
        raise HarnessError("--step must say what the agent should do")
    files = [read_html(one) for one in (page, previous) if one is not None]
    pages = _Pages(*(one.html for one in files))
    manager = _manager(pages, secrets)
    try:
        prompt = asyncio.run(_generate(manager, step, reflects=previous is not None))
    except ARTError as error:
        raise HarnessError(error.message) from error
    width = width_of_terminal()
    for section in prompt.sections:
        say(f"--- {section.name} ({section.role})", style="bold")
        say(section.text if width is None else _wrapped(section.text, width))
    for line in _describe(prompt.metadata or {}, files[0]):
        say(line)


def _wrapped(text: str, width: int) -> str:
    """The text with lines that fit a terminal, broken between words; the rest of a line stands further in."""
    lines = [_wrapped_line(line, width) if len(line) > width else line for line in text.split("\n")]
    return "\n".join(lines)


def _wrapped_line(line: str, width: int) -> str:
    indent = " " * min(len(line) - len(line.lstrip()) + 4, width // 2)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_on_hyphens=False, replace_whitespace=False, expand_tabs=False
    )


def _manager(pages: _Pages, path: Path | None) -> AIPromptManager:
    """A manager of these pages, with the secrets of the file. An error names the file and shows no secret."""
    try:
        from art_sdk.agents.browser import AIPromptManager  # noqa: PLC0415 - its extra may be missing
    except ModuleNotFoundError as error:
        install = "install it with: pip install 'art-adapter-sdk[browser]'"
        raise HarnessError(f"{error.name} is not installed; {install}") from error
    options = {"validation_mode": "lenient"}
    try:
        return AIPromptManager(_Basic(), pages, {"default_prompt_options": options}, secrets=_read_secrets(path))
    except InvalidConfig as error:
        raise HarnessError(f"{path}: {error.message}") from error


async def _generate(manager: AIPromptManager, step: str, *, reflects: bool) -> GeneratedPrompt:
    if not reflects:
        return await manager.generate_action_prompt(
            {"session_id": "page", "current_step_index": 0, "current_step_content": step}
        )
    return await manager.generate_reflection_prompt(
        {"session_id": "page", "completed_step_index": 0, "next_step_index": 1, "next_step_content": step}
    )


def _describe(metadata: dict[str, Any], file: HtmlFile) -> list[str]:
    """The facts about the prompt, one per line."""
    sizes, tokens = metadata["sizes"], metadata["estTokens"]
    left_out = sizes.get("current_elements_left_out", 0)
    unreadable = f"; characters that cannot be read: {file.unreadable:,}" if file.unreadable else ""
    return [
        "--- facts",
        f"encoding: {file.encoding}{unreadable}",
        f"page: {sizes.get('current_html', 0):,} characters of HTML, {sizes.get('current_outline', 0):,} of outline",
        f"elements: {sizes.get('current_elements', 0):,}, of which {left_out:,} left out",
        f"redacted: {metadata['redactions']}",
        f"masked fields: {sizes.get('current_masked', 0)}",
        f"fallbacks: {', '.join(metadata['fallbacks']) or 'none'}",
        *(f"warning: {one}" for one in metadata["warnings"]),
        "tokens, estimated at four characters each:",
        *(f"    {name:<16}{many:>8,}" for name, many in tokens.items()),
        f"    {'total':<16}{sum(tokens.values()):>8,}",
    ]


def _read_secrets(path: Path | None) -> dict[str, Any]:
    """The secrets. An error shows none of them."""
    if path is None:
        return {}
    try:
        secrets: Any = json.loads(read_bytes(path), object_pairs_hook=_unlike)
    except json.JSONDecodeError as error:
        raise HarnessError(f"{path} is not JSON (line {error.lineno}, column {error.colno})") from error
    except UnicodeDecodeError as error:
        raise HarnessError(f"{path} is not JSON: it is not in UTF-8 (byte {error.start})") from error
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{path} is not JSON") from error
    if not is_object(secrets):
        raise HarnessError(f"{path} must be an object: secrets by name")
    return secrets


def _unlike(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as an object. Of two values under one name, only one would be redacted."""
    unlike = dict(pairs)
    if len(unlike) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise InvalidConfig(f"the name '{name:.60}' is there twice; give its values as a list")
    return unlike


class _Pages:
    """A context manager of two pages."""

    def __init__(self, current: str, previous: str | None = None) -> None:
        self._current = current
        self._previous = previous

    async def get_execution_context(self, session_id: str, step_index: int) -> dict[str, Any]:
        del step_index
        return {"session_id": session_id}

    async def get_step_history(self, session_id: str, max_steps: int | None = None) -> list[Any]:
        del session_id, max_steps
        return []

    async def get_current_page_state(self, session_id: str) -> str:
        del session_id
        return self._current

    async def get_previous_page_state(self, session_id: str, step_index: int) -> str | None:
        del session_id, step_index
        return self._previous


class _Basic:
    """A schema manager with the basic schema."""

    async def get_response_schema(self, options: object = None) -> ResponseSchema:
        del options
        from art_sdk.agents.browser import basic_schema  # noqa: PLC0415 - as above

        return basic_schema()

    def validate_schema_compatibility(self, schema: ResponseSchema) -> bool:
        del schema
        return True

    def get_schema_version(self) -> str:
        return "1.0.0"
