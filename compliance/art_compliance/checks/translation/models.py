"""Translation for the provider's other models: what is sent must not depend on a model's name without a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from art_compliance.checks.base import check
from art_compliance.checks.limits import SHOWN_OF_A_MODEL
from art_compliance.checks.translation.beside import besides_streams
from art_compliance.checks.translation.conservation import CAUSES
from art_compliance.checks.translation.laws import first_difference
from art_compliance.checks.translation.losses import losses_of
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import same_json
from art_compliance.findings import Problem
from art_compliance.quoting import show
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.observations import Sent
from art_sdk import Capability
from art_sdk.json_data import is_object

Call = tuple[list[dict[str, Any]], dict[str, Any]]


@check(
    "translation.every-model-gets-everything",
    clause="For each of the provider's models, a request contains everything in the call, whoever names the model.",
    requires=("dialect", "sent"),
    once=True,
    leaves_to=CAUSES,
)
def every_model_gets_everything(trial: Trial) -> Iterator[Problem]:
    """Lists of what a model can do are out of date soon; what it cannot do is refused, or declared as a loss."""
    models = trial.dialect.answers.models
    for model in (*models.names, *models.others):
        lost = [*_lost_for(trial, model)]
        yield from lost or islice(_named_by_the_adapter(trial, model), SHOWN_OF_A_MODEL)


def _lost_for(trial: Trial, model: str) -> Iterator[Problem]:
    """What is lost where the call names this model."""
    for what, (needs, (prompt, options)) in _CALLS.items():
        if trial.subject.capabilities.issuperset(needs):
            call = {"thread_id": trial.id_of("models"), "model": model, **options}
            found = losses_of(trial, prompt, call, ruled=what == _SHORT)
            fresh = (one for one in found if not trial.is_known(one.message))
            yield from (problem.after(f"{what} for {model}: ") for problem in islice(fresh, SHOWN_OF_A_MODEL))


def _named_by_the_adapter(trial: Trial, model: str) -> Iterator[Problem]:
    """What an adapter does with its own model that one with another model does not, where the call names it."""
    if not trial.subject.has_translate:
        return
    calls = [
        (prompt, {"thread_id": trial.id_of("models"), **options})
        for _, (prompt, options) in _CALLS_FOR_A_MODEL.values()
    ]
    access = {"key": trial.subject.keys.own, "base_url": trial.subject.base_url}
    try:
        made = trial.subject.translate_for(calls, **access, model=model)
    except CannotDo:
        return  # such as a factory that knows the names of its models
    named = trial.subject.translate_in_turn([(prompt, {**options, "model": model}) for prompt, options in calls])
    for what, own, other in zip(_CALLS_FOR_A_MODEL, made, named, strict=True):
        if type(own) is not type(other):
            text = f"where the call names the model, {other}; where the adapter is made with it, {own}"
            yield Problem(f"{what} for {model}: {text}", finding_class="contract")
        elif isinstance(own, Sent) and isinstance(other, Sent) and not same_json(own.payload, other.payload):
            pointer = first_difference(own.payload, other.payload)
            text = "the call that names the model is sent otherwise than by an adapter that is made with it"
            yield Problem(f"{what} for {model}: {text}", pointer=pointer, finding_class="contract")


@check(
    "translation.streams-lack-no-field",
    clause="For each of the provider's models, a streamed request has every field that it has unstreamed.",
    requires=("dialect", "sent", "streaming"),
    once=True,
    leaves_to=CAUSES,
)
def streams_lack_no_field(trial: Trial) -> Iterator[Problem]:
    """What an adapter adds of its own, such as the wish for encrypted reasoning, is forgotten in one of two places."""
    models = trial.dialect.answers.models
    for model in (*models.names, *models.others):
        whole, streamed = (
            trial.observe(_CHAT, {"thread_id": trial.id_of("models"), "model": model, **more})
            for more in ({}, {"stream": True})
        )
        if isinstance(whole, Sent) and isinstance(streamed, Sent):
            for name in sorted(_fields(whole) - _fields(streamed)):
                value = show(whole.payload[name])
                yield Problem(
                    f"for {model}, the streamed request lacks the field {name!r}, which is {value} unstreamed"
                )


def _fields(sent: Sent) -> set[str]:
    """The fields of a request that do not speak of streams."""
    return set(besides_streams(sent.payload)) if is_object(sent.payload) else set()


_CHAT: Final[list[dict[str, Any]]] = [
    {"role": "user", "content": "Where is the moon?"},
    {"role": "assistant", "content": "Above."},
    {"role": "user", "content": "And the sun?"},
]
_CALLED: Final[list[dict[str, Any]]] = [
    {"role": "user", "content": "Where is the moon?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool_result", "tool_call_id": "call_1", "name": "look", "content": "Above."},
]
_TOOLS: Final[list[dict[str, Any]]] = [
    {"name": "look", "description": "Looks.", "inputSchema": {"type": "object", "properties": {}}}
]
_SCHEMA: Final = {
    "type": "object",
    "properties": {"where": {"type": "string"}},
    "required": ["where"],
    "additionalProperties": False,
}
_SHORT: Final = "a limit of 100 tokens"
"""What each model takes, some of them in a field of its own. Not every rule of every model is known to adapters."""
_CALLS: Final[Mapping[str, tuple[tuple[Capability, ...], Call]]] = {
    "a system message": (("system",), ([{"role": "system", "content": "You answer in one word."}, *_CHAT], {})),
    "a temperature": ((), (_CHAT, {"temperature": 0.5})),
    "a top_p": ((), (_CHAT, {"top_p": 0.5})),
    _SHORT: ((), (_CHAT, {"max_tokens": 100})),
    "a limit of 20,000 tokens": ((), (_CHAT, {"max_tokens": 20_000})),
    "stop sequences": (("stop",), (_CHAT, {"stop": ["HALT"]})),
    "a result": (("tools",), (_CALLED, {"tools": _TOOLS})),
    "a choice of tools": (("tools", "tool_choice"), (_CHAT, {"tools": _TOOLS, "tool_choice": "required"})),
    "a response schema": (("response_schema",), (_CHAT, {"response_schema": _SCHEMA})),
}
"""Each alone, since a refusal of one would hide the loss of another: the capabilities that it needs, and the call."""
_IMAGE: Final = {"type": "image", "mime_type": "image/png", "data": "iVBORw0KGgo="}
_CALLS_FOR_A_MODEL: Final[Mapping[str, tuple[tuple[Capability, ...], Call]]] = {
    **_CALLS,
    "an image": (("images",), ([{"role": "user", "content": [_IMAGE]}], {})),
    "the beginning of an answer": (("prefill",), (_CHAT[:2], {})),
    "a system message behind a user's": (
        ("late_system",),
        ([_CHAT[0], {"role": "system", "content": "Be brief."}], {}),
    ),
}
"""Those, and more of what depends on the model."""
