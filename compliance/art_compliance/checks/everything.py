"""Calls with everything that an adapter takes: images, tools and their results, a schema; by each method, some fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from art_compliance.checks.answerers import refusing
from art_compliance.checks.kinds import TOOLS
from art_compliance.checks.trial import Trial
from art_compliance.provider import Answerer, answering_with
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.observations import Sent
from art_sdk import Capability, FunctionCall, ToolCall


class Rich(NamedTuple):
    """A prompt with what greetings do not have, its options and its answer; `needs` are the capabilities for it."""

    needs: tuple[Capability, ...]
    prompt: list[dict[str, Any]]
    options: dict[str, Any]
    answer: WrittenAnswer


class RichCall(NamedTuple):
    """A call by a method. `fails` says that the provider refuses it."""

    method: str
    prompt: list[dict[str, Any]]
    options: dict[str, Any]
    answerer: Answerer
    fails: bool = False


def make(trial: Trial, call: RichCall) -> None:
    """Makes the call."""
    trial.subject.call_by(*call[:4])


def calls_with_everything(trial: Trial) -> Iterator[RichCall]:
    """By each method a call of each kind, every other one streamed, and one that is refused."""
    kinds = rich_prompts(trial)
    for at, method in enumerate(trial.subject.call_methods):
        for number, one in enumerate(kinds):
            yield _call_of(trial, one, method, answering_with(one.answer), streamed=bool((at + number) % 2))
        refused = kinds[at % len(kinds)]
        yield _call_of(trial, refused, method, refusing(400), streamed=at % 2 == 0)._replace(fails=True)


def _call_of(trial: Trial, rich: Rich, method: str, answerer: Answerer, *, streamed: bool) -> RichCall:
    own = {**trial.options, "thread_id": trial.id_of("rich"), **rich.options}
    streams = streamed and "streaming" in trial.subject.capabilities
    return RichCall(method, rich.prompt, {**own, **({"stream": True} if streams else {})}, answerer)


def rich_prompts(trial: Trial) -> list[Rich]:
    """Those that the adapter can take: a combination that its provider has not is refused."""
    return trial.once(_able)


def _able(trial: Trial) -> list[Rich]:
    declared = trial.subject.capabilities
    able = [one for one in _KINDS if declared.issuperset(one.needs)]
    if not trial.subject.has_translate:
        return able
    options = trial.options
    return [one for one in able if isinstance(trial.observe(one.prompt, {**options, **one.options}), Sent)] or able


_IMAGE: Final = {
    "type": "image",
    "mime_type": "image/png",
    "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=",
}
_TEXT: Final = WrittenAnswer(content="It is as small as can be.")
_KINDS: Final = (
    Rich(
        ("images",),
        [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, _IMAGE, _IMAGE]}],
        {"temperature": 0.3},
        _TEXT,
    ),
    Rich(
        ("tools",),
        [
            {"role": "user", "content": "Look."},
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {"id": "call_r1", "type": "function", "function": {"name": "look", "arguments": '{"at":"\u00e9"}'}}
                ],
            },
            {"role": "tool_result", "tool_call_id": "call_r1", "name": "look", "content": "a caf\u00e9"},
        ],
        {"tools": TOOLS},
        WrittenAnswer(
            content="I look again.",
            tool_calls=(ToolCall("call_r2", FunctionCall("look", '{"at":"there"}')),),
            finish="tool_calls",
        ),
    ),
    Rich(
        ("response_schema",),
        [{"role": "user", "content": "Where is it?"}],
        {
            "max_tokens": 77,
            "response_schema": {
                "type": "object",
                "properties": {"where": {"type": "string"}},
                "required": ["where"],
                "additionalProperties": False,
            },
        },
        WrittenAnswer(content='{"where": "there"}'),
    ),
    Rich((), [{"role": "user", "content": "What is it?"}], {"model": "another-model"}, _TEXT),
)
