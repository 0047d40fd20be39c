"""Whatever JSON can hold, the judge has findings or none, the decoder says why, and the strict provider answers."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_json import ODD, put, spoiled
from art_compliance import judge
from art_compliance.cassettes.matching import ScrubbedRequest, meaning
from art_compliance.dialects import DIALECTS, DecodeFailed
from art_compliance.judging.wire import judge_answer
from art_compliance.provider.asking import ask
from art_compliance.provider.server import Request
from art_compliance.provider.strict import answer_strictly
from art_compliance.resources import data_folder
from request_paths import PATHS
from row_tables import table

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

HEADERS = {"authorization": "Bearer k", "x-api-key": "k", "x-goog-api-key": "k", "anthropic-version": "2023-06-01"}


@cache
def payloads(dialect: str) -> list[Any]:
    cases = json.loads((data_folder("fixtures") / "judges" / dialect / "good.json").read_text(encoding="utf-8"))
    return [case["payload"] for case in cases]


def examine(dialect: str, payload: Any) -> None:
    """Everything that the suite does with a request, and with an answer."""
    for url in (None, f"https://api.example.com{PATHS[dialect]}"):
        findings = judge(dialect, payload, url=url)
        msgspec.json.encode(findings)
    for name in (f"{dialect}.answer", f"{dialect}.stream"):
        judge_answer(name, payload)
    with suppress(DecodeFailed):
        DIALECTS[dialect].requests.decode(payload)


def ask_strictly(dialect: str, body: bytes) -> int:
    request = Request("POST", PATHS[dialect], HEADERS, body)
    answer = answer_strictly(ask(DIALECTS[dialect], request))
    assert answer.steps is not None or json.loads(answer.body)
    meaning(DIALECTS[dialect], ScrubbedRequest("POST", f"https://api.example.com{PATHS[dialect]}", body))
    return answer.status


def examine_whole(dialect: str, payload: Any) -> None:
    examine(dialect, payload)
    try:
        body = json.dumps(payload).encode()
    except RecursionError:
        return  # no client writes it
    assert ask_strictly(dialect, body) in (200, 400, 403, 404, 422)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=25)
@given(data=st.data())
def test_a_payload_with_anything_in_it_is_judged_decoded_and_answered(dialect: str, data: st.DataObject):
    examine_whole(dialect, data.draw(spoiled(data.draw(st.sampled_from(payloads(dialect))))))


@pytest.mark.parametrize("what", ODD)
@table("dialect", DIALECTS)
def test_an_odd_value_is_judged_as_the_payload_and_as_a_turn(dialect: str, what: str):
    good = payloads(dialect)[0]
    history = DIALECTS[dialect].requests.history.removeprefix("/")
    for steps in ([], [history], [history, 0]):
        examine_whole(dialect, put(good, steps, ODD[what]))


BODIES = {
    "brackets": b"[" * 50_000,
    "objects": b'{"a":' * 50_000,
    "digits": b'{"max_tokens": ' + b"9" * 5_000 + b"}",
    "NaN": b'{"temperature": NaN}',
    "infinity": b'{"temperature": 1e999}',
    "no text": b"\xff\xfe",
    "nothing": b"",
    "UTF-16": '{"model": 1}'.encode("utf-16"),
    "a NUL": b"\0",
}


@pytest.mark.parametrize("what", BODIES)
@table("dialect", DIALECTS)
def test_a_body_that_is_not_json_is_refused_in_the_dialects_form(dialect: str, what: str):
    assert ask_strictly(dialect, BODIES[what]) == 400


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_doubled_key_is_read_as_the_provider_reads_it(dialect: str):
    assert ask_strictly(dialect, b'{"model": "m", "model": 1}') == 400


def with_one_id(dialect: str, count: int) -> Any:
    """So many calls and results in a row, all with the same id."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    match dialect:
        case "anthropic-messages":
            pair = [
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]},
            ]
            return {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "q"}, *pair * count]}
        case "bedrock-converse":
            use = {"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}
            pair = [
                {"role": "assistant", "content": [use]},
                {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "r"}]}}]},
            ]
            return {"messages": [{"role": "user", "content": [{"text": "q"}]}, *pair * count]}
        case "gemini-generate":
            pair = [
                {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "f", "response": {"a": 1}}}]},
            ]
            return {"contents": [{"role": "user", "parts": [{"text": "q"}]}, *pair * count]}
        case "ollama-chat":
            called = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {}}}]}
            pair = [called, {"role": "tool", "tool_call_id": "c", "content": "r"}]
            return {"model": "m", "messages": [{"role": "user", "content": "q"}, *pair * count]}
        case _:
            pair = [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": "r"},
            ]
            return {"model": "m", "messages": [{"role": "user", "content": "q"}, *pair * count]}


def seconds(dialect: str, count: int) -> float:
    payload = with_one_id(dialect, count)
    start = time.process_time()
    judge(dialect, payload)
    DIALECTS[dialect].requests.decode(payload)
    return time.process_time() - start


@pytest.mark.once
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_time_grows_with_the_payload_although_one_id_comes_again_and_again(dialect: str):
    seconds(dialect, 10)  # loads schemas and rules
    most = 12 * min(seconds(dialect, 2_000) for _ in range(2))
    assert any(seconds(dialect, 8_000) < most for _ in range(3))  # other processes only ever add


def with_schema(dialect: str, schema: Any) -> Any:
    """A request with a tool of this schema."""
    match dialect:
        case "anthropic-messages":
            return {"model": "m", "max_tokens": 1, "messages": [], "tools": [{"name": "f", "input_schema": schema}]}
        case "bedrock-converse":
            spec = {"name": "f", "inputSchema": {"json": schema}}
            return {"messages": [], "toolConfig": {"tools": [{"toolSpec": spec}]}}
        case "gemini-generate":
            return {"contents": [], "tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}]}]}
        case _:
            tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
            return {"model": "m", "messages": [], "tools": [tool], "stop": [{"a": 1}]}


@pytest.mark.parametrize("what", ODD)
@table("dialect", DIALECTS)
def test_a_tools_schema_may_be_anything(dialect: str, what: str):
    examine_whole(dialect, with_schema(dialect, {"type": "object", "properties": {"a": ODD[what]}}))


def test_a_stop_that_is_no_text_is_no_error_of_the_provider():
    payload = {"model": "m", "messages": [{"role": "user", "content": "q"}], "stop": [{"a": 1}]}
    for dialect in ("openai-chat", "openrouter-chat", "deepseek-chat", "mistral-chat", "groq-chat"):
        assert ask_strictly(dialect, json.dumps(payload).encode()) in (200, 400, 422)
