"""What happens to a page before it is parsed: bounds on size, nesting and attributes, in one pass over the text.

A parser of HTML takes quadratic time for deep nesting (10,000 levels 0.13 s, 100,000 levels 40 s) and for many
attributes of one element (100,000 of them 25 s; both measured with selectolax 1.0.2). So both are bounded here, with
the rules by which HTML itself closes elements. Scripts, styles and comments are dropped.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from art_sdk.agents.browser.pages.name_sets import name_set

DEPTH_LIMIT: Final = 512
"""How deep elements may be nested; deeper ones become siblings. Chromium's parser has the same bound."""

FORMATTING_LIMIT: Final = 16
"""How many formatting elements may be open: HTML opens each of them again in every paragraph that follows."""

ATTRIBUTE_LIMIT: Final = 256
"""The most attributes of one element."""

_SCAN_LIMIT: Final = 4_096
"""A tag with more characters is looked through for too many attributes."""


class Piece(NamedTuple):
    """A part of a page that is safe to parse, and whether a form is open at its end."""

    html: str
    in_form: bool
    is_last: bool = False


class Cleaning:
    """A page on its way through the bounds, of which at most `limit` characters are used.

    `left_out` is how many characters were cut off its end; `is_flattened`, known at the end, whether elements were
    nested too deep.
    """

    def __init__(self, html: str, limit: int) -> None:
        kept = _cut(html, limit)
        self.left_out = len(html) - len(kept)
        self._html = kept.replace("\0", "")
        self._rewriting = _Rewriting()

    @property
    def is_flattened(self) -> bool:
        """Whether elements were nested too deep."""
        return self._rewriting.is_flattened

    def pieces(self, size: int) -> Iterator[Piece]:
        """The page in pieces of at least `size` characters, but for the last one. Takes linear time.

        A piece ends after a tag, and only where no formatting element is open: HTML opens these again later.
        """
        parts: list[str] = []
        begun = kept_from = 0
        for token in _TOKEN.finditer(self._html):
            end = token.end()
            new = self._rewriting.replace(token)
            if new is not None:
                parts += (self._html[kept_from : token.start()], new)
                kept_from = end
            if end - begun >= size and self._rewriting.is_between:
                yield Piece("".join([*parts, self._html[kept_from:end]]), self._rewriting.in_form)
                parts.clear()
                begun = kept_from = end
        yield Piece("".join([*parts, self._html[kept_from:]]), self._rewriting.in_form, is_last=True)


def _cut(html: str, limit: int) -> str:
    """The first characters, without a tag that is cut in two."""
    if len(html) <= limit:
        return html
    kept = html[:limit]
    start = kept.rfind("<")
    return kept[:start] if start > kept.rfind(">") else kept


_RAW: Final = "script|style|noscript|iframe|noembed|noframes"
_TEXT_ONLY: Final = "textarea|title|xmp"
_TOKEN: Final = re.compile(
    rf"<!--(?:-?>|.*?(?:--!?>|\Z))"  # a comment
    rf"|<(?P<raw>{_RAW})(?=[\s/>])[^>]*>.*?(?:</(?P=raw)(?=[\s/>])[^>]*>|\Z)"
    rf"|(?P<opened><(?P<text>{_TEXT_ONLY})(?=[\s/>])(?:[^>\"']|\"[^\"]*\"|'[^']*')*>)"
    rf"(?P<content>.*?)(?P<closed></(?P=text)(?=[\s/>])[^>]*>|\Z)"
    rf"|<(?:/(?P<end>[a-z][^\s/>]*)|(?P<start>[a-z][^\s/>]*))(?:[^>\"']|\"[^\"]*\"|'[^']*')*+(?:>|(?P<unclosed>\Z))"
    rf"|<(?P<odd>/?[a-z])"  # a tag whose quotes do not close
    rf"|(?P<doctype><!doctype\b[^>]{{0,200}}>)"
    rf"|<[!?/][^>]*(?:>|\Z)",  # an instruction, or what HTML takes for a comment
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(r"[^\s/>=]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]*))?")


class _Rewriting:
    """One pass over a page: which elements are open, and what becomes of each tag."""

    def __init__(self) -> None:
        self.is_flattened = False
        self.in_form = False
        self._open: list[str] = []
        self._counts: defaultdict[str, int] = defaultdict(int)
        self._formatting: Counter[str] = Counter()
        self._blocked: set[str] = set()

    @property
    def is_between(self) -> bool:
        """Whether no formatting element is open."""
        return self._formatting.total() == 0

    def replace(self, token: re.Match[str]) -> str | None:
        """What a token becomes. None: it stays as it is."""
        match token.lastgroup:
            case "end":
                self._close(token["end"].lower())
                return None
            case "start":
                return self._open_tag(token)
            case "closed":
                return f"{token['opened']}{token['content'].replace('<', '&lt;')}</{token['text']}>"
            case "odd":
                return f"&lt;{token['odd']}"
            case "doctype":
                return None
            case _:
                return ""  # what nobody sees, or a tag in which the page ends

    def _open_tag(self, token: re.Match[str]) -> str | None:
        name = token["start"].lower()
        tag = None if token.end() - token.start() < _SCAN_LIMIT else _bound_attributes(token)
        return tag if self._open_element(name) else f"{tag or token[0]}</{name}>"

    def _open_element(self, name: str) -> bool:
        """Notes an element that stays open. False if it must be closed at once."""
        if name in _UNTRACKED:
            if name in _TABLE_PARTS:
                self._back_to("table")
            return True
        if name in FORMATTING:
            return self._open_formatting(name)
        if name == "form":
            self.in_form = True
        if name in _CELLS:
            self._back_to("table")
        if len(self._open) >= DEPTH_LIMIT:
            self.is_flattened = True
            return False
        self._open.append(name)
        self._counts[name] += 1
        self._blocked.clear()
        return True

    def _open_formatting(self, name: str) -> bool:
        if name == "a":
            self._formatting["a"] = 0  # a link ends the one before it
        if self._formatting.total() >= FORMATTING_LIMIT:
            self.is_flattened = True
            return False
        self._formatting[name] += 1
        return True

    def _close(self, name: str) -> None:
        if name == "form":
            self.in_form = False
        if name in FORMATTING:
            self._formatting[name] = max(0, self._formatting[name] - 1)
        elif self._counts.get(name) and name not in self._blocked:
            self._close_element(name)

    def _close_element(self, name: str) -> None:
        """Closes the nearest element of the name, unless a barrier is in between: HTML ignores such an end tag."""
        if self._open[-1] == name:
            self._pop_to(len(self._open) - 1)
            return
        barrier = _TABLE_BARRIERS if name in _TABLE_FAMILY else _SCOPES if name in _BLOCKS else _BLOCKS | _SCOPES
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at] == name:
                self._pop_to(at)
                return
            if self._open[at] in barrier:
                break
        self._blocked.add(name)

    def _back_to(self, name: str) -> None:
        """Closes all that is open inside the nearest element of the name."""
        if self._counts.get(name):
            at = len(self._open) - 1
            while self._open[at] != name:
                at -= 1
            self._pop_to(at + 1)

    def _pop_to(self, at: int) -> None:
        if at < len(self._open):
            for name in self._open[at:]:
                self._counts[name] -= 1
            del self._open[at:]
            self._blocked.clear()


def _bound_attributes(token: re.Match[str]) -> str:
    """The start tag with its first attributes."""
    kept: list[str] = []
    for attribute in _ATTRIBUTE.finditer(token[0][1 + len(token["start"]) : -1]):
        if len(kept) == ATTRIBUTE_LIMIT:
            break
        kept.append(attribute[0])
    return f"<{token['start']} {' '.join(kept)}>"


FORMATTING: Final = name_set("a b big code em font i nobr s small strike strong tt u")
_CELLS: Final = name_set("td th caption")
_TABLE_PARTS: Final = name_set("tr tbody thead tfoot colgroup")
_TABLE_FAMILY: Final = _CELLS | {"table"}
_TABLE_BARRIERS: Final = name_set("table template")
_VOID: Final = name_set("area base br col embed hr img input link meta param source track wbr image")
_IMPLIED: Final = name_set("p li dd dt option optgroup rp rt rb rtc html head body")
_UNTRACKED: Final = _VOID | _IMPLIED | _TABLE_PARTS
"""Elements that do not nest, or that HTML itself closes where the next one begins."""

_SCOPES: Final = name_set(
    "applet caption marquee object table td th template svg math foreignobject desc mi mo mn ms mtext select"
)
_BLOCKS: Final = name_set(
    "address article aside blockquote button center details dialog dir div dl fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header hgroup listing main menu nav ol pre search section summary ul"
)
