"""`art audit` on what traffic is kept in: compressed files, spans, Parquet, URLs; whole, cut off and mixed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from art_compliance.auditing.lines import LONGEST
from art_compliance.auditing.plan import Part, Plan, Source
from art_compliance.auditing.reading import Read
from art_compliance.auditing.report import report_of
from art_compliance.auditing.running import Audit
from art_compliance.auditing.settings import Settings
from art_compliance.cassettes.scrubbing import REDACTED
from art_compliance.traffic import read_source
from art_compliance.traffic.found import Found
from test_audit import ANSWER, ANTHROPIC, AT_OPENAI, GOOD_LINE, OPENAI, WRONG_LINE, audit, record, write_lines

SIGNATURE = urlencode({"X-Amz-Signature": REDACTED})
LINES = "".join(json.dumps(one) + "\n" for one in (GOOD_LINE, WRONG_LINE, GOOD_LINE)).encode()


def zstd() -> Any:
    return pytest.importorskip("backports.zstd", reason="the extra `audit` is not installed")


def test_compressed_lines_are_read_as_others(tmp_path: Path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(LINES))
    (tmp_path / "b.jsonl.zst").write_bytes(zstd().compress(LINES))
    _, report = audit(tmp_path, str(tmp_path))
    assert (report["total"]["requests"], report["total"]["rejected"]) == (6, 2)
    assert [one["line"] for one in report["rules"][0]["first"]] == [2, 2]


def test_compressed_data_that_is_cut_off_is_said_and_what_came_before_is_counted(tmp_path: Path):
    noise = "".join(json.dumps({**GOOD_LINE, "client": f"{number * 7919:x}"}) + "\n" for number in range(3000)).encode()
    for name, data in (("a.jsonl.gz", gzip.compress(noise)), ("b.jsonl.zst", zstd().compress(noise))):
        file = tmp_path / name
        file.write_bytes(data[: len(data) * 3 // 4])
        result, report = audit(tmp_path, str(file))
        count = report["total"]["requests"]
        assert 0 < count < 3000
        (problem,) = report["files"][0]["problems"]
        assert f"data is cut off or damaged: {count:,} lines" in problem
        assert (problem in result.output, result.exit_code) == (True, 2)


def test_a_line_that_is_too_long_is_named_and_the_others_are_judged(tmp_path: Path):
    file = tmp_path / "a.jsonl"
    with file.open("wb") as out:
        out.write(LINES)
        out.write(b'"' + b"x" * (LONGEST + 1) + b'"\n')
        out.write(LINES)
    _, report = audit(tmp_path, str(file), "--jobs", "1")
    assert report["total"]["requests"] == 6
    (bad,) = report["unreadable"]
    assert (bad["why"], bad["first"][0]["line"]) == (f"a line of more than {LONGEST // 2**20} MiB", 4)


def attribute(name: str, value: object) -> dict[str, Any]:
    if isinstance(value, int):
        return {"key": name, "value": {"intValue": str(value)}}
    return {"key": name, "value": {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}}


MESSAGES = [
    {"role": "user", "parts": [{"type": "text", "content": "Weather in Paris?"}]},
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "call_1", "name": "weather", "arguments": {"city": "Paris"}}],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": "57 F"}]},
]


def span(provider: str, messages: object, **more: object) -> dict[str, Any]:
    fields = {"operation.name": "chat", "provider.name": provider, "request.model": "m", "request.temperature": 0.5}
    fields |= {"usage.input_tokens": 5, "usage.output_tokens": 7, "input.messages": json.dumps(messages), **more}
    attributes = [attribute(f"gen_ai.{name}", value) for name, value in fields.items()]
    return {"startTimeUnixNano": "1795000000000000000", "attributes": attributes}


def spans(*given: dict[str, Any]) -> dict[str, Any]:
    resource = {"attributes": [attribute("service.name", "shop")]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(given)}]}]}


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gcp.gemini"])
def test_a_span_is_judged_as_what_it_tells_of_the_request(provider: str, tmp_path: Path):
    other = {"attributes": [attribute("gen_ai.operation.name", "execute_tool")]}
    unpaired = span(provider, MESSAGES[:2] + MESSAGES[:1], system_instructions="[]")
    bare = {"attributes": [one for one in span(provider, [])["attributes"] if "messages" not in one["key"]]}
    file = write_lines(tmp_path / "a.jsonl", spans(span(provider, MESSAGES), other), spans(unpaired), spans(bare))
    _, report = audit(tmp_path, file)
    total = report["total"]
    assert (total["requests"], total["rejected"], report["skipped"]) == (2, 1, 1)
    assert (total["accepted"], total["input_tokens"], total["output_tokens"]) == (2, 10, 14)
    assert [one["name"] for one in report["by"]["client"]] == ["shop"]
    assert [one["name"] for one in report["by"]["day"]] == ["2026-11-18"]
    first = report["rules"][0]["first"][0]
    assert (first["line"], first["item"]) == (2, "resourceSpans[0].scopeSpans[0].spans[0]")
    assert "without gen_ai.input.messages" in report["unreadable"][0]["why"]


def test_a_document_of_spans_and_one_of_pythons_sdk_are_read_by_judge_too(tmp_path: Path):
    whole = tmp_path / "spans.json"
    whole.write_text(json.dumps(spans(span("openai", MESSAGES)), indent=1))
    own = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.input.messages": MESSAGES}
    plain = tmp_path / "span.json"
    plain.write_text(json.dumps({"name": "chat m", "attributes": {**own, "gen_ai.request.model": "m"}}))
    for path in (whole, plain):
        (item,) = read_source(str(path))
        assert isinstance(item, Found)
        assert [one["role"] for one in item.body["messages"]] == ["user", "assistant", "tool"]
        assert item.body["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"city": "Paris"}'


def test_rows_of_parquet_are_lines(tmp_path: Path):
    arrow = pytest.importorskip("pyarrow", reason="the extra `audit` is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [
        {"url": AT_OPENAI, "request": json.dumps(OPENAI), "response": json.dumps({"status": 200, "body": ANSWER})},
        {"url": AT_OPENAI, "request": json.dumps({**OPENAI, "messages": 5}), "response": None},
        {"url": AT_OPENAI, "request": "{", "response": None},
    ]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    _, report = audit(tmp_path, str(tmp_path))
    assert (report["total"]["requests"], report["total"]["input_tokens"]) == (2, 5)
    assert report["rules"][0]["first"][0]["line"] == 2
    assert report["unreadable"][0]["first"][0]["line"] == 3
    cut = tmp_path / "cut.parquet"
    cut.write_bytes((tmp_path / "a.parquet").read_bytes()[:-9])
    result, report = audit(tmp_path, str(cut))
    assert (result.exit_code, report["is_whole"], len(report["files"][0]["problems"])) == (2, False, 1)


def test_files_at_urls_are_read(tmp_path: Path):
    fsspec = pytest.importorskip("fsspec", reason="the extra `audit` is not installed")
    memory = fsspec.filesystem("memory")
    memory.pipe("/audited/day/a.jsonl", LINES)
    memory.pipe("/audited/day/b.jsonl.gz", gzip.compress(LINES))
    memory.pipe("/audited/day/readme.md", b"no traffic")
    for url, count in (("memory://audited", 6), ("memory://audited/day/*.jsonl", 3)):
        _, report = audit(tmp_path, url)
        assert report["total"]["requests"] == count
    for url, words in (("memory://gone", "cannot read memory://gone"), ("nothing://x", "cannot read nothing://x")):
        result, _ = audit(tmp_path, url)
        assert (result.exit_code, words in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("https://user:hunter2@logs.example.com/a.jsonl", "https://logs.example.com/a.jsonl"),
        ("https://b.example.com/a.jsonl?X-Amz-Signature=1f3c", f"https://b.example.com/a.jsonl?{SIGNATURE}"),
        ("s3://Bucket/a.jsonl", "s3://Bucket/a.jsonl"),
        ("logs/a?b@c.jsonl", "logs/a?b@c.jsonl"),
        ("https://user:hunter2@host:port/a.jsonl", REDACTED),
    ],
)
def test_the_report_names_a_url_without_its_secrets(path: str, shown: str):
    audit = Audit(Plan(Settings(), (Source(path, "lines", 1, 0),), 1))
    audit.add(Read(Part(0, 0, 1), problem=f"no answer from {path}"))
    (file,) = report_of(audit, "1").files
    assert (file.path, file.problems) == (shown, (f"no answer from {shown}",))


def test_formats_may_be_mixed_in_a_file(tmp_path: Path):
    gemini = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    batch = {"custom_id": "1", "params": ANTHROPIC}
    file = write_lines(tmp_path / "a.log", GOOD_LINE, batch, gemini, OPENAI, record(AT_OPENAI, gemini))
    _, report = audit(tmp_path, file)
    dialects = {one["name"]: one["requests"] for one in report["by"]["dialect"]}
    assert dialects == {"openai-chat": 3, "anthropic-messages": 1, "gemini-generate": 1}
    assert (report["guessed"], report["total"]["rejected"]) == (2, 1)
