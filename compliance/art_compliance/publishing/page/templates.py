"""The templates of pages: nothing undefined, and nothing that a reader cannot see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from art_compliance.quoting import escape


def templates_in(folder: Path) -> Environment:
    """The templates of a folder. What they show is escaped for HTML."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )


def _finalize(value: Any) -> Any:
    """A text with escape sequences for what a reader cannot see, or what changes the order of the others."""
    return escape(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
