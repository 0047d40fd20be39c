"""docs/contributors.md: its examples run, its configuration is valid, and it names every source and field."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from art_sdk.contributors import (
    ContributorConfig,
    default_contributors,
    memory_providers,
    source_handler_registry,
    validate_agent_config,
)

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "contributors.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


FACTS = """
import json
facts = {name: globals()[name].text for name in ("prompt", "on_the_phone", "vip")}
facts |= {"remembered": remembered, "messages": [message.content for message in messages[:-1]]}
facts |= {"rainy": [one.id for one in rainy], "options": rainy[1].options}
print(json.dumps(facts))
"""


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    """What the examples make, run one after the other in a process of their own, as they register a source."""
    code = "".join(blocks("python")) + FACTS
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_first_example_makes_the_prompt_that_it_describes(facts: dict[str, Any]):
    role, date, tools = facts["prompt"].split("\n\n")
    assert (role, tools) == ("You are a travel agent.", "No tools are available.")
    assert re.fullmatch(r"Current date and time: \d{4}-\d\d-\d\d", date)


def test_the_blocks_are_system_messages(facts: dict[str, Any]):
    assert facts["messages"] == [facts["prompt"]]


def test_the_other_examples_do_what_the_page_says(facts: dict[str, Any]):
    assert facts["rainy"] == ["dateTime", "weather"]
    assert facts["options"] == {"place_name": "York"}
    assert facts["on_the_phone"].startswith("The user is on the phone.\n\nYou are a travel agent.")
    assert facts["vip"] == "You are a travel agent.\n\nThis customer is a VIP."
    assert facts["remembered"].startswith("Memory Summary (Provider: in-memory): The user is afraid of flying.")


def test_the_configuration_is_valid():
    (example,) = blocks("json")
    config = validate_agent_config(json.loads(example))
    assert config.llm.system_prompt is not None


def test_the_tables_name_every_field_source_and_provider():
    cells = set(re.findall(r"`([\w-]+)`", "\n".join(line for line in PAGE.split("\n") if line.startswith("|"))))
    fields = {one.encode_name for one in msgspec.structs.fields(ContributorConfig)}
    sources = {"dateTime", "memorySummary", "userInstructions", "toolListing"}
    assert (fields | sources | memory_providers.keys()) - cells == set()
    assert sources <= set(source_handler_registry)


def test_the_default_is_the_one_on_the_page():
    (default,) = msgspec.to_builtins(default_contributors)
    assert json.dumps(default) in " ".join(PAGE.split())
