"""Problems, which checks yield; findings, which name the check; and the verdicts they add up to."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Severity = Literal["reject", "ignored", "note"]
"""`reject` counts against the adapter, `ignored` says that the provider disregards it, and `note` is information."""

Verdict = Literal["pass", "fail", "not applicable", "harness error"]


class Example(Struct, frozen=True, kw_only=True):
    """What a finding was found on: prompt and options as JSON data, and the payload, or what came instead of one.

    `answer` has the fields of a scenario's `answer` where the provider's answer was generated.
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
    """One thing that is wrong, for the adapter's author.

    `path` is where in the prompt or the options (`$[2].content`), `pointer` where in the payload
    (a JSON pointer, RFC 6901), `provider_text` the provider's own words where there are any, and
    `source` where those come from. `example` is what it was found on, where the scenario does not show that.
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
    """The suite cannot do its work: a bad name, file, setting or environment. It is never the adapter's failure."""
