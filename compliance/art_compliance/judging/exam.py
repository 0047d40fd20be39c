"""Tests the judges with recorded traffic: a judge that refuses what the provider accepted is wrong.

A recording is a JSON file in a folder named after its provider: `shape` (a name in `SHAPES`), `request` (the body),
`response.status`, and `url`. Grades leave the bodies out, so they can be shown where the traffic cannot.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from art_compliance.dialects import DIALECTS, DecodeFailed, decode, find_by_url
from art_compliance.dialects.endpoints import ENDPOINTS
from art_compliance.dialects.urls import host_of, is_one_of
from art_compliance.findings import Finding, HarnessError
from art_compliance.judging import judge

SHAPES: Final[Mapping[str, str]] = {
    dialect.service.shape: name for name, dialect in DIALECTS.items() if dialect.service.shape is not None
}
"""The dialect of each shape that recordings name, whichever the provider."""


class Answer(Struct, frozen=True):
    """The part of an answer that matters here."""

    status: int


class Recording(Struct, frozen=True, kw_only=True):
    """A request to a provider and the status of its answer. `id` is `<provider>/<stem of the file>`."""

    shape: str
    request: Any
    response: Answer
    url: str | None = None
    id: str = ""

    @property
    def provider(self) -> str:
        """The provider's name."""
        return self.id.partition("/")[0]


def dialects_of(shape: str, url: str | None) -> tuple[str, ...]:
    """The dialects to judge a recording by: the shape's, and the host's own on the same path, if it has one.

    A service that speaks a dialect is such a host. The shape of a host's own, such as `bedrock_invoke`, is that of the
    dialect whose requests go to the URL.
    """
    hosted = find_by_url(url) if url is not None and shape not in SHAPES else None
    general = SHAPES.get(shape) if hosted is None else hosted.name
    if general is None:
        return ()
    host, path = host_of(url), DIALECTS[general].service.path
    same = (dialect for dialect in DIALECTS.values() if dialect.service.path == path)
    own = (dialect.name for dialect in same if host is not None and is_one_of(host, dialect.service.hosts))
    served = (one.dialect for one in ENDPOINTS if host is not None and one.host and is_one_of(host, (one.host,)))
    return tuple(dict.fromkeys((general, *own, *(name for name in served if DIALECTS[name].service.path == path))))


class Verdict(Struct, frozen=True, kw_only=True):
    """A dialect's verdict on a request: `by` lists the rules that refuse it, or `schema` with a JSON pointer."""

    dialect: str
    verdict: Literal["accepted", "refused"]
    by: tuple[str, ...]
    decoded: bool

    @property
    def is_clean(self) -> bool:
        """Whether the request passes schema and rules, and decodes."""
        return self.verdict == "accepted" and self.decoded


class Grade(Struct, frozen=True, kw_only=True):
    """A recording without its bodies: `sha256` is that of the request as JSON with sorted keys and no spaces.

    `judged` is empty where the suite has no dialect for the shape.
    """

    id: str
    sha256: str
    provider: str
    shape: str
    status: int
    judged: tuple[Verdict, ...]

    @property
    def is_false_refusal(self) -> bool:
        """Whether the provider accepted what a judge refuses, or no decoder reads."""
        return self.status == 200 and not all(verdict.is_clean for verdict in self.judged)


class GradeList(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The list that is kept. `exceptions` are ids of false refusals with the evidence that the judge is right."""

    exceptions: dict[str, str]
    grades: tuple[Grade, ...]

    @property
    def faults(self) -> tuple[Grade, ...]:
        """The false refusals that nothing excuses."""
        return tuple(one for one in self.grades if one.is_false_refusal and one.id not in self.exceptions)


def load_recordings(folder: Path) -> Iterator[Recording]:
    """Every recording in the folder's folders, in the order of their names.

    Raises HarnessError, naming the file, for a file that is not a recording, and for a folder without recordings.
    """
    paths = sorted(folder.glob("*/*.json"))
    if not paths:
        raise HarnessError(f"there are no recordings in {folder}: they are <provider>/<name>.json")
    for path in paths:
        try:
            recording = msgspec.json.decode(path.read_bytes(), type=Recording)
        except (OSError, ValueError, RecursionError) as error:
            raise HarnessError(f"{path}: {error}") from error
        yield msgspec.structs.replace(recording, id=f"{path.parent.name}/{path.stem}")


def grade(recording: Recording) -> Grade:
    """The judges' verdicts on a recording."""
    canonical = json.dumps(recording.request, sort_keys=True, separators=(",", ":"))
    return Grade(
        id=recording.id,
        sha256=hashlib.sha256(canonical.encode()).hexdigest(),
        provider=recording.provider,
        shape=recording.shape,
        status=recording.response.status,
        judged=tuple(_judged(recording, dialect) for dialect in dialects_of(recording.shape, recording.url)),
    )


def _judged(recording: Recording, dialect: str) -> Verdict:
    refusals = [one for one in judge(dialect, recording.request, url=recording.url) if one.severity == "reject"]
    try:
        decode(dialect, recording.request, url=recording.url)
        decoded = True
    except DecodeFailed:
        decoded = False
    by = tuple(dict.fromkeys(map(_judge_of, refusals)))
    return Verdict(dialect=dialect, verdict="refused" if refusals else "accepted", by=by, decoded=decoded)


def _judge_of(refusal: Finding) -> str:
    """A rule's id, or the place that does not match the schema."""
    if refusal.check == "wire.no-rule-is-broken":
        return refusal.message.partition(": ")[0]
    return f"schema {refusal.pointer or refusal.path or '/'}"


def load_grades(path: Path) -> GradeList:
    """Reads a list of grades. Raises HarnessError, naming the file and what is wrong."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=GradeList)
    except (OSError, ValueError, RecursionError) as error:
        raise HarnessError(f"{path}: {error}") from error


def write_grades(path: Path, grades: GradeList) -> None:
    """Writes a list of grades, one line per recording."""
    rows = ",\n  ".join(json.dumps(msgspec.to_builtins(one)) for one in grades.grades)
    exceptions = json.dumps(grades.exceptions, indent=1, sort_keys=True)
    path.write_text(f'{{\n "exceptions": {exceptions},\n "grades": [\n  {rows}\n ]\n}}\n', encoding="utf-8")


def summarize(grades: Iterable[Grade]) -> Iterator[str]:
    """Lines that count per dialect what was accepted and refused, and what no dialect judges."""
    everything = list(grades)
    for dialect in DIALECTS:
        rows = [(one, verdict) for one in everything for verdict in one.judged if verdict.dialect == dialect]
        good = [verdict.is_clean for one, verdict in rows if one.status == 200]
        bad = [verdict.verdict == "refused" for one, verdict in rows if one.status in (400, 422)]
        passed, refused = f"{sum(good)} of {len(good)}", f"{sum(bad)} of {len(bad)}"
        yield f"{dialect}: {passed} accepted requests pass; {refused} refused ones are refused"
    yield f"not judged: {sum(not one.judged for one in everything)} of {len(everything)}"
