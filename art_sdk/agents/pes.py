"""Plan, execute, synthesize: the blueprints of the PES agent, each as text and as an object of the same meaning.

Planning reads `systemPrompt`, `history`, `query` and `availableTools`; synthesis reads `systemPrompt`, `history`,
`query`, `intent`, `plan` and `toolResults`, each with its output or its error.
"""

from __future__ import annotations

from typing import Any, Final

PES_PLAN: Final = """\
[
  {"role": "system", "content": "{{systemPrompt}}"},
  {{#history}}{{.}},{{/history}}
  {"role": "user", "content": "User Query: {{query}}

Available Tools:
{{#availableTools}}
- {{name}}: {{description}}
  Input Schema: {{inputSchema}}
{{/availableTools}}
{{^availableTools}}
No tools available.
{{/availableTools}}

Find out from the query and the conversation what the user wants, and make a plan for it.
{{> pes_tool_format}}"}
]
"""

PES_PLAN_OBJECT: Final[list[Any]] = [
    {"role": "system", "content": "{{systemPrompt}}"},
    "{{#history}}",
    "{{{.}}}",
    "{{/history}}",
    {
        "role": "user",
        "content": """User Query: {{query}}

Available Tools:
{{#availableTools}}
- {{name}}: {{description}}
  Input Schema: {{inputSchema}}
{{/availableTools}}
{{^availableTools}}
No tools available.
{{/availableTools}}

Find out from the query and the conversation what the user wants, and make a plan for it.
{{> pes_tool_format}}""",
    },
]

PES_SYNTHESIZE: Final = """\
[
  {"role": "system", "content": "{{systemPrompt}}"},
  {{#history}}{{.}},{{/history}}
  {"role": "user", "content": "User Query: {{query}}

Intent: {{intent}}
Plan: {{plan}}

Tool Results:
{{#toolResults}}
- {{toolName}} (call {{callId}}, {{status}}): {{#error}}{{error}}{{/error}}{{^error}}{{output}}{{/error}}
{{/toolResults}}
{{^toolResults}}
No tool was called.
{{/toolResults}}

Answer the user from the query, the plan and these results."}
]
"""

PES_SYNTHESIZE_OBJECT: Final[list[Any]] = [
    {"role": "system", "content": "{{systemPrompt}}"},
    "{{#history}}",
    "{{{.}}}",
    "{{/history}}",
    {
        "role": "user",
        "content": """User Query: {{query}}

Intent: {{intent}}
Plan: {{plan}}

Tool Results:
{{#toolResults}}
- {{toolName}} (call {{callId}}, {{status}}): {{#error}}{{error}}{{/error}}{{^error}}{{output}}{{/error}}
{{/toolResults}}
{{^toolResults}}
No tool was called.
{{/toolResults}}

Answer the user from the query, the plan and these results.""",
    },
]
