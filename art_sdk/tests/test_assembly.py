from __future__ import annotations

import asyncio
import gc
import inspect
import json
import re
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from art_sdk import (
    FRAGMENTS,
    AssistantMessage,
    Blueprint,
    PromptAssemblyFailed,
    PromptContext,
    PromptManager,
    PromptValidationFailed,
    SystemMessage,
    ToolSchema,
    UserMessage,
    dump_prompt,
)
from art_sdk.agents.pes import PES_PLAN, PES_PLAN_OBJECT
from art_sdk.blueprints.assembly import _without_needless_commas

ONE = '[{"role": "user", "content": "{{q}}"}]'


@pytest.fixture
def manager() -> PromptManager:
    return PromptManager()


def failure(blueprint: Any, context: Any, **how: Any) -> PromptAssemblyFailed:
    with pytest.raises(PromptAssemblyFailed) as caught:
        PromptManager().assemble_prompt(blueprint, context, **how)
    return caught.value


# --- what can be given


@dataclass
class Data:
    q: str


@pytest.mark.parametrize(
    "context",
    [{"q": "x"}, PromptContext(q="x"), MappingProxyType({"q": "x"}), Data("x"), {"q": "x", "unused": [1]}],
    ids=lambda context: type(context).__name__,
)
def test_a_context_is_a_mapping_or_a_typed_value(manager: PromptManager, context: Any):
    assert manager.assemble_prompt(ONE, context) == (UserMessage("x"),)


def test_a_prompt_context_shows_its_values_by_their_blueprint_names(manager: PromptManager):
    context = PromptContext(
        query="q?",
        system_prompt="S",
        history=(UserMessage("a"), AssistantMessage("b")),
        available_tools=(ToolSchema("find", "Finds.", {"type": "object"}),),
    )
    system, first, second, last = manager.assemble_prompt(PES_PLAN, context)
    assert (system, first, second) == (SystemMessage("S"), UserMessage("a"), AssistantMessage("b"))
    assert isinstance(last, UserMessage)
    assert '- find: Finds.\n  Input Schema: {"type":"object"}\n\n' in str(last.content)


def test_a_compiled_blueprint_brings_its_own_name(manager: PromptManager):
    compiled = Blueprint.compile(ONE, name="MINE")
    assert manager.assemble_prompt(compiled, {"q": "x"}) == (UserMessage("x"),)
    assert failure(compiled, {}).details["blueprint"] == "MINE"
    assert failure(compiled, {}, name="OTHER").details["blueprint"] == "MINE"


def test_a_compiled_blueprint_takes_no_partials():
    assert "has its partials already" in failure(Blueprint.compile(ONE), {"q": "x"}, partials={}).message


@pytest.mark.parametrize(
    ("context", "told"),
    [
        (None, "$: the context is null; expected an object"),
        ([("q", "x")], "$: the context is an array; expected an object"),
        ("q", "$: the context is a string"),
        (Data, "$: the context is a type"),
        ({"q": {"x"}}, "$.q: a set is not JSON data"),
        ({"q": "x", "unused": [1, len]}, "$.unused[1]: a builtin_function_or_method is not JSON data"),
        ({"q": float("nan")}, "$.q: nan is not a number that JSON has"),
        ({1: "x"}, "$: the key 1 is not a string"),
    ],
)
def test_a_context_that_is_no_json_object_is_refused(context: Any, told: str):
    assert told in failure(ONE, context).message


@pytest.mark.parametrize("strict", ["none", "", None, [], True])
def test_a_mode_that_there_is_not_is_refused(strict: Any):
    assert "strict is one of variables, all, off" in failure(ONE, {"q": "x"}, strict=strict).message


@pytest.mark.parametrize("partials", [5, "ab", ["a"], {"a": 5}, {1: "x"}])
def test_partials_that_are_no_texts_are_refused(partials: Any):
    assert "partials" in failure(ONE, {"q": "x"}, partials=partials).message


# --- errors


def test_the_error_reads_as_the_framework_has_it():
    error = failure(PES_PLAN, {"query": "x"}, name="PES_PLAN")
    expected = "Failed to assemble prompt for 'PES_PLAN': Mustache unresolved tag '{{systemPrompt}}' (line 2)"
    assert error.message == expected
    assert error.details == {"blueprint": "PES_PLAN", "tag": "{{systemPrompt}}", "line": 2}


def test_a_result_that_is_no_prompt_names_message_line_and_every_fault():
    blueprint = '[\n{"role": "user", "content": 5},\n{"role": "user", "content": "a"},\n{"role": "{{q}}"}]'
    error = failure(blueprint, {"q": "boss"}, name="B")
    assert error.message == (
        "Failed to assemble prompt for 'B': $[0].content: Expected `str | array`, got `int` (and 1 more) (line 2)"
    )
    assert (error.details["index"], error.details["line"]) == (0, 2)
    assert [one["path"] for one in error.details["violations"]] == ["$[0].content", "$[2].role"]
    assert isinstance(error.__cause__, PromptValidationFailed)


def test_the_line_of_a_bad_message_is_that_of_the_loop_that_made_it():
    history = [{"role": "user", "content": "a\nb\n"}] * 9 + [{"role": "nobody", "content": ""}]
    assert failure("[\n\n{{#h}}\n{{.}},\n{{/h}}]", {"h": history}).details == {
        "line": 4,
        "index": 9,
        "violations": [{"path": "$[9].role", "message": ROLE}],
    }


ROLE = "Invalid value 'nobody'; a role is one of system, user, assistant, tool_request, tool_result (or tool)"
SECRET = "my password is swordfish and nobody shall ever read it in any of our log files " * 4


@pytest.mark.parametrize(
    ("blueprint", "context"),
    [
        ('[{"role": "user", "content": {{q}} {{q}}}]', {"q": SECRET}),
        ('[{"role": {{q}}, "content": "x"}]', {"q": SECRET}),
        ('[{"role": "user", "content": "x", {{q}}: "x"}]', {"q": SECRET}),
        ('[{"role": "user", {{q}}: "x", {{q}}: "x", "content": "x"}]', {"q": SECRET}),
        ('[{"role": "user", "content": [{"type": {{q}}}]}]', {"q": SECRET}),
        ('[{"role": "tool_result", "content": "x", "tool_call_id": "c", "status": {{q}}}]', {"q": SECRET}),
        ("[{{q}}]", {"q": {"role": "user", "content": "x", SECRET: "x"}}),
        ("{{q}}", {"q": SECRET}),
        ("[{{x}}]", {"q": SECRET}),
        ("[]", {"q": {SECRET: {1}}}),
        ("[]", {SECRET: {SECRET: {SECRET: {1}}}}),
    ],
)
def test_no_more_than_sixty_characters_of_data_stand_in_an_error(blueprint: str, context: Any):
    error = failure(blueprint, context)
    told = "".join(traceback.format_exception(error)) + json.dumps(error.details) + repr(error.__cause__)
    assert longest_common(SECRET, told) <= 60


def longest_common(secret: str, told: str) -> int:
    return max(n for n in range(len(secret)) if any(secret[at : at + n] in told for at in range(100)))


def test_an_error_from_unread_json_keeps_no_text():
    error = failure("[{{q}} {{q}}]", {"q": SECRET})
    assert str(error.__cause__) == "Expecting ',' delimiter"
    assert not [one for one in chain(error) if hasattr(one, "doc")]


def test_an_error_from_a_refused_prompt_keeps_no_other_error():
    error = failure('[{"role": {{q}}, "content": "x"}]', {"q": SECRET})
    assert not [one for one in chain(error) if SECRET in f"{one}{getattr(one, 'details', '')}"]


def chain(error: BaseException | None) -> list[BaseException]:
    return [] if error is None else [error, *chain(error.__cause__), *chain(error.__context__)]


def test_a_number_too_long_to_be_read_is_refused():
    assert "a number is too long" in failure('[{"role": "user", "content": ' + "1" * 5_000 + "}]", {}).message


def test_depth_in_the_text_is_no_crash():
    assert failure("[" * 100_000 + "]" * 100_000, {}).message.endswith("nested too deeply")


def test_a_deep_stack_of_the_callers_is_no_crash(manager: PromptManager):
    def sink(left: int) -> Any:
        return sink(left - 1) if left else manager.assemble_prompt(PES_PLAN, {"systemPrompt": "s", "query": "q"})

    room = sys.getrecursionlimit() - len(inspect.stack())
    for left in range(room - 60, room - 10):
        try:
            sink(left)
        except (PromptAssemblyFailed, RecursionError) as error:
            # where there is no room for our own first steps, the error is the caller's
            assert isinstance(error, PromptAssemblyFailed) or left > room - 25  # noqa: PT017


# --- commas


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("[1, 2]", [1, 2]),
        ("[1, 2, ]", [1, 2]),
        ("[, 1]", [1]),
        ("[1,, ,\n, 2]", [1, 2]),
        ("[,,]", []),
        ('{,"a": [1,],,"b": {,},}', {"a": [1], "b": {}}),
        ('[",,]", "\\",]",]', [",,]", '",]']),
        ("[[],[],,]", [[], []]),
    ],
)
def test_needless_commas_become_blanks(text: str, kept: Any):
    found = _without_needless_commas(text)
    assert json.loads(found) == kept
    assert len(found) == len(text)


@pytest.mark.parametrize(
    "text", ["[1 2]", "[1],", ",[1]", '{"a",: 1}', '{"a":, 1}', "[1\u00a0,]", '["a" "b"]', "[1;2]"]
)
def test_nothing_else_is_forgiven(text: str):
    with pytest.raises(json.JSONDecodeError):
        json.loads(_without_needless_commas(text))


@pytest.mark.parametrize("part", [",", " ", ", ", "[", ",[", '"', '\\"', '"\\', '"",', "a"])
def test_commas_are_found_in_one_pass(part: str):
    def seconds(times: int) -> float:
        start = time.process_time()
        _without_needless_commas('["' + part * times)
        _without_needless_commas("[," + part * times + "x")
        return time.process_time() - start

    assert seconds(400_000) < 2


# --- fragments, validation, the twin


def test_the_fragments_are_those_given_or_the_pes_agents(manager: PromptManager):
    assert manager.fragments == FRAGMENTS
    assert "pes_tool_format" in FRAGMENTS
    assert PromptManager({"a": "b"}).fragments == {"a": "b"}
    assert PromptManager({}).fragments == {}


def test_the_fragments_cannot_be_changed():
    given = {"a": "b"}
    manager = PromptManager(given)
    given["a"] = "c"
    with pytest.raises(TypeError):
        manager.fragments["a"] = "c"  # type: ignore[index]
    assert manager.get_fragment("a") == "b"


@pytest.mark.parametrize("fragments", [5, ["a"], {"a": 5}, {1: "x"}])
def test_fragments_that_are_no_texts_are_refused(fragments: Any):
    with pytest.raises(PromptAssemblyFailed, match="fragments"):
        PromptManager(fragments)


def test_a_fragment_is_text_with_or_without_its_tags_filled_in():
    manager = PromptManager({"hello": 'Hi "{{name}}"\n{{> bye}}', "bye": "\\{{name}}"})
    assert manager.get_fragment("hello") == 'Hi "{{name}}"\n{{> bye}}'
    assert manager.get_fragment("hello", {"name": '{{x}}"\n'}) == 'Hi "{{x}}"\n"\n\\{{x}}"\n'
    assert PromptManager({"a": "{{{x}}}"}).get_fragment("a", {"x": 5}) == "5"


@pytest.mark.parametrize(
    ("name", "context", "told"),
    [
        ("nope", None, "there is no such fragment; known: hello"),
        (["hello"], None, "there is no such fragment; known: hello"),
        ("hello", {}, "Mustache unresolved tag '{{name}}' (line 1)"),
        ("hello", {"name": {1}}, "$.name: a set is not JSON data"),
        ("hello", ["name"], "the context is an array"),
    ],
)
def test_a_fragment_that_cannot_be_filled_in_is_told(name: Any, context: Any, told: str):
    with pytest.raises(PromptAssemblyFailed) as caught:
        PromptManager({"hello": "Hi {{name}}"}).get_fragment(name, context)
    assert told in caught.value.message
    assert caught.value.details["blueprint"] == name


def test_partials_come_before_fragments():
    manager = PromptManager({"a": "fragment", "b": "kept"})
    blueprint = '[{"role": "user", "content": "{{> a}} {{> b}}"}]'
    assert manager.assemble_prompt(blueprint, {}) == (UserMessage("fragment kept"),)
    assert manager.assemble_prompt(blueprint, {}, partials={"a": "partial"}) == (UserMessage("partial kept"),)


def test_no_file_is_ever_a_partial(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "secret.mustache").write_text("swordfish")
    monkeypatch.chdir(tmp_path)
    assert "unknown partial '{{>secret}}'" in failure("[{{> secret}}]", {}).message


def test_validation_holds_calls_and_results_together(manager: PromptManager):
    lost = [{"role": "tool_result", "content": "x", "tool_call_id": "c"}]
    assert manager.validate_prompt(lost, conversation=False)
    with pytest.raises(PromptValidationFailed) as caught:
        manager.validate_prompt(lost)
    assert caught.value.details["layer"] == "conversation"
    assert manager.assemble_prompt("[{{#h}}{{.}},{{/h}}]", {"h": lost})


def test_the_async_twin_does_the_same(manager: PromptManager):
    given = {"name": "B", "partials": {"p": "!"}, "strict": "all"}
    blueprint = '[{"role": "user", "content": "{{q}}{{> p}}"}]'
    assert asyncio.run(manager.aassemble_prompt(blueprint, {"q": "x"}, **given)) == (UserMessage("x!"),)
    with pytest.raises(PromptAssemblyFailed, match="for 'B'"):
        asyncio.run(manager.aassemble_prompt(blueprint, {}, **given))


# --- laws

NASTY_PARTS = (
    *'"\\\n\r\t\0\x1f\u2028]},:x é\U0001f600\ud83d',
    *("{{", "}}", "{{q}}", "{{#history}}", "{{/history}}", "{{{.}}}", "{{> pes_tool_format}}", "{{! ", "{{=<% %>=}}"),
    *('"}],[{"', "<b>&amp;", "role", "system"),
)
NASTY = st.lists(st.sampled_from(NASTY_PARTS) | st.text(max_size=4), max_size=8).map("".join)
MESSAGES = st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system"]), "content": NASTY}))
SCHEMAS = st.dictionaries(
    NASTY, NASTY | st.integers() | st.none() | st.booleans() | st.lists(NASTY, max_size=2), max_size=3
)
TOOLS = st.lists(st.fixed_dictionaries({"name": NASTY, "description": NASTY, "inputSchema": SCHEMAS}), max_size=3)
CONTEXTS = st.fixed_dictionaries({"systemPrompt": NASTY, "query": NASTY, "history": MESSAGES, "availableTools": TOOLS})


def build(context: dict[str, Any]) -> list[dict[str, Any]]:
    """The planning prompt, as plain Python builds it."""
    tools = "".join(
        f"- {tool['name']}: {tool['description']}\n  Input Schema: {compact(tool['inputSchema'])}\n"
        for tool in context["availableTools"]
    )
    none = "No tools available.\n"
    asked = (
        f"User Query: {context['query']}\n\nAvailable Tools:\n{tools or none}\n"
        "Find out from the query and the conversation what the user wants, and make a plan for it.\n"
        + FRAGMENTS["pes_tool_format"]
    )
    prompt = [
        {"role": "system", "content": context["systemPrompt"]},
        *context["history"],
        {"role": "user", "content": asked},
    ]
    return [message | {"content": without_surrogates(message["content"])} for message in prompt]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def without_surrogates(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


@settings(max_examples=2_000, deadline=None)
@given(CONTEXTS)
def test_text_and_object_make_what_plain_python_builds(context: dict[str, Any]):
    manager = PromptManager()
    from_text = manager.assemble_prompt(PES_PLAN, context)
    assert from_text == manager.assemble_prompt(PES_PLAN_OBJECT, context)
    assert dump_prompt(from_text) == build(context)


@settings(max_examples=500, deadline=None)
@given(NASTY, NASTY)
def test_a_value_is_never_expanded(first: str, second: str):
    blueprint = '[{"role": "user", "content": "{{a}}{{b}}"}, {"role": "user", "content": {{a}}}]'
    both, alone = PromptManager().assemble_prompt(blueprint, {"a": first, "b": second})
    assert (both, alone) == (
        UserMessage(without_surrogates(first) + without_surrogates(second)),
        UserMessage(without_surrogates(first)),
    )


def test_eight_threads_get_each_their_own_prompt(manager: PromptManager):
    wrong: list[object] = []

    def work(who: int):
        for turn in range(60):
            text = f'{who} "{turn}"'
            context = {"systemPrompt": text, "query": text, "history": [{"role": "user", "content": text}] * 5}
            prompt = manager.assemble_prompt((PES_PLAN, PES_PLAN_OBJECT)[turn % 2], context)
            if [message.content for message in prompt[:-1]] != [text] * 6 or text not in str(prompt[-1].content):
                wrong.append(prompt)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("part", ['"}],[{', "\\", "\n", "{{q}}", ",]", "\ud83d", "é", "<&>"])
@pytest.mark.parametrize(
    "blueprint", [ONE, '[{"role": "user", "content": {{q}}},]', [{"role": "user", "content": "{{q}}"}]]
)
def test_ten_megabytes_of_hostile_text_take_less_than_half_a_second(manager: PromptManager, part: str, blueprint: Any):
    value = part * (10_000_000 // len(part.encode("utf-8", "surrogatepass")))
    times: list[float] = []
    for _ in range(3):
        gc.collect()
        start = time.process_time()
        (message,) = manager.assemble_prompt(blueprint, {"q": value})
        times.append(time.process_time() - start)
        assert len(str(message.content)) == len(value)
    assert min(times) < 0.5  # noise only ever adds


def test_chevron_is_left_as_it_was():
    code = (
        "import chevron, chevron.renderer as r, chevron.tokenizer as t\n"
        "before = {**vars(r), **{'t_' + k: v for k, v in vars(t).items()}}\n"
        "from art_sdk import PromptManager\n"
        "PromptManager().assemble_prompt('[{{#a}}{{.}},{{/a}}]', {'a': [{'role': 'user', 'content': 'x'}]})\n"
        "after = {**vars(r), **{'t_' + k: v for k, v in vars(t).items()}}\n"
        "print([k for k in before if before[k] is not after[k] and 'LINE' not in k], r.g_token_cache)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == "[] {}"


@pytest.mark.parametrize("page", ["README.md", "docs/blueprints.md"])
def test_the_example_of_the_page_works(page: str):
    text = (Path(__file__).resolve().parents[2] / page).read_text(encoding="utf-8")
    (example,) = [code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "assemble_prompt" in code]
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - our own page
    system, user = names["prompt"]
    assert system == SystemMessage("Be kind.")
    assert user.content.startswith('What is "art"?')
