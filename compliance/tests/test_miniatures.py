"""The suite sees what it says it sees: every miniature is caught, by the checks that it names.

What it says of each is kept by syrupy. If another message is intended, run this file with `--snapshot-update`, and read
what has changed in `__snapshots__`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zlib import crc32

import pytest
from msgspec.structs import replace

from art_compliance import Selection
from art_compliance.checks import CHECKS
from art_compliance.findings import Finding
from art_compliance.generating.profiles import Profile, Search
from art_compliance.miniatures import MINIATURES, Miniature
from art_compliance.resources import data_folder
from art_compliance.run.results import Result
from art_compliance.run.session import Session
from art_compliance.subject.access import Access
from art_compliance.subject.factories import find_factory
from art_compliance.subject.opening import open_subject
from kept_trials import MADE_UP

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

pytestmark = pytest.mark.once  # what the checks see does not depend on the Python


def test_every_check_is_failed_by_some_miniature():
    seen = {check for miniature in MINIATURES for check in miniature.fails}
    assert seen == CHECKS.keys()


def test_every_miniature_says_how_it_is_wrong():
    assert len({miniature.id for miniature in MINIATURES}) == len(MINIATURES) >= 60
    assert all(miniature.wrong.endswith(".") for miniature in MINIATURES)


NOTHING_TO_BE_WRONG_ABOUT = {
    ("takes-thinking-for-text", "openai"): "a chat completion has no place for reasoning",
    ("streams-thinking-as-text", "openai"): "a chat completion has no place for reasoning",
    ("passes-over-first-arguments", "anthropic"): "calls come one after the other",
    ("passes-over-first-arguments", "gemini"): "calls come whole",
    ("reads-the-first-text-alone", "openai"): "a whole chat completion has one text",
    ("needs-token-counts", "anthropic"): "every answer counts its tokens",
    ("forgets-what-is-wanted-back", "openai"): "a chat completion has no place for reasoning",
    ("forgets-its-signatures", "openai"): "a chat completion has no place for reasoning",
    ("forgets-signatures-later", "openai"): "a chat completion has no place for reasoning",
    ("takes-cut-arguments-for-none", "anthropic"): "a call's input is an object",
    ("takes-cut-arguments-for-none", "gemini"): "a call's args are an object",
    ("delays-behind-answers", "gemini"): "the adapter sends no late system message in its place",
    ("sends-an-empty-tools-list", "anthropic"): "no rule against it is known",
    ("sends-an-empty-tools-list", "gemini"): "no rule against it is known",
    ("sends-the-temperature-in-words", "anthropic"): "a rule refuses it: the published types lack the field",
}


SEARCH = Search(profile=Profile(name="exam", examples=200, seconds=10.0, shrink_seconds=0.1))


class Caught(NamedTuple):
    """The results of those checks that a miniature names and that see it; one of them, or several, report it."""

    seen: dict[str, Result]
    reported: set[str]


def first_failures(miniature: Miniature, adapter: str) -> Caught:
    """What each check that it names finds on the first scenario on which it sees the miniature.

    A check sees what it would find alone: where others are run, it leaves the cause to the one that reports it.
    """
    caught = Caught({}, set())
    with open_subject(miniature.of(find_factory(adapter)), name=miniature.id) as subject:
        cassettes = data_folder("cassettes")
        selection = Selection(checks=tuple(miniature.fails), cassettes=cassettes, live=Access(key="unused"))

        def session_of(*checks: str) -> Session:
            return Session(subject, seed=7, search=SEARCH, selection=replace(selection, checks=checks), live=subject)

        session = session_of(*miniature.fails)
        alone = {name: session_of(name) for name in miniature.fails if CHECKS[name].leaves_to}
        for check, scenario in selection.plan():
            if check.id in miniature.fails and not (check.id in caught.seen and caught.reported):
                looks = [(check, session)]
                if check.id in alone:
                    looks.append((replace(check, leaves_to=()), alone[check.id]))
                for one, runs in looks:
                    result = runs.run(one, scenario)
                    if result.verdict == ("harness error" if check.stage.stops_the_run else "fail"):
                        caught.seen[check.id] = result
                        caught.reported.update({check.id} if one is check else ())
                        break
    return caught


PYTHON: Final = re.compile(r"\b(?:None|True|False)\b|[\[({]'|\(\)")
"""Lists, tuples, dicts and constants as Python writes them."""


_QUOTING: Final = re.compile("raised |a log shows")


def in_python(results: Iterable[Result]) -> list[str]:
    """The messages with a value that is not in JSON notation, but for those that quote an exception or a log."""
    messages = [one.message for result in results for one in result.findings]
    return [one for one in messages if PYTHON.search(one) and not _QUOTING.search(one)]


LONG: Final = ("faults.end", "load.calls", "load.closed", "load.late", "load.memory", "load.slow", "properties.")
"""Checks that begin so make many calls or prompts, or wait: their own tests run the same lines."""


def miniatures_around_adapters() -> Iterator[tuple[Miniature, str, bool]]:
    """Each miniature around each of its adapters, and whether it is the one that every run tries.

    Its name says which one: another miniature before it changes nothing.
    """
    for miniature in MINIATURES:
        wrong = [one for one in miniature.around if (miniature.id, one) not in NOTHING_TO_BE_WRONG_ABOUT]
        for adapter in miniature.around:
            yield miniature, adapter, adapter == wrong[crc32(miniature.id.encode()) % len(wrong)]


def _as_parameters(miniature: Miniature, adapter: str, *, first: bool) -> Any:
    marks = () if first else (pytest.mark.thorough,)
    is_long = any(check.startswith(LONG) for check in miniature.fails)
    measuring = pytest.mark.unmeasured if is_long or marks else pytest.mark.measured
    return pytest.param(miniature, adapter, first, marks=(*marks, measuring), id=f"{miniature.id}-{adapter}")


@pytest.mark.parametrize(
    ("miniature", "adapter", "first"),
    [_as_parameters(miniature, adapter, first=first) for miniature, adapter, first in miniatures_around_adapters()],
)
def test_a_miniature_is_caught_by_the_checks_that_it_names(
    miniature: Miniature,
    adapter: str,
    first: bool,  # noqa: FBT001
    snapshot: SnapshotAssertion,
):
    found = first_failures(miniature, adapter)
    if (miniature.id, adapter) in NOTHING_TO_BE_WRONG_ABOUT:
        assert found.seen == {}
        return
    assert found.seen.keys() == miniature.fails
    assert found.reported
    assert in_python(found.seen.values()) == []
    if first:
        assert said_of(found) == snapshot


OF_THIS_RUN: Final = re.compile(
    rf'{MADE_UP.pattern}|((?<=_ms is )|(?<=_ms only ))-?[\d.]+|(?<="){re.escape(gettempdir())}[^"]*'
    rf"|{re.escape(str(data_folder('cassettes').parent))}"
)
"""Also times in fields of METADATA, files of this run, and where the project lies."""


def said_of(found: Caught) -> dict[str, list[str]]:
    """What each check says: of those that wait, or open many connections, one sentence without its numbers.

    What fails first among many calls at once, among many prompts, or by the time it takes, is another one each time.
    """
    return {
        f"{check} on {result.scenario}": _said(result.findings, measures=check.startswith(MEASURING))
        for check, result in sorted(found.seen.items())
        if not check.startswith(OTHERS_EACH_TIME) and not any("on thread" in one.message for one in result.findings)
    }


MEASURING: Final = ("faults.end", "load.closed", "load.every-loop", "load.memory", "load.slow")
OTHERS_EACH_TIME: Final = ("load.calls", "load.late-chunks", "properties.")


def _said(findings: Iterable[Finding], *, measures: bool) -> list[str]:
    said = [
        OF_THIS_RUN.sub("...", " ".join(filter(None, (one.finding_class, one.path, one.pointer, one.message))))
        for one in findings
    ]
    return [re.sub(r"\d[\d,.]*", "#", one) for one in said[:1]] if measures else said
