"""Adapters that misbehave, under pytest: by fixture, by option and on several workers."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

ADAPTERS = """
import os
import time
from art_sdk import OpenAIAdapter

class Ends(OpenAIAdapter):
    def call(self, prompt, options):
        if "hello" not in str(prompt):  # preflight's greeting
            os._exit(0)
        return super().call(prompt, options)

class Slow(OpenAIAdapter):
    def translate(self, prompt, options):
        time.sleep(0.2)
        return super().translate(prompt, options)
"""

FIXTURE = """
import pytest
from rude import Ends
from art_compliance.suite import *

@pytest.fixture(scope="session")
def art_adapter():
    return Ends
"""

CHECK = ("--art-check", "response.answer-is-read", "--art-scenario", "one-question", "--art-scenario", "answer-text")


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(rude=ADAPTERS)
    return pytester


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
@pytest.mark.parametrize("way", ["fixture", "option"])
def test_an_adapter_that_ends_its_process_fails(project: pytest.Pytester, way: str, workers: tuple[str, ...]):
    if way == "fixture":
        project.makepyfile(test_rude=FIXTURE)
    named = ("--art-adapter", "rude:Ends") if way == "option" else ()
    result = project.runpytest_subprocess("-p", "no:cacheprovider", *named, *CHECK, *workers, timeout=120)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*its process ended with exit code 0*", "*NOT certified*"])


def test_a_check_that_has_not_ended_when_the_time_is_up_fails(project: pytest.Pytester):
    given = ("--art-adapter", "rude:Slow", "--art-check", "translation.options-survive-together")
    result = project.runpytest_subprocess("-p", "no:cacheprovider", *given, "--art-time-limit", "5", timeout=120)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*art: the run's time is up: see --art-time-limit*"])
