"""Response and stream: of several answers to one request, the first is read, and nothing of the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.checks.kinds import Kind, differing, of_both_stages
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.streamed import options_for
from art_compliance.checks.trial import Trial
from art_compliance.dialects.variations import SeveralAnswers
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Response, Send
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply
from art_sdk.json_data import is_object


def _several_answers_do_not_mix(trial: Trial, kind: Kind) -> Iterator[Problem]:
    """A caller who asks for two may get the first, or an error; a mixture (BerriAI/litellm#5236) is worth nothing."""
    several = trial.dialect.answers.several
    if several is None:
        raise NotApplicable(f"no request of {trial.dialect.name} asks for several answers")
    for other in _OTHERS:
        reply = _reply_to_both(trial, kind, several, other)
        if not isinstance(reply, Answered) or reply.error is None:
            faults = differing(trial, reply, _FIRST)
            yield from (
                fault.after("of two answers to one request, the first was not read as it is: ") for fault in faults
            )
        elif not (_FIRST.content or "").startswith(given := reply.token_text):
            text = f"the tokens before the ERROR are {show(given)}; the first answer is {show(_FIRST.content)}"
            yield Problem(f"of two answers to one request, {text}")


def _reply_to_both(trial: Trial, kind: Kind, several: SeveralAnswers, other: WrittenAnswer) -> Reply:
    """What comes of a call that asks for two answers. Raises NotApplicable where the request does not ask for them."""
    sent: list[Any] = []

    def answer(asked: Asked) -> Response:
        sent.append(asked.payload)
        if asked.wants_stream:
            events = several.events(asked.events(_FIRST), asked.events(other))
            return Response(200, content_type=asked.dialect.streams.content_type, steps=tuple(map(Send, events)))
        first, second = (json.loads(asked.dialect.answers.write(one)) for one in (_FIRST, other))
        return Response(200, json.dumps(several.whole(first, second)).encode())

    fields = {"provider": {trial.dialect.name: several.fields}}
    options = {**options_for(trial, streamed=kind == "stream"), **fields}
    reply = trial.subject.call(trial.scenario.prompt, options, answer)
    if not sent or not all(_has(one, several.fields) for one in sent):
        raise NotApplicable("the adapter does not ask for several answers, although the call says so")
    return reply


def _has(payload: Any, fields: dict[str, Any]) -> bool:
    """Whether the payload has these fields with these values."""
    if not is_object(payload):
        return False
    return all(
        _has(payload.get(name), value) if is_object(value) else payload.get(name) == value
        for name, value in fields.items()
    )


_FIRST: Final = WrittenAnswer(content="This is the first of two answers, and the one that is to be read.")
_OTHERS: Final = (
    WrittenAnswer(content="Another.", finish="length"),
    WrittenAnswer(content="This is the other one, and it goes on when the first one has ended. " * 2, finish="length"),
)
"""One that ends before the first does, and one that ends after it."""

CHOICES_CHECKS: Final = of_both_stages(
    "several-answers-do-not-mix",
    "Where a request asks for several answers, the first is read alone, or the call ends with an error.",
    _several_answers_do_not_mix,
)
