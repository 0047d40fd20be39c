"""Live: a call to the real provider. It runs only on request, and with a key."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from art_compliance.cassettes.scrubbing import Scrubber
from art_compliance.checks.answer_laws import wrong_ids, wrong_order
from art_compliance.checks.base import check
from art_compliance.checks.replies import why_unread
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.quoting import show
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply
from art_sdk import ARTError, parse_prompt


@check(
    "live.call-is-answered",
    clause="The real provider accepts the request; its answer is read in order, into a message, with token counts.",
)
def call_is_answered(trial: Trial) -> Iterator[Problem]:
    """Findings show neither the key nor whose account it was."""
    for problem in _faults(trial):
        yield structs.replace(problem, message=scrub(trial, problem.message))


def _faults(trial: Trial) -> Iterator[Problem]:
    reply = _call_provider(trial)
    reason = why_unread(reply)
    if reason is not None or not isinstance(reply, Answered):
        yield Problem(str(reason), finding_class="refused" if _is_refused(reply) else "contract")
    else:
        yield from wrong_order(reply)
        yield from wrong_ids(trial, reply)
        yield from _miscounted(reply)
        try:
            parse_prompt([*trial.scenario.prompt, reply.message])
        except ARTError as error:
            yield Problem(f"END's message is not a standard message: {error.message}", finding_class="contract")


def _call_provider(trial: Trial) -> Reply:
    if trial.live is None:
        raise NotApplicable("this run does not call the real provider")
    trial.require("sent")
    return trial.live.call(trial.scenario.prompt, trial.options)


def scrub(trial: Trial, text: str) -> str:
    """The text without the key of the real provider, and without what identifies its account."""
    return Scrubber(() if trial.live is None else trial.live.secrets).text(text)


def _is_refused(reply: Reply) -> bool:
    """Whether the provider rejected the request itself: a key or a quota is no matter of the request."""
    return isinstance(reply, Answered) and (reply.error or {}).get("status") in (400, 404, 413, 422)


def _miscounted(reply: Answered) -> Iterator[Problem]:
    for name in ("input_tokens", "output_tokens"):
        count = reply.metadata.get(name)
        if not isinstance(count, int) or count <= 0:
            yield Problem(f"{name} is {show(count)}, but every provider counts them", finding_class="contract")
