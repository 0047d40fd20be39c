"""Assembling a prompt: ours against plain Python, and beside other template engines, in one run.

    pip install pystache jinja2                          # peers; those that are missing are left out
    python -m benchmarks.assembly                        # prints the page
    python -m benchmarks.assembly docs/blueprint-speed.md    # writes it

The floor builds the same prompt with a loop and f-strings, dumps it to JSON text and loads it again: what any
template that renders to JSON has to do at least. Every way ends in the same messages, which is checked before
the clock starts. Nothing but ours checks its result.
"""
# ruff: noqa: PLC0415, T201 - peers are imported where they are installed; the page is printed

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from art_sdk import FRAGMENTS, PromptManager, dump_prompt
from art_sdk.agents.pes import PES_PLAN, PES_PLAN_OBJECT
from benchmarks.measure import compare

Context = dict[str, Any]
Way = Callable[[Context], object]

SIZES: Final = (50, 500, 5_000)
TOOLS: Final = 5
CHARACTERS: Final = 200

_ASK: Final = "Find out from the query and the conversation what the user wants, and make a plan for it.\n"
_TEXT: Final = "Harbour, quay, ship and tide; papers, crane, rope and rain. "  # nothing that naive ways stumble over


def make_context(messages: int) -> Context:
    """A history of messages of 200 characters, and five tools."""
    return {
        "systemPrompt": "You keep the books of a small harbour.",
        "query": "Which ships are due tomorrow?",
        "history": [
            {"role": ("user", "assistant")[number % 2], "content": f"{number:06d} {_TEXT * 4}"[:CHARACTERS]}
            for number in range(messages)
        ],
        "availableTools": [
            {
                "name": f"tool_{number}",
                "description": "Looks something up.",
                "inputSchema": {"type": "object", "properties": {"ship": {"type": "string"}}, "required": ["ship"]},
            }
            for number in range(TOOLS)
        ],
    }


def floor(context: Context) -> object:
    """The planning prompt by hand, to JSON text and back."""
    tools = "".join(
        f"- {tool['name']}: {tool['description']}\n  Input Schema: {_compact(tool['inputSchema'])}\n"
        for tool in context["availableTools"]
    )
    asked = f"User Query: {context['query']}\n\nAvailable Tools:\n{tools}\n{_ASK}{FRAGMENTS['pes_tool_format']}"
    prompt = [{"role": "system", "content": context["systemPrompt"]}]
    prompt += [{"role": message["role"], "content": message["content"]} for message in context["history"]]
    prompt.append({"role": "user", "content": asked})
    return json.loads(json.dumps(prompt))


def ours(blueprint: Any) -> Way:
    """What a caller does: the blueprint as it stands, its compiled form found in the cache."""
    manager = PromptManager()
    return lambda context: manager.assemble_prompt(blueprint, context)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _content(value: Any) -> str:
    return json.dumps(value if isinstance(value, str) else _compact(value))[1:-1]


def _mustache(variable: str) -> str:
    """The planning blueprint as other engines can be given it: in one line, `@name@` as this engine's variable."""
    text = (
        '[{"role": "system", "content": "@systemPrompt@"},'
        '{{#history}}{"role": "@role@", "content": "@content@"},{{/history}}'
        '{"role": "user", "content": "User Query: @query@\\n\\nAvailable Tools:\\n'
        "{{#availableTools}}- @name@: @description@\\n  Input Schema: @schema@\\n{{/availableTools}}\\n"
    )
    asked = _content(_ASK + FRAGMENTS["pes_tool_format"])
    return re.sub(r"@(\w+)@", lambda name: variable % name[1], text) + asked + '"}]'


def _with_schemas(context: Context, write: Callable[[Any], str]) -> Context:
    tools = [{**tool, "schema": write(tool["inputSchema"])} for tool in context["availableTools"]]
    return {**context, "availableTools": tools}


def naive_chevron() -> Way:
    """chevron as it comes, nothing escaped: right only where no value has a quote or a newline."""
    import chevron

    template = _mustache("{{{%s}}}")
    return lambda context: json.loads(chevron.render(template, _with_schemas(context, _content)))


def pystache() -> Way:
    """pystache, its HTML escaping replaced by JSON's; the template parsed once."""
    import pystache

    template, renderer = pystache.parse(_mustache("{{%s}}")), pystache.Renderer(escape=_content)
    return lambda context: json.loads(renderer.render(template, _with_schemas(context, _compact)))


def jinja2() -> Way:
    """jinja2 with a finalizer that writes JSON; the template compiled once."""
    import jinja2

    source = (
        _mustache("{{ %s }}")
        .replace("{{#history}}", "{% for m in history %}")
        .replace("{{/history}}", "{% endfor %}")
        .replace("{{#availableTools}}", "{% for t in availableTools %}")
        .replace("{{/availableTools}}", "{% endfor %}")
        .replace("{{ role }}", "{{ m.role }}")
        .replace("{{ content }}", "{{ m.content }}")
    )
    for name in ("name", "description"):
        source = source.replace(f"{{{{ {name} }}}}", f"{{{{ t.{name} }}}}")
    source = source.replace("{{ schema }}", "{{ t.inputSchema }}")
    # autoescaping is for HTML; the finalizer escapes for JSON
    environment = jinja2.Environment(finalize=_content, autoescape=False)  # noqa: S701
    template = environment.from_string(source)
    return lambda context: json.loads(template.render(context))


PEERS: Final[Mapping[str, Callable[[], Way]]] = {"chevron": naive_chevron, "pystache": pystache, "jinja2": jinja2}
_KINDS: Final = {
    "chevron": "naive, nothing escaped",
    "pystache": "JSON in place of HTML escaping",
    "jinja2": "with a JSON finalizer",
}


def ways() -> dict[str, Way]:
    """Every way that can be measured here, by the name that it has in the table."""
    found = {"ours, text blueprint": ours(PES_PLAN), "ours, object blueprint": ours(PES_PLAN_OBJECT)}
    for name, make in PEERS.items():
        try:
            found[f"{name} {version(name)}, {_KINDS[name]}"] = make()
        except ImportError:
            print(f"{name} is not installed: left out", file=sys.stderr)
    return found


def hold_same(way: Way) -> None:
    """Every way says the same, else its time means nothing."""
    context = make_context(4)
    found = way(context)
    assert (dump_prompt(found) if isinstance(found, tuple) else found) == floor(context)


def ratio(way: Way, size: int) -> float:
    """Over the floor, at this many messages."""
    context = make_context(size)
    return compare(lambda: floor(context), lambda: way(context), rounds=9).ratio


def growth(way: Way) -> float:
    """How much longer ten times the messages take, the two interleaved; ten is linear."""
    short, long = (make_context(size) for size in SIZES[1:])
    return compare(lambda: way(short), lambda: way(long), rounds=9).ratio


def page() -> str:
    """The page with its table."""
    sizes = " / ".join(f"{size:,}" for size in SIZES)
    rows = [f"| over the floor | {sizes} messages | growth from 500 to 5,000 |", "| --- | --- | --- |"]
    for name, way in ways().items():
        hold_same(way)
        ratios = " / ".join(f"{ratio(way, size):.1f}" for size in SIZES)
        rows.append(f"| {name} | {ratios} | {growth(way):.1f} |")
    rows.append(f"| the floor itself | 1 | {growth(floor):.1f} |")
    return _PAGE.format(python=platform.python_version(), table="\n".join(rows))


_PAGE: Final = """\
# How fast prompts are assembled

Written by `python -m benchmarks.assembly docs/blueprint-speed.md`, on Python {python} and two busy cores.

The planning blueprint of the PES agent: a system prompt, a history of messages of 200 characters, a query, five tools.
The floor builds the same messages with a loop and f-strings, dumps them to JSON text and loads them again. Each way
runs interleaved with the floor in one process; a figure is the median of the rounds' ratios of CPU time. Below are
ratios to the floor; quote them, and measure again where you are. The aim is 6 at 50 messages, and a growth of at
most 12.

{table}

Ours includes what the others leave out: the context is checked and copied, the result is validated and typed. The
others were spared the history's other fields and, but for jinja2, the tools' schemas as objects; they are right here
because no value in this context is hard on them. What they make of hostile values is held in `fixtures/blueprints/`.
"""


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
    else:
        print(page())
