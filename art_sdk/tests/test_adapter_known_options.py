"""Options that a call repeats are sent as if each call had its own, whoever changed what meanwhile."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import (
    BUILT_IN,
    ArtStandardPrompt,
    BaseAdapter,
    CallOptions,
    OpenAIAdapter,
    OpenAIResponsesAdapter,
    ToolSchema,
    parse_prompt,
)
from built_in import adapter_of

PROMPT = parse_prompt(
    [
        {"role": "user", "content": "hello"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look up", "arguments": "{}"}}],
        },
        {"role": "tool_result", "tool_call_id": "call_1", "content": "found"},
    ]
)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def _options(**more: Any) -> CallOptions:
    tools = tuple(ToolSchema(name, "d", copy.deepcopy(SCHEMA)) for name in ("look_up", "look up"))
    return CallOptions(thread_id="t", **({"tools": tools, "max_tokens": 99} | more))


def _body(adapter: BaseAdapter, options: CallOptions) -> Any:
    return json.loads(adapter.prepare(PROMPT, options).request.body)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"stream": True, "temperature": 0.5, "stop": ("x",)},
        {"tool_choice": "required"},
        {"tool_choice": "look up"},
        {"tools": (), "response_schema": SCHEMA},
        {"provider": {"openai-chat": {"tools": [1]}, "gemini-generate": {"generationConfig": {"seed": 1}}}},
    ],
    ids=lambda more: ", ".join(more) or "tools",
)
@pytest.mark.parametrize("name", BUILT_IN)
def test_repeated_options_are_sent_alike(name: str, more: dict[str, Any]) -> None:
    adapter, sent = adapter_of(name), [_outcome(adapter_of(name), _options(**more))]
    sent += [_outcome(adapter, _options(**more)) for _ in range(3)]
    assert sent == [sent[0]] * 4


def _outcome(adapter: BaseAdapter, options: CallOptions) -> object:
    try:
        return adapter.prepare(PROMPT, options).request.body
    except Exception as error:  # noqa: BLE001 - which of them, is compared
        return str(error)


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_translate_returns_is_the_callers_own(name: str) -> None:
    adapter, options = adapter_of(name), _options()
    if "tools" in str(_outcome(adapter, options)):
        before = _body(adapter, options)
        payload = adapter.translate(PROMPT, options)
        assert json.loads(json.dumps(payload)) == before
        for value in payload.values():
            if isinstance(value, list):
                value.clear()
        assert _body(adapter, options) == before


def _change_schema(options: CallOptions, adapter: BaseAdapter) -> None:
    options.tools[0].input_schema["properties"]["b"] = {"type": "string"}


def _change_model(options: CallOptions, adapter: BaseAdapter) -> None:
    adapter.model = "gpt-5"


@pytest.mark.parametrize("change", [_change_schema, _change_model])
def test_a_change_is_sent(change: Callable[[CallOptions, BaseAdapter], None]) -> None:
    adapter, options = OpenAIResponsesAdapter(api_key="k"), _options()
    before = [_body(adapter, options) for _ in range(2)]
    change(options, adapter)
    after = [_body(adapter, options) for _ in range(2)]
    fresh = OpenAIResponsesAdapter(api_key="k", model=adapter.model)
    assert before[0] == before[1] != after[0] == after[1] == _body(fresh, options)


def test_an_adapter_that_changes_the_payload_of_another_sees_data() -> None:
    class Adding(OpenAIAdapter):
        history_field = "messages"

        def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> dict[str, Any]:
            payload = super().translate(prompt, options)
            payload["tools"].append({"type": "custom"})
            return payload

    adapter, options = Adding(api_key="k"), _options()
    assert [len(_body(adapter, options)["tools"]) for _ in range(3)] == [3, 3, 3]


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_adapter_derived_from_any_other_sees_data(name: str) -> None:
    adapter = adapter_of(name)
    kind: Any = type(adapter)
    assert issubclass(kind, kind)  # which an ABC remembers

    class Reading(kind):  # type: ignore[misc]
        def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Any:
            return json.loads(json.dumps(super().translate(prompt, options)))

    adapter.__class__ = Reading
    wanted = _outcome(adapter_of(name), _options())
    assert [_outcome(adapter, _options()) for _ in range(3)] == [wanted] * 3


def test_a_method_that_replaces_an_adapters_own_sees_data() -> None:
    adapter, options = OpenAIAdapter(api_key="k"), _options()
    own, seen = adapter.translate, list[int]()

    def translate(prompt: ArtStandardPrompt, options: CallOptions) -> dict[str, Any]:
        payload = own(prompt, options)
        seen.append(len(payload["tools"].pop()))
        return payload

    before = _body(adapter, options)
    adapter.translate = translate  # type: ignore[method-assign]
    assert [len(_body(adapter, options)["tools"]) for _ in range(3)] == [1, 1, 1]
    assert len(before["tools"]) == len(seen) - 1 == 2
