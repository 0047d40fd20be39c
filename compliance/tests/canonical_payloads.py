"""Writes the canonical payloads, `fixtures/payloads/<dialect>/<scenario>.json`: what the reference adapters send.

`make payloads` writes those of new and changed scenarios and deletes those of scenarios that are gone. Review the
difference before you commit it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from art_compliance.checks.payload import with_model_of
from art_compliance.resources import data_folder
from art_compliance.scenarios import Scenario, load_scenarios
from art_compliance.snapshots import is_kept
from art_compliance.subject.factories import find_factory
from art_sdk import (
    BUILT_IN,
    AzureOpenAIAdapter,
    BaseAdapter,
    OllamaAdapter,
    OpenAICompatibleAdapter,
    Payload,
    PromptTranslationFailed,
    XAIAdapter,
    parse_options,
    parse_prompt,
)

_NOT_ALONE: Final = ("azure", "ollama", "openai-compatible", "xai")
"""What speaks the dialect of another, or needs more than a key."""
ADAPTERS: Final[dict[str, BaseAdapter]] = {
    adapter.dialect: adapter
    for adapter in (find_factory(name)(api_key="no-key") for name in BUILT_IN if name not in _NOT_ALONE)
}
_COMPATIBLE: Final = OpenAICompatibleAdapter(api_key="no-key", base_url="http://127.0.0.1:8000/v1", model="written")
ADAPTERS[_COMPATIBLE.dialect] = _COMPATIBLE
SERVICES: Final[tuple[BaseAdapter, ...]] = (
    AzureOpenAIAdapter(api_key="no-key", base_url="https://written.openai.azure.com/openai/v1", model="written"),
    OllamaAdapter(api_key="no-key"),
    XAIAdapter(api_key="no-key"),
)
"""Adapters to services of these dialects: only their payloads that differ are kept, by more than the model."""
WRITERS: Final = {**ADAPTERS, **{one.provider_name: one for one in SERVICES}}
"""By the name of the folder."""
FOLDER: Final = data_folder("fixtures") / "payloads"


def canonical_payload(adapter: BaseAdapter, scenario: Scenario) -> Payload | None:
    """What the reference adapter sends, or None if it refuses the scenario or the payload is too long to read."""
    try:
        payload = adapter.translate(parse_prompt(scenario.prompt), parse_options(scenario.call_options()))
    except PromptTranslationFailed:
        return None
    return payload if is_kept(payload) else None


def canonical_files(folder: Path = FOLDER) -> Iterator[tuple[Path, str]]:
    """The path and the text of every file that the folder should have."""
    for scenario in load_scenarios():
        kept = {dialect: canonical_payload(adapter, scenario) for dialect, adapter in ADAPTERS.items()}
        of_services = ((one, canonical_payload(one, scenario)) for one in SERVICES)
        kept |= {one.provider_name: payload for one, payload in of_services if _is_own(payload, kept[one.dialect])}
        for name, payload in kept.items():
            if payload is not None:
                text = json.dumps(payload, indent=2, ensure_ascii=False) + "\n"
                yield folder / name / f"{scenario.id}.json", text


def _is_own(payload: Payload | None, kept: Payload | None) -> bool:
    return payload is not None and (kept is None or with_model_of(payload, kept) != payload)


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
