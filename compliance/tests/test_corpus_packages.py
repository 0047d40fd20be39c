"""The judges' exam by traffic that others recorded and publish: what a provider took is not refused here.

Every request that was answered with 200 passes schema and rules, decodes, and is rebuilt by our adapter to one
that means the same. Each exception falls under one of the reasons below, which say why, or is a failure.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from art_compliance import judge
from art_compliance.cassettes.bodies import stream_items
from art_compliance.cassettes.corpus import Found, load_packages
from art_compliance.comparison import Expected, compare
from art_compliance.judging.rulebook import judge_rules
from art_compliance.judging.wire import judge_answer, load_schema
from art_compliance.judging.wire.allowances import load_rows
from art_sdk import PromptTranslationFailed, parse_prompt
from art_sdk.messages import dump_prompt
from recorded_traffic import DECLARED_REPAIRS, NO_SLOT, Recorded, accepted_in_packages, decoded_of, reader_of, rebuild

pytestmark = pytest.mark.once  # recorded traffic says the same to every Python

ACCEPTED = {
    "chatlas": 407,
    "crewai": 1189,
    "langchain-anthropic": 65,
    "langchain-aws": 21,
    "langchain-openai": 5,
    "langsmith": 250,
    "magentic": 165,
    "mirascope": 1163,
    "openinference-instrumentation-google-genai": 23,
    "opentelemetry-instrumentation-anthropic": 84,
    "opentelemetry-instrumentation-bedrock": 45,
    "opentelemetry-instrumentation-botocore": 34,
    "opentelemetry-instrumentation-cohere": 9,
    "opentelemetry-instrumentation-google-genai": 11,
    "opentelemetry-instrumentation-groq": 39,
    "opentelemetry-instrumentation-langchain": 104,
    "opentelemetry-instrumentation-mistralai": 13,
    "opentelemetry-instrumentation-ollama": 16,
    "opentelemetry-instrumentation-openai": 349,
    "opentelemetry-instrumentation-openai-agents": 35,
    "opentelemetry-instrumentation-openai-v2": 37,
}
"""How many calls of a dialect of ours were answered with 200."""

OWN_DIALECTS = {
    "api.deepseek.com": "deepseek-chat",
    "api.groq.com": "groq-chat",
    "api.mistral.ai": "mistral-chat",
}

TOOLS_OF_THE_PROVIDER = "tools that the provider runs itself"
OF_OLD = "functions, which tools came in the place of"
BETA = "a beta's"
OTHER_MEDIA = "the format has texts and images"
OF_AN_ANSWER = "an item of an answer, sent back as it came"

OPAQUE = {
    r"/(n|seed|random_seed|top_k|logprobs|verbosity|stream_options|service_tier|reasoning_effort|reasoning)": NO_SLOT,
    r"/(include|store|previous_response_id|safe_prompt|text/format|tool_choice)": NO_SLOT,
    r"/(frequency|presence)_penalty": NO_SLOT,
    r"/(thinking|container|context_management|mcp_servers|output_format)": BETA,
    r"/anthropic_version": NO_SLOT,
    r"/(functions|function_call)": OF_OLD,
    r"/messages/\d+/(annotations|tool_calls/\d+/index)": OF_AN_ANSWER,
    r"/(text/format|response_format(/json_schema)?)/(name|description|strict)": NO_SLOT,
    r"/response_format": NO_SLOT,
    r"/(system|tools|messages/\d+/content)/\d+/cache_control": NO_SLOT,
    r"/messages/\d+/content/\d+/content/\d+/(title|source|citations|content|type)": TOOLS_OF_THE_PROVIDER,
    r"/messages/\d+/content/\d+/(citations|caller|source|title|type|tool)": TOOLS_OF_THE_PROVIDER,
    r"/messages/\d+/content/\d+/(file|input_audio|document)": OTHER_MEDIA,
    r"/messages/\d+/content/\d+/image_url/detail": NO_SLOT,
    r"/tools/\d+/(type|name|max_uses|allowed_callers|citations|mcp_server_name)": TOOLS_OF_THE_PROVIDER,
    r"/tools/\d+/(allowed_domains|blocked_domains|max_content_tokens|defer_loading|strict)": TOOLS_OF_THE_PROVIDER,
    r"/tools/\d+/(codeExecution|googleSearch|urlContext|search_context_size)": TOOLS_OF_THE_PROVIDER,
    r"/tools/\d+/function/strict": NO_SLOT,
    r"/toolConfig/includeServerSideToolInvocations": TOOLS_OF_THE_PROVIDER,
    r"/generationConfig/(thinkingConfig|candidateCount|seed|topK|responseMimeType)": NO_SLOT,
    r"/contents/\d+/parts/\d+/inlineData": OTHER_MEDIA,
    r"/contents/\d+/parts/\d+/(text|thought)": "a thought that the caller sends back without its signature",
    r"/input/\d+/(id|status|content/\d+/(annotations|logprobs))": OF_AN_ANSWER,
    r"/input/\d+/content/\d+/(type|file_data|file_id|file_url|filename)": OTHER_MEDIA,
    r"/(guardrailConfig|messages/\d+/content/\d+/guardContent/text/qualifiers)": NO_SLOT,
    r"/(additionalModelRequestFields|system/\d+/cachePoint)": NO_SLOT,
}
"""What a recorded request holds beyond the standard format, by JSON pointer. Nothing else may be opaque."""

REPAIRS_OF_BLANKS = {"mirascope/test_call_with_two_empty_string/google_gemini_2_5_flash-0": "drops_blank_text"}
"""What a caller sent that our adapter leaves out: Gemini accepts an empty text beside others."""

WITHOUT_ID = {"chatlas/test_provider_openai/test_openai_web_search-1": '{"type": "message", "status": "completed"}'}
"""A message of an answer whose id the caller left out: our adapter sends it without its status, too."""

REFUSALS = {
    "a block has the invalid place": "texts between the provider's own blocks: a message has one text",
}
"""Why our adapter may refuse what a provider took."""


@pytest.mark.unmeasured
def test_every_package_contains_what_it_did(packaged: tuple[Found, ...]):
    name = packaged[0].package
    files = {found.file for found in packaged}
    assert len(files) == next(package.files for package in load_packages() if package.name == name)
    assert len(list(accepted_in_packages(packaged))) == ACCEPTED[name]


@pytest.mark.unmeasured
def test_a_request_that_was_accepted_is_not_refused_here(packaged: tuple[Found, ...]):
    refused = [
        (one.name, finding.pointer, finding.message)
        for one in accepted_in_packages(packaged)
        for finding in judge(one.dialect, one.request, url=one.url)
        if finding.severity == "reject"
    ]
    assert refused == []


@pytest.mark.unmeasured
def test_nor_is_it_by_the_rules_of_the_providers_own_dialect(packaged: tuple[Found, ...]):
    refused = [
        (one.name, finding.pointer, finding.message)
        for one in accepted_in_packages(packaged)
        for host, dialect in OWN_DIALECTS.items()
        if one.url and host in one.url
        for finding in judge_rules(dialect, one.request, url=one.url)
        if finding.severity == "reject"
    ]
    assert refused == []


@pytest.mark.unmeasured
def test_an_accepted_request_decodes_to_a_valid_prompt_and_what_has_no_slot_is_known(packaged: tuple[Found, ...]):
    unexplained: Counter[str] = Counter()
    for one in accepted_in_packages(packaged):
        decoded = decoded_of(one)
        assert decoded.prompt, one.name
        assert parse_prompt(dump_prompt(decoded.prompt)) == decoded.prompt, one.name
        unexplained.update(
            pointer for pointer in decoded.opaque if not any(re.fullmatch(known, pointer) for known in OPAQUE)
        )
    assert unexplained == {}


def differences(one: Recorded) -> list[str]:
    """What our adapter's request of the decoding says otherwise, in words."""
    reader = reader_of(one)
    try:
        compared = rebuild(one).compared
    except PromptTranslationFailed as error:
        return [] if any(reason in error.message for reason in REFUSALS) else [f"refused: {error.message}"]
    odd = compared.repairs - DECLARED_REPAIRS[one.dialect]
    odd -= {REPAIRS_OF_BLANKS.get(one.name, "")}
    known = WITHOUT_ID.get(one.name, "nothing")
    lost = [found for found in compared.differences if found.loss not in reader.losses and known not in found.message]
    return [difference.message for difference in lost] + [f"repair: {name}" for name in odd]


@pytest.mark.unmeasured
def test_an_accepted_request_is_rebuilt_to_one_that_means_the_same(packaged: tuple[Found, ...]):
    assert {one.name: found for one in accepted_in_packages(packaged) if (found := differences(one))} == {}


@pytest.mark.unmeasured
def test_a_decoding_without_its_last_message_is_not_taken_for_the_same(packaged: tuple[Found, ...]):
    for one in accepted_in_packages(packaged):
        decoded = decoded_of(one)
        if len(decoded.prompt) < 2:
            continue
        whole = Expected(dialect=one.dialect, prompt=decoded.prompt, tools=decoded.tools, options={})
        shorter = type(decoded)(prompt=decoded.prompt[:-1], tools=decoded.tools)
        assert compare(whole, shorter).differences, one.name


# The answers. Those that come whole are read in test_corpus_answers.py.


def items_of(one: Recorded) -> tuple[str, list[Any]]:
    """The schema's name, and the answer, or the items of its stream."""
    whole = one.data
    if whole is not None:
        return f"{one.dialect}.answer", [whole]
    return f"{one.dialect}.stream", list(stream_items(one.answer))


@pytest.mark.unmeasured
def test_a_recorded_answer_matches_its_schema(packaged: tuple[Found, ...]):
    unexplained: list[tuple[str, str, str]] = []
    for one in accepted_in_packages(packaged):
        name, items = items_of(one)
        assert items, one.name
        faults = [fault for item in items for fault in judge_answer(name, item, url=one.url)]
        unexplained += [(one.name, fault.pointer, fault.message) for fault in faults]
    assert unexplained == []


@pytest.mark.unmeasured
def test_fields_beyond_the_schema_were_recorded_where_the_evidence_says(packaged: tuple[Found, ...]):
    package = packaged[0].package
    rows = [row for row in load_rows().answered if f": {package} " in row.evidence]
    answers = list(map(items_of, accepted_in_packages(packaged))) if rows else []
    faults = [
        (name, fault) for name, items in answers for item in items for fault in load_schema(name).mismatches(item)
    ]
    covered = [{name for name, fault in faults if name in row.schemas and row.covers(fault)} for row in rows]
    assert covered == [set(row.schemas) for row in rows]
