"""What the agent should know of its progress: repeated actions, pages that stay as they are, the budget, tabs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from art_sdk.agents.browser.models import ExecutionEventSummary
from art_sdk.agents.browser.pages.texts import clip, shown
from art_sdk.json_data import is_array, is_object

METADATA_KEYS: Final = frozenset({"url", "title", "tabs", "position", "pendingRequests", "plan"})
"""The keys of a session's metadata that a prompt may have, unless the manager is given others."""

WINDOW: Final = 20
NUDGES: Final = {5: "Try another way.", 8: "This does not work: try another way now.", 12: "Stop repeating it."}
"""How often an action must be among the last ones, and what is said then."""

UNCHANGED_PAGES: Final = 5
BUDGET_SHARE: Final = 0.75
TAB_LIMIT: Final = 20


def nudges(events: Sequence[ExecutionEventSummary], unchanged: int) -> list[str]:
    """What to say of actions that are repeated, and of a page that does not change."""
    recent = Counter((one.step_index, one.executor_method, one.reasoning) for one in events[-WINDOW:])
    notices: list[str] = []
    if recent:
        (_, method, _), many = recent.most_common(1)[0]
        reached = max((limit for limit in NUDGES if many >= limit), default=None)
        if reached is not None:
            notices.append(f"The same action ({clip(shown(method), 40)}) was done {many} times. {NUDGES[reached]}")
    if unchanged >= UNCHANGED_PAGES:
        notices.append(f"The page has not changed in the last {unchanged} steps.")
    return notices


def budget_notice(step_index: int, total_steps: int) -> str | None:
    """What to say near the end of the steps."""
    if step_index + 1 >= total_steps > 1:
        return "This is the last step: finish now, and say what is left undone."
    if total_steps > 1 and step_index + 1 >= BUDGET_SHARE * total_steps:
        return f"{total_steps - step_index - 1} of {total_steps} steps are left: do what matters most."
    return None


def page_facts(metadata: Mapping[str, Any]) -> list[str]:
    """Where the browser is: address, title, scroll position, tabs, requests under way. The values are foreign text."""
    facts = [f"{label}: {clip(shown(str(metadata[key])), most)}" for key, label, most in _FACTS if metadata.get(key)]
    position = metadata.get("position")
    if is_object(position):
        facts += [_position(position)]
    tabs = metadata.get("tabs")
    if is_array(tabs):
        facts += [f"tab {at}: {_tab(tab)}" for at, tab in enumerate(tabs[:TAB_LIMIT], 1) if is_object(tab)]
        facts += [f"[{len(tabs) - TAB_LIMIT} more tabs]"] if len(tabs) > TAB_LIMIT else []
    pending = metadata.get("pendingRequests")
    if isinstance(pending, int) and not isinstance(pending, bool) and pending > 0:
        facts += [f"requests under way: {pending}"]
    return facts


_FACTS: Final = (("url", "url", 200), ("title", "title", 100))


def _position(position: Mapping[str, Any]) -> str:
    top, view, page = (_number(position.get(key)) for key in ("scrollTop", "viewportHeight", "pageHeight"))
    above, below = (top / view, max(0.0, page - top - view) / view) if view else (0.0, 0.0)
    return f"position: {above:.1f} screens above, {below:.1f} screens below"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _tab(tab: Mapping[str, Any]) -> str:
    marker = " (this one)" if tab.get("active") is True else ""
    return f"{clip(shown(str(tab.get('title', ''))), 30)} {clip(shown(str(tab.get('url', ''))), 200)}{marker}"


_MARKS: Final = {"done": "[x]", "current": "[>]"}


def plan_text(plan: object) -> str:
    """A plan: one line per step, marked as done, current or open."""
    if not is_array(plan):
        return ""
    steps = [one for one in plan if is_object(one)]
    return "\n".join(
        f"{_MARKS.get(str(one.get('status')), '[ ]')} {clip(shown(str(one.get('text', ''))), 200)}" for one in steps
    )
