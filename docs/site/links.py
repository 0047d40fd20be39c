"""Links of pages that move from their place in the repository into the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Final

_LINK: Final = re.compile(
    r"(?P<code>```.*?^\s*```|`[^`\n]*`)|\[(?P<text>(?:`[^`\n]*`|[^\]`\n])*)\]\((?P<to>[^)\s]+)\)",
    re.DOTALL | re.MULTILINE,
)


def moved(text: str, source: str, pages: Mapping[str, str]) -> str:
    """The page's text with its relative links changed for the site.

    `source` is the page's path in the repository, `pages` maps such paths to those in the site. A link to a file that
    is not a page becomes its text and the file's path: the site has no copy of the repository.
    """

    def replace(found: re.Match[str]) -> str:
        if found["code"] is not None or "://" in found["to"] or found["to"].startswith("#"):
            return found[0]
        path, mark, anchor = found["to"].partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if target not in pages:
            return found["text"] if target in found["text"] else f"{found['text']} (`{target}`)"
        away = posixpath.relpath(pages[target], posixpath.dirname(pages[source]) or ".")
        return f"[{found['text']}]({away}{mark}{anchor})"

    return _LINK.sub(replace, text)
