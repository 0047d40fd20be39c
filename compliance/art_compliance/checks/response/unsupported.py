"""Response: an option that a provider refuses is dropped neither from the call nor from later ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from art_compliance.checks.answerers import refusing
from art_compliance.checks.base import check
from art_compliance.checks.kinds import TOOLS
from art_compliance.checks.trial import Trial
from art_compliance.dialects import Decoded, DecodeFailed
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Response
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_sdk import Capability


class Unsupported(NamedTuple):
    """An option that a model does not support: the provider's words, the capabilities that it needs, its value."""

    words: str
    needs: tuple[Capability, ...]
    options: Mapping[str, Any]

    def is_in(self, decoded: Decoded) -> bool:
        """Whether a request has it."""
        return all(decoded.tools if name == "tools" else name in decoded.options for name in self.options)


_OPTIONS: Final[Mapping[str, Unsupported]] = {
    "temperature": Unsupported(
        "Unsupported value: 'temperature' does not support 0.4 with this model. Only the default (1) value is "
        "supported.",
        (),
        {"temperature": 0.4},
    ),
    "top_p": Unsupported(
        "Unsupported parameter: 'top_p' is not supported with this model.",
        (),
        {"top_p": 0.4},
    ),
    "max_tokens": Unsupported(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        (),
        {"max_tokens": 77},
    ),
    "stop": Unsupported(
        "Unsupported parameter: 'stop' is not supported with this model.",
        ("stop",),
        {"stop": ["HALT"]},
    ),
    "tools": Unsupported(
        "registry.ollama.ai/library/this-model does not support tools",
        ("tools",),
        {"tools": TOOLS},
    ),
    "response_schema": Unsupported(
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        ("response_schema",),
        {
            "response_schema": {
                "type": "object",
                "properties": {"where": {"type": "string"}},
                "required": ["where"],
                "additionalProperties": False,
            }
        },
    ),
}
"""In the words in which OpenAI and Ollama refuse them: QwenLM/qwen-code#921, soberlemur/autopo#57, ollama/ollama#11131,
langchain-ai/langchain#31490."""

_ANSWER: Final = WrittenAnswer(content='{"where": "there"}')


@check(
    "response.refused-options-are-not-dropped",
    clause="An option that the provider refuses is dropped neither from the call, which fails, nor from later calls.",
    requires=("dialect", "call", "sent"),
    once=True,
)
def refused_options_are_not_dropped(trial: Trial) -> Iterator[Problem]:
    """Adapters that learn from errors what a model cannot do give an answer to another question than was asked."""
    for name, option in _OPTIONS.items():
        if trial.subject.capabilities.issuperset(option.needs):
            yield from _after_refusing(trial, name, option)


def _after_refusing(trial: Trial, name: str, option: Unsupported) -> Iterator[Problem]:
    before = _sent_with(trial, option)
    if before is None or not option.is_in(before):
        return  # it is refused, or lost, which other checks find
    reply = trial.subject.call(trial.scenario.prompt, _options(trial, option), _refusing(option))
    if isinstance(reply, Answered) and reply.error is None:
        yield Problem(f"the provider refuses {name}, and the call gives an answer to a request without it")
    after = _sent_with(trial, option)
    if after is None or _meaning(after) != _meaning(before):
        changed = "sends no request" if after is None else "sends another request"
        yield Problem(f"after a call whose {name} was refused, an equal one {changed}")


def _options(trial: Trial, option: Unsupported) -> dict[str, Any]:
    return {**trial.options, **option.options}


def _sent_with(trial: Trial, option: Unsupported) -> Decoded | None:
    """What a call with the option sends, to a provider that answers it; None if that cannot be read."""
    seen: list[Asked] = []

    def answer(asked: Asked) -> Response:
        seen.append(asked)
        return asked.answer(_ANSWER)

    trial.subject.call(trial.scenario.prompt, _options(trial, option), answer)
    return _decoded(seen[-1]) if seen else None


def _refusing(option: Unsupported) -> Answerer:
    """Refuses every request that has the option, and answers any other."""

    def answer(asked: Asked) -> Response:
        decoded = _decoded(asked)
        is_refused = decoded is None or option.is_in(decoded)
        return refusing(400, option.words)(asked) if is_refused else asked.answer(_ANSWER)

    return answer


def _decoded(asked: Asked) -> Decoded | None:
    try:
        return asked.dialect.requests.decode(asked.payload, url=asked.url)
    except DecodeFailed:
        return None


def _meaning(decoded: Decoded) -> tuple[Any, ...]:
    return decoded.prompt, decoded.tools, decoded.options
