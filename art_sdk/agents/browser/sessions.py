"""What is remembered of sessions from one prompt to the next: the last page, and what was shown once."""

from __future__ import annotations

from typing import Final

from cachetools import LRUCache

from art_sdk.agents.browser.context import Gathered
from art_sdk.agents.browser.digest import digest_of
from art_sdk.agents.browser.pages.texts import clip, shown
from art_sdk.agents.browser.planning import Plan
from art_sdk.agents.browser.redaction import Redactor

EXTRACT_LIMIT: Final = 10_000
_SESSIONS: Final = 10_000
"""How many sessions are remembered."""


class _Session:
    """A session: its last page, how often that was seen, and what was shown once."""

    def __init__(self) -> None:
        self.page = ""
        self.step = -1
        self.unchanged = 0
        self.shown = ""


class Sessions:
    """The sessions that had prompts last."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known: LRUCache[str, _Session] = LRUCache(_SESSIONS)

    def note_page(self, plan: Plan, gathered: Gathered) -> int:
        """Notes the page of a step. Returns how many steps it has not changed for."""
        session = self._of(plan)
        digest, _ = gathered.digests
        if plan.step_index != session.step:
            session.unchanged = session.unchanged + 1 if digest and digest == session.page else 0
        session.page, session.step = digest, plan.step_index
        return session.unchanged

    def extracted(self, plan: Plan, gathered: Gathered) -> str | None:
        """What was extracted from a page, unless an earlier prompt has shown it."""
        content = gathered.session.metadata.get("extractedContent")
        if not isinstance(content, str) or digest_of(content) == self._of(plan).shown:
            return None
        return clip(self._redactor.redact(shown(content)), EXTRACT_LIMIT)

    def note_shown(self, plan: Plan, gathered: Gathered) -> None:
        """Notes that a prompt has shown what was extracted from a page."""
        content = gathered.session.metadata.get("extractedContent")
        if isinstance(content, str):
            self._of(plan).shown = digest_of(content)

    def clear(self, session_id: str | None) -> None:
        """Forgets a session, or all."""
        for known in [one for one in self._known if session_id in {None, one}]:
            self._known.pop(known, None)

    def _of(self, plan: Plan) -> _Session:
        return self._known.setdefault(plan.session_id, _Session())
