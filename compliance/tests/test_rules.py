"""The rules: every one has its function, its examples, and a file that says what is wrong with it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from art_compliance.examples import load_examples, unfold
from art_compliance.explaining import rules_page
from art_compliance.findings import HarnessError
from art_compliance.resources import data_folder
from art_compliance.rules import RULED, Rule, judge_rules, load_rules, rulebook

ROOT = Path(__file__).resolve().parents[2]
RULES = {rule.id: (dialect, rule) for dialect in RULED for rule in load_rules(dialect)}
CHECKABLE = [pytest.param(dialect, rule, id=rule.id) for dialect, rule in RULES.values() if rule.excluded is None]


def broken(dialect: str, payload: Any, url: str | None = None) -> set[str]:
    return {finding.message.partition(": ")[0] for finding in judge_rules(dialect, payload, url=url)}


@pytest.mark.parametrize("dialect", RULED)
def test_every_rule_that_is_not_excluded_has_one_function_and_every_function_a_rule(dialect: str):
    assert [rule.id for rule, _, _ in rulebook(dialect).entries] == [
        rule.id for rule in load_rules(dialect) if rule.excluded is None
    ]
    assert all(rule.id == code.id for rule, _, code in rulebook(dialect).entries)


@pytest.mark.parametrize("dialect", RULED)
def test_every_rule_that_is_not_excluded_has_its_examples(dialect: str):
    assert sorted(load_examples(dialect)) == sorted(r.id for r in load_rules(dialect) if r.excluded is None)


@pytest.mark.parametrize(("dialect", "rule"), CHECKABLE)
def test_a_rule_is_broken_alone_and_nearly_broken_not_at_all(dialect: str, rule: Rule):
    example = load_examples(dialect)[rule.id]
    assert broken(dialect, unfold(example.breaks), example.url) == {rule.id}
    assert broken(dialect, unfold(example.keeps), example.url) == set()


@pytest.mark.parametrize(("dialect", "rule"), CHECKABLE)
def test_a_finding_says_where_and_in_whose_words(dialect: str, rule: Rule):
    example = load_examples(dialect)[rule.id]
    payload = unfold(example.breaks)
    for finding in judge_rules(dialect, payload, url=example.url):
        assert (finding.check, finding.severity) == ("wire.no-rule-is-broken", rule.severity)
        assert (finding.provider_text, finding.source) == (rule.error_text, rule.source)
        assert points_into(payload, finding.pointer)


def points_into(payload: Any, pointer: str | None) -> bool:
    """Whether all of the pointer but its last step is there: what is missing has a place, too."""
    value = payload
    for step in (pointer or "").split("/")[1:-1]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return isinstance(value, dict | list)


def test_what_is_inferred_is_no_reason_to_fail():
    assert [rule.id for _, rule in RULES.values() if rule.confidence == "inferred" and rule.severity == "reject"] == []


def test_a_rule_of_some_models_is_silent_about_others_and_about_unknown_ones():
    payload = unfold(load_examples("openai-chat")["openai.tools-nonempty"].breaks)
    assert broken("openai-chat", payload) == {"openai.tools-nonempty"}
    assert broken("openai-chat", {**payload, "model": "llama-4"}) == set()
    unnamed = {name: value for name, value in payload.items() if name != "model"}
    assert broken("openai-chat", unnamed) == set()
    azure = "https://x.openai.azure.com/openai/deployments/gpt-4o/chat/completions"
    assert broken("openai-chat", unnamed, azure) == {"openai.tools-nonempty"}
    assert judge_rules("openai-chat", unnamed, model="gpt-4o")


def test_a_dialect_without_rules_is_named():
    with pytest.raises(HarnessError, match="there are no rules of 'smoke-signals'; there are some of "):
        judge_rules("smoke-signals", {})


ENTRY = 'id = "a.b"\nstatement = "s"\nsource = "x"\nconfidence = "spec"\nseverity = "reject"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[rule]]\n" + ENTRY.replace('"reject"', '"fatal"'), "Invalid enum value 'fatal' - at `$.rule[0].severity`"),
        ("[[rule]]\n" + ENTRY.replace("source", "sauce"), "missing required field `source`|unknown field `sauce`"),
        ("[[rule]]\n" + ENTRY + "colour = 1\n", "unknown field `colour` - at `$.rule[0]`"),
        ("[[rule]]\n" + ENTRY + 'models = "("\n', "a.b: models: no regular expression"),
        ("[[rule]]\n" + ENTRY + "[[rule]]\n" + ENTRY, "a.b: its id stands twice"),
        ("[[rule]]\n" + ENTRY.replace('"spec"', '"inferred"'), "a.b: severity: what is inferred is a note"),
        ("[[rule", "openai-chat.toml"),
        (None, "No such file"),
    ],
)
def test_a_bad_file_is_told_with_its_field(tmp_path: Path, text: str | None, told: str):
    if text is not None:
        (tmp_path / "openai-chat.toml").write_text(text, encoding="utf-8")
    with pytest.raises(HarnessError) as caught:
        load_rules("openai-chat", tmp_path)
    assert "openai-chat.toml" in str(caught.value)
    assert any(one in str(caught.value) for one in told.split("|"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("dialect", RULED)
@given(payload=JSON)
@settings(deadline=None)
def test_no_json_value_makes_a_judge_raise(dialect: str, payload: Any):
    judge_rules(dialect, payload)


def with_one_changed(value: Any, new: Any) -> list[Any]:
    """The value with each of its parts, one at a time, replaced."""
    if isinstance(value, dict):
        inner = [{**value, key: one} for key, item in value.items() for one in with_one_changed(item, new)]
    elif isinstance(value, list):
        pairs = [(at, one) for at, item in enumerate(value[:3]) for one in with_one_changed(item, new)]
        inner = [[*value[:at], one, *value[at + 1 :]] for at, one in pairs]
    else:
        inner = []
    return [new, *inner]


@pytest.mark.parametrize(("dialect", "rule"), CHECKABLE)
def test_no_part_of_another_type_makes_a_judge_raise(dialect: str, rule: Rule):
    example = load_examples(dialect)[rule.id]
    for payload in (example.breaks, example.keeps):
        for new in (None, True, -1, 1e300, "", " ", [], [None, [], "x"], {}, {"type": 1, "role": [], "id": {}}):
            for changed in with_one_changed(payload, new):
                judge_rules(dialect, changed, url=example.url)


@pytest.mark.parametrize("dialect", RULED)
def test_a_deep_payload_is_judged(dialect: str):
    deep: Any = {}
    for _ in range(5000):
        deep = {"properties": {"a": deep}, "items": [deep], "content": deep}
    shape = {"tools": [{"function": {"parameters": deep}, "input_schema": deep, "functionDeclarations": [deep]}]}
    judge_rules(dialect, {**shape, "messages": [deep], "contents": [deep], "model": "gpt-4o"})


def canonical() -> list[Any]:
    folder = data_folder("fixtures") / "payloads"
    return [
        pytest.param(path, id=f"{path.parent.name}-{path.stem}")
        for dialect in RULED
        for path in sorted(folder.glob(f"{dialect}/*.json"))
    ]


@pytest.mark.parametrize("path", canonical())
def test_a_canonical_payload_breaks_no_rule(path: Path):
    found = judge_rules(path.parent.name, json.loads(path.read_text(encoding="utf-8")))
    assert [finding.message for finding in found if finding.severity != "note"] == []


@pytest.mark.parametrize("dialect", RULED)
def test_a_judge_is_fast(dialect: str):
    folder = data_folder("fixtures") / "payloads" / dialect
    payloads = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    if not payloads:
        return
    judge_rules(dialect, payloads[0])
    began = time.perf_counter()
    for payload in payloads:
        judge_rules(dialect, payload)
    assert len(payloads) / (time.perf_counter() - began) > 500  # 2,000 is the aim; machines that test are busy


def test_the_page_of_rules_is_what_the_files_say():
    assert (ROOT / "docs" / "rules.md").read_text(encoding="utf-8").rstrip() == rules_page().rstrip()
