"""Problems, which checks yield; findings, which name the check and the class; the verdicts they add up to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct, field, structs

Severity = Literal["reject", "ignored", "note"]
"""`reject` counts against the adapter, `ignored` says that the provider disregards it, and `note` is information."""

FindingClass = Literal["loss", "refused", "contract"]
"""What a finding means to somebody who uses the adapter, the worst first:

- `loss`: content of the prompt or of the answer is lost, changed or paired wrongly, or an answer that was cut off or
  failed looks whole; and no error says so.
- `refused`: the provider would refuse the request, by its schema or by a rule.
- `contract`: the adapter breaks what this suite expects of adapters: events, error codes, options, declarations. So
  does one that raises or ends in an error where it should not: nothing is lost without a word.
"""

CLASSES: Final[Mapping[FindingClass, str]] = {
    "loss": "loss or corruption",
    "refused": "refused by the provider",
    "contract": "contract of this suite",
}
"""The names of the classes as reports show them, in the order in which they are shown."""

Verdict = Literal["pass", "fail", "known", "provisional", "not applicable", "harness error"]
"""What came of a check on a scenario. Two are failures that do not count against the adapter:

- `known`: the baseline has it.
- `provisional`: the check is newer than the requirement set.
"""


class Example(Struct, frozen=True, kw_only=True):
    """What a finding was found on: prompt and options as JSON data, and the payload, or what came instead of one.

    `answer` has the fields of a scenario's `answer` where the provider's answer was generated.
    """

    prompt: list[dict[str, Any]]
    options: dict[str, Any]
    payload: Any = None
    answer: Any = None


class WireExchange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went over the wire when something was found, without keys.

    `url` is path and query at the suite's own provider. `body` and `answer` are cut where they are long; `body_bytes`
    is how long the request's body was. There is no `status` if nothing was answered, or only bytes that are not HTTP.
    """

    method: str
    url: str
    headers: dict[str, str]
    body: str
    body_bytes: int
    status: int | None = None
    content_type: str = ""
    answer: str = ""


class Problem(Struct, frozen=True):
    """One thing that is wrong, as a check yields it.

    Without its own class, it has that of the check. `found_on` is the number of the exchange on which it was found, if
    that is not the last one that the check looked at (`Subject.exchange`). The other fields are those of `Finding`,
    which names the check, too.
    """

    message: str
    severity: Severity = "reject"
    path: str | None = None
    pointer: str | None = None
    provider_text: str | None = None
    source: str | None = None
    example: Example | None = None
    finding_class: FindingClass | None = None
    found_on: int | None = None

    @classmethod
    def of(cls, finding: Finding) -> Problem:
        """What another judge found, for a check to yield as its own."""
        return cls(**_shared_by(finding))

    def after(self, words: str) -> Problem:
        """The same problem, with these words before its message."""
        return structs.replace(self, message=words + self.message)

    def of_class(self, finding_class: FindingClass) -> Problem:
        """The same problem in this class."""
        return structs.replace(self, finding_class=finding_class)

    def on_exchange(self, number: int | None) -> Problem:
        """The same problem, found on the exchange of this number."""
        return structs.replace(self, found_on=number)

    def found_by(self, check: str, finding_class: FindingClass) -> Finding:
        """The finding of the check with this id. `finding_class` is the check's."""
        fields = _shared_by(self)
        fields["finding_class"] = self.finding_class or finding_class
        return Finding(check=check, **fields)


def _shared_by(one: Problem | Finding) -> dict[str, Any]:
    """The fields that both a problem and a finding have."""
    return {name: getattr(one, name) for name in Problem.__struct_fields__ if name in Finding.__struct_fields__}


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong, for the adapter's author.

    `path` is where in the prompt or the options (`$[2].content`), `pointer` where in the payload
    (a JSON pointer, RFC 6901), `provider_text` the provider's own words where there are any, and
    `source` where those come from. `example` is what it was found on, where the scenario does not show that.
    `finding_class` is `class` in JSON. The first findings of each check have the `exchange` that they were found on.
    """

    check: str
    finding_class: FindingClass = field(name="class")
    message: str
    severity: Severity = "reject"
    path: str | None = None
    pointer: str | None = None
    provider_text: str | None = None
    source: str | None = None
    example: Example | None = None
    exchange: WireExchange | None = None


MOST_FINDINGS: Final = 100
"""Findings about one payload that its schema, or any one rule, may have: the judge stops looking beyond."""


def note_of_more(check: str, whose: str) -> Finding:
    """The note that follows the last of `MOST_FINDINGS`."""
    message = f"{whose}: only the first {MOST_FINDINGS} findings are listed"
    return Finding(check=check, finding_class="refused", message=message, severity="note")


class HarnessError(Exception):
    """The suite cannot do its work: a bad name, file, setting or environment. Only `NotMade` is the adapter's."""


class NotMade(HarnessError):
    """An adapter ended its process, or did not answer, before it was made: it has failed."""


def not_made(name: str, why: object) -> NotMade:
    """An error about the adapter of that name."""
    return NotMade(f"{name}: the adapter could not be created: {why}")
