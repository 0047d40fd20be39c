"""Translates prompts in other processes, under other hash seeds, to find what depends on the order of a set.

`python -m art_compliance.generating.processes` is the other side: it reads a job and prints one digest per prompt.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from art_compliance.subject.observations import Refused, Sent
from art_compliance.subject.opening import open_subject
from art_compliance.subject.packing import NoProcess, pack_factory, unpack_factory
from art_compliance.subject.subject import Subject

HASH_SEEDS: Final = ("1", "2")
LIMIT: Final = 120.0
"""The most seconds that another process may take."""

_EXIT: Final = 0.5
"""Seconds that it may take to exit: nobody asks what it does there, and a run waits for several."""


class ProcessFailed(Exception):
    """The adapter cannot be tried in another process; the text says why."""


def digests_in_other_processes(
    subject: Subject, prompts: Sequence[tuple[list[dict[str, Any]], dict[str, Any]]]
) -> list[list[str]]:
    """For each prompt, a digest of the result from every process. Raises ProcessFailed."""
    job = _job(subject, prompts)
    running = [_start(seed) for seed in HASH_SEEDS]
    try:
        digests = [_finish(process, job) for process in running]
    finally:
        for process in running:
            process.kill()
    return [list(one) for one in zip(*digests, strict=True)]


def _job(subject: Subject, prompts: Sequence[tuple[list[dict[str, Any]], dict[str, Any]]]) -> bytes:
    try:
        factory = pack_factory(subject.make)
    except NoProcess as error:
        raise ProcessFailed(str(error)) from error
    dialect = subject.dialect.name if subject.dialect else None
    return json.dumps({**factory, "dialect": dialect, "prompts": prompts}).encode()


def _start(hash_seed: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    settings = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "art_compliance.generating.processes"]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=settings)  # noqa: S603 - our own


def _finish(process: subprocess.Popen[bytes], job: bytes) -> list[str]:
    try:
        out, err = process.communicate(job, timeout=LIMIT)
    except subprocess.TimeoutExpired as error:
        raise ProcessFailed(f"another process did not finish within {LIMIT:g} s") from error
    if process.returncode:
        last = err.decode(errors="replace").strip().splitlines()[-1:]
        raise ProcessFailed(f"the adapter cannot be created in another process: {' '.join(last)}")
    digests: list[str] = json.loads(out.splitlines()[-1])
    return digests


def _work(read: Callable[[], bytes]) -> list[str]:
    """The other side: makes the adapter and translates every prompt."""
    job = json.loads(read())
    with open_subject(unpack_factory(job), name="another process", dialect=job["dialect"]) as subject:
        return [_digest(subject, prompt, options) for prompt, options in job["prompts"]]


def _digest(subject: Subject, prompt: list[dict[str, Any]], options: dict[str, Any]) -> str:
    match subject.translate(prompt, options):
        case Sent(payload):
            return hashlib.sha256(json.dumps(payload, default=repr).encode()).hexdigest()
        case Refused(code):
            return f"refused: {code}"
        case _:
            return "it crashed"


def _end_soon() -> None:
    """Ends this process if an adapter hangs at its exit: everything has been said."""
    ending = threading.Timer(_EXIT, os._exit, (0,))
    ending.daemon = True
    ending.start()


if __name__ == "__main__":
    print(json.dumps(_work(sys.stdin.buffer.read)), flush=True)  # noqa: T201 - that is how it answers
    _end_soon()
