"""An adapter that lacks a method is reported by the method's name, and its provider is not blamed."""

from __future__ import annotations

import pytest

from art_compliance import Selection, certify
from art_sdk import BaseAdapter, OpenAIAdapter


class WithoutParseAnswer(OpenAIAdapter):
    parse_answer = BaseAdapter.parse_answer


class WithoutAnswerStream(OpenAIAdapter):
    answer_stream = BaseAdapter.answer_stream


class WithoutEndpoint(OpenAIAdapter):
    endpoint = BaseAdapter.endpoint


@pytest.mark.parametrize(
    ("make", "missing", "check"),
    [
        (WithoutParseAnswer, "parse_answer", "response.every-prompt-is-answered"),
        (WithoutEndpoint, "endpoint", "response.every-prompt-is-answered"),
        (WithoutAnswerStream, "answer_stream", "stream.answer-is-read"),
    ],
)
def test_a_missing_method_is_named(make, missing, check):
    report = certify(make, selection=Selection(checks=(check,)), isolated=False)
    found = [finding.message for result in report.results for finding in result.findings]
    assert found
    assert all(f"{make.__name__} must define {missing}" in message for message in found)
    assert not report.is_certified
