"""Translates prompts in other processes, under other hash seeds, to find what depends on the order of a set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from art_compliance.findings import HarnessError
from art_compliance.subject.observations import Refused, Sent
from art_compliance.subject.opening import open_subject
from art_compliance.subject.subject import Subject

HASH_SEEDS: Final = ("1", "2")


class ProcessFailed(Exception):
    """The adapter cannot be tried in another process; the text says why."""


def digests_in_other_processes(
    subject: Subject, prompts: Sequence[tuple[list[dict[str, Any]], dict[str, Any]]]
) -> list[list[str]]:
    """For each prompt, a digest of the result from every process. Raises ProcessFailed."""
    try:
        digests = [list(_digests(subject, prompts, seed)) for seed in HASH_SEEDS]
    except HarnessError as error:
        raise ProcessFailed(f"the adapter cannot be created in another process: {error}") from error
    return [list(one) for one in zip(*digests, strict=True)]


def _digests(
    subject: Subject, prompts: Sequence[tuple[list[dict[str, Any]], dict[str, Any]]], hash_seed: str
) -> Iterator[str]:
    dialect = subject.dialect.name if subject.dialect else None
    with open_subject(subject.make, name=subject.name, dialect=dialect, isolated=True, hash_seed=hash_seed) as another:
        if another.in_process is not None:
            raise ProcessFailed(another.in_process)
        for prompt, options in prompts:
            yield _digest(another, prompt, options)


def _digest(subject: Subject, prompt: list[dict[str, Any]], options: dict[str, Any]) -> str:
    match subject.translate(prompt, options):
        case Sent(payload):
            return hashlib.sha256(json.dumps(payload, default=repr).encode()).hexdigest()
        case Refused(code):
            return f"refused: {code}"
        case _:
            return "it crashed"
