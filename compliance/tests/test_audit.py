"""`art audit`: recorded traffic judged and counted, by rule, model, day and client."""

from __future__ import annotations

import json
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from typer.testing import CliRunner

from art_compliance.auditing.finding import source_of
from art_compliance.auditing.groups import Groups
from art_compliance.auditing.plan import Part
from art_compliance.auditing.prices import load_prices
from art_compliance.auditing.reading import Read, read_source_part
from art_compliance.auditing.schema import audit_schema
from art_compliance.auditing.settings import Settings
from art_compliance.auditing.shapes import dialect_by_shape
from art_compliance.auditing.tally import Counts
from art_compliance.commands import app
from art_compliance.commands.audits import share_of
from row_tables import table

OPENAI = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}
ANTHROPIC = {"model": "claude-opus-4-1", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
WRONG = {**ANTHROPIC, "max_tokens": "far too many"}
AT_OPENAI = "https://api.openai.com/v1/chat/completions"
AT_ANTHROPIC = "https://api.anthropic.com/v1/messages"
ANSWER = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 5, "completion_tokens": 7}}
KEY = "sk-ant-api03-" + "aB3dE5fG7h" * 9


def record(url: str, body: object, status: int = 200, answer: object = None, **more: object) -> dict[str, Any]:
    return {"url": url, "request": body, "response": {"status": status, "body": answer}, **more}


GOOD_LINE = record(AT_OPENAI, OPENAI, answer=ANSWER, time="2026-11-20T23:30:00-01:00", client="web")
WRONG_LINE = record(AT_ANTHROPIC, WRONG, 400, {}, time=1795000000, client="batch")


def write_lines(path: Path, *lines: object) -> str:
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
    return str(path)


def audit(folder: Path, *arguments: str):
    result = CliRunner().invoke(app, ["audit", *arguments, "--out", str(folder / "out")])
    path = folder / "out" / "report.json"
    return result, json.loads(path.read_text()) if path.is_file() else {}


def test_requests_are_counted_by_rule_model_day_client_and_status(tmp_path: Path):
    file = write_lines(tmp_path / "a.jsonl", GOOD_LINE, "", WRONG_LINE, GOOD_LINE)
    result, report = audit(tmp_path, file)
    assert result.exit_code == 0
    validator = jsonschema.Draft202012Validator(audit_schema())
    validator.validate(report)
    assert not validator.is_valid({**report, "other": 1})
    total = report["total"]
    assert (total["requests"], total["rejected"], total["share"]) == (3, 1, 0.333333)
    assert (total["accepted"], total["refused"], total["agreed"]) == (2, 1, 1)
    assert (total["input_tokens"], total["output_tokens"]) == (10, 14)
    names = {dimension: [(one["name"], one["requests"]) for one in rows] for dimension, rows in report["by"].items()}
    assert names == {
        "dialect": [("openai-chat", 2), ("anthropic-messages", 1)],
        "model": [("gpt-4.1", 2), ("claude-opus-4-1", 1)],
        "day": [("2026-11-18", 1), ("2026-11-21", 2)],
        "client": [("web", 2), ("batch", 1)],
        "status": [("200", 2), ("400", 1)],
    }
    (rule,) = report["rules"]
    assert (rule["rule"], rule["reject"], rule["refused"]) == ("wrong value: /max_tokens", 1, 1)
    assert rule["first"] == [{"file": file, "line": 3, "pointer": "/max_tokens"}]
    assert "3 requests judged: 1 rejected (33.3%)" in result.output


def test_nothing_of_a_request_stands_in_the_report_unless_it_is_asked_for(tmp_path: Path):
    secret_names = {"type": "object", "properties": {"patient Miller": {"anyOf": 5}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": secret_names, "strict": "Bob's"}}]
    odd = {**ANTHROPIC, "a name nobody may see": 1, "txt": 2}
    lines = [record(AT_OPENAI, {**OPENAI, "tools": tools}), record(AT_ANTHROPIC, odd, client=KEY), WRONG_LINE, "{'Bob"]
    file = write_lines(tmp_path / "a.jsonl", *lines)
    result, report = audit(tmp_path, file)
    shown = json.dumps(report) + result.output
    assert not [text for text in ("Miller", "Bob", "far too many", "nobody", KEY) if text in shown]
    assert {"unknown field: /txt", "unknown field: /…"} <= {one["rule"] for one in report["rules"]}
    result, report = audit(tmp_path, file, "--show-text")
    shown = json.dumps(report)
    assert not [text for text in ("far too many", "nobody") if text not in shown]
    assert KEY not in shown


def test_a_field_that_a_rule_names_is_shown_though_the_published_types_lack_it(tmp_path: Path):
    """The types of Anthropic's client have no `temperature`; a name in a map of the sender's stays hidden."""
    metadata = {"patient": "x" * 600}
    file = write_lines(
        tmp_path / "a.jsonl",
        record(AT_ANTHROPIC, {**ANTHROPIC, "temperature": 9}),
        record(AT_OPENAI, {**OPENAI, "store": True, "metadata": metadata}),
    )
    _, report = audit(tmp_path, file)
    pointers = {one["rule"]: one["first"][0]["pointer"] for one in report["rules"]}
    assert pointers["anthropic.temperature-range"] == "/temperature"
    assert pointers["openai.metadata-limits"] == "/metadata/…"


def test_bad_lines_are_counted_and_named_and_end_nothing(tmp_path: Path):
    embedding = record("https://example.com/v1/embed", {"input": "x"})
    file = write_lines(tmp_path / "a.jsonl", "{", GOOD_LINE, "[1", '{"a": 1}', "\x00", embedding)
    result, report = audit(tmp_path, file)
    assert (result.exit_code, report["total"]["requests"]) == (0, 1)
    assert [(one["why"], [place["line"] for place in one["first"]]) for one in report["unreadable"]] == [
        ("unknown wire format: name it with --dialect", [4, 6]),
        ("not JSON: Expecting ',' delimiter".partition("'")[0].rstrip(), [3]),
        ("not JSON: Expecting property name enclosed in double quotes", [1]),
        ("not JSON: Expecting value", [5]),
    ]


def test_a_body_that_is_nested_deep_is_a_note_as_it_is_to_the_judge(tmp_path: Path):
    deep: Any = "end"
    for _ in range(250):
        deep = [deep]
    file = write_lines(tmp_path / "a.jsonl", record(AT_OPENAI, {**OPENAI, "metadata": {"deep": deep}}))
    _, report = audit(tmp_path, file)
    assert [(one["rule"], one["note"]) for one in report["rules"]] == [("cannot be sent as JSON", 1)]


def test_odd_times_and_counts_are_read_as_none_and_a_file_that_is_named_twice_once(tmp_path: Path):
    huge = {"usage": {"prompt_tokens": 10**30, "completion_tokens": 7}}
    text = json.dumps(record(AT_OPENAI, OPENAI, answer=huge, time="TIME"))
    odd = [text.replace('"TIME"', time) for time in ("1e400", "9" * 400, "NaN", "-Infinity", "[]")]
    file = write_lines(tmp_path / "a.jsonl", GOOD_LINE, *odd)
    result, report = audit(tmp_path, file, str(tmp_path), file)
    assert (result.exit_code, report["unreadable"], len(report["files"])) == (0, [], 1)
    assert {one["name"]: one["requests"] for one in report["by"]["day"]} == {"(unknown)": 5, "2026-11-21": 1}
    assert (report["total"]["input_tokens"], report["total"]["output_tokens"]) == (5, 6 * 7)
    assert report["clock"] == {"back": 0, "largest": 0.0}


@pytest.mark.parametrize("share", ["29%", "0.29", ".29"])
def test_a_share_is_exact(share: str):
    assert share_of(share) * 100 == 29, "as a float it is 28.999999999999996, so that 29 of 100 would be too many"


@pytest.mark.parametrize(
    ("share", "code"), [("50%", 0), ("33.4%", 0), ("33.3%", 1), ("0", 1), ("0.5", 0), ("150%", 2), ("few", 2)]
)
def test_a_share_that_is_too_large_fails(share: str, code: int, tmp_path: Path):
    file = write_lines(tmp_path / "a.jsonl", GOOD_LINE, WRONG_LINE, GOOD_LINE)
    result, _ = audit(tmp_path, file, "--fail-over", share)
    assert result.exit_code == code


def test_a_folder_is_read_but_for_the_report_and_nothing_to_judge_is_said(tmp_path: Path):
    write_lines(tmp_path / "a.jsonl", GOOD_LINE)
    har = {"request": {"method": "POST", "url": AT_ANTHROPIC, "postData": {"text": json.dumps(WRONG)}}}
    answered = {**har, "startedDateTime": "2026-11-20T10:00:00Z", "response": {"status": 400, "content": {}}}
    (tmp_path / "b.har").write_text(json.dumps({"log": {"entries": [answered]}}))
    for _ in range(2):
        result, report = audit(tmp_path, str(tmp_path))
        assert [Path(one["path"]).name for one in report["files"]] == ["a.jsonl", "b.har"]
        assert (report["total"]["requests"], report["total"]["refused"]) == (2, 1)
        assert report["rules"][0]["first"][0]["item"] == "log.entries[0]"
    (tmp_path / "empty").mkdir()
    result, _ = audit(tmp_path, str(tmp_path / "empty"))
    assert (result.exit_code, "there is nothing to read in" in result.stderr) == (2, True)
    result, _ = audit(tmp_path, str(tmp_path / "gone.jsonl"))
    assert (result.exit_code, "cannot read" in result.stderr) == (2, True)
    assert audit(tmp_path, write_lines(tmp_path / "c.jsonl", "{"))[0].exit_code == 2


GEMINI = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


@table(
    ("body", "dialect"),
    [
        (OPENAI, "openai-chat"),
        ({**OPENAI, "model": "llama"}, "openai-compatible"),
        (ANTHROPIC, "anthropic-messages"),
        ({**OPENAI, "model": "x", "system": "s", "max_tokens": 1}, "anthropic-messages"),
        (GEMINI, "gemini-generate"),
        ({"model": "gpt-5", "input": [{"role": "user", "content": "hi"}]}, "openai-responses"),
        ({"model": "voyage-3", "input": ["hi"]}, None),
        ({"messages": [], "inferenceConfig": {}}, "bedrock-converse"),
        ({"model": "qwen3", "messages": [], "options": {}}, "ollama-chat"),
        ({"model": "command-a-03-2025", "messages": []}, "cohere-chat-v2"),
        ({"model": "m"}, None),
        ([], None),
    ],
)
def test_a_body_without_a_url_is_of_the_format_of_its_fields(body: Any, dialect: str | None):
    assert dialect_by_shape(body, body.get("model") if isinstance(body, dict) else None) == dialect


def counted(names: list[str]) -> Groups[Counts]:
    groups = Groups(Counts, 10)
    for name in names:
        groups[name].add(Counts(requests=1))
    return groups


def test_names_beyond_the_limit_add_up_to_the_same_however_they_are_cut():
    names = [f"client-{number % 40}" for number in range(400)]
    whole = counted(names).as_data()
    assert (len(whole.named), whole.others) == (10, Counts(requests=300))
    assert {one.requests for one in whole.named.values()} == {10}
    for size in (7, 90):
        merged = Groups(Counts, 10)
        for start in reversed(range(0, 400, size)):
            merged.merge(counted(names[start : start + size]).as_data())
        assert merged.as_data() == whole


def test_only_what_a_rule_rejects_is_set_against_the_answers(tmp_path: Path):
    hot = {**OPENAI, "temperature": 7}
    note = record("https://gateway.example.com/v1/chat/completions", hot)
    file = write_lines(tmp_path / "a.jsonl", note, record(AT_OPENAI, hot), record(AT_OPENAI, hot, 400))
    result, report = audit(tmp_path, file)
    (rule,) = (one for one in report["rules"] if one["rule"] == "openai.temperature-range")
    assert {name: rule.get(name, 0) for name in ("requests", "reject", "note", "accepted", "refused")} == {
        "requests": 3,
        "reject": 2,
        "note": 1,
        "accepted": 1,
        "refused": 1,
    }
    assert "1 of the 2 accepted are rejected here" in result.output


PRICES = 'currency = "EUR"\n[models]\n"gpt-4.1" = {input = 2, output = 8.5}\n"gpt-*" = {input = 1, output = 1}\n'


def test_money_comes_from_a_file_of_prices_alone(tmp_path: Path):
    other = record(AT_OPENAI, {**OPENAI, "model": "gpt-5"}, answer=ANSWER)
    unpriced = record(AT_OPENAI, {**OPENAI, "model": "o3"}, answer=ANSWER)
    file = write_lines(tmp_path / "a.jsonl", GOOD_LINE, other, unpriced)
    assert "cost" not in audit(tmp_path, file)[1]["total"]
    (tmp_path / "prices.toml").write_text(PRICES)
    result, report = audit(tmp_path, file, "--prices", str(tmp_path / "prices.toml"))
    costs = {one["name"]: one["cost"] for one in report["by"]["model"]}
    assert costs == {"gpt-4.1": (5 * 2 + 7 * 8.5) / 1e6, "gpt-5": 12 / 1e6, "o3": 0.0}
    assert (report["currency"], report["unpriced"]) == ("EUR", 1)
    assert "no price: 1 answer of models that the file does not have" in result.output


def test_costs_in_a_currency_of_large_numbers_are_kept_for_a_run_that_goes_on(tmp_path: Path):
    (tmp_path / "prices.toml").write_text('currency = "VND"\n[models]\n"*" = {input = 65000, output = 260000}\n')
    answer = {"usage": {"prompt_tokens": 10**9, "completion_tokens": 1}}
    settings = Settings(prices=load_prices(tmp_path / "prices.toml"))
    source = source_of(write_lines(tmp_path / "a.jsonl", record(AT_OPENAI, OPENAI, answer=answer)))
    read = read_source_part(settings, source, Part(0, 0, source.size))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(read), type=Read) == read
    assert read.tally is not None
    assert read.tally.total.cost == (65000 * 10**9 + 260000) * 10**6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[models", "prices.toml: "),
        ("[models]\nm = {input = 1}", "Object missing required field `output` - at `$.models[...]`"),
        ("[models]\nm = {input = -1, output = 1}", "models.m.input: -1 is not a price"),
        ("[models]\nm = {input = 1, output = 0.0000001}", "models.m.output: 1E-7 is not a price"),
        ("[models]\nm = {input = 1, output = 1e30}", "models.m.output: 1E+30 is not a price"),
        (None, "prices.toml: No such file"),
    ],
)
def test_a_wrong_file_of_prices_is_named(text: str | None, words: str, tmp_path: Path):
    if text is not None:
        (tmp_path / "prices.toml").write_text(text)
    file = write_lines(tmp_path / "a.jsonl", GOOD_LINE)
    result, _ = audit(tmp_path, file, "--prices", str(tmp_path / "prices.toml"))
    assert (result.exit_code, words in result.stderr) == (2, True)


@pytest.mark.skipif(find_spec("distributed") is not None, reason="the extra `cluster` is installed")
def test_a_cluster_without_dask_is_refused_before_anything_is_written(tmp_path: Path):
    file = write_lines(tmp_path / "a.jsonl", GOOD_LINE)
    result, _ = audit(tmp_path, file, "--scheduler", "tcp://127.0.0.1:8786")
    assert (result.exit_code, "--scheduler needs Dask" in result.stderr) == (2, True)
    assert not (tmp_path / "out" / "report.json").exists()


def test_the_page_needs_nothing_else_and_runs_nothing(tmp_path: Path):
    markup = {**WRONG_LINE, "client": "<script>alert(1)</script>", "model": "</style>"}
    file = write_lines(tmp_path / "a.jsonl", GOOD_LINE, markup, "{", {**GOOD_LINE, "time": "2026-11-25T00:00:00Z"})
    audit(tmp_path, file)
    page = (tmp_path / "out" / "index.html").read_text()
    assert page.count("<script") == page.count(" style=") == page.count("http://") == page.count("url(") == 0
    assert page.count("</style>") == 1
    assert "default-src 'none'; script-src 'sha256-" in unescape(page)
    assert page.count('<rect class="bar" x="') == 3 + 1, "a bar for each day, and one for the rule"
    labels = ("2026-11-18", "2026-11-25", "1", "50.0%")
    assert [label for label in labels if f">{label}</text>" not in page] == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert f"{file}:2  /max_tokens" in page
