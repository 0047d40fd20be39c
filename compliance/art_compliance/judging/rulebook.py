"""The providers' rules: what they refuse or ignore although the types are right.

A rule is an entry in `fixtures/rules/<dialect>.toml`, a function in the dialect's folder, and its two examples in
`fixtures/rules/examples`. Rules that a request alone cannot show have no function. `judge_rules` applies them.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, NoReturn

import msgspec
from msgspec import Struct

from art_compliance.dialects import DIALECTS, find_dialect
from art_compliance.dialects.ruling import Broken, JudgedRequest, RuleCheck
from art_compliance.dialects.urls import host_of, is_one_of
from art_compliance.findings import MOST_FINDINGS, Finding, HarnessError, Severity, note_of_more
from art_compliance.resources import data_folder

CHECK: Final = "wire.no-rule-is-broken"

Confidence = Literal["spec", "doc", "observed", "inferred"]
"""How a rule is known: from a published type or schema, a document, a recorded answer, or by a guess."""


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule of a provider.

    `error_text` is the provider's own, with `…` for what varies. `models` is a regular expression: the rule applies
    to models that it finds, and not to unknown ones; with `hosts`, only to requests to these; with `since`, only to
    requests that name this version of the provider's API, or a later one. `excluded` says why a request alone cannot
    show it, `evidence` what is known for or against it.
    """

    id: str
    statement: str
    source: str
    confidence: Confidence
    severity: Severity
    status: int | None = None
    error_text: str | None = None
    models: str | None = None
    hosts: tuple[str, ...] = ()
    since: str | None = None
    excluded: str | None = None
    evidence: str | None = None


class Rulebook(NamedTuple):
    """A dialect's rules that can be checked, with their models and functions, and the reader of requests."""

    read: Callable[[object, str | None, str | None], JudgedRequest]
    entries: tuple[tuple[Rule, re.Pattern[str] | None, RuleCheck], ...]


def judge_rules(
    dialect: str, payload: object, *, model: str | None = None, url: str | None = None, version: str | None = None
) -> list[Finding]:
    """What breaks a rule in a request, given as JSON data of any shape.

    `model` is needed where neither the payload nor the URL names it, `version` (of the API) where a header does. Where
    the URL names a service that is not the dialect's own, every finding is a note: it may have other rules. Raises
    HarnessError for an unknown dialect.
    """
    request = rulebook(dialect).read(payload, model, url)
    dated = _dated(version or request.body.get(DIALECTS[dialect].requests.version_field or ""))
    applying = _applying(dialect, request.model, host_of(url), dated)
    found: list[Finding] = []
    for rule, run in applying.rules:
        broken = run(request)
        first = next(broken, None)  # most rules are kept: that must cost nothing
        if first is not None:
            found += _findings(rule, chain([first], broken), applying.other_host)
    return found


class _Applying(NamedTuple):
    """The rules that apply to some requests, with their functions, and the host if nobody knows its rules."""

    rules: tuple[tuple[Rule, Callable[[Any], Iterator[Broken]]], ...]
    other_host: str | None


@lru_cache(maxsize=1024)
def _applying(dialect: str, model: str | None, host: str | None, dated: str) -> _Applying:
    rules = (
        (rule, code.run)
        for rule, models, code in rulebook(dialect).entries
        if (models is None or (model is not None and models.search(model)))
        and (not rule.hosts or (host is not None and is_one_of(host, rule.hosts)))
        and (rule.since is None or rule.since <= dated)
    )
    return _Applying(tuple(rules), None if DIALECTS[dialect].service.covers_host(host) else host)


def _findings(rule: Rule, broken: Iterator[Broken], other_host: str | None) -> Iterator[Finding]:
    """The first places where the rule is broken."""
    for pointer, message in islice(broken, MOST_FINDINGS):
        yield _finding(rule, pointer, message, other_host)
    if next(broken, None) is not None:
        yield note_of_more(CHECK, rule.id)


def _dated(version: object) -> str:
    """The version if it is a date, else a text that comes before every date."""
    return version if isinstance(version, str) and _DATE.fullmatch(version) else ""


_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")


def _finding(rule: Rule, pointer: str, message: str, other_host: str | None) -> Finding:
    caveat = "" if other_host is None else f" (it is not known whether {other_host} has this rule)"
    return Finding(
        check=CHECK,
        finding_class="refused",
        message=f"{rule.id}: {message}{caveat}",
        severity=rule.severity if other_host is None else "note",
        pointer=pointer,
        provider_text=rule.error_text,
        source=rule.source,
    )


@cache
def rulebook(dialect: str) -> Rulebook:
    """The rules that can be checked, with their functions. Raises HarnessError where rules and functions differ."""
    rules = load_rules(dialect)
    code = DIALECTS[dialect].requests.rules
    wanted = sorted(rule.id for rule in rules if rule.excluded is None)
    found = sorted(one.id for one in code)
    if wanted != found:
        odd = sorted((Counter(wanted) - Counter(found)) + (Counter(found) - Counter(wanted)))
        raise HarnessError(f"rules and functions of {dialect} do not match: {', '.join(odd)}")
    functions = {one.id: one for one in code}
    entries = ((rule, re.compile(rule.models) if rule.models else None) for rule in rules if rule.excluded is None)
    return Rulebook(
        DIALECTS[dialect].requests.read, tuple((rule, models, functions[rule.id]) for rule, models in entries)
    )


def load_rules(dialect: str, folder: Path | None = None) -> tuple[Rule, ...]:
    """Every rule of the dialect, in the order of its file.

    Raises HarnessError for a wrong file, naming file and field, and for an unknown dialect.
    """
    path = (folder or data_folder("fixtures") / "rules") / f"{find_dialect(dialect).name}.toml"
    try:
        entries: Any = tomllib.loads(path.read_text(encoding="utf-8"))
        rules = msgspec.convert(entries, type=_RuleFile).rule
    except (OSError, ValueError) as error:
        _refuse(path, str(error))
    for problem in _problems(rules):
        _refuse(path, problem)
    return rules


class _RuleFile(Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[Rule, ...]


def _problems(rules: tuple[Rule, ...]) -> Iterator[str]:
    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            yield f"{rule.id}: the id is used twice"
        seen.add(rule.id)
        if rule.confidence == "inferred" and rule.severity == "reject":
            yield f"{rule.id}: severity: an inferred rule must be a note"
        if rule.since is not None and not _dated(rule.since):
            yield f"{rule.id}: since: not a date"
        try:
            re.compile(rule.models or "")
        except re.error as error:
            yield f"{rule.id}: models: not a regular expression: {error}"


def _refuse(path: Path, problem: str) -> NoReturn:
    raise HarnessError(f"{path}: {problem}")
