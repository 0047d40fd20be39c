"""Wire schemas by the host, the model and the service that a request is sent to."""

from __future__ import annotations

import pytest

from art_compliance.judging.wire import judge_wire
from row_tables import table
from wire_requests import chat


def test_a_relatives_field_is_accepted_there_refused_at_openai_and_otherwise_a_note():
    payload = chat({"role": "assistant", "content": "4", "reasoning_content": "2 + 2"})
    weigh = lambda url: [finding.severity for finding in judge_wire("openai-chat", payload, url=url)]  # noqa: E731
    assert weigh("https://api.deepseek.com/chat/completions") == []
    assert weigh("https://api.openai.com/v1/chat/completions") == ["reject"]
    assert weigh("http://127.0.0.1:8000/v1/chat/completions") == ["note"]
    assert weigh(None) == ["note"]


UNKNOWN_HOSTS = ("https://llm.example.com/v1", "http://192.168.1.7:8000/v1", "http://localhost:11434/v1", "<API_BASE>")


@pytest.mark.parametrize("base", UNKNOWN_HOSTS)
@table(
    ("payload", "severity"),
    [
        (chat(beam_width=4), "note"),
        (chat(tool_choice="any"), "note"),
        (chat(tools=None), "note"),
        (chat(tool_choice={"function": {"name": "f"}}), "note"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "note"),
        (chat(temperature="hot"), "reject"),
        (chat({"content": "hi"}), "reject"),
        ({"model": "m"}, "reject"),
        (["hi"], "reject"),
    ],
)
def test_a_host_that_is_not_known_is_judged_by_the_shape_of_the_family(payload, severity, base):
    found = judge_wire("openai-chat", payload, url=f"{base}/chat/completions")
    assert {finding.severity for finding in found} == {severity}


def test_what_is_a_note_at_an_unknown_host_is_refused_at_openai():
    for payload in (chat(beam_width=4), chat(tool_choice="any"), chat(tool_choice={"function": {"name": "f"}})):
        found = judge_wire("openai-chat", payload, url="https://api.openai.com/v1/chat/completions")
        assert "reject" in [finding.severity for finding in found]


@pytest.mark.parametrize(
    ("dialect", "payload", "pointer"),
    [
        ("openrouter-chat", chat(beam_width=4), "/beam_width"),
        ("openrouter-chat", chat({"role": "user", "content": "hi", "colour": 1}), "/messages/0/colour"),
        (
            "openrouter-chat",
            chat(tools=[{"type": "function", "eager": 1, "function": {"name": "f"}}]),
            "/tools/0/eager",
        ),
        ("deepseek-chat", chat(beam_width=4), "/beam_width"),
        ("deepseek-chat", chat({"role": "assistant", "content": "hi", "reasoning": "hm"}), "/messages/0/reasoning"),
        (
            "openai-chat",
            chat(tools=[{"type": "function", "function": {"name": "f", "owner": "me"}}]),
            "/tools/0/function/owner",
        ),
    ],
)
def test_what_a_service_ignores_is_not_refused_in_its_name(dialect, payload, pointer):
    (found,) = judge_wire(dialect, payload)
    assert (found.pointer, found.severity) == (pointer, "ignored")
    assert found.message.startswith(f"unknown field {pointer.rpartition('/')[2]!r}")


@pytest.mark.parametrize("place", [{"provider": {"beam_width": 4}}, {"provider": {"max_price": {"beam_width": 4}}}])
def test_what_openrouter_closes_stays_closed(place):
    assert [finding.severity for finding in judge_wire("openrouter-chat", chat(**place))] == ["reject"]


def test_an_allowance_for_certain_models_leaves_the_others_alone():
    shown = {"role": "user", "content": [{"type": "image_url", "image_url": "https://example.com/a.png"}]}
    url = "https://api.openai.com/v1/chat/completions"
    old, new = ({"model": model, "messages": [shown]} for model in ("gpt-4-vision-preview", "gpt-4o"))
    assert [finding.severity for finding in judge_wire("openai-chat", old, url=url)] == ["note"]
    assert [finding.severity for finding in judge_wire("openai-chat", new, url=url)] == ["reject"]


def test_a_host_written_without_its_scheme_is_the_same_host():
    for base in ("api.openai.com/v1", "https://API.openai.com:443/v1", "https://user@api.openai.com./v1"):
        found = judge_wire("openai-chat", chat(beam_width=4), url=f"{base}/chat/completions")
        assert [finding.severity for finding in found] == ["reject"]


@pytest.mark.parametrize(
    ("url", "severity"),
    [
        (None, "note"),
        ("/v1/chat/completions", "reject"),
        ("/openai/deployments/gpt-4o/chat/completions", "note"),
        ("https://api.openai.com/v1/chat/completions", "reject"),
        ("https://mine.openai.azure.com/openai/deployments/gpt-4o/chat/completions", None),
    ],
)
def test_a_body_may_lack_the_model_only_where_the_url_may_name_it(url, severity):
    found = judge_wire("openai-chat", {"messages": [{"role": "user", "content": "hi"}]}, url=url)
    assert [finding.severity for finding in found] == ([severity] if severity else [])


def test_fields_that_only_anthropics_beta_knows_are_notes_and_unknown_ones_are_refused():
    beta = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "context_management": None}
    (note,) = judge_wire("anthropic-messages", beta)
    assert (note.severity, note.pointer) == ("note", "/context_management")
    assert note.message.endswith("it needs the header anthropic-beta)")
    found = judge_wire("anthropic-messages", {**beta, "beam_width": 4})
    assert [(one.severity, one.pointer) for one in found] == [
        ("reject", "/beam_width"),
        ("note", "/context_management"),
    ]


BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-haiku-4-5-v1%3A0/invoke"


VERTEX = "https://aiplatform.googleapis.com/v1/publishers/anthropic/models/claude-haiku-4-5:rawPredict"


@pytest.mark.parametrize(
    ("url", "version", "severities"),
    [
        (BEDROCK, "bedrock-2023-05-31", []),
        (VERTEX, "vertex-2023-10-16", []),
        (VERTEX, "2026-10-21", []),
        (BEDROCK, "2023-06-01", ["reject"]),
        ("https://api.anthropic.com/v1/messages", "bedrock-2023-05-31", ["reject", "reject"]),
    ],
)
def test_at_bedrock_and_vertex_ai_anthropics_messages_have_a_version_and_no_model(url, version, severities):
    body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 9, "anthropic_version": version}
    assert [finding.severity for finding in judge_wire("anthropic-messages", body, url=url)] == severities
