"""The rules: every one has its function, its examples, and a file that says what is wrong with it."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_compliance.dialects import DIALECTS
from art_compliance.findings import HarnessError
from art_compliance.judging.examples import load_examples, unfold
from art_compliance.judging.rulebook import Rule, judge_rules, load_rules, rulebook
from art_compliance.resources import data_folder
from broken_rules import broken_rules
from row_tables import table

ROOT = Path(__file__).resolve().parents[2]
RULES = {rule.id: (dialect, rule) for dialect in DIALECTS for rule in load_rules(dialect)}
CHECKABLE = [pytest.param(dialect, rule, id=rule.id) for dialect, rule in RULES.values() if rule.excluded is None]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_rule_that_is_not_excluded_has_one_function_and_every_function_a_rule(dialect: str):
    assert [rule.id for rule, _, _ in rulebook(dialect).entries] == [
        rule.id for rule in load_rules(dialect) if rule.excluded is None
    ]
    assert all(rule.id == code.id for rule, _, code in rulebook(dialect).entries)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_rule_that_is_not_excluded_has_its_examples(dialect: str):
    assert sorted(load_examples(dialect)) == sorted(r.id for r in load_rules(dialect) if r.excluded is None)


@pytest.mark.measured
@table(("dialect", "rule"), CHECKABLE)
def test_an_example_breaks_only_its_rule_and_the_near_miss_breaks_none(dialect: str, rule: Rule):
    example = load_examples(dialect)[rule.id]
    assert broken_rules(dialect, unfold(example.breaks), example.url, example.version) == {rule.id}
    assert broken_rules(dialect, unfold(example.keeps), example.url, example.version) == set()


@pytest.mark.unmeasured
@table(("dialect", "rule"), CHECKABLE)
def test_a_finding_has_its_place_and_the_providers_text(dialect: str, rule: Rule):
    example = load_examples(dialect)[rule.id]
    payload = unfold(example.breaks)
    for finding in judge_rules(dialect, payload, url=example.url, version=example.version):
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


def test_an_inferred_rule_is_only_a_note():
    assert [rule.id for _, rule in RULES.values() if rule.confidence == "inferred" and rule.severity == "reject"] == []


def test_a_rule_for_certain_models_ignores_other_and_unknown_models():
    payload = unfold(load_examples("openai-chat")["openai.tools-nonempty"].breaks)
    assert broken_rules("openai-chat", payload) == {"openai.tools-nonempty"}
    assert broken_rules("openai-chat", {**payload, "model": "llama-4"}) == set()
    unnamed = {name: value for name, value in payload.items() if name != "model"}
    assert broken_rules("openai-chat", unnamed) == set()
    azure = "https://x.openai.azure.com/openai/deployments/gpt-4o/chat/completions"
    assert broken_rules("openai-chat", unnamed, azure) == {"openai.tools-nonempty"}
    assert judge_rules("openai-chat", unnamed, model="gpt-4o")


def test_an_unknown_dialect_has_no_rules():
    with pytest.raises(HarnessError, match="unknown dialect 'smoke-signals'; known: "):
        judge_rules("smoke-signals", {})


ENTRY = 'id = "a.b"\nstatement = "s"\nsource = "x"\nconfidence = "spec"\nseverity = "reject"\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[rule]]\n" + ENTRY.replace('"reject"', '"fatal"'), "Invalid enum value 'fatal' - at `$.rule[0].severity`"),
        ("[[rule]]\n" + ENTRY.replace("source", "sauce"), "missing required field `source`|unknown field `sauce`"),
        ("[[rule]]\n" + ENTRY + "colour = 1\n", "unknown field `colour` - at `$.rule[0]`"),
        ("[[rule]]\n" + ENTRY + 'since = "v2"\n', "a.b: since: not a date"),
        ("[[rule]]\n" + ENTRY + 'models = "("\n', "a.b: models: not a regular expression"),
        ("[[rule]]\n" + ENTRY + "[[rule]]\n" + ENTRY, "a.b: the id is used twice"),
        ("[[rule]]\n" + ENTRY.replace('"spec"', '"inferred"'), "a.b: severity: an inferred rule must be a note"),
        ("[[rule", "openai-chat.toml"),
        (None, "No such file"),
    ],
)
def test_an_error_in_a_rule_file_names_the_field(tmp_path: Path, text: str | None, problem: str):
    if text is not None:
        (tmp_path / "openai-chat.toml").write_text(text, encoding="utf-8")
    with pytest.raises(HarnessError) as caught:
        load_rules("openai-chat", tmp_path)
    assert "openai-chat.toml" in str(caught.value)
    assert any(one in str(caught.value) for one in problem.split("|"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.unmeasured
@pytest.mark.parametrize("dialect", DIALECTS)
@given(payload=JSON)
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


@pytest.mark.once
@pytest.mark.unmeasured
@table(("dialect", "rule"), CHECKABLE)
def test_no_part_of_another_type_makes_a_rule_raise(dialect: str, rule: Rule):
    example = load_examples(dialect)[rule.id]
    book = rulebook(dialect)
    run = next(code.run for one, _, code in book.entries if one.id == rule.id)
    for payload in (example.breaks, example.keeps):
        for new in (None, True, -1, 1e300, "", " ", [], [None, [], "x"], {}, {"type": 1, "role": [], "id": {}}):
            for changed in with_one_changed(payload, new):
                list(run(book.read(changed, None, example.url)))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_deep_payload_is_judged(dialect: str):
    deep: Any = {}
    for _ in range(5000):
        deep = {"properties": {"a": deep}, "items": [deep], "content": deep}
    shape = {"tools": [{"function": {"parameters": deep}, "input_schema": deep, "functionDeclarations": [deep]}]}
    judge_rules(dialect, {**shape, "messages": [deep], "contents": [deep], "model": "gpt-4o"})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_canonical_payload_breaks_a_rule(dialect: str):
    paths = sorted((data_folder("fixtures") / "payloads" / dialect).glob("*.json"))
    found = {path.stem: judge_rules(dialect, json.loads(path.read_text(encoding="utf-8"))) for path in paths}
    messages = {name: [one.message for one in all_ if one.severity != "note"] for name, all_ in found.items()}
    assert {name: broken for name, broken in messages.items() if broken} == {}
    assert len(found) > 200


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_judge_is_fast(dialect: str):
    folder = data_folder("fixtures") / "payloads" / dialect
    payloads = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    if not payloads:
        return
    judge_rules(dialect, payloads[0])
    began = time.process_time()
    for payload in payloads:
        judge_rules(dialect, payload)
    assert len(payloads) / (time.process_time() - began) > 300  # 2,000 is the aim; machines that test are busy


def test_every_rule_that_an_adapter_names_is_a_rule():
    named = {
        name
        for path in sorted((ROOT / "art_sdk" / "adapters").rglob("*.py"))
        for name in re.findall(
            r"\b(?:openai|anthropic|bedrock|cohere|gemini)\.(?!claude)[a-z0-9]+(?:-[a-z0-9]+)+", path.read_text("utf-8")
        )
    }
    assert len(named) > 30
    assert named - set(RULES) == set()
