from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from art_sdk import (
    CAPABILITIES,
    LOSSES,
    REPAIRS,
    ArtStandardPrompt,
    BaseAdapter,
    CallOptions,
    Capability,
    Loss,
    PromptTranslationFailed,
    Repair,
    parse_options,
    parse_prompt,
)
from art_sdk.adapters.capabilities import USES, Request, find_undeclared_use
from art_sdk.conversation import read_conversation
from short_messages import SYSTEM, USER

CALLS = {"id": "a", "name": "f", "arguments": {}}
REQUEST: dict[str, Any] = {"role": "tool_request", "content": CALLS}
SECOND: dict[str, Any] = {"role": "tool_request", "content": CALLS | {"id": "b"}}
RESULT: dict[str, Any] = {"role": "tool", "content": "r", "tool_call_id": "a"}
OTHER: dict[str, Any] = {"role": "tool", "content": "r", "tool_call_id": "b"}
IMAGE = {"type": "image", "mime_type": "image/png", "url": "https://x/y"}
TOOL = {"name": "f", "description": "", "inputSchema": {}}
THOUGHT = {"role": "assistant", "content": "x", "extensions": {"acme-chat": {}}}
OTHER_DIALECT = {"role": "assistant", "content": "x", "extensions": {"other-chat": {}}}

CASES: list[tuple[Capability, list[dict[str, Any]], dict[str, Any], bool, int | None]] = [
    ("system", [SYSTEM, USER], {}, True, 0),
    ("system", [USER], {}, False, None),
    ("late_system", [USER, SYSTEM], {}, True, 1),
    ("late_system", [SYSTEM, SYSTEM, USER], {}, False, None),
    ("late_system", [USER, SYSTEM], {"late_system": "hoist"}, False, None),
    ("tools", [USER], {"tools": [TOOL]}, True, None),
    ("tools", [USER, REQUEST, RESULT], {}, True, 1),
    ("tools", [USER, THOUGHT], {}, False, None),
    ("parallel_tools", [USER, REQUEST, SECOND, RESULT, OTHER], {}, True, 1),
    ("parallel_tools", [USER, REQUEST, RESULT, SECOND, OTHER], {}, False, None),
    ("tool_choice", [USER], {"tool_choice": "auto"}, True, None),
    ("tool_choice", [USER], {}, False, None),
    ("streaming", [USER], {"stream": True}, True, None),
    ("streaming", [USER], {}, False, None),
    ("reasoning", [USER, THOUGHT, USER], {}, True, 1),
    ("reasoning", [USER, OTHER_DIALECT, USER], {}, False, None),
    ("images", [USER, {"role": "user", "content": [{"type": "text", "text": "t"}, IMAGE]}], {}, True, 1),
    ("images", [SYSTEM, USER, {"role": "user", "content": [{"type": "text", "text": "t"}]}], {}, False, None),
    ("response_schema", [USER], {"response_schema": {}}, True, None),
    ("response_schema", [USER], {}, False, None),
    ("stop", [USER], {"stop": ["x"]}, True, None),
    ("stop", [USER], {}, False, None),
    ("prefill", [USER, OTHER_DIALECT], {}, True, 1),
    ("prefill", [USER, REQUEST, RESULT], {}, False, None),
    ("prefill", [USER, OTHER_DIALECT, USER], {}, False, None),
    ("prefill", [], {}, False, None),
    ("provider_fields", [USER], {"provider": {"acme-chat": {"seed": 1}}}, True, None),
    ("provider_fields", [USER], {"provider": {"other-chat": {"seed": 1}, "acme-chat": {}}}, False, None),
]


@pytest.mark.parametrize(("capability", "messages", "more", "is_used", "index"), CASES)
def test_the_use_of_a_capability_is_seen(
    capability: Capability,
    messages: list[dict[str, Any]],
    more: dict[str, Any],
    is_used: bool,  # noqa: FBT001
    index: int | None,
) -> None:
    options = parse_options({"thread_id": "t"} | more)
    may_hoist = options.late_system == "hoist"
    request = Request(read_conversation(parse_prompt(messages)), options, "acme-chat", may_hoist)
    use = find_undeclared_use(CAPABILITIES - {capability}, request)
    assert (use is not None) is is_used
    if use is not None:
        assert (use.capability, use.index) == (capability, index)
        assert use.what
    assert find_undeclared_use(CAPABILITIES, request) is None


def test_every_capability_can_be_seen() -> None:
    assert (
        set(USES)
        == CAPABILITIES
        == {case[0] for case in CASES if case[3]}
        == {case[0] for case in CASES if not case[3]}
    )


def test_the_lists_are_the_types() -> None:
    assert tuple(frozenset(get_args(kind)) for kind in (Capability, Loss, Repair)) == (CAPABILITIES, LOSSES, REPAIRS)


def test_every_adapter_declares_from_the_lists(make: type[BaseAdapter]) -> None:
    assert make.capabilities <= CAPABILITIES
    assert make.losses <= LOSSES
    assert make.repairs <= REPAIRS


class _Modest(BaseAdapter):
    provider_name = "modest"
    dialect = "acme-chat"
    default_model = "m"
    default_base_url = "http://acme.test"

    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> dict[str, Any]:
        return {"turns": len(self.check(prompt, options).turns)}


@pytest.mark.parametrize(("capability", "messages", "more", "index"), [(*c[:3], c[4]) for c in CASES if c[3]])
def test_what_is_not_declared_is_refused(
    capability: Capability, messages: list[dict[str, Any]], more: dict[str, Any], index: int | None
) -> None:
    class Almost(_Modest):
        capabilities = CAPABILITIES - {capability}

    options = parse_options({"thread_id": "t"} | more)
    with pytest.raises(
        PromptTranslationFailed, match=rf"'Almost' \(modest\).*does not declare '{capability}'"
    ) as caught:
        Almost(api_key="k").translate(parse_prompt(messages), options)
    assert caught.value.details.get("index") == index


def test_an_adapter_that_declares_nothing_takes_plain_turns(call: Callable[..., Any]) -> None:
    prompt = parse_prompt([USER, {"role": "assistant", "content": "x"}, USER])
    assert _Modest(api_key="k").translate(prompt, CallOptions(thread_id="t")) == {"turns": 3}
