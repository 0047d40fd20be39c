"""What happens before a call: the caller's faults, options, and provider-only fields."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import date
from typing import Any

import httpx2
import pytest

from art_sdk import (
    ARTError,
    BaseAdapter,
    CallOptions,
    GeminiAdapter,
    InvalidConfig,
    OpenAIAdapter,
    PromptTranslationFailed,
    PromptValidationFailed,
    Timeouts,
    parse_options,
    parse_prompt,
)
from row_tables import table

OPTIONS = {"thread_id": "t"}
USER: dict[str, Any] = {"role": "user", "content": "hello"}


def _client(handler: Callable[[httpx2.Request], httpx2.Response], *, is_async: bool) -> Any:
    mock = httpx2.MockTransport(handler)
    return httpx2.AsyncClient(transport=mock) if is_async else httpx2.Client(transport=mock)


@pytest.mark.parametrize(
    ("prompt", "options", "kind"),
    [
        (None, OPTIONS, PromptValidationFailed),
        ([{"role": "user"}], OPTIONS, PromptValidationFailed),
        ([{"role": "user", "content": "\ud800"}], OPTIONS, PromptValidationFailed),
        ([USER], None, InvalidConfig),
        ([USER], {}, InvalidConfig),
        ([USER], OPTIONS | {"temprature": 1}, InvalidConfig),
        ([USER, {"role": "tool", "content": "x", "tool_call_id": "c"}], OPTIONS, PromptTranslationFailed),
        ([], OPTIONS, PromptTranslationFailed),
        ([USER], OPTIONS | {"parallel_tool_calls": True}, PromptTranslationFailed),
    ],
)
@table("way", ["prepare", "call", "call_sync", "complete_sync"])
def test_the_caller_s_fault_is_raised_at_once_and_before_any_io(
    make: type[BaseAdapter], prompt: Any, options: Any, kind: type[ARTError], way: str
) -> None:
    sent: list[httpx2.Request] = []
    adapter = make(api_key="k", http_client=_client(sent.append, is_async=way == "call"))  # type: ignore[arg-type]
    with pytest.raises(kind):
        getattr(adapter, way)(prompt, options)
    assert not sent


FAULTY: list[tuple[list[dict[str, Any]], int, str | None, str]] = [
    ([USER, {"role": "tool", "content": "x", "tool_call_id": "c"}], 1, "c", "add the assistant message that made"),
    ([USER, {"role": "tool_request", "content": None}], 1, None, "give it a call"),
    (
        [USER, {"role": "tool_request", "content": {"id": "c", "name": "f", "arguments": {}}}],
        1,
        "c",
        "no result at the",
    ),
    (
        [USER, {"role": "tool_request", "content": {"id": "c", "name": "f", "arguments": {}}}, USER, USER],
        1,
        "c",
        "has no result before $[2]; add its tool_result",
    ),
]


@pytest.mark.parametrize(("messages", "index", "call_id", "advice"), FAULTY)
def test_a_refusal_names_adapter_message_and_call_and_says_what_to_do(
    adapter: BaseAdapter, messages: list[dict[str, Any]], index: int, call_id: str | None, advice: str
) -> None:
    with pytest.raises(PromptTranslationFailed) as caught:
        adapter.prepare(messages, OPTIONS)
    error = caught.value
    kind, provider = type(adapter).__name__, adapter.provider_name
    role = "tool_result" if messages[index]["role"] == "tool" else messages[index]["role"]
    expected = {"adapter": kind, "provider": provider, "index": index, "role": role}
    facts = {name: fact for name, fact in error.details.items() if name != "reason"}
    assert facts == expected | ({"call_id": call_id} if call_id else {})
    place = f"message with role {role!r} at $[{index}]" + (f" (call {call_id!r})" if call_id else "")
    assert error.message == f"Adapter {kind!r} cannot translate {place}: {error.details['reason']}"
    assert str(error) == f"PROMPT_TRANSLATION_FAILED: {error.message}"
    assert advice in error.message


def test_a_refusal_counts_the_other_faults(adapter: BaseAdapter) -> None:
    orphans = [{"role": "tool", "content": "x", "tool_call_id": i} for i in "abc"]
    with pytest.raises(PromptTranslationFailed, match=r"leave the result out \(and 2 more\)"):
        adapter.prepare(orphans, OPTIONS)


def test_a_refusal_says_what_it_knows(adapter: BaseAdapter) -> None:
    with pytest.raises(PromptTranslationFailed) as caught:
        adapter.refuse("no", rule="acme.rule")
    kind, provider = type(adapter).__name__, adapter.provider_name
    assert caught.value.message == f"Adapter {kind!r} cannot translate the prompt: no [acme.rule]"
    assert caught.value.details == {"adapter": kind, "provider": provider, "rule": "acme.rule", "reason": "no"}


def test_the_info_of_a_call_is_what_its_answer_needs(adapter: BaseAdapter, everything: list[Any]) -> None:
    options = {"thread_id": "t", "trace_id": "r", "session_id": "s", "call_context": "AGENT_THOUGHT", "model": "mm"}
    limits = {"whole_call": 3.0}
    prepared = adapter.prepare(everything, options | {"late_system": "hoist", "timeouts": limits})
    info = prepared.info
    assert (info.thread_id, info.trace_id, info.session_id, info.call_context) == ("t", "r", "s", "AGENT_THOUGHT")
    assert (info.model, info.calls_in_prompt, dict(info.id_map)) == ("mm", 3, {})
    assert prepared.timeouts == Timeouts(whole_call=3.0)
    assert info.elapsed_ms() >= 0


def test_the_same_options_can_be_given_again_and_others_after_them(adapter: BaseAdapter) -> None:
    cold, warm = (CallOptions(thread_id="t", temperature=heat) for heat in (0.0, 1.0))
    bodies = [adapter.prepare([USER], options).request.body for options in (cold, cold, warm, cold)]
    assert bodies[0] == bodies[1] == bodies[3] != bodies[2]


def test_a_call_without_a_trace_gets_one_of_its_own(adapter: BaseAdapter) -> None:
    first, second = (adapter.prepare([USER], OPTIONS).info for _ in range(2))
    assert first.trace_id
    assert first.trace_id != second.trace_id
    assert first.model == adapter.model


def test_provider_fields_add_and_never_replace(adapter: BaseAdapter) -> None:
    fields = {"seed": 7, "deep": {"er": [1]}}
    options = parse_options(OPTIONS | {"provider": {adapter.dialect: fields, "elsewhere": {"seed": 9}}})
    payload = adapter.translate(parse_prompt([USER]), options)
    plain = adapter.translate(parse_prompt([USER]), parse_options(OPTIONS))
    assert payload == plain | fields


@pytest.mark.parametrize(
    ("make_one", "more", "fields", "place"),
    [
        (OpenAIAdapter, {}, {"messages": []}, "['messages']"),
        (OpenAIAdapter, {"temperature": 1}, {"x": 1, "temperature": 1.0}, "['temperature']"),
        (
            OpenAIAdapter,
            {"response_schema": {"a": {}}},
            {"response_format": {"type": "x"}},
            "['response_format']['type']",
        ),
        (GeminiAdapter, {"top_p": 1}, {"generationConfig": {"topP": 0}}, "['generationConfig']['topP']"),
        (GeminiAdapter, {}, {"contents": {}}, "['contents']"),
    ],
)
def test_a_provider_field_that_would_replace_one_is_refused(
    make_one: type[BaseAdapter], more: dict[str, Any], fields: dict[str, Any], place: str
) -> None:
    adapter = make_one(api_key="k")
    with pytest.raises(PromptTranslationFailed) as caught:
        adapter.prepare([USER], OPTIONS | more | {"provider": {adapter.dialect: fields}})
    assert f"options.provider[{adapter.dialect!r}]{place} would replace" in caught.value.message


@pytest.mark.parametrize(
    ("make_one", "fields"),
    [
        (OpenAIAdapter, {"response_format": {"json_schema": {"strict": True, "schema": {"extra": {"x": 1}}}}}),
        (GeminiAdapter, {"generationConfig": {"seed": 1, "responseJsonSchema": {"extra": {"x": 1}}}}),
    ],
)
def test_provider_fields_go_into_the_payload_and_not_into_the_caller_s_schema(
    make_one: type[BaseAdapter], fields: dict[str, Any]
) -> None:
    adapter = make_one(api_key="k")
    schema: dict[str, Any] = {"type": "object", "extra": {"y": 2}}
    options = CallOptions(thread_id="t", response_schema=schema, provider={adapter.dialect: fields})
    before = copy.deepcopy(options)
    payload = adapter.translate(parse_prompt([USER]), options)
    assert '"extra": {"y": 2, "x": 1}' in json.dumps(payload)
    assert options == before


@pytest.mark.parametrize(
    ("first", "second"),
    [(None, float("nan")), ("YWJj", b"abc"), ("2031-05-17", date(2031, 5, 17))],
    ids=["NaN after null", "bytes after text", "a date after text"],
)
def test_options_that_json_would_write_alike_are_not_taken_for_those_before(first: object, second: object) -> None:
    adapter = OpenAIAdapter(api_key="k")
    adapter.prepare([USER], CallOptions(thread_id="t", provider={"openai-chat": {"seed": first}}))
    with pytest.raises(InvalidConfig):
        adapter.prepare([USER], CallOptions(thread_id="t", provider={"openai-chat": {"seed": second}}))
