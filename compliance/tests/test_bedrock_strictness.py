"""What is Bedrock's own: signatures that the strict provider verifies, and streams of messages, also in recordings."""

from __future__ import annotations

import json
import re
import struct
import time
from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from art_compliance.cassettes.bodies import stream_items
from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.sameness import is_same_recording
from art_compliance.cassettes.scrubbing import REDACTED, Scrubber
from art_compliance.dialects import DIALECTS, decode
from art_compliance.dialects.aws_events import is_messages, read_messages, write_message
from art_compliance.dialects.bedrock_converse.access import KEY_ID, SECRET, verify
from art_compliance.dialects.bedrock_converse.answers import name_error
from art_compliance.dialects.endpoints import own_endpoint
from art_compliance.judging import judge
from art_compliance.provider import Request, StrictProvider, ask
from art_compliance.provider.strict import answer_strictly
from art_sdk import BedrockConverseAdapter
from art_sdk.http.aws_event_stream import AwsEventStream
from art_sdk.http.transport import HttpRequest
from recorded_traffic import official

DIALECT = DIALECTS["bedrock-converse"]
PROMPT = [{"role": "user", "content": "hi"}]
MODEL = "arn:aws:bedrock:us-east-1:1:inference-profile/a.b:0"


def sent(api_key: str = f"{KEY_ID}:{SECRET}", **settings: Any) -> HttpRequest:
    official("botocore")
    adapter = BedrockConverseAdapter(api_key=api_key, **settings)
    return adapter.prepare(PROMPT, {"thread_id": "t", "model": MODEL, "stream": True}).request


def denied(request: HttpRequest, *, later: float = 0.0, **changes: Any) -> str | None:
    """The text of the denial; `later` is how many seconds the provider's clock is ahead."""
    parts = urlsplit(request.url)
    headers = {"host": parts.netloc, **request.headers, **changes.get("headers", {})}
    denial = verify("POST", parts.path, headers, changes.get("body", request.body), clock=lambda: time.time() + later)
    assert denial is None or denial.status == 403
    return denial and denial.text


def test_a_good_signature_is_taken_with_a_session_token_too() -> None:
    assert denied(sent()) is None
    assert denied(sent(f"{KEY_ID}:{SECRET}:token"), later=299) is None
    assert denied(sent(region="ap-southeast-2"), later=-299) is None
    assert denied(sent("ABSK12")) is None


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "another secret": ({"api_key": f"{KEY_ID}:wrong"}, {}, "The request signature we calculated does not match"),
    "another key": (
        {"api_key": f"AKIA{'X' * 16}:{SECRET}"},
        {},
        "The security token included in the request is invalid.",
    ),
    "a late clock": ({}, {"later": 301}, "Signature expired: 20"),
    "an early clock": ({}, {"later": -301}, "Signature not yet current: 20"),
    "no such region": ({"region": "us-esat-1"}, {}, "Credential should be scoped to a valid region."),
    "another body": ({}, {"body": b"{}"}, "The request signature we calculated does not match"),
    "another date": ({}, {"headers": {"x-amz-date": "now"}}, "The request signature we calculated does not match"),
    "another form": ({}, {"headers": {"authorization": "AWS4-HMAC-SHA256 x"}}, "The request signature we calculated"),
}


@pytest.mark.parametrize(("settings", "changes", "words"), WRONG.values(), ids=WRONG)
def test_a_wrong_signature_is_denied_in_aws_s_words(
    settings: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    assert (denied(sent(**settings), **changes) or "").startswith(words)


@pytest.mark.parametrize(("later", "minutes"), [(301, -5), (-301, 5)])
def test_the_words_about_a_wrong_clock_name_the_limit_five_minutes_from_now(later: int, minutes: int) -> None:
    stamps = re.findall(r"\d{8}T\d{6}Z", denied(sent(), later=later) or "")
    _, limit, now = (datetime.strptime(stamp, "%Y%m%dT%H%M%S%z") for stamp in stamps)
    assert limit - now == timedelta(minutes=minutes)


def test_another_service_is_denied() -> None:
    request = sent()
    signed = {"authorization": request.headers["authorization"].replace("/bedrock/", "/s3/")}
    assert denied(request, headers=signed) == "Credential should be scoped to correct service: 'bedrock'."


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"api_key": f"{KEY_ID}:wrong"}, "InvalidSignatureException"),
        ({"api_key": f"AKIA{'X' * 16}:{SECRET}"}, "UnrecognizedClientException"),
        ({"region": "us-esat-1"}, "InvalidSignatureException"),
    ],
)
def test_the_adapter_reads_the_strict_provider_s_denial_as_aws_s_own(settings: dict[str, Any], name: str) -> None:
    request = sent(**settings)
    parts = urlsplit(request.url)
    headers = {"host": parts.netloc, **request.headers}
    asked = ask(DIALECT, Request("POST", parts.path, headers, request.body), own_endpoint(DIALECT))
    response = answer_strictly(asked)
    head = type("Head", (), {"status": response.status, "headers": dict(response.headers)})
    error = BedrockConverseAdapter(api_key="k" * 40).read_error(head, response.body)  # type: ignore[arg-type]
    assert (error.status, error.provider_code, error.is_retryable) == (403, name, False)


# Messages


def test_what_is_written_here_the_sdk_reads_and_the_other_way_round() -> None:
    events = [write_message("a", {"text": "é \u2713"}), write_message("throttlingException", {}, kind="exception")]
    frames = AwsEventStream().feed(b"".join(events))
    assert [frame.event for frame in frames] == ["a", "ThrottlingException"]
    assert [one.name for one in read_messages(b"".join(events))] == ["a", "throttlingException"]
    assert b"".join(one.write() for one in read_messages(b"".join(events))) == b"".join(events)


BROKEN = {
    "cut short": (write_message("a", 1)[:-1], "cut short"),
    "a wrong checksum": (write_message("a", 1)[:-1] + b"!", "its checksum is wrong"),
    "text": (b"data: 1\n\ndata: 2\n\n", "there is no message at byte 0"),
    "a number as a header": (write_message("a", 1) + b"\x00", "there is no message at byte"),
}


@pytest.mark.parametrize(("stream", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_message_is_not_read(stream: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        list(read_messages(stream))
    assert DIALECT.streams.order.judge(stream)


def test_text_is_no_message() -> None:
    assert not is_messages(b"data: {}\n\n")
    assert not is_messages(struct.pack("!III", 16, 0, 0))


KEY = KEY_ID.replace("EXAMPLE", "4N8P3R5")  # nobody's, in the form of one


def recording(answer: bytes) -> Exchange:
    kind = {"content-type": "application/vnd.amazon.eventstream"}
    given: dict[str, Any] = {"method": "POST", "uri": "http://h/model/m/converse-stream", "request_body": b"{}"}
    return Exchange(**given, request_headers={}, status=200, reason="OK", answer_headers=kind, answer_body=answer)


def test_a_recorded_stream_is_scrubbed_message_by_message_and_stays_sound() -> None:
    given = recording(
        write_message("contentBlockDelta", {"delta": {"text": f"the key {KEY}"}}) + write_message("b", {})
    )
    scrubbed = Scrubber().exchange(given).answer_body
    (first, _) = stream_items(scrubbed)
    assert first == {"contentBlockDelta": {"delta": {"text": f"the key {REDACTED}"}}}
    assert [one.name for one in read_messages(scrubbed)] == ["contentBlockDelta", "b"]
    broken = write_message("a", {"key": KEY})[:-1] + b"!"
    assert KEY.encode() not in Scrubber().exchange(recording(broken)).answer_body


def test_a_stream_of_another_providers_model_is_read_out_of_its_wrapping() -> None:
    events = [{"type": "message_start"}, {"type": "ping"}, {"type": "message_stop"}]
    wrapped = [{"bytes": b64encode(json.dumps(event).encode()).decode(), "p": "abc"} for event in events]
    assert [*stream_items(b"".join(write_message("chunk", one) for one in wrapped))] == events
    assert [*stream_items(write_message("chunk", {"bytes": 7}))] == [{"chunk": {"bytes": 7}}]


def test_a_signature_is_not_recorded() -> None:
    request = sent(f"{KEY_ID}:{SECRET}:token")
    given = {"request_headers": dict(request.headers), "request_body": request.body, "uri": request.url}
    kept = Scrubber().exchange(Exchange(**{**vars_of(recording(b"")), **given}))
    assert set(kept.request_headers) == {"accept", "content-type"}


def vars_of(exchange: Exchange) -> dict[str, Any]:
    return {name: getattr(exchange, name) for name in exchange.__struct_fields__}


def test_recordings_of_streams_are_compared_by_their_events() -> None:
    one, other = (recording(write_message("a", {"id": name, "n": 1})) for name in ("x", "y"))
    assert is_same_recording((one,), (other,))
    assert not is_same_recording((one,), (recording(write_message("a", {"id": "x", "n": 2})),))


# Requests


SAME: dict[str, tuple[Any, Any]] = {
    "texts of the assistant in blocks": (
        {"messages": [{"role": "assistant", "content": [{"text": "a"}, {"text": "b"}]}]},
        {"messages": [{"role": "assistant", "content": [{"text": "ab"}]}]},
    ),
    "a result as JSON": (
        {
            "messages": [
                {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"json": {"n": 1}}]}}]}
            ]
        },
        {
            "messages": [
                {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": '{"n":1}'}]}}]}
            ]
        },
    ),
    "a status of success": (
        {
            "messages": [
                {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [], "status": "success"}}]}
            ]
        },
        {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": []}}]}]},
    ),
    "a choice in Claude's own field": (
        {"messages": [], "additionalModelRequestFields": {"tool_choice": {"type": "any"}}},
        {"messages": [], "toolConfig": {"tools": [], "toolChoice": {"any": {}}}},
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_forms_that_mean_the_same_decode_to_the_same(one: Any, other: Any) -> None:
    first, second = (decode("bedrock-converse", payload) for payload in (one, other))
    assert (first.prompt, first.tools, first.options, first.opaque) == (second.prompt, second.tools, second.options, {})


def test_the_url_has_the_model_and_whether_to_stream() -> None:
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3A0/converse-stream"
    assert decode("bedrock-converse", {"messages": []}, url=url).options == {"model": "a:0", "stream": True}


def test_what_bedrock_s_own_tools_did_is_kept_with_its_place() -> None:
    use = {"toolUseId": "s", "name": "n", "type": "server_tool_use", "input": {}}
    content: list[Any] = [{"text": "a"}, {"toolUse": use}, {"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]
    message: Any = decode("bedrock-converse", {"messages": [{"role": "assistant", "content": content}]}).prompt[0]
    assert [call.id for call in message.tool_calls] == ["c"]
    assert message.extensions == {"bedrock-converse": {"blocks": [{"at": 1, "block": {"toolUse": use}}]}}


@pytest.fixture(scope="module")
def provider() -> Iterator[StrictProvider]:
    with StrictProvider("bedrock-converse") as one:
        yield one


SPEC = {"name": "look", "description": "Looks.", "inputSchema": {"json": {"type": "object", "properties": {}}}}


def test_botocore_s_client_signs_for_the_strict_provider_and_reads_what_our_adapter_reads(
    provider: StrictProvider,
) -> None:
    official("botocore")
    keys = {"aws_access_key_id": KEY_ID, "aws_secret_access_key": SECRET}
    client = botocore_session().create_client(
        "bedrock-runtime", region_name="us-east-1", endpoint_url=provider.url, **keys
    )
    request = {
        "modelId": MODEL,
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
        "toolConfig": {"tools": [{"toolSpec": SPEC}]},
    }
    (use,) = [block["toolUse"] for block in client.converse(**request)["output"]["message"]["content"]]
    events = list(client.converse_stream(**request)["stream"])
    client.close()
    adapter = BedrockConverseAdapter(api_key=f"{KEY_ID}:{SECRET}", base_url=provider.url, model=MODEL)
    tools = [{"name": "look", "description": "Looks.", "inputSchema": SPEC["inputSchema"]["json"]}]
    for streamed in (False, True):
        options = {"thread_id": "t", "tools": tools, "stream": streamed}
        (call,) = adapter.complete_sync(PROMPT, options).message.tool_calls
        assert call.function.name == use["name"] == "look"
        assert json.loads(call.function.arguments) == use["input"]
    adapter.close()
    assert [next(iter(event)) for event in events][-2:] == ["messageStop", "metadata"]
    assert [exchange.response.status for exchange in provider.seen()] == [200] * 4


def test_botocore_s_client_gets_a_named_error_for_a_wrong_secret(provider: StrictProvider) -> None:
    official("botocore")
    keys = {"aws_access_key_id": KEY_ID, "aws_secret_access_key": "wrong"}
    client = botocore_session().create_client(
        "bedrock-runtime", region_name="us-east-1", endpoint_url=provider.url, **keys
    )
    with pytest.raises(client.exceptions.ClientError) as raised:
        client.converse(modelId=MODEL, messages=[{"role": "user", "content": [{"text": "hi"}]}])
    client.close()
    assert raised.value.response["Error"]["Code"] == "InvalidSignatureException"


def test_errors_are_named_as_botocore_names_those_of_their_status() -> None:
    converse = botocore_session().get_service_model("bedrock-runtime").operation_model("Converse")
    known = [(one.metadata["error"]["httpStatusCode"], one.name) for one in converse.error_shapes]
    assert len(known) > 6
    assert {name_error(status, "?") for status, _ in known} <= {name for _, name in known}
    assert all((status, name_error(status, "?")) in known for status, _ in known)


def botocore_session() -> Any:
    return official("botocore.session").Session()


OUT_OF_BOUNDS: dict[str, list[dict[str, Any]]] = {
    "ConverseRequestAdditionalModelResponseFieldPathsList": [
        {"additionalModelResponseFieldPaths": [f"/{number}" for number in range(11)]}
    ],
    "InferenceConfigurationStopSequencesList": [{"inferenceConfig": {"stopSequences": ["x"] * 2_501}}],
    "RequestMetadata": [
        {"requestMetadata": {}},
        {"requestMetadata": {str(number): "" for number in range(17)}},
        {"requestMetadata": {"{": ""}},
        {"requestMetadata": {"k" * 257: ""}},
    ],
    "ToolConfigurationToolsList": [{"toolConfig": {"tools": []}}],
}
"""By the shape of the service's model."""


def test_every_bound_of_a_list_or_a_map_is_judged() -> None:
    """The schemas leave them to rules."""
    shapes = official("botocore.loaders").Loader().load_service_model("bedrock-runtime", "service-2")["shapes"]
    bounded = {name for name in _shapes_below("ConverseRequest", shapes) if {"min", "max"} & shapes[name].keys()}
    assert OUT_OF_BOUNDS.keys() == {name for name in bounded if shapes[name]["type"] in ("list", "map")}
    said = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    for more in [one for several in OUT_OF_BOUNDS.values() for one in several]:
        found = judge("bedrock-converse", said | more)
        assert [one.message for one in found if one.severity == "reject"], more


def _shapes_below(name: str, shapes: Any) -> set[str]:
    waiting, seen = [name], set[str]()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            parts = [shapes[one][part] for part in ("member", "key", "value") if part in shapes[one]]
            waiting += [part["shape"] for part in (*parts, *shapes[one].get("members", {}).values())]
    return seen
