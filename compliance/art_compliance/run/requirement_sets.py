"""Requirement sets: the checks that count in a version of the suite, frozen when that version is released.

A check that a set does not count is provisional: it is run and reported, and turns no run red. The set of the next
version counts it, so a new check is provisional for one minor version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from art_compliance.findings import FindingClass, HarnessError
from art_compliance.resources import data_folder
from art_compliance.scenarios import Level

FOLDER = "requirements"
"""The folder below `fixtures/` with one set per minor version."""


class RequirementSet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What counts in a minor version: `0.1` is in force in 0.1.0, 0.1.1 and so on.

    `levels` are the classes that each level demands. `counted` and `provisional` are ids of checks. A `released` set
    never changes again.
    """

    version: str
    released: bool
    levels: dict[Level, tuple[FindingClass, ...]]
    counted: tuple[str, ...]
    provisional: tuple[str, ...] = ()

    def counts(self, check: str) -> bool:
        """Whether a failure of this check counts against an adapter."""
        return check in self.counted


class Counting(Struct, frozen=True, kw_only=True):
    """What counts in a run: the checks of the set, and with `is_preview` all others, too."""

    requirements: RequirementSet
    is_preview: bool = False

    def counts(self, check: str) -> bool:
        """Whether a failure of this check counts against an adapter."""
        return self.is_preview or self.requirements.counts(check)

    def has_level(self, level: Level) -> bool:
        """Whether the level counts: one that is newer than the set does not."""
        return self.is_preview or level in self.requirements.levels


def find_sets(folder: Path | None = None) -> dict[str, RequirementSet]:
    """All sets of the suite (or of another folder) by version, the oldest first. Raises HarnessError."""
    paths = (folder or data_folder("fixtures") / FOLDER).glob("*.toml")
    return {path.stem: _read(path) for path in sorted(paths, key=lambda path: _order(path.stem))}


@cache
def set_in_force() -> RequirementSet:
    """The newest set: it is that of this suite's version. Raises HarnessError if there is none."""
    sets = find_sets()
    if not sets:
        raise HarnessError(f"there is no requirement set in {data_folder('fixtures') / FOLDER}")
    return list(sets.values())[-1]


def set_before(version: str) -> RequirementSet | None:
    """The newest set that is older than this version. Raises HarnessError."""
    older = [one for name, one in find_sets().items() if _order(name) < _order(version)]
    return older[-1] if older else None


def minor_version(version: str) -> str:
    """`0.1` of `0.1.3`. Raises HarnessError for what is not a version."""
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    if not (major.isdigit() and minor.isdigit()):
        raise HarnessError(f"the suite's version is {version!r}; install it, so that its version is known")
    return f"{major}.{minor}"


def make_set(
    version: str,
    before: RequirementSet | None,
    checks: Iterable[str],
    levels: Mapping[Level, tuple[FindingClass, ...]],
) -> RequirementSet:
    """The set of a version that is not released yet, for these checks of the suite.

    It counts what the set `before` it counted or had as provisional. What is newer is provisional. The first set
    counts everything.
    """
    known = None if before is None else {*before.counted, *before.provisional}
    counted = tuple(check for check in checks if known is None or check in known)
    newer = tuple(check for check in checks if known is not None and check not in known)
    return RequirementSet(version=version, released=False, levels=dict(levels), counted=counted, provisional=newer)


def write_set(made: RequirementSet, folder: Path) -> Path:
    """Writes `<version>.toml`. Raises HarnessError for a set that is released already."""
    path = folder / f"{made.version}.toml"
    if path.exists() and _read(path).released:
        raise HarnessError(f"{path} is released, and a released set never changes; raise the minor version first")
    path.write_text(_as_toml(made), encoding="utf-8")
    return path


def _as_toml(made: RequirementSet) -> str:
    levels = (f"{level} = {msgspec.json.encode(classes).decode()}" for level, classes in made.levels.items())
    return "\n".join((
        f"# The checks that count in version {made.version} of the suite, and the classes that each level demands.",
        "# `art requirements --write` makes it. Once it is released, it never changes.",
        f'version = "{made.version}"',
        f"released = {str(made.released).lower()}",
        *_array("counted", made.counted),
        *_array("provisional", made.provisional),
        "",
        "[levels]",
        *levels,
        "",
    ))  # fmt: skip


def _array(name: str, ids: tuple[str, ...]) -> tuple[str, ...]:
    return (f"{name} = [", *(f'    "{one}",' for one in ids), "]") if ids else (f"{name} = []",)


def _read(path: Path) -> RequirementSet:
    try:
        found = msgspec.toml.decode(path.read_bytes(), type=RequirementSet)
    except (OSError, ValueError) as error:  # msgspec's own errors and tomllib's are ValueErrors
        raise HarnessError(f"{path} is not a requirement set: {error}") from error
    if found.version != path.stem:
        raise HarnessError(f"{path} is the set of version {found.version!r}, which its name must say")
    return found


def _order(version: str) -> tuple[tuple[int, str], ...]:
    """Orders versions by their numbers: 0.10 comes after 0.9."""
    return tuple((int(part) if part.isdigit() else -1, part) for part in version.split("."))
