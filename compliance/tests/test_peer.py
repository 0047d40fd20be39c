"""llm-comply, a suite for endpoints by others, against the strict provider: all of its tests pass.

It is installed into an environment of its own; the tests skip where the index cannot be reached. Recorded traffic
contradicts the suite in three places. Two are fields of answers, where the provider does as the suite wants:

- Anthropic's OpenAPI document requires `container`, `server_tool_use` and a text's `citations`, which may be null. None
  of the 11 recent recorded answers, which are without server tools, has any of them. They are written as null.
- OpenAI's `system_fingerprint` must be text. It is null in both recent recorded answers of GPT-5, and text in all four
  of other models. It is written as text.
- `reasoning` in a chat completion must be accepted. OpenRouter and Snowflake do (recorded), OpenAI does not. So it is
  accepted where no dialect is named, and refused by the provider as OpenAI.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from art_compliance.provider import StrictProvider

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

PEER = "llm-comply==0.5.0"
CONSTRAINTS = Path(__file__).resolve().parents[2] / "constraints.txt"


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The peer's command, in an environment of its own."""
    folder = tmp_path_factory.mktemp("peer")
    venv.create(folder)
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(folder / "bin" / "python"),
        "install",
        "--quiet",
        "--no-compile",
    )
    done = subprocess.run([*pip, PEER], env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{PEER} cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    return folder / "bin" / "llm-comply"


def environment() -> dict[str, str]:
    own = {"PIP_CONSTRAINT": str(CONSTRAINTS), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | own


class Format(NamedTuple):
    """How the peer tests a format: its name there, the path of the base URL, a model that reasons, and the key."""

    name: str
    base_path: str
    model: str
    options: tuple[str, ...]


FORMATS = (
    Format("openai-chat", "/v1", "gpt-5-mini", ()),
    Format(
        "anthropic",
        "/v1",
        "claude-sonnet-4-5",
        ("--auth-header", "x-api-key", "--no-bearer", "-H", "anthropic-version:2023-06-01"),
    ),
    Format("google-genai", "", "gemini-3-flash-preview", ("--auth-header", "x-goog-api-key", "--no-bearer")),
)


def results_of(peer: Path, provider: StrictProvider, tested: Format) -> list[dict[str, Any]]:
    """What the peer says of each of its tests."""
    url = ("--base-url", provider.url + tested.base_path, "--api-key", "any", "--model", tested.model)
    command = (str(peer), "--json", "--format", tested.name, *url, *tested.options)
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)["results"]


@pytest.mark.parametrize("tested", FORMATS, ids=lambda one: one.name)
def test_every_test_of_the_peer_passes_without_a_warning(peer: Path, tested: Format):
    with StrictProvider() as provider:
        results = results_of(peer, provider, tested)
    assert len(results) == 9
    assert [one for one in results if one["status"] != "passed" or one.get("warnings")] == []


def test_as_openai_the_provider_refuses_the_one_request_that_openai_refuses(peer: Path):
    """OpenAI says "Unknown parameter: 'reasoning'.", as in https://github.com/dongri/openai-api-rs/issues/198."""
    with StrictProvider("openai-chat") as provider:
        results = results_of(peer, provider, FORMATS[0])
        (refused,) = (one for one in provider.seen() if one.is_refused and "model" in json.loads(one.request.body))
    assert [one["id"] for one in results if one["status"] != "passed"] == ["chat-reasoning-summary"]
    assert [finding.pointer for finding in refused.findings] == ["/reasoning"]
