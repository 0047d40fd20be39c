"""The providers' rules as text: one for the terminal, or all as a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from art_compliance.dialects import DIALECTS
from art_compliance.findings import HarnessError
from art_compliance.judging.examples import Example, load_examples
from art_compliance.judging.rulebook import Rule, load_rules

_MEANINGS: Final = {
    "reject": "the provider rejects the request; the adapter fails",
    "ignored": "the provider accepts the request and ignores this; it is only reported",
    "note": "it is a guess, or recorded traffic contradicts it; it is only reported",
}


def rule_ids() -> list[str]:
    """The ids of all rules, dialect by dialect."""
    return [rule.id for dialect in DIALECTS for rule in load_rules(dialect)]


def explain(name: str) -> Iterator[str]:
    """Everything known about a rule, line by line. Raises HarnessError with similar ids for an unknown one."""
    found = [(dialect, rule) for dialect in DIALECTS for rule in load_rules(dialect) if rule.id == name]
    if not found:
        near = get_close_matches(name, rule_ids(), n=3, cutoff=0.6)
        hint = f"; did you mean {' or '.join(near)}?" if near else "; art explain lists rules, art checks checks"
        raise HarnessError(f"unknown rule {name!r}{hint}")
    for dialect, rule in found:
        yield from _lines(dialect, rule, load_examples(dialect).get(rule.id))


def _lines(dialect: str, rule: Rule, example: Example | None) -> Iterator[str]:
    yield f"{rule.id}  ({dialect})"
    yield f"  rule        {rule.statement}"
    status = "" if rule.status is None else f"{rule.status}: "
    for name, text in (
        ("says", f"{status}{rule.error_text}" if rule.error_text else status.removesuffix(": ")),
        ("source", rule.source),
        ("confidence", rule.confidence),
        ("severity", f"{rule.severity}: {_MEANINGS[rule.severity]}"),
        ("models", rule.models),
        ("hosts", ", ".join(rule.hosts)),
        ("since", rule.since),
        ("evidence", rule.evidence),
        ("not judged", rule.excluded),
    ):
        if text:
            yield f"  {name:<11} {text}"
    if example is not None:
        given = [f"sent to {example.url}"] if example.url else []
        given += [f"at the version {example.version}"] if example.version else []
        yield "  broken by" + (f"   ({', '.join(given)})" if given else "")
        yield from (f"    {line}" for line in json.dumps(example.breaks, indent=2, ensure_ascii=False).splitlines())


_INTRODUCTION: Final = """\
# The providers' rules

What providers reject or ignore although the types are right. The stage `wire` judges every request by
these rules, and `art explain <rule>` shows one with a request that breaks it. Generated from
[fixtures/rules](../fixtures/rules) by `art explain --page > docs/rules.md`.

An adapter fails for `reject`; `ignored` and `note` are only reported. How a rule is known: `spec` from a
published type or schema, `doc` from a document, `observed` from an answer of the provider that somebody
quoted or recorded, `inferred` by a guess. A rule for certain models applies where the model is known, one
for certain hosts where the URL names them, and one since a version of the API where the request names that
version or a later one. A rule that a request alone cannot show is not judged, and says
why.
"""


def rules_page() -> str:
    """Every rule, as Markdown."""
    return "\n".join([_INTRODUCTION, *(line for dialect in DIALECTS for line in _section(dialect))])


def _section(dialect: str) -> Iterator[str]:
    rules = load_rules(dialect)
    judged = [rule for rule in rules if rule.excluded is None]
    hard = [rule for rule in judged if rule.severity == "reject"]
    yield f"## {dialect}\n"
    yield f"{len(rules)} rules: {len(judged)} are judged, and an adapter fails for {len(hard)} of them.\n"
    for rule in rules:
        yield from _entry(rule)


def _entry(rule: Rule) -> Iterator[str]:
    status = "" if rule.status is None else f", {rule.status}"
    yield f"### {rule.id}\n"
    yield f"{rule.statement} *({rule.severity}, {rule.confidence}{status})*\n"
    if rule.error_text:
        yield f"> `` {rule.error_text} ``\n"
    for name, text in (
        ("Models", f"`` {rule.models} ``" if rule.models else None),
        ("Hosts", ", ".join(rule.hosts)),
        ("Since", f"version {rule.since} of the API" if rule.since else None),
        ("Evidence", rule.evidence),
        ("Not judged", rule.excluded),
        ("Source", rule.source),
    ):
        if text:
            yield f"- {name}: {text}"
    yield ""
