"""The strict provider refuses what the provider would, in its words and form, and answers what is asked for."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from art_compliance.dialects import DIALECTS
from art_compliance.findings import HarnessError
from art_compliance.judging import judge
from art_compliance.provider import WRITTEN_TEXT, LoopbackProvider, Response, StrictProvider
from art_compliance.provider.composing import ANSWERS
from art_compliance.provider.faults import find_fault
from art_compliance.provider.signatures import is_ours, sign
from art_compliance.scenarios import load_scenarios
from art_compliance.subject.factories import find_factory
from art_sdk import BUILT_IN, ARTError, parse_options, parse_prompt

PATHS = {
    "openai-chat": "/v1/chat/completions",
    "anthropic-messages": "/v1/messages",
    "gemini-generate": "/v1beta/models/gemini-2.5-flash:generateContent",
}
KEYS = {
    "openai-chat": {"authorization": "Bearer any"},
    "anthropic-messages": {"x-api-key": "any", "anthropic-version": "2023-06-01"},
    "gemini-generate": {"x-goog-api-key": "any"},
}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
HELLO: dict[str, dict[str, Any]] = {
    "openai-chat": {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]},
    "anthropic-messages": {"model": "claude-x", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}]},
    "gemini-generate": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
}
TOOLS: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "tools": [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in ("look", "see")]
    },
    "anthropic-messages": {"tools": [{"name": name, "input_schema": SCHEMA} for name in ("look", "see")]},
    "gemini-generate": {
        "tools": [
            {
                "functionDeclarations": [
                    {"name": n, "description": n, "parametersJsonSchema": SCHEMA} for n in ("look", "see")
                ]
            }
        ]
    },
}


@pytest.fixture(scope="module")
def provider() -> Iterator[StrictProvider]:
    with StrictProvider() as opened:
        yield opened


def post(provider: StrictProvider, dialect: str, payload: Any, **settings: Any) -> httpx2.Response:
    headers = settings.pop("headers", KEYS[dialect])
    content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return httpx2.post(
        provider.url + settings.pop("path", PATHS[dialect]), content=content, headers=headers, **settings
    )


def words(dialect: str, response: httpx2.Response) -> str:
    """The provider's words, out of an error of its own form."""
    body = response.json()
    form = json.loads(DIALECTS[dialect].answers.write_error(response.status_code, body["error"]["message"]))
    assert body == form
    return body["error"]["message"]


def told(dialect: str, response: httpx2.Response) -> Any:
    """The text and the calls of an answer."""
    text, calls, finish = TOLD[dialect](response.json())
    return text or None, [(name, arguments) for name, arguments in calls], finish


def told_openai(body: Any) -> Any:
    message = body["choices"][0]["message"]
    called = [call["function"] for call in message.get("tool_calls", ())]
    calls = [(call["name"], json.loads(call["arguments"])) for call in called]
    return message["content"], calls, body["choices"][0]["finish_reason"]


def told_anthropic(body: Any) -> Any:
    texts = [block["text"] for block in body["content"] if block["type"] == "text"]
    calls = [(block["name"], block["input"]) for block in body["content"] if block["type"] == "tool_use"]
    return "".join(texts), calls, body["stop_reason"]


def told_gemini(body: Any) -> Any:
    parts = body["candidates"][0]["content"]["parts"]
    called = [part["functionCall"] for part in parts if "functionCall" in part]
    texts = [part["text"] for part in parts if "text" in part and not part.get("thought")]
    return "".join(texts), [(call["name"], call["args"]) for call in called], body["candidates"][0]["finishReason"]


TOLD: Any = {"openai-chat": told_openai, "anthropic-messages": told_anthropic, "gemini-generate": told_gemini}
FINISH = {
    "openai-chat": ("stop", "length", "tool_calls"),
    "anthropic-messages": ("end_turn", "max_tokens", "tool_use"),
    "gemini-generate": ("STOP", "MAX_TOKENS", "STOP"),
}
each = pytest.mark.parametrize("dialect", PATHS)


# What is refused.


@each
def test_a_good_request_is_answered_and_the_same_one_the_same_way(provider: StrictProvider, dialect: str):
    first, second = (post(provider, dialect, HELLO[dialect] | TOOLS[dialect]) for _ in range(2))
    assert (first.status_code, first.content) == (200, second.content)
    assert post(provider, dialect, HELLO[dialect] | TOOLS[dialect] | {"x": 1}).status_code == 400


RESULT = {"type": "tool_result", "tool_use_id": "x", "content": "y"}
BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "openai-chat": ({"messages": []}, "Invalid 'messages': empty array.", "/messages"),
    "anthropic-messages": (
        {"messages": [{"role": "user", "content": [RESULT]}]},
        "unexpected `tool_use_id` found in `tool_result` blocks",
        "/messages/0/content/0",
    ),
    "gemini-generate": (
        {"contents": [{"role": "assistant", "parts": [{"text": "hi"}]}]},
        "Please use a valid role: user, model.",
        "/contents/0/role",
    ),
}


@each
def test_a_bad_request_is_refused_in_the_providers_words_with_the_place(provider: StrictProvider, dialect: str):
    change, said, place = BAD[dialect]
    response = post(provider, dialect, HELLO[dialect] | change)
    seen = provider.seen()[-1]
    assert response.status_code == 400
    assert said in words(dialect, response)
    assert place in words(dialect, response)
    assert seen.is_refused
    assert list(seen.findings) == judge(dialect, HELLO[dialect] | change, url=PATHS[dialect])


REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    ("openai-chat", {"headers": {}}, 401, "You didn't provide an API key"),
    ("openai-chat", {"headers": {"authorization": "Basic abc"}}, 401, "You didn't provide an API key"),
    ("openai-chat", {"headers": {"authorization": "Bearer two words"}}, 401, "Incorrect API key provided"),
    ("anthropic-messages", {"headers": {"anthropic-version": "x"}}, 401, "x-api-key header is required"),
    ("anthropic-messages", {"headers": {"x-api-key": "", "anthropic-version": "x"}}, 401, "invalid x-api-key"),
    ("anthropic-messages", {"headers": {"x-api-key": "any"}}, 400, "anthropic-version"),
    ("gemini-generate", {"headers": {}}, 403, "unregistered callers"),
    ("gemini-generate", {"headers": {"x-goog-api-key": "a b"}}, 400, "API key not valid"),
    ("gemini-generate", {"headers": {}, "path": f"{PATHS['gemini-generate']}?key=any"}, 200, ""),
    ("anthropic-messages", {"headers": {"authorization": "Bearer any", "anthropic-version": "x"}}, 200, ""),
    *((name, {"payload": b"{"}, 400, "JSON") for name in PATHS),
    *((name, {"payload": b"\xff"}, 400, "JSON") for name in PATHS),
    *((name, {"payload": b" " * (33 << 20)}, 413, "bytes; the limit is") for name in PATHS),
]


@pytest.mark.parametrize(("dialect", "settings", "status", "said"), REFUSED)
def test_what_is_wrong_before_the_body_is_refused_with_its_status(
    provider: StrictProvider, dialect: str, settings: dict[str, Any], status: int, said: str
):
    response = post(provider, dialect, **({"payload": HELLO[dialect]} | settings))
    assert response.status_code == status
    assert provider.seen()[-1].is_refused is (status != 200)
    if said:
        assert said in words(dialect, response)
        assert provider.seen()[-1].findings[0].message


def test_paths_and_methods_that_nobody_has_are_told(provider: StrictProvider):
    assert httpx2.post(provider.url + "/v1/poems").status_code == 404
    assert "unknown path POST /v1/poems; known paths:" in provider.seen()[-1].findings[0].message
    got = httpx2.get(provider.url + PATHS["openai-chat"], headers=KEYS["openai-chat"])
    assert (got.status_code, got.headers["allow"]) == (405, "POST")


def test_a_provider_of_one_dialect_knows_no_other_path():
    with StrictProvider("anthropic-messages") as one:
        response = httpx2.post(one.url + PATHS["openai-chat"], json=HELLO["openai-chat"])
        assert (response.status_code, response.json()["error"]["type"]) == (404, "not_found_error")
        assert one.base_url == one.url + "/v1"


@pytest.mark.parametrize("make", [lambda: StrictProvider("poems"), lambda: StrictProvider(answer="poem")])
def test_unknown_names_are_told_with_the_known_ones(make: Any):
    with pytest.raises(HarnessError, match="known: "):
        make()


def test_a_provider_of_all_dialects_has_no_one_base_url(provider: StrictProvider):
    with pytest.raises(HarnessError, match=r"use `url` and the dialect's `service\.base_path`"):
        _ = provider.base_url


# What is answered.


@each
def test_offered_tools_are_called_at_once_and_their_results_answered_by_a_text(provider: StrictProvider, dialect: str):
    response = post(provider, dialect, HELLO[dialect] | TOOLS[dialect])
    text, calls, finish = told(dialect, response)
    assert (text, finish) == (None, FINISH[dialect][2])
    assert calls == [("look", {"city": "written"}), ("see", {"city": "written"})]
    again = post(provider, dialect, with_results(dialect, response.json()))
    assert again.status_code == 200, again.text
    assert told(dialect, again) == (WRITTEN_TEXT, [], FINISH[dialect][0])


def with_results(dialect: str, body: Any) -> Any:
    payload = json.loads(json.dumps(HELLO[dialect] | TOOLS[dialect]))
    match dialect:
        case "openai-chat":
            message = {
                name: value for name, value in body["choices"][0]["message"].items() if value and name != "annotations"
            }
            results = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in message["tool_calls"]]
            payload["messages"] += [message, *results]
        case "anthropic-messages":
            results = [
                {"type": "tool_result", "tool_use_id": block["id"], "content": "ok"}
                for block in body["content"]
                if block["type"] == "tool_use"
            ]
            payload["messages"] += [
                {"role": "assistant", "content": body["content"]},
                {"role": "user", "content": results},
            ]
        case _:
            content = body["candidates"][0]["content"]
            results = [
                {"functionResponse": {"id": call["id"], "name": call["name"], "response": {"output": "ok"}}}
                for call in (part["functionCall"] for part in content["parts"] if "functionCall" in part)
            ]
            payload["contents"] += [content, {"role": "user", "parts": results}]
    return payload


ONLY_SEE = {"mode": "ANY", "allowedFunctionNames": ["see"]}
CHOICES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("openai-chat", {"tool_choice": "none"}, []),
    ("openai-chat", {"tool_choice": "required", "parallel_tool_calls": False}, ["look"]),
    ("openai-chat", {"tool_choice": {"type": "function", "function": {"name": "see"}}}, ["see"]),
    ("anthropic-messages", {"tool_choice": {"type": "none"}}, []),
    ("anthropic-messages", {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, ["look"]),
    ("anthropic-messages", {"tool_choice": {"type": "tool", "name": "see"}}, ["see"]),
    ("gemini-generate", {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}, []),
    (
        "gemini-generate",
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["see"]}}},
        ["see"],
    ),
]


@pytest.mark.parametrize(("dialect", "choice", "names"), CHOICES)
def test_a_choice_of_tools_is_honoured(
    provider: StrictProvider, dialect: str, choice: dict[str, Any], names: list[str]
):
    text, calls, _ = told(dialect, post(provider, dialect, HELLO[dialect] | TOOLS[dialect] | choice))
    assert [name for name, _ in calls] == names
    assert (text is None) is bool(names)


LIMITS: list[tuple[str, dict[str, Any]]] = [
    ("openai-chat", {"max_completion_tokens": 3}),
    ("anthropic-messages", {"max_tokens": 3}),
    ("gemini-generate", {"generationConfig": {"maxOutputTokens": 3}}),
]


@pytest.mark.parametrize(("dialect", "limit"), LIMITS)
def test_few_tokens_cut_the_answer_by_length(provider: StrictProvider, dialect: str, limit: dict[str, Any]):
    for tools in ({}, TOOLS[dialect]):
        response = post(provider, dialect, HELLO[dialect] | limit | tools)
        assert told(dialect, response) == (WRITTEN_TEXT[:12], [], FINISH[dialect][1])


STOPS: list[tuple[str, dict[str, Any]]] = [
    ("openai-chat", {"stop": ["not", ","]}),
    ("anthropic-messages", {"stop_sequences": ["not", ","]}),
    ("gemini-generate", {"generationConfig": {"stopSequences": ["not", ","]}}),
]


@pytest.mark.parametrize(("dialect", "stop"), STOPS)
def test_a_stop_sequence_ends_the_answer_before_it(provider: StrictProvider, dialect: str, stop: dict[str, Any]):
    text, _, finish = told(dialect, post(provider, dialect, HELLO[dialect] | stop))
    assert (text, finish) == (WRITTEN_TEXT.partition(",")[0], FINISH[dialect][0])


FORMATS: list[tuple[str, dict[str, Any]]] = [
    (
        "openai-chat",
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}},
    ),
    ("gemini-generate", {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}}),
]


@pytest.mark.parametrize(("dialect", "wanted"), FORMATS)
def test_an_answer_of_a_schema_is_json_of_it(provider: StrictProvider, dialect: str, wanted: dict[str, Any]):
    text, _, _ = told(dialect, post(provider, dialect, HELLO[dialect] | wanted))
    assert json.loads(text) == {"city": "written"}


THINKING: list[tuple[str, dict[str, Any], str]] = [
    ("anthropic-messages", {"max_tokens": 2000, "thinking": {"type": "enabled", "budget_tokens": 1024}}, "signature"),
    ("gemini-generate", {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}, "thoughtSignature"),
]


@pytest.mark.parametrize(("dialect", "wanted", "name"), THINKING)
def test_reasoning_that_is_asked_for_comes_signed_and_must_come_back_unchanged(
    provider: StrictProvider, dialect: str, wanted: dict[str, Any], name: str
):
    response = post(provider, dialect, HELLO[dialect] | TOOLS[dialect] | wanted)
    assert "This thought was written" in response.text
    payload = with_results(dialect, response.json()) | wanted
    assert post(provider, dialect, payload).status_code == 200
    signature = response.text.partition(f'"{name}": "')[2].partition('"')[0]
    assert is_ours(signature)
    changed = json.loads(json.dumps(payload).replace(signature, signature[:-2] + "AA"))
    refused = post(provider, dialect, changed)
    assert refused.status_code == 400
    assert "signature" in words(dialect, refused)
    assert provider.seen()[-1].findings[-1].check == "provider.signature-comes-back-unchanged"


def test_a_thought_that_is_changed_no_longer_fits_its_signature(provider: StrictProvider):
    _, wanted, _ = THINKING[0]
    response = post(provider, "anthropic-messages", HELLO["anthropic-messages"] | TOOLS["anthropic-messages"] | wanted)
    payload = with_results("anthropic-messages", response.json()) | wanted
    payload["messages"][1]["content"][0]["thinking"] += "!"
    refused = post(provider, "anthropic-messages", payload)
    assert "messages.1.content.0: Invalid `signature` in `thinking` block" in words("anthropic-messages", refused)


@pytest.mark.parametrize("signature", ["", "AAAA", "no base64!", sign("a")[:-4], "\u2713"])
def test_a_signature_of_others_is_not_ours(signature: str):
    assert not is_ours(signature)


def test_gemini_takes_a_signature_in_either_alphabet_and_the_one_that_says_to_skip(provider: StrictProvider):
    own = next(sign(str(number)) for number in range(99) if "/" in sign(str(number)))
    for signature in (own, own.replace("/", "_").replace("+", "-"), "skip_thought_signature_validator"):
        turn = {"role": "model", "parts": [{"text": "hm", "thoughtSignature": signature}]}
        payload = {"contents": [*HELLO["gemini-generate"]["contents"], turn, *HELLO["gemini-generate"]["contents"]]}
        assert post(provider, "gemini-generate", payload).status_code == 200


@each
@pytest.mark.parametrize("answer", ANSWERS)
def test_every_named_answer_is_written_streamed_and_not(dialect: str, answer: str):
    with StrictProvider(dialect, answer=answer) as one:
        assert post(one, dialect, HELLO[dialect]).status_code == 200
        streamed = (
            {"path": PATHS[dialect].replace(":generate", ":streamGenerate") + "?alt=sse"} if "gemini" in dialect else {}
        )
        body = HELLO[dialect] if streamed else HELLO[dialect] | {"stream": True}
        response = post(one, dialect, body, **streamed)
        assert response.headers["content-type"] == "text/event-stream"
        assert [exchange.said is not None for exchange in one.seen()] == [True, True]


def test_gemini_streams_an_array_where_events_were_not_asked_for(provider: StrictProvider):
    path = PATHS["gemini-generate"].replace(":generate", ":streamGenerate")
    response = post(provider, "gemini-generate", HELLO["gemini-generate"], path=path)
    assert response.headers["content-type"] == "application/json"
    texts = [chunk["candidates"][0]["content"]["parts"][0]["text"] for chunk in response.json()]
    assert "".join(texts) == WRITTEN_TEXT
    assert len(texts) > 3


RELATIVES = [name for name in DIALECTS if name not in PATHS]


@pytest.mark.parametrize("dialect", RELATIVES)
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_relative_of_openais_is_served_under_its_name(dialect: str, answer: str):
    with StrictProvider(dialect, answer=answer) as one:
        for more in ({}, {"stream": True}, TOOLS["openai-chat"]):
            payload = HELLO["openai-chat"] | more
            response = httpx2.post(f"{one.base_url}/chat/completions", json=payload, headers=KEYS["openai-chat"])
            assert (response.status_code, one.seen()[-1].dialect) == (200, dialect), response.text
        refused = httpx2.post(f"{one.base_url}/chat/completions", json=HELLO["openai-chat"])
        assert refused.status_code == 401
        assert refused.content == DIALECTS[dialect].answers.write_error(
            401, one.seen()[-1].findings[0].provider_text or ""
        )


def test_a_fault_is_done_where_it_fits_and_told():
    with StrictProvider("openai-chat", fault=find_fault("missing-end")) as one:
        whole = post(one, "openai-chat", HELLO["openai-chat"])
        cut = post(one, "openai-chat", HELLO["openai-chat"] | {"stream": True})
        assert whole.json()["choices"]
        assert b"[DONE]" not in cut.content
        assert [exchange.fault for exchange in one.seen()] == [None, "missing-end"]


# No false alarm: what the reference adapters send is answered.


def requests_of(name: str, url: str) -> Iterator[Any]:
    """What the adapter sends for every scenario that it does not refuse; signatures there are from elsewhere."""
    adapter = find_factory(name)(api_key="any", base_url=url, model=None)
    for scenario in load_scenarios():
        if "reasoning" in scenario.needs or scenario.group == "reasoning":
            continue
        with suppress(ARTError):
            prompt, options = parse_prompt(scenario.prompt), parse_options(scenario.call_options())
            yield adapter.request(adapter.translate(prompt, options), options)


@pytest.mark.parametrize("name", BUILT_IN)
def test_whatever_the_reference_adapters_send_is_answered(name: str):
    dialect = find_factory(name).dialect
    with StrictProvider(dialect) as one, httpx2.Client() as client:
        for request in requests_of(name, one.base_url):
            client.request(request.method, request.url, content=request.body, headers=dict(request.headers))
        refused = [exchange for exchange in one.seen() if exchange.response.status != 200]
        assert len(one.seen()) > 60
        assert [(exchange.response.body, exchange.findings) for exchange in refused] == []


# The server itself.


def test_a_function_that_raises_is_told_to_who_asked_and_ends_nobody():
    with LoopbackProvider() as server, httpx2.Client() as client:
        with server.answering(lambda _: Response(200, 1 // 0)):
            told = client.post(server.url + PATHS["openai-chat"], json={})
        assert (told.status_code, "ZeroDivisionError" in told.text) == (500, True)
        assert client.post(server.url + PATHS["openai-chat"], json={}).status_code == 200


def test_many_requests_at_once_are_each_answered_for_themselves():
    async def ask(client: httpx2.AsyncClient, number: int) -> Any:
        tool = {"type": "function", "function": {"name": f"tool{number}", "parameters": SCHEMA}}
        payload = HELLO["openai-chat"] | {"tools": [tool], "stream": number % 2 == 0}
        return (await client.post("/v1/chat/completions", json=payload)).text

    async def ask_all(url: str) -> list[str]:
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(base_url=url, headers=KEYS["openai-chat"], limits=limits, timeout=30) as client:
            return await asyncio.gather(*(ask(client, number) for number in range(200)))

    with StrictProvider("openai-chat") as one:
        told = asyncio.run(ask_all(one.url))
        assert len(one.seen()) == 200
    assert [re.findall(r"tool\d+", text) for text in told] == [[f"tool{number}"] for number in range(200)]
