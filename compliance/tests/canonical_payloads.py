"""Writes the canonical payloads, `fixtures/payloads/<dialect>/<scenario>.json`: what the reference adapters send.

`make payloads` writes those of new and changed scenarios and deletes those of scenarios that are gone. Review the
difference before you commit it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from art_compliance.resources import data_folder
from art_compliance.scenarios import Scenario, load_scenarios
from art_compliance.snapshots import is_kept
from art_sdk import (
    AnthropicAdapter,
    BaseAdapter,
    GeminiAdapter,
    OpenAIAdapter,
    Payload,
    PromptTranslationFailed,
    parse_options,
    parse_prompt,
)

ADAPTERS: Final[dict[str, BaseAdapter]] = {
    adapter.dialect: adapter(api_key="no-key") for adapter in (AnthropicAdapter, GeminiAdapter, OpenAIAdapter)
}
FOLDER: Final = data_folder("fixtures") / "payloads"


def canonical_payload(dialect: str, scenario: Scenario) -> Payload | None:
    """What the reference adapter sends, or None if it refuses the scenario or the payload is too long to read."""
    try:
        payload = ADAPTERS[dialect].translate(parse_prompt(scenario.prompt), parse_options(scenario.call_options()))
    except PromptTranslationFailed:
        return None
    return payload if is_kept(payload) else None


def canonical_files(folder: Path = FOLDER) -> Iterator[tuple[Path, str]]:
    """The path and the text of every file that the folder should have."""
    for dialect in ADAPTERS:
        for scenario in load_scenarios():
            payload = canonical_payload(dialect, scenario)
            if payload is not None:
                text = json.dumps(payload, indent=2, ensure_ascii=False) + "\n"
                yield folder / dialect / f"{scenario.id}.json", text


def write_payloads(folder: Path = FOLDER) -> None:
    """Writes every file that the folder should have, and deletes every other payload in it."""
    files = dict(canonical_files(folder))
    for path in set(folder.glob("*/*.json")) - files.keys():
        path.unlink()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_payloads()
