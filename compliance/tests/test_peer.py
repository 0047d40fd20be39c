"""llm-comply, a suite for endpoints by others, against the strict provider: all of its tests pass.

It is installed into its own environment; the tests skip where the index cannot be reached. Recorded traffic
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
from jsonschema import Draft202012Validator

from art_compliance.dialects import DIALECTS
from art_compliance.dialects.order import Event, read_events
from art_compliance.provider import StrictProvider
from art_compliance.resources import data_folder
from art_compliance.scenarios import WrittenAnswer, load_scenarios

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

PEER = "llm-comply==0.5.0"
CONSTRAINTS = Path(__file__).resolve().parents[2] / "constraints.txt"


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The peer's command, in its own environment."""
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
    tests: int = 9


FORMATS = (
    Format("openai-chat", "/v1", "gpt-5-mini", ()),
    Format("open-responses", "/v1", "gpt-5-mini", (), tests=13),
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
    assert len(results) == tested.tests
    assert [one for one in results if one["status"] != "passed" or one.get("warnings")] == []


def test_as_openai_the_provider_refuses_the_one_request_that_openai_refuses(peer: Path):
    """OpenAI says "Unknown parameter: 'reasoning'.", as in https://github.com/dongri/openai-api-rs/issues/198."""
    with StrictProvider("openai-chat") as provider:
        results = results_of(peer, provider, FORMATS[0])
        (refused,) = (one for one in provider.seen() if one.is_refused and "model" in json.loads(one.request.body))
    assert [one["id"] for one in results if one["status"] != "passed"] == ["chat-reasoning-summary"]
    assert [finding.pointer for finding in refused.findings] == ["/reasoning"]


# The Open Responses specification, which comes with the peer, as a second judge of our Responses API.


@pytest.fixture(scope="module")
def specification(peer: Path) -> dict[str, Any]:
    """Its OpenAPI document."""
    (path,) = peer.parent.parent.glob("lib/*/site-packages/llm_comply/specs/openresponses.json")
    return json.loads(path.read_text(encoding="utf-8"))


def faults(specification: dict[str, Any], name: str, data: Any) -> list[str]:
    schema = {"$ref": f"#/components/schemas/{name}", "components": specification["components"]}
    return [error.message for error in Draft202012Validator(schema).iter_errors(data)]


OPENAI_TAKES = {"name-of-65", "name-of-128"}
"""Scenarios whose tools have longer names than the specification's 64 characters: OpenAI's types allow 128."""


def test_every_canonical_request_is_one_of_open_responses(specification: dict[str, Any]):
    paths = sorted((data_folder("fixtures") / "payloads" / "openai-responses").glob("*.json"))
    found = {
        path.stem
        for path in paths
        if faults(specification, "CreateResponseBody", json.loads(path.read_text(encoding="utf-8")))
    }
    assert found == OPENAI_TAKES
    assert len(paths) > 200


RESPONSES = DIALECTS["openai-responses"]


def written() -> dict[str, WrittenAnswer]:
    """The scenarios' answers that a response can be."""
    given = {scenario.id: scenario.answer for scenario in load_scenarios() if scenario.answer}
    return {name: answer for name, answer in given.items() if not answer.without_ids}


def test_every_written_answer_is_one_of_open_responses(specification: dict[str, Any]):
    bodies = {name: json.loads(RESPONSES.answers.write(answer)) for name, answer in written().items()}
    assert {name for name, body in bodies.items() if faults(specification, "ResponseResource", body)} == set()
    assert len(bodies) >= 20


def test_every_event_of_a_written_stream_is_one_of_open_responses(specification: dict[str, Any]):
    schemas = specification["components"]["schemas"]
    streaming = {name: schema for name, schema in schemas.items() if name.endswith("StreamingEvent")}
    by_type = {kind: name for name, schema in streaming.items() for kind in schema["properties"]["type"]["enum"]}
    seen = {event.body["type"]: event.body for answer in written().values() for event in events_of(answer)}
    assert {kind for kind, body in seen.items() if faults(specification, by_type[kind], body)} == set()
    assert len(seen) >= 18


def events_of(answer: WrittenAnswer) -> list[Event]:
    return list(read_events(b"".join(RESPONSES.streams.write(answer))))
