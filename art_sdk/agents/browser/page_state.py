"""The section about the page: its outline, what changed, and what matters to the step."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getsizeof
from typing import NamedTuple

from art_sdk.agents.browser.errors import DomTooLarge
from art_sdk.agents.browser.models import PageStateSection
from art_sdk.agents.browser.options import PARSING_FACTOR, ContextConfig, EffectiveOptions
from art_sdk.agents.browser.pages.comparison import Changes, compare_pages, same_page
from art_sdk.agents.browser.pages.compression import Marks, outline
from art_sdk.agents.browser.pages.page import Page, read_page
from art_sdk.agents.browser.pages.relevant import element_contexts, find_relevant
from art_sdk.agents.browser.pages.tree_reader import Scrub
from art_sdk.agents.browser.trace import Trace

PREVIOUS_SHARE = 10
"""The previous page has one part in so many of the room that the current one has: what changed is said apart."""


class PageState(NamedTuple):
    """The section, the page itself, and what changed on it. None without a page."""

    section: PageStateSection
    page: Page | None = None
    changes: Changes | None = None


class PageBuilder:
    """Reads the pages of one prompt."""

    def __init__(self, config: ContextConfig, options: EffectiveOptions, scrub: Scrub, trace: Trace) -> None:
        self._config = config
        self._options = options
        self._scrub = scrub
        self._trace = trace

    def read(self, html: str | None, which: str) -> Page | None:
        """A page. Raises DomTooLarge if compressing is off and the page is beyond what is parsed."""
        if html is None:
            return None
        limit = PARSING_FACTOR * self._config.max_dom_size
        if len(html) > limit and not self._config.compress_large_dom:
            raise self._too_large(which, len(html), limit)
        page = read_page(html, limit=limit, scrub=self._scrub)
        self._trace.sizes[f"{which}_html"] = len(html)
        self._trace.sizes[f"{which}_bytes"] = getsizeof(html) + page.memory
        self._trace.sizes[f"{which}_masked"] = page.masked
        if page.left_out:
            self._trace.fall_back(f"cut_{which}_page")
        if page.is_flattened:
            self._trace.warnings.append(f"the {which} page is nested too deep: its deepest elements became siblings")
        return page

    def compare(self, previous: Page | None, current: Page | None) -> Changes | None:
        """What changed, if both pages are known and it is asked for."""
        if (
            previous is None
            or current is None
            or not self._options.include_dom_comparison
            or self._trace.skip_if_late()
        ):
            return None
        return same_page(current) if previous is current else compare_pages(previous, current)

    def section(self, previous: Page | None, current: Page | None, changes: Changes | None, step: str) -> PageState:
        """The section. Raises DomTooLarge if compressing is off and the outline is beyond its limit."""
        if current is None:
            return PageState(PageStateSection())
        touched = changes.touched if changes is not None else frozenset[int]()
        wants_elements = self._options.include_element_context and not self._trace.skip_if_late()
        relevant = find_relevant(current, step, touched) if wants_elements else ()
        marks = Marks(touched, frozenset(id(one.element) for one in relevant))
        section = PageStateSection(
            previous_page_dom=self._outline(previous, "previous", Marks()) if previous is not None else None,
            current_page_dom=self._outline(
                current, "current", marks if self._config.highlight_relevant_elements else Marks()
            ),
            dom_comparison=changes.result if changes is not None else None,
            relevant_elements=element_contexts(current, relevant) or None,
        )
        return PageState(section, current, changes)

    def _outline(self, page: Page, which: str, marks: Marks) -> str:
        limit = self._config.max_dom_size if which == "current" else self._config.max_dom_size // PREVIOUS_SHARE
        made = outline(page.elements, limit, marks)
        if which == "current" and made.stage != "whole":
            if not self._config.compress_large_dom:
                raise self._too_large(which, page.size, limit)
            self._trace.fall_back("truncated_page" if made.stage == "truncated" else "compressed_page")
        self._trace.sizes[f"{which}_outline"] = len(made.text)
        self._trace.sizes[f"{which}_elements"] = made.elements
        self._trace.sizes[f"{which}_elements_left_out"] = made.left_out
        return made.text

    @staticmethod
    def _too_large(which: str, size: int, limit: int) -> DomTooLarge:
        return DomTooLarge(
            f"the {which} page is too large for {limit:,} characters, and compress_large_dom is off",
            context={"page": which, "characters": size, "limit": limit},
        )


def page_text(state: PageState, facts: Sequence[str], redacted_error: str | None) -> str:
    """The page as lines: where it is, what changed, what matters, then its outline."""
    if state.page is None and not facts and redacted_error is None:
        return ""
    lines = list(facts)
    if state.page is not None and state.page.title and not any(one.startswith("title: ") for one in facts):
        lines.append(f"title: {state.page.title}")
    if redacted_error is not None:
        lines.append(f"the executor's error: {redacted_error}")
    comparison = state.section.dom_comparison
    if comparison is not None:
        lines += ["", f"changes: {comparison.summary}"]
        lines += [f"added: {one}" for one in comparison.added_elements]
        lines += [f"removed: {one}" for one in comparison.removed_elements]
        lines += [f"modified: {one}" for one in comparison.modified_elements]
    if state.section.relevant_elements:
        lines += ["", "relevant elements:"]
        lines += [
            f"{one.relevance_score:.2f} {one.selector}" + (f' "{one.text_content}"' if one.text_content else "")
            for one in state.section.relevant_elements
        ]
    if state.section.current_page_dom is not None:
        lines += ["", "outline:", state.section.current_page_dom or "[no element is visible]"]
    return "\n".join(lines)
