"""Plan, execute, synthesize: the blueprints of the PES agent, each as text and as an object that means the same.

Planning reads `systemPrompt`, `history`, `query` and `availableTools`; synthesis reads `systemPrompt`, `history`,
`query`, `intent`, `plan` and `toolResults`, each with its output or its error.
"""

from __future__ import annotations

from typing import Any, Final


def _as_text(request: str) -> str:
    """The blueprint as text: the system prompt, the history, then the request to the model."""
    return f"""\
[
  {{"role": "system", "content": "{{{{systemPrompt}}}}"}},
  {{{{#history}}}}{{{{.}}}},{{{{/history}}}}
  {{"role": "user", "content": "{request}"}}
]
"""


def _as_object(request: str) -> list[Any]:
    """The same blueprint as an object."""
    return [
        {"role": "system", "content": "{{systemPrompt}}"},
        "{{#history}}",
        "{{{.}}}",
        "{{/history}}",
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

Intent: {{intent}}
Plan: {{plan}}

Tool Results:
{{#toolResults}}
- {{toolName}} (call {{callId}}, {{status}}): {{#error}}{{error}}{{/error}}{{^error}}{{output}}{{/error}}
{{/toolResults}}
{{^toolResults}}
No tool was called.
{{/toolResults}}

Answer the user from the query, the plan and these results."""

PES_PLAN: Final = _as_text(_PLAN)
PES_PLAN_OBJECT: Final = _as_object(_PLAN)
PES_SYNTHESIZE: Final = _as_text(_SYNTHESIZE)
PES_SYNTHESIZE_OBJECT: Final = _as_object(_SYNTHESIZE)
