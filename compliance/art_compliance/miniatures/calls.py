"""Adapters that are wrong about calls, their arguments and their results."""

from __future__ import annotations

import json
from typing import Any

from art_compliance.miniatures.base import (
    Options,
    Prompt,
    Translate,
    as_data,
    change_messages,
    change_prompt,
    miniature,
    retranslate,
)


@miniature("translation.calls-survive")
def loses_the_second_call(adapter: Any) -> None:
    """Only the first of parallel calls is sent, with its result."""
    change_prompt(adapter, _first_calls_only)


@miniature("translation.call-ids-survive", "translation.canary-results-are-linked")
def gives_two_calls_one_id(adapter: Any) -> None:
    """The second of two parallel calls gets the first one's id."""
    retranslate(adapter, _with_one_id)


@miniature("translation.arguments-survive", "translation.canary-arguments-decode-once")
def rounds_integers(adapter: Any) -> None:
    """Arguments are parsed with every number as a double."""
    change_messages(adapter, "assistant", lambda m: _with_arguments(m, _as_doubles))


@miniature("translation.arguments-survive")
def loses_the_sign_of_zeros(adapter: Any) -> None:
    """Negative zeros in arguments become positive ones."""
    change_messages(adapter, "assistant", lambda m: _with_arguments(m, _without_sign))


@miniature("translation.arguments-survive")
def loses_one_of_two_keys(adapter: Any) -> None:
    """Arguments are parsed and written again, which drops a duplicate key."""
    change_messages(adapter, "assistant", lambda m: _with_arguments(m, _parsed_and_written))


@miniature("translation.results-survive", "translation.canary-results-are-linked")
def swaps_results(adapter: Any) -> None:
    """Two results of one turn are swapped: each answers the other's call."""
    change_prompt(adapter, _swapped)


@miniature("translation.results-survive", "translation.result-order-does-not-matter")
def trusts_the_order_of_results(adapter: Any) -> None:
    """Results are matched to calls by position, whatever their ids."""
    change_prompt(adapter, linked_by_order)


@miniature("translation.result-status-survives")
def calls_failures_successes(adapter: Any) -> None:
    """A failed result is sent as a good one, and the loss is not declared."""
    adapter.losses = frozenset(adapter.losses) - {"result_status"}
    change_messages(adapter, "tool_result", lambda m: {**m, "status": "success"})


@miniature("translation.outcome-is-right")
def makes_up_missing_results(adapter: Any) -> None:
    """A call without a result gets an invented one, so that the provider accepts it."""
    change_prompt(adapter, _patched)


@miniature("translation.is-total")
def stumbles_over_nameless_results(adapter: Any) -> None:
    """A result without a name raises KeyError."""
    change_messages(adapter, "tool_result", lambda m: {**m, "name": m["name"]})


def _first_calls_only(prompt: Prompt) -> Prompt:
    lost = {call["id"] for message in prompt for call in message.get("tool_calls", ())[1:]}
    kept = [message for message in prompt if message.get("tool_call_id") not in lost]
    return [{**m, "tool_calls": m["tool_calls"][:1]} if m.get("tool_calls") else m for m in kept]


def _with_one_id(translate: Translate, prompt: Prompt, options: Options) -> Any:
    payload = translate(prompt, options)
    for message in prompt:
        ids = [call["id"] for call in message.get("tool_calls", ())]
        if len(ids) > 1:
            return json.loads(json.dumps(payload).replace(json.dumps(ids[1]), json.dumps(ids[0])))
    return payload


def _with_arguments(message: dict[str, Any], change: Any) -> dict[str, Any]:
    calls = [
        {**call, "function": {**call["function"], "arguments": change(call["function"]["arguments"])}}
        for call in message.get("tool_calls", ())
    ]
    return {**message, "tool_calls": calls} if calls else message


def _without_sign(text: str) -> str:
    return text.replace("-0.0", "0.0")


def _as_doubles(text: str) -> str:
    return _parsed_and_written(text, parse_int=_through_a_double)


def _through_a_double(digits: str) -> int:
    return int(float(digits))


def _parsed_and_written(text: str, **how: Any) -> str:
    try:
        return json.dumps(json.loads(text, **how), ensure_ascii=False)
    except ValueError:
        return text


def _pairs(prompt: Prompt) -> list[tuple[int, int]]:
    """Places of results that stand next to each other."""
    roles = [message["role"] for message in prompt]
    return [(at, at + 1) for at in range(len(roles) - 1) if roles[at] == roles[at + 1] == "tool_result"]


def _swapped(prompt: Prompt) -> Prompt:
    swapped = list(prompt)
    for one, other in _pairs(prompt)[:1]:
        swapped[one] = {**prompt[one], "content": prompt[other]["content"]}
        swapped[other] = {**prompt[other], "content": prompt[one]["content"]}
    return swapped


def linked_by_order(prompt: Prompt) -> Prompt:
    """The prompt with every result linked to the next call that waits, whatever id it carries."""
    waiting: list[str] = []
    linked: Prompt = []
    for message in prompt:
        waiting += [call["id"] for call in message.get("tool_calls", ())]
        is_answer = message["role"] == "tool_result" and bool(waiting)
        linked.append({**_nameless(message), "tool_call_id": waiting.pop(0)} if is_answer else message)
    return linked


def _nameless(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != "name"}


def _patched(prompt: Prompt) -> Prompt:
    answered = {message.get("tool_call_id") for message in prompt}
    patched: Prompt = []
    for message in prompt:
        patched.append(message)
        for call in message.get("tool_calls", ()):
            if call["id"] not in answered:
                patched.append({"role": "tool_result", "tool_call_id": call["id"], "content": "No result."})
    return patched


@miniature("agent.question-is-answered", "agent.streamed-question-is-answered")
def answers_a_trace_once(adapter: Any) -> None:
    """A second call of one trace gets the answer to the first: it is taken for the same call, sent again."""
    own, given = adapter.call, dict[str, Any]()

    async def call(prompt: Any, options: Any) -> Any:
        trace = as_data(options).get("trace_id")
        if trace not in given:
            events = [event async for event in own(prompt, options)]
            if trace is not None:
                given[trace] = events
        else:
            events = given[trace]
        for event in events:
            yield event

    adapter.call = call
