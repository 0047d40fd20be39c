from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
import sys
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk import (
    AnthropicAdapter,
    ARTError,
    ArtStandardPrompt,
    AssistantMessage,
    BaseAdapter,
    CallOptions,
    EndEvent,
    ErrorEvent,
    GeminiAdapter,
    InvalidConfig,
    LLMProviderError,
    OpenAIAdapter,
    PromptTranslationFailed,
    PromptValidationFailed,
    StreamEvent,
    Timeouts,
    TokenEvent,
    parse_options,
    parse_prompt,
)

OPTIONS = {"thread_id": "t"}
USER: dict[str, Any] = {"role": "user", "content": "hello"}
ADAPTERS = (OpenAIAdapter(api_key="k"), GeminiAdapter(api_key="k"), AnthropicAdapter(api_key="k"))
DIALECTS = [adapter.dialect for adapter in ADAPTERS]
BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


def _client(handler: Callable[[httpx2.Request], httpx2.Response], *, is_async: bool) -> Any:
    mock = httpx2.MockTransport(handler)
    return httpx2.AsyncClient(transport=mock) if is_async else httpx2.Client(transport=mock)


def _events(adapter: BaseAdapter, prompt: Any, options: Any, *, is_async: bool) -> list[StreamEvent]:
    if not is_async:
        return list(adapter.call_sync(prompt, options))

    async def run() -> list[StreamEvent]:
        events = [event async for event in adapter.call(prompt, options)]
        await adapter.aclose()
        return events

    return asyncio.run(run())


def _complete(adapter: BaseAdapter, prompt: Any, options: Any, *, is_async: bool) -> Any:
    return asyncio.run(adapter.complete(prompt, options)) if is_async else adapter.complete_sync(prompt, options)


# Settings.


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"api_key": ""}, "the API key must be a non-empty string"),
        ({"api_key": None}, "the API key must be a non-empty string"),
        ({"api_key": 5}, "the API key must be a non-empty string"),
        ({"api_key": b"k"}, "the API key must be a non-empty string"),
        ({"api_key": "s3cret key"}, "the API key has white space"),
        ({"api_key": "s3cret\n"}, "the API key has white space"),
        ({"api_key": "s3crät"}, "characters outside ASCII"),
        ({"api_key": "s3cret\ud800"}, "characters outside ASCII"),
        ({"base_url": "acme.test"}, "base_url must begin with http:// or https://, is 'acme.test'"),
        ({"base_url": "file:///etc"}, "base_url must begin with"),
        ({"base_url": 5}, "base_url must begin with"),
        ({"base_url": "http://"}, "base_url must be a URL with a valid host"),
        ({"base_url": "https:///v1"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://[bad"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://acme.test:99999"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://ac me.test"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://acme.test\n"}, "base_url must be a URL with a valid host"),
        ({"base_url": "http://\ud800"}, "base_url must be a URL with a valid host"),
        ({"model": "\ud800"}, "the model's name must be valid Unicode text"),
        ({"model": 5}, "the model's name must be valid Unicode text"),
        ({"headers": {"x": "s3crät"}}, "the header 'x' must have"),
        ({"headers": {"x": "s3cret\r\ny: z"}}, "the header 'x' must have"),
        ({"headers": {"x": 5}}, "the header 'x' must have"),
        ({"headers": {5: "x"}}, "the header 5 must have"),
        ({"timeouts": Timeouts(connect=-1)}, "bad timeouts: $.connect: Expected `float` > 0"),
        ({"timeouts": Timeouts(whole_call=float("nan"))}, "bad timeouts: $.whole_call"),
        ({"timeouts": Timeouts(whole_call=1e30)}, "bad timeouts: $.whole_call: Expected `float` <="),
        ({"timeouts": 5}, "bad timeouts: $: Expected `object`"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused(make: type[BaseAdapter], settings: Any, said: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        make(**{"api_key": "k"} | settings)
    assert caught.value.message.startswith(f"{make.provider_name}: ")
    assert said in caught.value.message
    assert (
        "s3cr" not in f"{caught.value!r} {caught.value.details} {caught.value.__cause__!r} {caught.value.__context__!r}"
    )


def test_an_adapter_is_made_with_its_defaults(make: type[BaseAdapter]) -> None:
    adapter = make(api_key="k3y", base_url=None, model=None)
    assert (adapter.model, adapter.base_url) == (make.default_model, make.default_base_url)
    assert repr(adapter) == f"{make.__name__}(model={adapter.model!r}, base_url={adapter.base_url!r})"
    assert "k3y" not in repr(adapter) + str(adapter)


def test_settings_take_the_place_of_defaults(make: type[BaseAdapter]) -> None:
    adapter = make(api_key="k", base_url="http://acme.test/v9///", model="m", headers={"x-own": "a", "accept": "b"})
    request = adapter.prepare([USER], OPTIONS).request
    assert request.url.startswith("http://acme.test/v9/")
    assert (request.method, request.headers["x-own"], request.headers["accept"]) == ("POST", "a", "b")
    assert request.headers["content-type"] == "application/json"


def test_the_key_goes_into_a_header_and_nowhere_else(make: type[BaseAdapter]) -> None:
    prepared = make(api_key="k3y").prepare([USER], OPTIONS)
    assert [value for value in prepared.request.headers.values() if "k3y" in value]
    assert "k3y" not in prepared.request.url + prepared.request.body.decode() + repr(prepared)


# Preparing: the caller's faults.


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
@pytest.mark.parametrize("way", ["prepare", "call", "call_sync", "complete_sync"])
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
    expected = {"adapter": adapter.provider_name, "index": index} | ({"call_id": call_id} if call_id else {})
    assert error.details == expected
    assert f"adapter {adapter.provider_name!r} cannot translate message $[{index}]" in error.message
    assert advice in error.message


def test_a_refusal_counts_the_other_faults(adapter: BaseAdapter) -> None:
    orphans = [{"role": "tool", "content": "x", "tool_call_id": i} for i in "abc"]
    with pytest.raises(PromptTranslationFailed, match=r"leave the result out \(and 2 more\)"):
        adapter.prepare(orphans, OPTIONS)


def test_a_refusal_says_what_it_knows(adapter: BaseAdapter) -> None:
    with pytest.raises(PromptTranslationFailed) as caught:
        adapter.refuse("no", rule="acme.rule")
    assert caught.value.message == f"adapter {adapter.provider_name!r} cannot translate the prompt: no [acme.rule]"
    assert caught.value.details == {"adapter": adapter.provider_name, "rule": "acme.rule"}


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


# Provider-only fields.


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


# Calling.


@BOTH
def test_a_good_answer_comes_as_events(make: type[BaseAdapter], good_body: dict[str, bytes], is_async: bool) -> None:  # noqa: FBT001
    body = good_body[make.provider_name]
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, content=body)

    adapter = make(api_key="k", http_client=_client(answer, is_async=is_async))
    options = OPTIONS | {"trace_id": "r", "session_id": "s"}
    events = _events(adapter, [USER], options, is_async=is_async)
    assert [type(event).__name__ for event in events] == ["TokenEvent", "MetadataEvent", "EndEvent"]
    assert {(event.thread_id, event.trace_id, event.session_id) for event in events} == {("t", "r", "s")}
    assert isinstance(events[0], TokenEvent)
    assert events[0].text == "hi"
    [request] = seen
    assert json.loads(request.content) == adapter.translate(parse_prompt([USER]), parse_options(OPTIONS))


@BOTH
def test_a_complete_answer_is_its_message(make: type[BaseAdapter], good_body: dict[str, bytes], is_async: bool) -> None:  # noqa: FBT001
    body = good_body[make.provider_name]
    client = _client(lambda request: httpx2.Response(200, content=body), is_async=is_async)
    answer = _complete(make(api_key="k", http_client=client), [USER], OPTIONS, is_async=is_async)
    assert (answer.message, answer.finish) == (AssistantMessage("hi"), "stop")
    assert answer.metadata.total_generation_time_ms > 0


def _refuse(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("no", request=request)


@BOTH
@pytest.mark.parametrize(
    ("handler", "status"),
    [(_refuse, None), (lambda r: httpx2.Response(500), 500), (lambda r: httpx2.Response(200, text="<p>"), 200)],
)
def test_the_provider_s_fault_is_an_event_of_call_and_raised_by_complete(
    make: type[BaseAdapter],
    handler: Any,
    status: int | None,
    is_async: bool,  # noqa: FBT001
) -> None:
    adapter = make(api_key="k3y-of-mine", http_client=_client(handler, is_async=is_async))
    error, end = _events(adapter, [USER], OPTIONS, is_async=is_async)
    assert isinstance(error, ErrorEvent)
    assert isinstance(error.error, LLMProviderError)
    assert error.error.status == status
    assert isinstance(end, EndEvent)
    assert (end.message, end.finish) == (None, "error")
    with pytest.raises(LLMProviderError) as caught:
        _complete(adapter, [USER], OPTIONS, is_async=is_async)
    assert "k3y" not in repr((caught.value, vars(caught.value), caught.value.__cause__))


@BOTH
def test_leaving_the_events_early_leaves_no_open_answer(
    make: type[BaseAdapter],
    good_body: dict[str, bytes],
    is_async: bool,  # noqa: FBT001
) -> None:
    answers: list[httpx2.Response] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        answers.append(httpx2.Response(200, content=good_body[make.provider_name]))
        return answers[-1]

    adapter = make(api_key="k", http_client=_client(answer, is_async=is_async))

    async def leave_async() -> StreamEvent:
        events = adapter.call([USER], OPTIONS)
        first = await anext(events)
        await events.aclose()
        return first

    def leave() -> StreamEvent:
        events = adapter.call_sync([USER], OPTIONS)
        first = next(events)
        events.close()
        return first

    assert isinstance(asyncio.run(leave_async()) if is_async else leave(), TokenEvent)
    assert [one.is_closed for one in answers] == [True]


def test_events_that_nobody_asks_for_send_nothing(make: type[BaseAdapter]) -> None:
    sent: list[httpx2.Request] = []
    adapter = make(api_key="k", http_client=_client(sent.append, is_async=False))  # type: ignore[arg-type]
    adapter.call_sync([USER], OPTIONS).close()
    adapter.close()
    assert not sent


def test_no_log_record_of_a_call_holds_the_key(
    make: type[BaseAdapter], good_body: dict[str, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client = _client(lambda r: httpx2.Response(200, content=good_body[make.provider_name]), is_async=False)
    make(api_key="k3y-of-mine", http_client=client).complete_sync([USER], OPTIONS)
    assert caplog.records
    assert "k3y" not in caplog.text + repr([vars(record) for record in caplog.records])


def test_an_adapter_needs_translate_and_nothing_else_to_translate() -> None:
    class Bare(BaseAdapter):
        provider_name = "bare"
        dialect = "bare"
        default_model = "m"
        default_base_url = "http://acme.test"

        def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> dict[str, Any]:
            return {"n": len(self.check(prompt, options).turns)}

    adapter = Bare(api_key="k3y")
    prompt = parse_prompt([USER])
    assert adapter.translate(prompt, CallOptions(thread_id="t")) == {"n": 1}
    assert adapter.map_call_ids(prompt) == {}
    assert adapter.auth_headers() == {"authorization": "Bearer k3y"}
    with pytest.raises(TypeError, match="abstract"):
        BaseAdapter(api_key="k")  # type: ignore[abstract]


# The laws of translation, for every adapter.


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
        assert refusal.details["adapter"] == adapter.provider_name
        assert 0 <= refusal.details.get("index", 0) < max(len(messages), 1)
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


def test_of_many_names_that_cannot_be_sent_the_first_is_refused(
    adapter: BaseAdapter, call: Any, result: Any, refusal: Callable[..., PromptTranslationFailed]
) -> None:
    calls = [m for n in range(9) for m in (call(f"c{n}", name=f"{n} {n}"), result(f"c{n}"))]
    assert refusal(adapter, [USER, *calls]).details["index"] == 1


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
