"""The certificate: what was judged, by what, and with which result, small enough to keep next to the adapter."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct, field, structs

from art_compliance.findings import HarnessError
from art_compliance.run.report import Adapter, Report
from art_compliance.run.rerun import Rerun
from art_compliance.run.versions import Version, version_of
from art_compliance.scenarios import Level

CERTIFICATE_VERSION: Final = 1
"""The version of the certificate's form."""

NOT_TESTED: Final = (
    "rules that no provider documents, and what a provider does today",
    "pieces of text that the provider itself repeats or omits: streams have no checksum",
    "the order of text and calls within one answer",
    "constants of up to 24 characters that an adapter adds in fields that no part of the prompt maps to",
    "whether the timeout for connecting is respected",
)
"""What the suite cannot test, in any run."""

LevelResult = Literal["passed", "not applicable"]


class KnownFailure(Struct, frozen=True, kw_only=True):
    """A failure that the baseline lists: the check, the scenario, and why it is known."""

    check: str
    scenario: str
    reason: str


class Certificate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One adapter that passed a whole run.

    `rerun` has the seed and the other settings of the run, and `fixtures_digest` is the digest of the suite's data.
    `baseline` is the file with the known failures. `not_applicable` are the checks that applied to no scenario.
    `digest` is that of all other fields: it reveals edits, and does not prove who made the certificate.
    """

    suite_version: str
    requirements: str
    is_preview: bool
    standard_version: str
    fixtures_digest: str
    adapter: Adapter
    adapter_version: Version
    python: str
    rerun: Rerun
    started: str
    levels: dict[Level, LevelResult]
    known: tuple[KnownFailure, ...]
    baseline: str | None = None
    not_applicable: tuple[str, ...]
    not_tested: tuple[str, ...] = NOT_TESTED
    digest: str = ""


class Certificates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`certificate.json`: one certificate for each certified adapter of the run."""

    certificate_version: int = CERTIFICATE_VERSION
    certificates: tuple[Certificate, ...] = field(default_factory=tuple[Certificate, ...])


class _Form(Struct, frozen=True):
    certificate_version: int


def certificate_of(report: Report) -> Certificate:
    """The certificate of a report that `is_certified`."""
    verdicts: dict[str, set[str]] = {}
    for result in report.results:
        verdicts.setdefault(result.check, set()).add(result.verdict)
    levels: Mapping[Level, LevelResult] = {
        level: "passed" if count.is_passed else "not applicable" for level, count in report.levels.items()
    }
    return sealed(
        Certificate(
            suite_version=report.suite_version,
            requirements=report.requirements,
            is_preview=report.is_preview,
            standard_version=report.standard_version,
            fixtures_digest=report.fixtures_digest,
            adapter=report.adapter,
            adapter_version=version_of(report.rerun.adapter),
            python=report.python,
            rerun=report.rerun,
            started=report.started,
            levels=dict(levels),
            known=tuple(
                KnownFailure(check=one.check, scenario=one.scenario, reason="; ".join(why.reason for why in one.known))
                for one in report.known
            ),
            baseline=None if report.baseline is None else report.baseline.file,
            not_applicable=tuple(check for check, found in verdicts.items() if found == {"not applicable"}),
        )
    )


def sealed(certificate: Certificate) -> Certificate:
    """The certificate with the digest of its fields."""
    return structs.replace(certificate, digest=_digest(certificate))


def as_json(certificates: Certificates) -> str:
    """The file's text."""
    return msgspec.json.format(msgspec.json.encode(certificates), indent=2).decode() + "\n"


def read_certificates(path: Path) -> tuple[Certificate, ...]:
    """The certificates of a file, or of the `certificate.json` in a folder.

    Raises HarnessError for a file that cannot be read, is not a certificate, is one of another form, or was edited.
    """
    file = path / "certificate.json" if path.is_dir() else path
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise HarnessError(f"cannot read {file}: {error.strerror}") from error
    try:
        form = msgspec.json.decode(raw, type=_Form).certificate_version
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{file} is not a certificate of art certify: {error}") from error
    if form != CERTIFICATE_VERSION:
        raise HarnessError(f"{file} has version {form}; this suite reads version {CERTIFICATE_VERSION}")
    try:
        found = msgspec.json.decode(raw, type=Certificates).certificates
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{file} was edited: {error}") from error
    for one in found:
        if one.digest != _digest(one):
            raise HarnessError(f"{file} was edited: the digest of {one.adapter.name} does not match what it says")
    if not found:
        raise HarnessError(f"{file} certifies no adapter")
    return found


def _digest(certificate: Certificate) -> str:
    plain = msgspec.json.encode(structs.replace(certificate, digest=""), order="sorted")
    return f"sha256:{hashlib.sha256(plain).hexdigest()}"
