"""Failing prompts, kept in the author's repository and tried first in the next run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from art_compliance.checks.limits import NAME_LENGTH
from art_compliance.findings import HarnessError
from art_compliance.generating.requests import Request


def folder_of(kept: Path, adapter: str) -> Path:
    """Where an adapter's failing prompts are kept: `<kept>/failing/<adapter>`."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", adapter)
    if len(name) > NAME_LENGTH:  # the name of a factory that is neither a class nor a function is its repr
        name = f"{name[:NAME_LENGTH]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return kept / "failing" / name


def keep(folder: Path, law: str, family: str, request: Request) -> Path:
    """Keeps a request for a law; the same one again is the same file. Raises HarnessError."""
    prompt, options, turns = request
    kept = {"law": law, "family": family, "prompt": prompt, "options": options, **({"turns": turns} if turns else {})}
    text = json.dumps(kept, indent=2) + "\n"
    path = folder / f"{law}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HarnessError(f"cannot keep a failing prompt in {path}: {error.strerror}") from error
    return path


def kept_for(folder: Path, law: str, family: str) -> Iterator[Request]:
    """The requests that are kept for a law. Raises HarnessError for a file that cannot be read as one."""
    for path in sorted(folder.glob(f"{law}-*.json")):
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["family"] == family:
                yield Request(kept["prompt"], kept["options"], kept.get("turns", ()))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise HarnessError(
                f"{path} is not a kept prompt ({type(error).__name__}: {error}); repair or delete it"
            ) from error
