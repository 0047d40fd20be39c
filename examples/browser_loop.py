"""An agent that acts in a browser, looks at what became of it, and acts again: over any reference adapter.

    python examples/browser_loop.py                              with a strict provider on this machine, without a key
    python examples/browser_loop.py --adapter gemini             the same, as Gemini would be asked
    python examples/browser_loop.py --real --adapter openai      with OpenAI, with the key in OPENAI_API_KEY

It orders seeds on the pages in `examples/site/`, in a real Chromium (Debian's package `chromium`). It needs
`pip install 'art-adapter-sdk[browser,compliance]' websockets`. The strict provider judges each request as the real one
would; its decisions are those of `DECISIONS`, chosen by what the prompt that it was sent says of the page.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent import add_adapter_options, open_adapter
from art_compliance import WrittenAnswer, decode
from art_compliance.provider import Asked
from art_sdk import AssistantMessage, BaseAdapter, CallOptions, UserMessage
from art_sdk.agents.browser import (
    AIPromptManager,
    ExecutionStatus,
    GeneratedPrompt,
    ResponseSchema,
    SchemaOptions,
    StepExecutionSummary,
    basic_schema,
    check_reply,
    read_reply,
)
from chromium import Browser, open_browser

SITE = Path(__file__).parent / "site"
SESSION = "seeds"
STEPS = (
    "Open the order form",
    "Order 3 packets of basil",
    "Go on to the second part of the form",
    "Send the order, to postcode 1010",
    "Say what was ordered",
)
MOST_ACTIONS = 12
MOST_REPLIES = 3
"""How often the model may answer until its answer has the form that the prompt asks for."""
COMPLAINT = "Your answer has not the form that was asked for. Answer again."


class Schemas:
    """The schema manager: a reasoning, an action and its parameters."""

    async def get_response_schema(self, options: SchemaOptions | None = None) -> ResponseSchema:
        """The form of an answer. The manager adds the decision, and the executor's commands."""
        del options
        return basic_schema()

    def validate_schema_compatibility(self, schema: ResponseSchema) -> bool:
        """Whether answers of this form can be used."""
        return schema.schema_id == basic_schema().schema_id

    def get_schema_version(self) -> str:
        """The version of the schemas."""
        return basic_schema().version


class Session:
    """The context manager: the pages that were seen, and the actions."""

    def __init__(self, page: str) -> None:
        self.pages = [page]
        self.actions: list[StepExecutionSummary] = []

    def add(self, index: int, reply: Mapping[str, Any], error: str | None, page: str) -> None:
        """Remembers an action, and the page after it."""
        self.pages.append(page)
        self.actions.append(
            StepExecutionSummary(
                step_index=index,
                step_name=STEPS[index],
                reasoning=reply["reasoning"],
                executor_method=reply["action"],
                status=ExecutionStatus.FAILED if error else ExecutionStatus.SUCCESS,
                timestamp=datetime.now(UTC),
            )
        )

    async def get_execution_context(self, session_id: str, step_index: int) -> Mapping[str, Any]:
        """The session as a whole."""
        del step_index
        return {"session_id": session_id, "total_steps": len(STEPS)}

    async def get_step_history(self, session_id: str, max_steps: int | None = None) -> Sequence[StepExecutionSummary]:
        """The actions, the oldest first."""
        del session_id, max_steps
        return self.actions

    async def get_current_page_state(self, session_id: str) -> str:
        """The page after the last action."""
        del session_id
        return self.pages[-1]

    async def get_previous_page_state(self, session_id: str, step_index: int) -> str | None:
        """The page before the last action."""
        del session_id, step_index
        return self.pages[-2] if len(self.pages) > 1 else None


async def run(adapter: BaseAdapter) -> str:
    """Takes the steps, one action at a time. Gives the answer, or says why there is none."""
    async with aclosing(adapter), open_browser() as browser:
        await browser.open((SITE / "index.html").as_uri())
        session = Session(await browser.html())
        manager = AIPromptManager(Schemas(), session, executor=browser, falls_back=False)
        prompt = await manager.generate_action_prompt(
            {"session_id": SESSION, "current_step_index": 0, "current_step_content": STEPS[0]}
        )
        done = 0
        for _ in range(MOST_ACTIONS):
            reply = await decide(adapter, prompt)
            done = done if reply.get("decision") == "RETRY" else prompt.step_index
            if reply.get("decision") == "ABORT" or reply["action"] == "finish":
                return reply["parameters"].get("answer") or f"given up: {reply['reasoning']}"
            await act(browser, session, done, reply)
            prompt = await manager.generate_reflection_prompt(following(done))
            show_changes(prompt)
    return f"given up after {MOST_ACTIONS} actions"


async def decide(adapter: BaseAdapter, prompt: GeneratedPrompt) -> dict[str, Any]:
    """The model's reply. One that has not the form that the prompt asks for goes back, with what is wrong."""
    messages = [*prompt.to_art_prompt()]
    for _ in range(MOST_REPLIES):
        reply = (await adapter.complete(messages, CallOptions(thread_id=SESSION))).message.content or "(nothing)"
        wrong = "\n".join(check_reply(reply, prompt.schema))
        if not wrong:
            return read_reply(reply)
        print(f"not an answer: {wrong}")
        messages += [AssistantMessage(reply), UserMessage(f"{COMPLAINT}\n{wrong}")]
    raise RuntimeError(f"no answer of the right form in {MOST_REPLIES} replies")


async def act(browser: Browser, session: Session, index: int, reply: Mapping[str, Any]) -> None:
    """Executes the reply's command, for the step of this index."""
    error = await browser.execute(reply["action"], reply["parameters"])
    session.add(index, reply, error, await browser.html())
    print(f"{reply.get('decision', 'BEGIN')}: {reply['action']} {json.dumps(reply['parameters'])}")
    print(f"  executor: {error or 'done'}")


def following(done: int) -> dict[str, Any]:
    """The request for a look at a step, and for the one after it."""
    index = min(done + 1, len(STEPS) - 1)
    return {
        "session_id": SESSION,
        "completed_step_index": done,
        "next_step_index": index,
        "next_step_content": STEPS[index],
    }


def show_changes(prompt: GeneratedPrompt) -> None:
    """Prints how the page now differs from the page before, as the prompt says it."""
    changes = prompt.content.context_section.page_states.dom_comparison
    assert changes is not None, "there is a page before the last action"
    print(f"  page: {changes.summary}")
    for kind, elements in (
        ("added", changes.added_elements),
        ("removed", changes.removed_elements),
        ("modified", changes.modified_elements),
    ):
        print("".join(f"    {kind}: {element}\n" for element in elements), end="")


def made_up(action: str, decision: str | None = "PROCEED", **parameters: str) -> str:
    """A reply of the form that is asked for. The first one has no decision."""
    reply = {"reasoning": f"This answer was written: {action}.", "action": action, "parameters": parameters}
    return json.dumps(reply if decision is None else reply | {"decision": decision})


DECISIONS = (
    (("## Step 5 of 5", "Order 1048"), made_up("finish", answer="Order 1048: 3 packets of basil to 1010")),
    (("## Step 5 of 5", '(value: none -> "1010")'), made_up("click", "RETRY", selector="#send")),
    (
        ("## Step 5 of 5", 'new messages: "Give your postcode"'),
        made_up("fill", "RETRY", selector="#postcode", text="1010"),
    ),
    (("## Step 4 of 5", "added: #postcode"), made_up("click", selector="#send")),
    (("## Step 4 of 5", "there is no element #go-on"), made_up("click", "RETRY", selector="#continue")),
    (("## Step 3 of 5", '(value: none -> "3")'), made_up("click", selector="#go-on")),
    (("## Step 2 of 5", COMPLAINT), made_up("fill", selector="#packets", text="3")),
    (("## Step 2 of 5", "added: #packets"), "I shall fill in the form."),
    (("## Step 1 of 5",), made_up("click", None, selector="#order")),
)
"""What the strict provider answers to a prompt with all of these texts, the first that fits."""


def answer(asked: Asked) -> WrittenAnswer:
    """The strict provider's decision: it knows no more than the request that the adapter sent."""
    prompt = decode(asked.dialect.name, asked.payload, url=asked.url).prompt
    text = "\n".join(str(message.content) for message in prompt)
    known = (reply for marks, reply in DECISIONS if all(mark in text for mark in marks))
    return WrittenAnswer(content=next(known, made_up("click", "ABORT", selector="html")))


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Order seeds in a browser.")
    add_adapter_options(parser)
    with open_adapter(parser.parse_args(), answer) as adapter:
        try:
            print(f"The answer: {asyncio.run(run(adapter))}")
        except RuntimeError as error:
            parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
