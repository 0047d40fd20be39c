"""Problems, which checks yield; findings, which name the check; and the verdicts they add up to."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Severity = Literal["reject", "ignored", "note"]
"""`reject` counts against the adapter; `ignored` says that a provider disregards it; `note` is to be read."""

Verdict = Literal["pass", "fail", "not applicable", "known", "provisional", "harness error"]


class Example(Struct, frozen=True, kw_only=True):
    """What a finding is of: prompt and options as JSON data, and the payload that they gave, or what came instead.

    `answer` is what was answered to it, where that is generated: the fields of a scenario's `answer`.
    """

    prompt: list[dict[str, Any]]
    options: dict[str, Any]
    payload: Any = None
    answer: Any = None


class Problem(Struct, frozen=True):
    """One thing that is wrong, as a check yields it. The fields are those of `Finding`, which names the check, too."""

    message: str
    severity: Severity = "reject"
    path: str | None = None
    pointer: str | None = None
    provider_text: str | None = None
    source: str | None = None
    example: Example | None = None

    @classmethod
    def of(cls, finding: Finding) -> Problem:
        """What another judge found, for a check to yield as its own."""
        return cls(**{name: getattr(finding, name) for name in cls.__struct_fields__})

    def found_by(self, check: str) -> Finding:
        """The finding of the check with this id."""
        return Finding(check=check, **{name: getattr(self, name) for name in self.__struct_fields__})


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong, told to the adapter's author.

    `path` is where in the prompt or the options (`$[2].content`), `pointer` where in the payload
    (a JSON pointer, RFC 6901), `provider_text` the provider's own words where there are any, and
    `source` where those were found. `example` is what it was found on, where that is not told elsewhere.
    """

    check: str
    message: str
    severity: Severity = "reject"
    path: str | None = None
    pointer: str | None = None
    provider_text: str | None = None
    source: str | None = None
    example: Example | None = None


class HarnessError(Exception):
    """The suite cannot do its work: a bad name, file, setting or environment. Never the adapter's failure."""
