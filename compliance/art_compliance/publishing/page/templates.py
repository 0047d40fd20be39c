"""The templates of pages: nothing undefined, and nothing that a reader cannot see."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from markupsafe import escape as escape_html

from art_compliance.quoting import escape


def templates_in(folder: Path) -> Environment:
    """The templates of a folder. What they show is escaped for HTML; `with_code` shows names in backticks as code.

    `breakable` lets a long name be broken behind its punctuation, so that it is not broken elsewhere.
    """
    templates = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    templates.filters["with_code"] = _with_code
    templates.filters["breakable"] = _breakable
    return templates


def _finalize(value: Any) -> Any:
    """A text with escape sequences for what a reader cannot see, or what changes the order of the others."""
    return escape(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _with_code(text: str) -> Markup:
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape_html(escape(text)))))  # noqa: S704 - it is escaped


def _breakable(name: str) -> Markup:
    return Markup(re.sub(r"(?<=\w)([:/_.@-]+)(?=\w)", r"\1<wbr>", str(escape_html(escape(name)))))  # noqa: S704 - it is escaped
