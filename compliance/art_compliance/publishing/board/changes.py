"""What changed from one run of a board to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from art_compliance.publishing.board.history import CheckOutcome, Run, SubjectOutcome
from art_compliance.run.lines import Line, counted

FAILS: Final = frozenset({"fail", "harness"})
EXCUSED: Final = frozenset({"known", "provisional"})


class Change(Struct, frozen=True):
    """What changed for a check on a subject, in a few words."""

    check: str
    subject: str
    words: str


class Changes(Struct, frozen=True, kw_only=True):
    """What changed since the run of `since`.

    `failing` fails and did not before, `worse` fails in more trials, and `fixed` failed and passes. `versions` are
    new ones, each in words. Nothing else counts as changed in a new subject or check.
    """

    since: str
    failing: tuple[Change, ...]
    worse: tuple[Change, ...]
    fixed: tuple[Change, ...]
    not_judged: tuple[Change, ...]
    versions: tuple[tuple[str, str], ...]
    new_checks: tuple[str, ...]
    gone_checks: tuple[str, ...]
    new_subjects: tuple[str, ...]
    gone_subjects: tuple[str, ...]

    @property
    def cells(self) -> dict[tuple[str, str], str]:
        """The words of each changed cell, by check and subject."""
        return {(one.check, one.subject): one.words for one in (*self.failing, *self.worse, *self.fixed)}

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        names = (self.new_checks, self.gone_checks, self.new_subjects, self.gone_subjects)
        return not any((self.failing, self.worse, self.fixed, self.not_judged, self.versions, *names))


def compare(before: Run, now: Run) -> Changes:
    """What changed from one run to another."""
    both = [(name, before.subjects[name], one) for name, one in now.subjects.items() if name in before.subjects]
    checks_before, checks_now = _checks(before), _checks(now)
    found: dict[str, list[Change]] = {"failing": [], "worse": [], "fixed": [], "not_judged": []}
    for name, old, new in both:
        for check in dict.fromkeys((*old.checks, *new.checks)):
            kind, words = _change(old.checks.get(check), new.checks.get(check), is_known=check in checks_before)
            if kind:
                found[kind].append(Change(check, name, words))
    return Changes(
        since=before.date,
        failing=tuple(found["failing"]),
        worse=tuple(found["worse"]),
        fixed=tuple(found["fixed"]),
        not_judged=tuple(found["not_judged"]),
        versions=tuple((name, words) for name, old, new in both for words in _new_versions(old, new)),
        new_checks=tuple(sorted(checks_now - checks_before)),
        gone_checks=tuple(sorted(checks_before - checks_now)),
        new_subjects=tuple(name for name in now.subjects if name not in before.subjects),
        gone_subjects=tuple(name for name in before.subjects if name not in now.subjects),
    )


def _checks(run: Run) -> set[str]:
    return {check for one in run.subjects.values() for check in one.checks}


def _change(old: CheckOutcome | None, new: CheckOutcome | None, *, is_known: bool) -> tuple[str, str]:
    """Which kind of change it is, and its words; two empty texts if there is none."""
    was = old.state if old else "absent"
    match new.state if new else "absent":
        case "fail" | "harness" if was not in FAILS:
            return "failing", "newly failing" if is_known else "failing, in a new check"
        case "fail" if old and new and old.failed and new.failed > old.failed:
            return "worse", f"failing in {counted(new.failed, 'trial')}, {old.failed:,} before"
        case "pass" if was in FAILS | EXCUSED:
            return "fixed", "fixed"
        case "none" | "absent" if was in FAILS | EXCUSED:
            return "not_judged", "failed, and is not judged now"
        case _:
            return "", ""


def _new_versions(old: SubjectOutcome, new: SubjectOutcome) -> Iterator[str]:
    for name, version in new.versions.items():
        if old.versions.get(name) != version:
            yield f"{name} {old.versions.get(name, 'unknown')} → {version}"
    if old.suite != new.suite:
        yield f"suite {old.suite} → {new.suite}"


def describe(changes: Changes | None) -> Iterator[Line]:
    """The changes for a terminal; None is the first run."""
    if changes is None:
        yield Line("the first run of this history: the next one will say what changed")
        return
    yield Line(f"nothing changed since {changes.since}" if changes.is_empty else f"since {changes.since}:")
    for one in (*changes.failing, *changes.worse):
        yield Line(f"  {one.subject}  {one.check}: {one.words}", "bad")
    for one in changes.fixed:
        yield Line(f"  {one.subject}  {one.check}: {one.words}", "good")
    for one in changes.not_judged:
        yield Line(f"  {one.subject}  {one.check}: {one.words}")
    for subject, words in changes.versions:
        yield Line(f"  {subject}: {words}")
    for title, names in (
        ("new checks", changes.new_checks),
        ("checks that are gone", changes.gone_checks),
        ("new subjects", changes.new_subjects),
        ("subjects that are gone", changes.gone_subjects),
    ):
        if names:
            yield Line(f"  {title}: {', '.join(names)}")
