"""What the format-free checks see in a payload of any form."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from art_compliance.scenarios import load_scenarios
from art_sdk import GeminiAdapter, OpenAIAdapter
from trials import assert_each_has, call_of, findings_of, run_check, scenario, translator

CALL, OTHER = call_of("call_1", arguments='{"at": "sea"}'), call_of("call_2", arguments="{}")
PROMPT = [
    {"role": "system", "content": "system"},
    {"role": "user", "content": "user"},
    {"role": "assistant", "content": "said", "tool_calls": [CALL, OTHER]},
    {"role": "tool_result", "tool_call_id": "call_1", "content": "one"},
    {"role": "tool_result", "tool_call_id": "call_2", "content": "two"},
]


class Texts:
    """The prompt's texts and ids, canaries and all, as the adapter is given them."""

    def __init__(self, prompt: Any) -> None:
        self.system, self.user, self.said, self.one, self.two = (message["content"] for message in prompt)
        self.calls = prompt[2]["tool_calls"]
        self.first, self.second = (call["id"] for call in self.calls)
        self.arguments = json.loads(self.calls[0]["function"]["arguments"])


def payload_of(texts: Texts) -> dict[str, Any]:
    """A request of no known form in which all of the prompt stands."""
    calls = [{"id": texts.first, "args": texts.arguments}, {"id": texts.second, "args": "{}"}]
    results = [{"of": texts.first, "text": texts.one}, {"of": texts.second, "text": texts.two}]
    turns = [{"text": f"x {texts.user} x"}, {"text": texts.said, "calls": calls}, {"results": results}]
    return {"system": texts.system, "turns": turns}


Change = Callable[[dict[str, Any], Texts], Any]
Found = list[tuple[str, str | None]]


def sends(change: Change, **declared: Any) -> Any:
    """An adapter that changes the good payload so."""

    def translate(prompt: Any, _: Any) -> Any:
        texts = Texts(prompt)
        return change(payload_of(texts), texts)

    return translator(translate, dialect=None, **declared)


def found(check: str, adapter: Any, asked: Any = None) -> Found:
    """Messages and places of what is found."""
    seen = findings_of(f"translation.canary-{check}", adapter, asked or scenario(prompt=PROMPT))
    return [(one.message, one.pointer or one.path) for one in seen]


def put(path: str, value: Callable[[Texts], Any]) -> Change:
    """The payload with another value at the path."""

    def change(payload: dict[str, Any], texts: Texts) -> Any:
        *way, last = [int(step) if step.isdigit() else step for step in path.split("/")]
        target: Any = payload
        for step in way:
            target = target[step]
        target[last] = value(texts)
        return payload

    return change


def good(payload: dict[str, Any], _: Texts) -> Any:
    return payload


def results(*rows: tuple[str, str]) -> Change:
    """The results with these ids and texts, by their names in `Texts`."""
    return put("turns/2/results", lambda texts: [{"of": getattr(texts, a), "text": getattr(texts, b)} for a, b in rows])


def turns_in_order(*numbers: int) -> Change:
    return lambda payload, _: {**payload, "turns": [payload["turns"][number] for number in numbers]}


def as_list(*names: str) -> Change:
    """The texts in this order, in a list."""
    return lambda _, texts: [getattr(texts, name) for name in names]


def as_text(*names: str) -> Change:
    """The texts in this order, in one text."""
    return lambda _, texts: [" ".join(getattr(texts, name) for name in names)]


CASES: dict[str, list[tuple[Change, Found]]] = {
    "texts-are-whole": [
        (good, []),
        (put("system", lambda _: "canary"), [("is lost", None)]),
        (put("system", lambda texts: texts.system.lstrip()), [(" changed: ", "/system")]),
        (put("again", lambda texts: texts.user), [("is in the payload 2 times", "/again")]),
        (put("again", lambda texts: [texts.user] * 2), [("is in the payload 3 times", "/again/0")]),
        (lambda good, texts: {**good, "a/b": [{"c": texts.user}]}, [("2 times", "/a~1b/0/c")]),
        (put("again", lambda texts: json.dumps({"h": [1, texts.user]})), [("2 times", "/again/h/1")]),
        (put("again", lambda texts: json.dumps([texts.user])), []),
        (put("again", lambda texts: json.dumps({"h": json.dumps({"i": texts.user})})), []),
        (put("again", lambda _: "{"), []),
    ],
    "order-is-kept": [
        (good, []),
        (lambda payload, _: dict(reversed(payload.items())), []),
        (results(("second", "two"), ("first", "one")), []),
        (turns_in_order(1, 2), []),
        (turns_in_order(1, 0, 2), [("comes before", "/turns/0/text")]),
        (as_text("user", "said", "one", "two"), []),
        (as_text("said", "user", "one", "two"), [("comes before", "/0")]),
        (as_list("user", "one", "said", "two"), [("comes before", "/1")]),
    ],
    "results-are-linked": [
        (good, []),
        (
            put("turns/2/results/0/of", lambda texts: texts.second),
            [
                ("is in the payload 1 times; expected 2", "$[2].tool_calls[0]"),
                ("is in the payload 3 times; expected 2", "$[2].tool_calls[1]"),
            ],
        ),
        (
            results(("second", "one"), ("first", "two")),
            [("is next to the id", "/turns/2/results/0/text"), ("is next to the id", "/turns/2/results/1/text")],
        ),
        (
            put(
                "turns/2/results",
                lambda texts: [
                    {"of": texts.first, "in": {"deep": {"text": texts.one}}},
                    {"of": texts.second, "in": {"deep": {"text": texts.two}}},
                ],
            ),
            [],
        ),
    ],
    "arguments-decode-once": [
        (good, []),
        (put("turns/1/calls/1/args", lambda _: ""), []),
        (put("turns/1/calls/0/args", lambda texts: " " + json.dumps(texts.arguments)), []),
        (
            put("turns/1/calls/0/args", lambda texts: json.dumps(json.dumps(texts.arguments))),
            [('"look"', "$[2].tool_calls[0]")],
        ),
        (
            put("turns/1/calls/0/args", lambda texts: {**texts.arguments, "more": 1}),
            [('"look"', "$[2].tool_calls[0]")],
        ),
    ],
}


@pytest.mark.parametrize(
    ("check", "change", "wanted"), [(check, *case) for check, cases in CASES.items() for case in cases]
)
def test_what_is_wrong_with_a_payload_is_found(check: str, change: Change, wanted: Found):
    seen = found(check, sends(change))
    assert_each_has([message for message, _ in seen], [fragment for fragment, _ in wanted])
    assert [place for _, place in seen] == [place for _, place in wanted]


def test_a_text_is_named_by_its_canary():
    ((message, _),) = found("texts-are-whole", sends(put("system", lambda _: "x")))
    (again,) = [one for one in message.split() if one.startswith("canary")]
    assert len(again.rstrip(":")) == 18


def test_blank_texts_need_not_be_sent():
    asked = scenario(prompt=[{"role": "user", "content": "  "}, {"role": "user", "content": "b"}])
    last = translator(lambda prompt, _: [prompt[-1]["content"]], dialect=None)
    assert found("texts-are-whole", last, asked) == []
    before = translator(lambda prompt, _: [one["content"] for one in reversed(prompt)], dialect=None)
    assert found("order-is-kept", before, asked) == []


@pytest.mark.parametrize(("sent", "count"), [(" \n\t ", 0), ("", 0), ({}, 0), (None, 1), ("x", 1)])
def test_blank_arguments_may_be_sent_as_they_are(sent: Any, count: int):
    call = call_of("call_1", arguments=" \n\t ")
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    asked = scenario(prompt=[{"role": "user", "content": "u"}, said])
    adapter = translator(lambda prompt, _: [prompt[0]["content"], "call_1", sent], dialect=None)
    assert len(found("arguments-decode-once", adapter, asked)) == count


def mapped(payload: dict[str, Any], _: Texts) -> Any:
    """No id stands as it was given."""
    return json.loads(json.dumps(payload).replace("call_", "id-"))


@pytest.mark.parametrize(
    ("change", "declared", "count"),
    [
        (mapped, {}, 2),
        (mapped, {"repairs": {"maps_call_ids"}}, 0),
        (mapped, {"losses": {"call_ids"}}, 0),
        (mapped, {"losses": {"message_name"}}, 2),
        (put("turns/2/results/0/of", lambda _: "x"), {"losses": {"call_ids"}}, 1),
    ],
)
def test_ids_may_all_be_mapped_or_lost_where_that_is_declared(change: Change, declared: Any, count: int):
    assert len(found("results-are-linked", sends(change, **declared))) == count


@pytest.mark.parametrize(("times", "count"), [(1, 0), (2, 1)])
def test_a_call_that_waits_for_its_result_has_its_id_once(times: int, count: int):
    asked = scenario(prompt=[*PROMPT[:2], {**PROMPT[2], "tool_calls": [CALL]}])
    adapter = translator(lambda prompt, _: [prompt[2]["tool_calls"][0]["id"]] * times, dialect=None)
    seen = found("results-are-linked", adapter, asked)
    assert_each_has([message for message, _ in seen], ["is in the payload 2 times; expected 1"] * count)


SCHEMA = {"type": "object", "properties": {"at": {}, "n": {}}}
TOOL = {"name": "look", "description": "a tool", "inputSchema": SCHEMA}


@pytest.mark.parametrize(
    ("tool", "change", "missing"),
    [
        (TOOL, lambda sent: sent, []),
        (TOOL, lambda sent: [{"look": 1}, sent], []),
        (TOOL, lambda sent: {**sent, "name": "x"}, ['"look"']),
        (TOOL, lambda sent: {**sent, "description": "canary"}, ["its description"]),
        (TOOL, lambda sent: {**sent, "parameters": {"at": {}}}, ['"n"']),
        (TOOL, lambda _: {}, ['"look"', "its description", '"at"', '"n"']),
        ({**TOOL, "description": " "}, lambda sent: {**sent, "description": "x"}, []),
        ({**TOOL, "inputSchema": {"type": "object"}}, lambda sent: {**sent, "parameters": 1}, []),
    ],
)
def test_what_is_missing_of_a_tool_is_found(tool: Any, change: Callable[[Any], Any], missing: list[str]):
    def translate(_: Any, options: Any) -> Any:
        (given,) = options["tools"]
        properties = given["inputSchema"].get("properties", {})
        return change({"name": given["name"], "description": given["description"], "parameters": properties})

    seen = found("tools-arrive", translator(translate, dialect=None), scenario(options={"tools": [tool]}))
    assert_each_has([message for message, _ in seen], missing)
    assert {place for _, place in seen} <= {"options.tools[0]"}


@pytest.mark.parametrize(
    ("options", "payload", "missing"),
    [
        ({"temperature": 0.5}, {"t": 0.5}, []),
        ({"temperature": 0.5}, {"t": 0.25}, ["temperature = 0.5"]),
        ({"stop": ["a", "b"]}, {"s": ["a", "b"]}, []),
        ({"stop": ["a", "b"]}, {"s": ["a"]}, ['stop = ["a", "b"]']),
        ({"max_tokens": 7, "top_p": 0.5}, [7], ["top_p = 0.5"]),
        ({"tool_choice": "auto"}, [], []),
    ],
)
def test_what_is_missing_of_the_options_is_found(options: Any, payload: Any, missing: list[str]):
    asked = scenario(options=options)
    seen = found("options-arrive", translator(lambda *_: payload, dialect=None), asked)
    assert_each_has([message for message, _ in seen], missing)
    lost = {f"sampling_option:{name}" for name in ("temperature", "stop", "max_tokens", "top_p")}
    assert found("options-arrive", translator(lambda *_: payload, dialect=None, losses=lost), asked) == []


def _trims(prompt: Any, _: Any) -> list[str]:
    *others, last = (message["content"] for message in prompt)
    return [*others, last.rstrip()]


PREFILLED = [{"role": "user", "content": "user"}, {"role": "assistant", "content": "said"}]
ENDING_WITH_A_BLANK = [{"role": "user", "content": "user"}, {"role": "assistant", "content": "said "}]
ASKED = [*PREFILLED, {"role": "user", "content": "user"}]


@pytest.mark.parametrize(
    ("repairs", "prompt", "is_found"),
    [
        ({"trims_prefill"}, PREFILLED, False),
        (set(), PREFILLED, False),
        (set(), ENDING_WITH_A_BLANK, True),
        ({"trims_prefill"}, ENDING_WITH_A_BLANK, False),
        ({"trims_prefill"}, ASKED, True),
    ],
)
def test_the_end_of_the_last_text_is_judged_where_the_scenario_has_it_and_no_repair_is_declared(
    repairs: set[str], prompt: Any, *, is_found: bool
):
    adapter = translator(_trims, dialect=None, repairs=frozenset(repairs))
    assert bool(found("texts-are-whole", adapter, scenario(prompt=prompt))) == is_found


class TrimsPrefill(OpenAIAdapter):
    """Wrong: cuts the whitespace at the end of a prefill, and does not say so."""

    def translate(self, prompt: Any, options: Any) -> Any:
        payload = super().translate(prompt, options)
        last: Any = payload["messages"][-1]
        if last["role"] == "assistant" and isinstance(last.get("content"), str):
            last["content"] = last["content"].rstrip()
        return payload


def test_a_trimmed_prefill_is_reported_only_where_the_scenario_ends_with_whitespace():
    prefilled = [one for one in load_scenarios() if one.prompt and one.prompt[-1]["role"] == "assistant"]
    assert len(prefilled) > 5
    seen = {one.id for one in prefilled if run_check("translation.canary-texts-are-whole", TrimsPrefill, one).findings}
    assert seen == {"trailing-blank", "trailing-newline"}


def test_a_text_behind_a_blank_one_is_looked_for():
    prompt = [{"role": "user", "content": " "}, {"role": "assistant", "content": "said"}]
    (fault,) = found("texts-are-whole", translator(lambda *_: [" "], dialect=None), scenario(prompt=prompt))
    assert "is lost" in fault[0]


class OmitsEmptyArguments(GeminiAdapter):
    """Right: `args` of a Gemini function call is optional."""

    def translate(self, prompt: Any, options: Any) -> Any:
        payload = super().translate(prompt, options)
        for part in (part for turn in payload["contents"] for part in turn["parts"] if "functionCall" in part):
            if not part["functionCall"].get("args"):
                part["functionCall"].pop("args", None)
        return payload


def test_empty_arguments_may_be_left_out_where_the_format_reads_none_so():
    said = {"role": "assistant", "content": None, "tool_calls": [call_of("call_1", arguments="{}")]}
    asked = scenario(
        prompt=[
            {"role": "user", "content": "u"},
            said,
            {"role": "tool_result", "tool_call_id": "call_1", "content": "r"},
        ]
    )
    assert found("arguments-decode-once", OmitsEmptyArguments, asked) == []
