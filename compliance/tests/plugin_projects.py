"""Files of a project whose author runs the plugin, and a run of few scenarios."""

from __future__ import annotations

SUITE_FILE = """
import pytest
from art_compliance.suite import *
from art_sdk import OpenAIAdapter

@pytest.fixture(scope="{scope}")
def art_adapter():
    return OpenAIAdapter
"""


ONE_LINE_WRONG = """
from art_sdk import OpenAIAdapter

class MyAdapter(OpenAIAdapter):
    def translate(self, prompt, options):
        payload = super().translate(prompt, options)
        payload["messages"] = [m for m in payload["messages"] if m["role"] != "system"]
        return payload
"""


FEW = ("--art-scenario", "one-question", "--art-scenario", "parallel-calls")
