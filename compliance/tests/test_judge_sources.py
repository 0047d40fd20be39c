"""`art judge` on what people have: several files, lines of JSON, HAR, curl commands and cassettes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from art_compliance.commands import app
from art_compliance.resources import data_folder
from art_compliance.traffic import Given, judge_all, read_source
from art_compliance.traffic.found import Found, Item, Skipped, Unread
from art_compliance.traffic.judged import dialect_at

OPENAI = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}
ANTHROPIC = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
WRONG = {**ANTHROPIC, "max_tokens": "many"}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
AT_OPENAI = "https://api.openai.com/v1/chat/completions"
AT_ANTHROPIC = "https://api.anthropic.com/v1/messages"
KEY = "sk-ant-1234567890abcdef"


def art(*arguments: str, given: str | None = None):
    return CliRunner().invoke(app, ["judge", *arguments], input=given)


def in_file(folder: Path, name: str, content: object) -> str:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


def found_in(folder: Path, name: str, content: object) -> list[Item]:
    return list(read_source(in_file(folder, name, content)))


def bodies(items: list[Item]) -> list[object]:
    return [item.body for item in items if isinstance(item, Found)]


def test_several_files_are_judged_and_summed_up(tmp_path: Path):
    good, wrong = in_file(tmp_path, "good.json", ANTHROPIC), in_file(tmp_path, "wrong.json", WRONG)
    result = art("--dialect", "anthropic-messages", good, wrong)
    assert result.exit_code == 1
    assert f"{wrong}  (anthropic-messages)\n  reject  /max_tokens" in result.output
    assert result.output.endswith("2 requests judged: 1 rejected, 0 with notes\n")


def test_lines_of_json_are_requests_and_bad_ones_are_named_and_counted(tmp_path: Path):
    lines = [json.dumps(ANTHROPIC), "", "{broken", json.dumps(WRONG)]
    file = in_file(tmp_path, "requests.jsonl", "\n".join(lines))
    result = art("--dialect", "anthropic-messages", file)
    assert result.exit_code == 2
    assert f"{file}:3: cannot be judged: not JSON: Expecting property name" in result.output
    assert f"{file}:4  (anthropic-messages)" in result.output
    assert result.output.endswith("2 requests judged: 1 rejected, 0 with notes, 1 cannot be judged\n")


def test_json_has_everything(tmp_path: Path):
    file = in_file(tmp_path, "requests.jsonl", f"{json.dumps(WRONG)}\n{{")
    result = art("--dialect", "anthropic-messages", "--json", file)
    shown = json.loads(result.output)
    (request,) = shown["requests"]
    assert (request["where"], request["dialect"], request["rejected"]) == (f"{file}:1", "anthropic-messages", True)
    assert request["findings"][0]["pointer"] == "/max_tokens"
    assert [one["where"] for one in shown["unread"]] == [f"{file}:2"]
    assert (shown["rejected"], shown["skipped"], result.exit_code) == (1, 0, 2)


def entry(url: str, body: object, *, method: str = "POST", headers: tuple[tuple[str, str], ...] = ()) -> dict:
    given = [{"name": name, "value": value} for name, value in headers]
    text = body if isinstance(body, str) else json.dumps(body)
    return {"request": {"method": method, "url": url, "headers": given, "postData": {"text": text}}}


def har(*entries: object) -> dict:
    return {"log": {"version": "1.2", "entries": list(entries)}}


def test_the_requests_of_a_har_are_judged_by_their_urls_and_others_are_skipped(tmp_path: Path):
    page = {"request": {"method": "GET", "url": "https://example.com/", "headers": []}}
    counter = entry("https://stats.example.com/collect", {"a": 1})
    content = har(page, counter, entry(AT_OPENAI, OPENAI), entry(AT_ANTHROPIC, WRONG))
    file = in_file(tmp_path, "session.har", "\ufeff" + json.dumps(content))
    result = art("--json", file)
    shown = json.loads(result.output)
    assert [one["dialect"] for one in shown["requests"]] == ["openai-chat", "anthropic-messages"]
    assert [one["rejected"] for one in shown["requests"]] == [False, True]
    assert (shown["skipped"], shown["unread"], result.exit_code) == (2, [], 1)
    assert "2 to other addresses, not judged" in art(file).output


@pytest.mark.parametrize(
    ("content", "name", "why"),
    [
        ({"log": {"version": "1.2"}}, "a.har", "the HAR has no log.entries"),
        ({"log": {"version": "1.2"}}, "a.json", "the HAR has no log.entries"),
        ({"messages": []}, "a.har", "a.har is not a HAR: it has no log"),
        ('{"log": {"entries": [', "a.har", "a.har is not JSON"),
        (har({}), "a.har", "the entry has no request"),
        (har({"request": {"method": "POST", "url": AT_OPENAI, "postData": {}}}), "a.har", "the HAR with its content"),
        (har(entry(AT_OPENAI, "{")), "a.har", "the body is not JSON"),
    ],
)
def test_a_broken_har_is_never_a_body(content: object, name: str, why: str, tmp_path: Path):
    (item,) = found_in(tmp_path, name, content)
    assert isinstance(item, Unread)
    assert why in item.why


def test_a_har_from_standard_input_is_no_body_either():
    result = art("--dialect", "openai-chat", given=json.dumps(har(entry(AT_OPENAI, OPENAI))))
    assert (result.exit_code, result.output) == (0, "nothing found\n")


def test_the_version_comes_from_the_header(tmp_path: Path):
    """Sampling options are refused since 2026-10-21."""
    body = {**ANTHROPIC, "temperature": 0.5}
    for version, code in (("2023-06-01", 0), ("2026-10-21", 1)):
        file = in_file(tmp_path, "a.har", har(entry(AT_ANTHROPIC, body, headers=(("Anthropic-Version", version),))))
        assert art(file).exit_code == code


DOCUMENTED = f"""# as in the provider's documentation
$ curl {AT_ANTHROPIC} \\
  -H "x-api-key: $ANTHROPIC_API_KEY" \\
  -H "anthropic-version: 2023-06-01" \\
  -d '{json.dumps(ANTHROPIC)}'
"""
CHROME = f"""curl '{AT_OPENAI}' -H 'accept: */*' --data-raw $'{{"content":"it\\'s \\u0021"}}' --compressed"""


@pytest.mark.parametrize(
    ("command", "url", "body"),
    [
        (DOCUMENTED, AT_ANTHROPIC, ANTHROPIC),
        (CHROME, AT_OPENAI, {"content": "it's !"}),
        (f"curl -sSXPOST -x http://proxy:1 --url {AT_OPENAI} -d'{{}}' | jq .", AT_OPENAI, {}),
        (f"curl --json '{{\"a\":' --json '1}}' {AT_OPENAI} > out.json", AT_OPENAI, {"a": 1}),
        (f"curl -o out -m 5 --data-binary '{{}}' {AT_OPENAI} && echo done", AT_OPENAI, {}),
        ("curl localhost:8000/v1/chat/completions -d '{}'", "localhost:8000/v1/chat/completions", {}),
        ("curl $BASE/v1/messages -d '{}'", "$BASE/v1/messages", {}),
        (f"curl {AT_OPENAI} -d '{{\"text\": \"$ä\\n\"}}'", AT_OPENAI, {"text": "$ä\n"}),
    ],
)  # fmt: skip
def test_a_curl_command_is_read(command: str, url: str, body: object, tmp_path: Path):
    for items in (list(read_source(command)), found_in(tmp_path, "request.sh", command)):
        (item,) = items
        assert isinstance(item, Found)
        assert (item.url, item.body) == (url, body)


def test_a_pasted_curl_command_is_judged_by_its_url_and_shows_no_key():
    command = f"curl {AT_ANTHROPIC}?key={KEY} -H 'x-api-key: {KEY}' -d '{json.dumps(WRONG)}'"
    result = art(command)
    assert (result.exit_code, result.output.startswith("reject  /max_tokens")) == (1, True)
    assert KEY not in art(command, "--json").output


def test_several_commands_in_one_file(tmp_path: Path):
    items = found_in(tmp_path, "requests.sh", f"{DOCUMENTED}\ncurl {AT_OPENAI} -d '{json.dumps(OPENAI)}'\n")
    assert bodies(items) == [ANTHROPIC, OPENAI]
    assert [item.where.rpartition(": ")[2] for item in items] == ["command 1", "command 2"]


def test_the_body_of_a_command_may_be_in_a_file(tmp_path: Path):
    in_file(tmp_path, "body.json", OPENAI)
    assert bodies(found_in(tmp_path, "request.sh", f"curl {AT_OPENAI} -d @body.json")) == [OPENAI]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (f"curl {AT_OPENAI}", "the curl command has no body"),
        ("curl -d '{}'", "the curl command has no URL"),
        (f"curl {AT_OPENAI} -d '{{}}", "for another shell than bash, or is cut off: no closing quotation"),
        (f'curl ^"{AT_OPENAI}^" --data-raw ^"{{}}^"', "for another shell than bash: it escapes with ^"),
        (f"curl {AT_OPENAI} -d '{{'", "the body is not JSON"),
        (f"curl {AT_OPENAI} -d @none.json", "cannot read the body of the curl command, none.json"),
        (f"curl {AT_OPENAI} -d @-", "comes from standard input; put it into a file"),
        (f"curl {AT_OPENAI} -F file=@a.wav", "uses --form, which does not send a JSON body"),
    ],
)
def test_a_curl_command_without_a_request_is_one_sentence_and_never_a_body(command: str, why: str):
    (item,) = read_source(command)
    assert isinstance(item, Unread)
    assert why in item.why
    result = art("--dialect", "openai-chat", command)
    assert result.exit_code == 2
    assert len(result.output.splitlines()) == 1


def test_a_cassette_is_judged(tmp_path: Path):
    path = next(iter(sorted((data_folder("cassettes") / "anthropic").glob("*.yaml"))))
    result = art(str(path))
    assert (result.exit_code, result.output) == (0, "nothing found\n")
    (broken,) = found_in(tmp_path, "broken.yaml", "interactions:\n- request: 1\nversion: 1\n")
    assert isinstance(broken, Unread)


ONE_CALL = {
    "request": {
        "method": "POST",
        "uri": AT_OPENAI,
        "body": json.dumps(OPENAI),
        "headers": {"authorization": [f"Bearer {KEY}"]},
    },
    "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": "{}"}},
}


PARSED = {"method": "POST", "uri": AT_OPENAI, "headers": {}, "parsed_body": OPENAI}


@pytest.mark.parametrize(
    "data",
    [
        {"version": 1, "interactions": [ONE_CALL, {"request": KEY}, ONE_CALL]},
        {"requests": [ONE_CALL["request"]] * 2, "responses": [ONE_CALL["response"]] * 2},
        {"interactions": [{**ONE_CALL, "response": {"status_code": 200, "content": "{}", "headers": {}}}] * 2},
        {"interactions": [{"request": PARSED, "response": {**ONE_CALL["response"], "parsed_body": {}}}] * 2},
        {"interactions": [ONE_CALL, {**ONE_CALL, "request": {**PARSED, "uri": "https://example.com/log"}}, ONE_CALL]},
    ],
    ids=["vcrpy, one call spoiled", "two lists", "vcrpy before 6.0", "parsed bodies", "a call of another service"],
)
def test_a_cassette_of_others_is_read_whatever_is_in_it(data: object, tmp_path: Path):
    items = found_in(tmp_path, "theirs.yaml", yaml.safe_dump(data))
    assert bodies([item for item in items if not isinstance(item, Unread)]) == [OPENAI, OPENAI]
    spoiled = [item for item in items if isinstance(item, Unread)]
    assert [item.where.rpartition(": ")[2] for item in spoiled] == ["interactions[1].request"] * len(spoiled)
    assert KEY not in repr(spoiled)
    assert "art record" not in repr(spoiled)


BATCH = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": OPENAI}


@pytest.mark.parametrize(
    ("data", "dialect", "body"),
    [
        (BATCH, "openai-chat", OPENAI),
        ({"custom_id": "1", "params": ANTHROPIC}, "anthropic-messages", ANTHROPIC),
        ({"key": "1", "request": GEMINI}, "gemini-generate", GEMINI),
        ({"url": AT_OPENAI, "request": OPENAI, "response": {"status": 200}}, "openai-chat", OPENAI),
    ],
    ids=["openai", "anthropic", "gemini", "recording"],
)
def test_the_lines_of_a_batch_are_requests(data: object, dialect: str, body: object, tmp_path: Path):
    items = found_in(tmp_path, "batch.jsonl", f"{json.dumps(data)}\n{json.dumps(data)}\n")
    assert bodies(items) == [body, body]
    found = judge_all(items, Given())
    assert [(one.dialect, one.is_rejected) for one in found.requests] == [(dialect, False)] * 2


@pytest.mark.parametrize(
    ("url", "dialect"),
    [
        (AT_OPENAI, "openai-chat"),
        ("https://api.deepseek.com/chat/completions", "deepseek-chat"),
        ("https://openrouter.ai/api/v1/chat/completions", "openrouter-chat"),
        ("https://api.x.ai/v1/chat/completions", "openai-compatible"),
        ("https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=1", "openai-chat"),
        ("https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude/invoke", "anthropic-messages"),
        ("https://bedrock-runtime.eu-west-1.amazonaws.com/model/meta.llama/invoke", None),
        ("https://generativelanguage.googleapis.com/v1beta/models/m:generateContent?key=k", "gemini-generate"),
        ("https://example.com/collect", None),
    ],
)
def test_a_url_tells_the_wire_format(url: str, dialect: str | None):
    assert dialect_at(url) == dialect


def test_an_unknown_url_needs_a_dialect_and_a_recorded_one_is_skipped(tmp_path: Path):
    (command,) = read_source("curl https://example.com/chat -d '{}'")
    (recorded,) = found_in(tmp_path, "a.har", har(entry("https://example.com/chat", {})))
    assert isinstance(recorded, Found)
    found = judge_all([command, recorded, Skipped(where="a")], Given())
    (unread,) = found.unread
    assert unread.why.startswith("the wire format of https://example.com/chat is unknown; name it with --dialect")
    assert found.skipped == 2
    assert judge_all([command], Given(dialect="openai-chat")).requests[0].dialect == "openai-chat"


def test_nothing_to_judge_is_exit_code_2(tmp_path: Path):
    file = in_file(tmp_path, "a.har", har())
    result = art(file)
    assert (result.exit_code, result.output) == (2, "0 requests judged: 0 rejected, 0 with notes\n")
