"""Cassettes as tests make and play them: what recording and replaying are tested with alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import structs

from art_compliance import Selection, certify
from art_compliance.cassettes import load_cassette, write_cassette
from art_compliance.checks import CHECKS
from art_compliance.dialects import DIALECTS
from art_compliance.provider import LoopbackProvider
from art_compliance.run.recorder import Order, choose, record
from art_compliance.subject.access import Access
from art_sdk import AnthropicAdapter, GeminiAdapter, OpenAIAdapter

ADAPTERS = {"openai": OpenAIAdapter, "anthropic": AnthropicAdapter, "gemini": GeminiAdapter}
KEY = "sk-test-0123456789abcdefghijklmnop"
REPLAY = tuple(name for name in CHECKS if name.startswith("replay."))


def access(provider: LoopbackProvider, adapter: str = "openai") -> Access:
    """Access to the loopback provider as if it were a real one."""
    path = DIALECTS[ADAPTERS[adapter].dialect].service.base_path
    return Access(key=KEY, base_url=provider.url + path, model="its-model")


def record_into(folder: Path, adapter: str = "openai", *names: str, **order: Any) -> list[Any]:
    return list(record(ADAPTERS[adapter], Order(scenarios=choose(names), into=folder, **order)))


def replayed(folder: Path, make: Any, *names: str) -> Any:
    return certify(make, selection=Selection(checks=REPLAY, scenarios=names, cassettes=folder), isolated=False)


def findings(report: Any, check: str) -> str:
    return "\n".join(
        finding.message for result in report.failures for finding in result.findings if result.check == check
    )


def relabel(path: Path, **changed: Any) -> None:
    """The cassette, saying other things of itself."""
    kept = load_cassette(path)
    path.unlink()
    write_cassette(path, kept.exchanges, structs.replace(kept.provenance, **changed))
