"""Black boxes that nobody here wrote: the providers' official clients, judged by their traffic alone."""

from __future__ import annotations

import inspect

import pytest

from art_compliance import Report, Selection, certify
from art_compliance.checks import CHECKS
from art_compliance.generating.profiles import PROFILES, Search
from official_clients import AnthropicClient, CohereClient, GeminiClient, OllamaClient, OpenAIClient, ResponsesClient

QUICK = Search(profile=PROFILES["quick"])


WRAPPERS = (OpenAIClient, ResponsesClient, AnthropicClient, GeminiClient, OllamaClient, CohereClient)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrapper_has_forty_lines_at_most(wrapper: type):
    assert len(inspect.getsource(wrapper).splitlines()) <= 40


def failures(report: Report) -> dict[str, str]:
    assert not report.harness_errors
    return {f"{one.check} {one.scenario}": one.findings[0].message for one in report.failures}


ABANDONED = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""A cancelled call leaves generators of the client to the garbage collector, which may find one that still runs."""


@ABANDONED
@pytest.mark.thorough
def test_an_official_client_is_certified_as_a_black_box():
    report = certify(OpenAIClient, search=QUICK, isolated=False)
    assert failures(report) == {}
    assert (report.adapter.kind, report.is_certified) == ("black box", True)


BUGS = {
    OllamaClient: {"stream.unusual-answers-are-read"},
    GeminiClient: {"response.any-refusal-is-an-error"},
}
"""Of the clients themselves: httpx's `iter_lines`, which Ollama's reads streams with, ends a line at U+0085. A refusal
whose bytes are not UTF-8 is a UnicodeDecodeError of Google's, without the status."""

SHARED = ("load", "properties")
"""The stages that judge what the wrappers have in common: their connections, and what they refuse."""


@ABANDONED
@pytest.mark.once
@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "client",
    [
        AnthropicClient,
        pytest.param(GeminiClient, marks=pytest.mark.thorough),
        pytest.param(OpenAIClient, marks=pytest.mark.thorough),
        pytest.param(OllamaClient, marks=pytest.mark.thorough),
        pytest.param(CohereClient, marks=pytest.mark.thorough),
        pytest.param(ResponsesClient, marks=pytest.mark.thorough),
    ],
)
@pytest.mark.filterwarnings("ignore:.* is not a valid FinishReason")  # how Google's client reports a new one
@pytest.mark.filterwarnings("ignore:The model .* is deprecated")  # how Anthropic's speaks of older models
def test_an_official_client_passes_every_check_of_its_own_code(client: type):
    selection = Selection(checks=tuple(name for name, one in CHECKS.items() if one.stage.name not in SHARED))
    report = certify(client, selection=selection, isolated=False)
    assert {key.partition(" ")[0] for key in failures(report)} == BUGS.get(client, set()), failures(report)
    assert report.adapter.kind == "black box"
    stages = {one.check.partition(".")[0] for one in report.results if one.verdict == "pass"}
    assert stages >= {"translation", "wire", "payload", "response", "stream", "faults"}
