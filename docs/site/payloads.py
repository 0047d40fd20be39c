"""Payloads of a scenario in each dialect, where a page asks for them: `<!-- payloads: scenario -->`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

_MARK: Final = re.compile(r"<!-- payloads: ([a-z0-9-]+) -->")


def filled(text: str, folder: Path) -> str:
    """The page with the canonical payloads in place of the marks. Raises LookupError if there is none."""
    return _MARK.sub(lambda mark: _blocks(mark[1], folder), text)


def _blocks(scenario: str, folder: Path) -> str:
    files = sorted(folder.glob(f"*/{scenario}.json"))
    if not files:
        raise LookupError(f"there are no canonical payloads of the scenario {scenario!r} in {folder}")
    return "\n\n".join(_block(file) for file in files)


def _block(file: Path) -> str:
    payload = json.dumps(json.loads(file.read_text(encoding="utf-8")), indent=2, ensure_ascii=False)
    code = f"```json\n{payload}\n```"
    return f'<details markdown="1"><summary>{file.parent.name}</summary>\n\n{code}\n\n</details>'
