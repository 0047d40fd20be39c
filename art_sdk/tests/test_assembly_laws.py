"""What holds for every context: any value survives, in threads too, and in time."""

from __future__ import annotations

import gc
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from art_sdk import FRAGMENTS, PromptManager, SystemMessage, UserMessage, dump_prompt
from art_sdk.agents.pes import PES_PLAN, PES_PLAN_OBJECT

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

ONE = '[{"role": "user", "content": "{{q}}"}]'


@pytest.fixture
def manager() -> PromptManager:
    return PromptManager()


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
    request = (
        f"User Query: {context['query']}\n\nAvailable Tools:\n{tools or none}\n"
        "Find out from the query and the conversation what the user wants, and make a plan for it.\n"
        + FRAGMENTS["pes_tool_format"]
    )
    prompt = [
        {"role": "system", "content": context["systemPrompt"]},
        *context["history"],
        {"role": "user", "content": request},
    ]
    return [message | {"content": without_surrogates(message["content"])} for message in prompt]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def without_surrogates(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


@settings(max_examples=200, deadline=None)
@given(CONTEXTS)
def test_text_and_object_make_what_plain_python_builds(context: dict[str, Any]):
    manager = PromptManager()
    from_text = manager.assemble_prompt(PES_PLAN, context)
    assert from_text == manager.assemble_prompt(PES_PLAN_OBJECT, context)
    assert dump_prompt(from_text) == build(context)


@settings(max_examples=200, deadline=None)
@given(NASTY, NASTY)
def test_a_value_is_never_expanded(first: str, second: str):
    blueprint = '[{"role": "user", "content": "{{a}}{{b}}"}, {"role": "user", "content": {{a}}}]'
    both, alone = PromptManager().assemble_prompt(blueprint, {"a": first, "b": second})
    assert (both, alone) == (
        UserMessage(without_surrogates(first) + without_surrogates(second)),
        UserMessage(without_surrogates(first)),
    )


def test_threads_do_not_mix_up_prompts(manager: PromptManager):
    wrong: list[object] = []

    def work(who: int):
        for turn in range(60):
            text = f'{who} "{turn}"'
            context = {"systemPrompt": text, "query": text, "history": [{"role": "user", "content": text}] * 5}
            prompt = manager.assemble_prompt((PES_PLAN, PES_PLAN_OBJECT)[turn % 2], context)
            if [message.content for message in prompt[:-1]] != [text] * 6 or text not in str(prompt[-1].content):
                wrong.append(prompt)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert wrong == []


@pytest.mark.once
@pytest.mark.parametrize("part", ['"}],[{', "\\", "\n", "{{q}}", ",]", "\ud83d", "é", "<&>"])
@pytest.mark.parametrize(
    "blueprint", [ONE, '[{"role": "user", "content": {{q}}},]', [{"role": "user", "content": "{{q}}"}]]
)
def test_ten_megabytes_of_hostile_text_take_linear_time(manager: PromptManager, part: str, blueprint: Any):
    value = part * (10_000_000 // len(part.encode("utf-8", "surrogatepass")))
    for _ in range(3):  # noise only ever adds, so one try in time is enough
        gc.collect()
        start = time.process_time()
        (message,) = manager.assemble_prompt(blueprint, {"q": value})
        took = time.process_time() - start
        assert len(str(message.content)) == len(value)
        if took < 2.5:  # it takes a quarter of a second, and quadratic work would take hours
            return
    pytest.fail(f"it took {took:.2f} s")


@pytest.mark.parametrize("page", ["README.md", "docs/blueprints.md"])
def test_the_example_of_a_page_works(page: str):
    text = (Path(__file__).resolve().parents[2] / page).read_text(encoding="utf-8")
    (example,) = [code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "assemble_prompt" in code]
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - our own page
    system, user = names["prompt"]
    assert system == SystemMessage("Be kind.")
    assert user.content.startswith('What is "art"?')
