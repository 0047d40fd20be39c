"""Assembling a prompt: ours against plain Python and other template engines, in one run.

    pip install pystache jinja2                          # peers; missing ones are left out
    python -m benchmarks.assembly                        # prints the page
    python -m benchmarks.assembly docs/blueprint-speed.md    # writes it to the file

The floor builds the same prompt with a loop and f-strings, dumps it to JSON text and loads it again: the least that
any template that renders to JSON has to do. Before the clock starts, each contender is checked to give the same
messages. Only ours validates its result.
"""
# ruff: noqa: PLC0415, T201 - peers are imported only if they are installed; the page is printed

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, cast

from art_sdk import FRAGMENTS, ArtStandardPrompt, PromptManager, dump_prompt
from art_sdk.agents.pes import PES_PLAN, PES_PLAN_OBJECT
from benchmarks.measure import compare

Context = dict[str, Any]
Assemble = Callable[[Context], object]

SIZES: Final = (50, 500, 5_000)
TOOLS: Final = 5
CHARACTERS: Final = 200

_ASK: Final = "Find out from the query and the conversation what the user wants, and make a plan for it.\n"
_TEXT: Final = "Harbour, quay, ship and tide; papers, crane, rope and rain. "  # needs no escaping


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
    """The planning prompt built by hand, to JSON text and back."""
    tools = "".join(
        f"- {tool['name']}: {tool['description']}\n  Input Schema: {_compact(tool['inputSchema'])}\n"
        for tool in context["availableTools"]
    )
    request = f"User Query: {context['query']}\n\nAvailable Tools:\n{tools}\n{_ASK}{FRAGMENTS['pes_tool_format']}"
    prompt = [{"role": "system", "content": context["systemPrompt"]}]
    prompt += [{"role": message["role"], "content": message["content"]} for message in context["history"]]
    prompt.append({"role": "user", "content": request})
    return json.loads(json.dumps(prompt))


def ours(blueprint: Any) -> Assemble:
    """What a caller does: passes the source, whose compiled form is in the cache."""
    manager = PromptManager()
    return lambda context: manager.assemble_prompt(blueprint, context)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _content(value: Any) -> str:
    return json.dumps(value if isinstance(value, str) else _compact(value))[1:-1]


def _mustache(variable: str) -> str:
    """The planning blueprint for other engines: on one line, with `@name@` as the engine's variable."""
    text = (
        '[{"role": "system", "content": "@systemPrompt@"},'
        '{{#history}}{"role": "@role@", "content": "@content@"},{{/history}}'
        '{"role": "user", "content": "User Query: @query@\\n\\nAvailable Tools:\\n'
        "{{#availableTools}}- @name@: @description@\\n  Input Schema: @schema@\\n{{/availableTools}}\\n"
    )
    request = _content(_ASK + FRAGMENTS["pes_tool_format"])
    return re.sub(r"@(\w+)@", lambda name: variable % name[1], text) + request + '"}]'


def _with_schemas(context: Context, write: Callable[[Any], str]) -> Context:
    tools = [{**tool, "schema": write(tool["inputSchema"])} for tool in context["availableTools"]]
    return {**context, "availableTools": tools}


def naive_chevron() -> Assemble:
    """Plain chevron without escaping: right only if no value has a quote or a newline."""
    import chevron

    template = _mustache("{{{%s}}}")
    return lambda context: json.loads(chevron.render(template, _with_schemas(context, _content)))


def pystache() -> Assemble:
    """pystache with JSON escaping instead of HTML escaping; the template is parsed once."""
    library: Any = import_module("pystache")
    template, renderer = library.parse(_mustache("{{%s}}")), library.Renderer(escape=_content)
    return lambda context: json.loads(renderer.render(template, _with_schemas(context, _compact)))


def jinja2() -> Assemble:
    """jinja2 with a finalizer that writes JSON; the template is compiled once."""
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


PEERS: Final[Mapping[str, Callable[[], Assemble]]] = {"chevron": naive_chevron, "pystache": pystache, "jinja2": jinja2}
_KINDS: Final = {
    "chevron": "naive, nothing escaped",
    "pystache": "JSON in place of HTML escaping",
    "jinja2": "with a JSON finalizer",
}


def contenders() -> dict[str, Assemble]:
    """Everything that can be measured here, by its name in the table."""
    found = {"ours, text blueprint": ours(PES_PLAN), "ours, object blueprint": ours(PES_PLAN_OBJECT)}
    for name, make in PEERS.items():
        try:
            found[f"{name} {version(name)}, {_KINDS[name]}"] = make()
        except ImportError:
            print(f"{name} is not installed: left out", file=sys.stderr)
    return found


def check_same(assemble: Assemble) -> None:
    """Checks that the contender makes the same messages as the floor: otherwise its time means nothing."""
    context = make_context(4)
    found: object = assemble(context)
    assert (dump_prompt(cast("ArtStandardPrompt", found)) if isinstance(found, tuple) else found) == floor(context)


def ratio(assemble: Assemble, size: int) -> float:
    """The CPU time at this many messages, divided by the floor's."""
    context = make_context(size)
    return compare(lambda: floor(context), lambda: assemble(context), rounds=9).ratio


def growth(assemble: Assemble) -> float:
    """How much longer ten times as many messages take, measured interleaved; ten is linear."""
    short, long = (make_context(size) for size in SIZES[1:])
    return compare(lambda: assemble(short), lambda: assemble(long), rounds=9).ratio


def page() -> str:
    """The page with its table."""
    sizes = " / ".join(f"{size:,}" for size in SIZES)
    rows = [f"| over the floor | {sizes} messages | growth from 500 to 5,000 |", "| --- | --- | --- |"]
    for name, assemble in contenders().items():
        check_same(assemble)
        ratios = " / ".join(f"{ratio(assemble, size):.1f}" for size in SIZES)
        rows.append(f"| {name} | {ratios} | {growth(assemble):.1f} |")
    rows.append(f"| the floor itself | 1 | {growth(floor):.1f} |")
    return _PAGE.format(python=platform.python_version(), table="\n".join(rows))


_PAGE: Final = """\
# How fast prompts are assembled

Written by `python -m benchmarks.assembly docs/blueprint-speed.md` on Python {python} and two busy cores.

The planning blueprint of the PES agent: a system prompt, a history of messages with 200 characters each, a query, five
tools. The floor builds the same messages with a loop and f-strings, dumps them to JSON text and loads them again. Every
contender runs interleaved with the floor in one process; each figure is the median over all rounds of its CPU time
divided by the floor's. Quote these ratios, and measure again on your machine. The aim is 6 at 50 messages, and a growth
of at most 12.

{table}

Ours also checks and copies the context, and validates and types the result; the others do not. They also need not copy
the history's other fields or, except jinja2, serialize the tools' schemas. Their results are right only because this
context has no value that needs escaping: `fixtures/blueprints/` shows what they make of hostile values.
"""


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
    else:
        print(page())
