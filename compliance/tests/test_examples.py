"""The examples run as they stand."""

from __future__ import annotations

import json
import runpy
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pytest

from art_sdk import BUILT_IN, CallOptions

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr("sys.argv", ["agent.py", *arguments])
    runpy.run_path(str(EXAMPLES / "agent.py"), run_name="__main__")


@pytest.mark.once
@pytest.mark.parametrize("adapter", BUILT_IN)
def test_the_agent_answers_over_every_adapter(
    adapter: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run(monkeypatch, "--adapter", adapter)
    shown = capsys.readouterr().out
    assert shown.count("[TOOL_CALL]") == shown.count("[TOOL_EXECUTION]") == 2
    assert "no weather is known for" in shown
    assert "The answer, after 2 tool calls: This answer was written" in shown


@pytest.mark.once
@pytest.mark.parametrize("adapter", BUILT_IN)
def test_the_browser_example_s_decisions_reach_every_adapter(adapter: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    example = runpy.run_path(str(EXAMPLES / "browser_loop.py"))
    given = parse(example["add_adapter_options"], "--adapter", adapter)
    step = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "## Step 1 of 5"}]
    with example["open_adapter"](given, example["answer"]) as opened:
        reply = opened.complete_sync(step, CallOptions(thread_id="t")).message.content
        opened.close()
    assert json.loads(reply)["parameters"] == {"selector": "#order"}


@pytest.mark.once
@pytest.mark.parametrize(
    ("adapter", "key", "arguments"),
    [
        ("openai", "OPENAI_API_KEY", ()),
        ("openai-compatible", "OPENAI_COMPATIBLE_API_KEY", ("--base-url", "http://box:8000/v1", "--model", "mine")),
        ("azure", "AZURE_API_KEY", ("--base-url", "https://mine.openai.azure.com/openai/v1", "--model", "mine")),
    ],
)
def test_with_a_key_of_ones_own_the_real_provider_is_asked(
    adapter: str, key: str, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    example = runpy.run_path(str(EXAMPLES / "agent.py"))
    given = parse(example["add_adapter_options"], "--real", "--adapter", adapter, *arguments)
    monkeypatch.delenv(key, raising=False)
    with pytest.raises(KeyError, match=key), example["open_adapter"](given):
        pass
    monkeypatch.setenv(key, "0-k3y-0")
    with example["open_adapter"](given) as opened:
        url = given.base_url or "https://api.openai.com/v1"
        assert (opened.base_url, opened.model) == (url, given.model or "gpt-4.1-mini")


def parse(add_options: Any, *arguments: str) -> Any:
    parser = ArgumentParser()
    add_options(parser)
    return parser.parse_args(arguments)
