"""The laws of translation, for every adapter."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk import (
    AnthropicAdapter,
    BaseAdapter,
    CallOptions,
    GeminiAdapter,
    OpenAIAdapter,
    PromptTranslationFailed,
    parse_options,
    parse_prompt,
)

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

OPTIONS = {"thread_id": "t"}
USER: dict[str, Any] = {"role": "user", "content": "hello"}
ADAPTERS = (OpenAIAdapter(api_key="k"), GeminiAdapter(api_key="k"), AnthropicAdapter(api_key="k"))
DIALECTS = [adapter.dialect for adapter in ADAPTERS]


def _translate(adapter: BaseAdapter, data: Any, **options: Any) -> dict[str, Any]:
    return adapter.translate(parse_prompt(data), parse_options(OPTIONS | {"late_system": "hoist"} | options))


def test_translation_is_pure(adapter: BaseAdapter, everything: list[Any]) -> None:
    tool = {"name": "look", "description": "d", "inputSchema": {"type": "object"}, "outputSchema": {}}
    prompt, options = parse_prompt(everything), parse_options(OPTIONS | {"tools": [tool], "late_system": "hoist"})
    before = pickle.dumps((prompt, options))
    first = json.dumps(adapter.translate(prompt, options))
    assert json.dumps(adapter.translate(prompt, options)) == first
    assert pickle.dumps((prompt, options)) == before


def test_both_names_of_a_result_give_one_payload(adapter: BaseAdapter, everything: list[Any]) -> None:
    renamed = [m | {"role": "tool"} if m["role"] == "tool_result" else m for m in everything]
    assert renamed != everything
    assert _translate(adapter, renamed) == _translate(adapter, everything)


def test_data_and_types_give_one_request(adapter: BaseAdapter, everything: list[Any]) -> None:
    typed = adapter.prepare(parse_prompt(everything), CallOptions(thread_id="t", late_system="hoist")).request
    assert adapter.prepare(everything, OPTIONS | {"late_system": "hoist"}).request == typed


def test_a_big_integer_reaches_the_wire_exactly(adapter: BaseAdapter, everything: list[Any]) -> None:
    number = 10**4000 + 7
    everything[5]["content"]["arguments"] = {"n": number}
    body = adapter.prepare(everything, OPTIONS).request.body
    assert str(number).encode() in body


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
NAME = st.sampled_from(["f", "get_x", "", "a b", "_", "ä", "x" * 65]).filter(bool)
IDS = st.sampled_from(["a", "b", "c" * 41, "d" * 500, "\U0001f600"])
ARGUMENTS = st.sampled_from(["", "{}", '{"a":[1]}', "[]", "{", "null", '{"a":1,"a":2}', '{"a":' * 300, " "])
FREE = st.dictionaries(TEXT, st.none() | st.integers() | TEXT, max_size=2)
CALL = st.fixed_dictionaries(
    {
        "id": IDS,
        "type": st.just("function"),
        "function": st.fixed_dictionaries({"name": NAME, "arguments": ARGUMENTS}),
    }
)
PART = st.fixed_dictionaries({"type": st.just("text"), "text": TEXT}) | st.just(
    {"type": "image", "mime_type": "image/png", "url": "https://x/y"}
)
OPTIONAL_NAME = {"name": NAME}
MESSAGE = st.one_of(
    st.fixed_dictionaries({"role": st.just("system"), "content": TEXT}, optional=OPTIONAL_NAME),
    st.fixed_dictionaries({"role": st.just("user"), "content": TEXT | st.lists(PART)}, optional=OPTIONAL_NAME),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.none() | TEXT},
        optional=OPTIONAL_NAME
        | {
            "tool_calls": st.lists(CALL, max_size=3),
            "extensions": st.dictionaries(st.sampled_from([*DIALECTS, "x"]), FREE, max_size=1),
        },
    ),
    st.fixed_dictionaries(
        {"role": st.sampled_from(["tool", "tool_result"]), "content": TEXT, "tool_call_id": IDS},
        optional=OPTIONAL_NAME | {"status": st.sampled_from(["success", "error"])},
    ),
    st.fixed_dictionaries(
        {
            "role": st.just("tool_request"),
            "content": st.none() | st.fixed_dictionaries({"id": IDS, "name": NAME, "arguments": ARGUMENTS | FREE}),
        }
    ),
)
TOOLS = st.lists(
    st.fixed_dictionaries(
        {
            "name": NAME,
            "description": TEXT | st.just("x" * 1025),
            "inputSchema": FREE.map(lambda d: d | {"type": "object"}),
        },
        optional={"outputSchema": FREE},
    ),
    max_size=2,
    unique_by=lambda tool: tool["name"],
)
CALL_OPTIONS = st.fixed_dictionaries(
    {"thread_id": TEXT},
    optional={
        "tools": TOOLS,
        "tool_choice": st.sampled_from(["auto", "none", "required"]),
        "parallel_tool_calls": st.booleans(),
        "temperature": st.floats(-1, 3),
        "top_p": st.floats(-1, 2),
        "max_tokens": st.integers(1),
        "stop": st.lists(st.sampled_from("abc"), max_size=6),
        "response_schema": FREE,
        "late_system": st.sampled_from(["refuse", "hoist"]),
        "stream": st.sampled_from([False]),
        "provider": st.dictionaries(st.sampled_from(DIALECTS), FREE, max_size=1),
    },
)


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda a: a.provider_name)
@given(messages=st.lists(MESSAGE, max_size=6), options=CALL_OPTIONS)
def test_a_well_shaped_prompt_is_translated_or_refused(
    adapter: BaseAdapter, messages: list[dict[str, Any]], options: dict[str, Any]
) -> None:
    prompt, known = parse_prompt(messages), parse_options(options)
    before = copy.deepcopy((prompt, known))
    refusals: list[PromptTranslationFailed] = []
    try:
        payload = adapter.translate(prompt, known)
    except PromptTranslationFailed as refusal:
        refusals.append(refusal)
    else:
        again = adapter.translate(prompt, known)
        assert json.dumps(payload) == json.dumps(again)
        assert json.loads(adapter.request(payload, known).body) == payload
    for refusal in refusals:
        assert refusal.details["adapter"] == type(adapter).__name__
        assert 0 <= refusal.details.get("index", 0) < max(len(messages), 1)
        assert ("index" in refusal.details) is ("role" in refusal.details)
    assert (prompt, known) == before


SOUND_TURN = st.one_of(
    st.tuples(st.just("user"), TEXT.filter(str.strip)),
    st.tuples(st.just("assistant"), TEXT.map(str.strip).filter(bool)),
    st.tuples(st.just("tools"), st.integers(1, 3), st.booleans(), st.sampled_from(["", "x" * 60]), TEXT, FREE),
)


def _sound(turns: list[Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, USER]
    for at, turn in enumerate(turns):
        if turn[0] != "tools":
            messages.append({"role": turn[0], "content": turn[1]})
            continue
        _, count, is_backwards, tail, text, arguments = turn
        ids = [f"{at}.{n}{tail}" for n in range(count)]
        calls = [
            {"id": i, "type": "function", "function": {"name": "f", "arguments": json.dumps(arguments)}} for i in ids
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "content": i + text, "tool_call_id": i} for i in (ids[::-1] if is_backwards else ids)
        ]
    return messages


def _strings(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for item in value for text in _strings(item)]
        case dict():
            return [text for item in value.values() for text in _strings(item)]
        case _:
            return []


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda a: a.provider_name)
@given(turns=st.lists(SOUND_TURN, max_size=5))
def test_a_sound_conversation_is_translated_and_no_text_is_lost(adapter: BaseAdapter, turns: list[Any]) -> None:
    messages = _sound(turns)
    found = _strings(_translate(adapter, messages))
    for message in messages:
        if message["content"] is not None:
            assert message["content"] in found


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda a: a.provider_name)
@given(turns=st.lists(SOUND_TURN, max_size=5), last=SOUND_TURN)
def test_a_longer_conversation_begins_with_the_same_bytes(adapter: BaseAdapter, turns: list[Any], last: Any) -> None:
    def written(some: list[Any]) -> str:
        payload = _translate(adapter, _sound(some))
        return json.dumps(payload.get("messages", payload.get("contents")))

    assert written([*turns, last]).startswith(written(turns).rstrip("]}"))


def test_the_order_of_hashes_changes_nothing(everything: list[Any]) -> None:
    import subprocess  # noqa: PLC0415

    code = (
        "import sys, json, art_sdk; data = json.load(sys.stdin);"
        "print([make(api_key='k').prepare(data, {'thread_id': 't'}).request.body"
        " for make in (art_sdk.OpenAIAdapter, art_sdk.GeminiAdapter, art_sdk.AnthropicAdapter)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(everything),
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
