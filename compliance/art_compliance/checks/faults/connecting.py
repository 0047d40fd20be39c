"""Faults: where nobody listens, a call ends with an error."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from art_compliance.checks.base import check
from art_compliance.checks.replies import error_of, wrong_failure
from art_compliance.checks.streamed import options_for, whole_and_streamed
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem


@check(
    "faults.no-connection-is-an-error",
    clause="Where no connection can be made, a call ends with ERROR and END, and trying again is said to help.",
    finding_class="contract",
    requires=("dialect", "call", "own_settings"),
    once=True,
)
def no_connection_is_an_error(trial: Trial) -> Iterator[Problem]:
    """Servers restart, and clients have an exception of its own for it, which is easily forgotten."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # taken, so that nobody else listens there, and nobody does
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        for streamed in whole_and_streamed(can_stream="streaming" in trial.subject.capabilities):
            options = options_for(trial, streamed=streamed)
            reply = trial.subject.call_at(address, trial.scenario.prompt, options)
            faults = [*wrong_failure(trial, reply)]
            if error_of(reply).get("is_retryable") is False:
                faults.append(Problem("is_retryable is false; trying again may help"))
            kind = "streamed" if streamed else "unstreamed"
            yield from (fault.after(f"where nobody listens ({kind}): ") for fault in faults)
