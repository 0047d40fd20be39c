"""Plan, execute, synthesize: the blueprints of the PES agent, each as text and as an object that means the same.

Both read `systemPrompt` (or `systemBlocks`, several texts in its place), `history` and `query`. Planning also reads
`availableTools`; synthesis reads `intent`, `plan`, `toolResults`, each with its output or its error, and
`toolMessages`: the query, the calls and their results as messages, if tools were called.
"""

from __future__ import annotations

from typing import Any, Final

DEFAULT_SYSTEM_PROMPT: Final = (
    "You are a helpful assistant. You plan before you act, use tools where they help, and answer from what they return."
)
"""The system prompt of threads that have none of their own."""

_SYSTEM: Final = (
    '  {{#systemBlocks}}{"role": "system", "content": "{{.}}"},{{/systemBlocks}}'
    '{{^systemBlocks}}{"role": "system", "content": "{{systemPrompt}}"},{{/systemBlocks}}\n'
)


def _as_text(*lists: str, request: str) -> str:
    """The blueprint as text: the system prompt, lists of messages, then the request to the model."""
    messages = "".join(f"  {{{{#{name}}}}}{{{{{{.}}}}}},{{{{/{name}}}}}\n" for name in lists)
    return f'[\n{_SYSTEM}{messages}  {{"role": "user", "content": "{request}"}}\n]\n'


def _as_object(*lists: str, request: str) -> list[Any]:
    """The same blueprint as an object."""
    messages = [piece for name in lists for piece in (f"{{{{#{name}}}}}", "{{{.}}}", f"{{{{/{name}}}}}")]
    return [
        "{{#systemBlocks}}",
        {"role": "system", "content": "{{.}}"},
        "{{/systemBlocks}}",
        "{{^systemBlocks}}",
        {"role": "system", "content": "{{systemPrompt}}"},
        "{{/systemBlocks}}",
        *messages,
        {"role": "user", "content": request},
    ]


_PLAN: Final = """User Query: {{query}}

Available Tools:
{{#availableTools}}
- {{name}}: {{description}}
  Input Schema: {{inputSchema}}
{{/availableTools}}
{{^availableTools}}
No tools available.
{{/availableTools}}

Find out from the query and the conversation what the user wants, and make a plan for it.
{{> pes_tool_format}}"""

_SYNTHESIZE: Final = """User Query: {{query}}

Original Intent: {{intent}}
Execution Plan: {{plan}}

Tool Execution Results:
{{#toolResults}}
- Tool: {{toolName}} (Call ID: {{callId}})
  Status: {{status}}
  {{#error}}Error: {{error}}{{/error}}{{^error}}Output: {{output}}{{/error}}
{{/toolResults}}
{{^toolResults}}
No tool was called.
{{/toolResults}}

Answer the user from the query, the plan and these results."""

_PLAN_LISTS: Final = ("history",)
_SYNTHESIZE_LISTS: Final = ("history", "toolMessages")

PES_PLAN: Final = _as_text(*_PLAN_LISTS, request=_PLAN)
PES_PLAN_OBJECT: Final = _as_object(*_PLAN_LISTS, request=_PLAN)
PES_SYNTHESIZE: Final = _as_text(*_SYNTHESIZE_LISTS, request=_SYNTHESIZE)
PES_SYNTHESIZE_OBJECT: Final = _as_object(*_SYNTHESIZE_LISTS, request=_SYNTHESIZE)
