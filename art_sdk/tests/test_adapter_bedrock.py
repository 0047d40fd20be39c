from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from art_sdk import (
    BedrockConverseAdapter,
    CallInfo,
    CallOptions,
    EndEvent,
    ErrorEvent,
    InvalidConfig,
    LLMProviderError,
    PromptTranslationFailed,
    ResponseHead,
    StreamEvent,
    TokenEvent,
    fold,
)
from aws_messages import message

USER = {"role": "user", "content": "hi"}
TOOLS = [{"name": "f", "description": "Looks.", "inputSchema": {"type": "object"}}]
INFO = CallInfo(thread_id="t", trace_id="r", model="m")
STREAM = {"content-type": "application/vnd.amazon.eventstream"}
KEYS = "AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
AWS = ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION")


@pytest.fixture(autouse=True)
def _no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys of the machine that runs the tests, and no requests for those of an instance."""
    for name in (*AWS, "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / name))


def adapter(**settings: Any) -> BedrockConverseAdapter:
    return BedrockConverseAdapter(**{"api_key": "key", **settings})


def headers_of(made: BedrockConverseAdapter, **options: Any) -> Any:
    return made.prepare([USER], {"thread_id": "t", **options}).request.headers


def read(*events: bytes) -> list[StreamEvent]:
    reader = adapter().stream_reader(ResponseHead(200, STREAM), INFO)
    return [*reader.feed(b"".join(events)), *reader.close()]


# What is sent


def test_everything_has_its_place(translate: Callable[..., Any], call: Any, result: Any) -> None:
    prompt = [{"role": "system", "content": "Be brief."}, USER, call("c", name="f"), result("c", content="7"), USER]
    payload = translate(adapter(), prompt, tools=TOOLS, tool_choice="required", max_tokens=9, stop=["END"])
    assert payload == {
        "messages": [
            {"role": "user", "content": [{"text": "hi"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]},
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "7"}]}}, {"text": "hi"}],
            },
        ],
        "system": [{"text": "Be brief."}],
        "toolConfig": {
            "tools": [
                {"toolSpec": {"name": "f", "description": "Looks.", "inputSchema": {"json": {"type": "object"}}}}
            ],
            "toolChoice": {"any": {}},
        },
        "inferenceConfig": {"maxTokens": 9, "stopSequences": ["END"]},
    }


def test_a_response_schema_goes_as_text(translate: Callable[..., Any]) -> None:
    sent = translate(adapter(), [USER], response_schema={"type": "object"})["outputConfig"]["textFormat"]
    assert sent == {"type": "json_schema", "structure": {"jsonSchema": {"schema": '{"type":"object"}'}}}


def test_documents_and_fields_of_the_model_go_through_the_provider_s_own_fields(translate: Callable[..., Any]) -> None:
    own = {"additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}}}
    assert translate(adapter(), [USER], provider={"bedrock-converse": own}).items() >= own.items()


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("amazon.nova-micro-v1:0", "/model/amazon.nova-micro-v1%3A0/converse"),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/a.b",
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fa.b/converse",
        ),
    ],
)
def test_the_model_is_one_segment_of_the_path(model: str, path: str) -> None:
    made = adapter().prepare([USER], {"thread_id": "t", "model": model}).request
    assert made.url == f"https://bedrock-runtime.us-east-1.amazonaws.com{path}"
    assert (
        adapter().prepare([USER], {"thread_id": "t", "model": model, "stream": True}).request.url
        == f"{made.url}-stream"
    )


REFUSED: dict[str, tuple[str, list[Any], dict[str, Any], str]] = {
    "system": (
        "mistral.mistral-7b-instruct-v0:2",
        [{"role": "system", "content": "s"}, USER],
        {},
        "no system messages",
    ),
    "tools": ("us.deepseek.r1-v1:0", [USER], {"tools": TOOLS}, "takes no tools"),
    "tools in a stream": (
        "us.meta.llama4-scout-17b-instruct-v1:0",
        [USER],
        {"tools": TOOLS, "stream": True},
        "in a stream",
    ),
    "stop": ("openai.gpt-oss-120b-1:0", [USER], {"stop": ["END"]}, "no stop sequences"),
    "prefill": ("us.anthropic.claude-sonnet-4-6", [USER, {"role": "assistant", "content": "So"}], {}, "at the end"),
    "both samplings": (
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        [USER],
        {"temperature": 0.5, "top_p": 0.5},
        "not both",
    ),
    "tool_choice none": (
        "amazon.nova-lite-v1:0",
        [USER],
        {"tools": TOOLS, "tool_choice": "none"},
        "but for Claude; leave the tools out",
    ),
    "parallel": ("amazon.nova-lite-v1:0", [USER], {"tools": TOOLS, "parallel_tool_calls": False}, "on or off"),
    "blank text": ("amazon.nova-lite-v1:0", [{"role": "user", "content": " "}], {}, "is blank"),
    "an image by URL": (
        "amazon.nova-lite-v1:0",
        [{"role": "user", "content": [{"type": "image", "mime_type": "image/png", "url": "https://a/b.png"}]}],
        {},
        "s3://",
    ),
}


@pytest.mark.parametrize(("model", "prompt", "options", "words"), REFUSED.values(), ids=REFUSED)
def test_what_a_model_refuses_is_refused_first(
    model: str, prompt: list[Any], options: dict[str, Any], words: str, translate: Callable[..., Any]
) -> None:
    with pytest.raises(PromptTranslationFailed, match=words):
        translate(adapter(), prompt, model=model, **options)


def test_text_after_results_is_refused_for_the_models_that_refuse_it(
    translate: Callable[..., Any], call: Any, result: Any
) -> None:
    prompt = [USER, call("c"), result("c"), USER]
    translate(adapter(), prompt, tools=TOOLS)
    with pytest.raises(PromptTranslationFailed, match=r"\$\[3\].*in the turn of the results"):
        translate(adapter(), prompt, tools=TOOLS, model="mistral.mistral-large-2407-v1:0")


def test_calls_without_tools_are_refused(translate: Callable[..., Any], call: Any, result: Any) -> None:
    with pytest.raises(PromptTranslationFailed, match="takes calls only with tools"):
        translate(adapter(), [USER, call("c"), result("c")])


def test_an_image_comes_from_s3(translate: Callable[..., Any]) -> None:
    part = {"type": "image", "mime_type": "image/png", "url": "s3://bucket/a.png"}
    [sent] = translate(adapter(), [{"role": "user", "content": [part]}])["messages"][0]["content"]
    assert sent == {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://bucket/a.png"}}}}


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ({"tool_choice": "none"}, {"type": "none"}),
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        (
            {"tool_choice": "f", "parallel_tool_calls": True},
            {"type": "tool", "name": "f", "disable_parallel_tool_use": False},
        ),
    ],
)
def test_claude_has_a_field_of_its_own_for_parallel_calls(
    options: dict[str, Any], choice: dict[str, Any], translate: Callable[..., Any]
) -> None:
    own = {"additionalModelRequestFields": {"thinking": {"type": "disabled"}}}
    sent = translate(adapter(), [USER], tools=TOOLS, provider={"bedrock-converse": own}, **options)
    assert sent["additionalModelRequestFields"] == {"tool_choice": choice, "thinking": {"type": "disabled"}}
    assert "toolChoice" not in sent["toolConfig"]


# Keys


def test_an_api_key_is_a_bearer_token() -> None:
    assert headers_of(adapter(api_key="ABSK12"))["authorization"] == "Bearer ABSK12"


def test_the_environment_s_api_key_is_used_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "ABSK34")
    assert headers_of(BedrockConverseAdapter())["authorization"] == "Bearer ABSK34"


@pytest.mark.parametrize("token", [None, "session"])
def test_aws_keys_sign_as_botocore_s_own_client_does(token: str | None) -> None:
    made = adapter(api_key=KEYS if token is None else f"{KEYS}:{token}", region="eu-west-1")
    sent = made.prepare([USER], {"thread_id": "t", "model": "amazon.nova-micro-v1:0"}).request
    credentials = import_module("botocore.credentials").Credentials(*KEYS.split(":"), token)
    headers = {"content-type": "application/json", "x-amz-date": sent.headers["x-amz-date"]}
    again = import_module("botocore.awsrequest").AWSRequest("POST", sent.url, headers=headers, data=sent.body)
    again.context["timestamp"] = sent.headers["x-amz-date"]
    auth = import_module("botocore.auth").SigV4Auth(credentials, "bedrock", "eu-west-1")
    if token is not None:
        again.headers["x-amz-security-token"] = token
    signature = auth.signature(auth.string_to_sign(again, auth.canonical_request(again)), again)
    assert sent.headers["authorization"].endswith(f"Signature={signature}")
    assert sent.headers.get("x-amz-security-token") == token


def test_the_environment_s_keys_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    key_id, secret = KEYS.split(":")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    made = BedrockConverseAdapter()
    assert made.base_url == "https://bedrock-runtime.us-west-2.amazonaws.com"
    assert f"Credential={key_id}/" in headers_of(made)["authorization"]
    assert "/us-west-2/bedrock/aws4_request" in headers_of(made)["authorization"]


def test_a_profile_signs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    key_id, secret = KEYS.split(":")
    lines = ["[work]", f"aws_access_key_id = {key_id}", f"aws_secret_access_key = {secret}", "region = eu-central-1"]
    (tmp_path / "AWS_SHARED_CREDENTIALS_FILE").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "ABSK34")
    made = BedrockConverseAdapter(profile="work")
    assert "/eu-central-1/bedrock/aws4_request" in headers_of(made)["authorization"]


BAD_SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "no keys": ({"api_key": None}, "no AWS credentials; give api_key, or set AWS_BEARER_TOKEN_BEDROCK"),
    "half a pair": ({"api_key": "AKIA:"}, "KEY_ID:SECRET or KEY_ID:SECRET:SESSION_TOKEN"),
    "too many parts": ({"api_key": "a:b:c:d"}, "KEY_ID:SECRET or KEY_ID:SECRET:SESSION_TOKEN"),
    "an unknown profile": ({"api_key": None, "profile": "nobody"}, r"The config profile \(nobody\) could not be found"),
    "a profile that is no name": ({"api_key": None, "profile": 5}, "must be the name of an AWS profile"),
    "no region's name": ({"region": "Frankfurt"}, "must be the name of an AWS region, such as us-east-1"),
    "a region that is no text": ({"region": 5}, "must be the name of an AWS region"),
    "another region than the URL's": (
        {"region": "us-east-1", "base_url": "https://bedrock-runtime.us-west-2.amazonaws.com"},
        "region is us-east-1, but base_url is that of us-west-2",
    ),
    "a request's path": (
        {"base_url": "https://bedrock-runtime.us-west-2.amazonaws.com/model/m/converse"},
        r"give https://bedrock-runtime\.us-west-2\.amazonaws\.com$",
    ),
}


@pytest.mark.parametrize(("settings", "words"), BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_a_bad_setting_is_one_clear_error(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidConfig, match=words.replace("'", ".")):
        adapter(**settings)


def test_aws_keys_without_botocore_are_one_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore.credentials", None)
    with pytest.raises(
        InvalidConfig, match=r"need botocore to sign requests: pip install 'art-adapter-sdk\[bedrock\]'"
    ):
        adapter(api_key=KEYS)
    assert adapter(api_key="ABSK12").model


def test_no_repr_and_no_error_shows_the_secret() -> None:
    made = adapter(api_key=f"{KEYS}:a-session-token")
    prepared = made.prepare([USER], {"thread_id": "t"})
    words = json.dumps({"message": "... x-amz-security-token:a-session-token ..."}).encode()
    error = made.read_error(ResponseHead(403, {}), words)
    shown = f"{made!r} {vars(made)!r} {prepared!r} {error!r} {error.details}"
    assert "EXAMPLEKEY" not in shown
    assert "a-session-token" not in shown
    assert "[api key]" in str(error)


# What comes back

START = message("messageStart", {"role": "assistant", "p": "ab"})
STOP = message("messageStop", {"stopReason": "end_turn", "p": "abc"})
USAGE = {"inputTokens": 5, "outputTokens": 3, "totalTokens": 18, "cacheReadInputTokens": 7, "cacheWriteInputTokens": 3}
METADATA = message("metadata", {"usage": USAGE, "metrics": {"latencyMs": 1}})


def delta(index: int, **said: Any) -> bytes:
    return message("contentBlockDelta", {"contentBlockIndex": index, "delta": said, "p": "abcdef"})


def begin(index: int, **block: Any) -> bytes:
    return message("contentBlockStart", {"contentBlockIndex": index, "start": block})


def stop(index: int) -> bytes:
    return message("contentBlockStop", {"contentBlockIndex": index})


def test_reasoning_goes_back_with_its_signature_and_redacted_blocks(translate: Callable[..., Any]) -> None:
    events = read(
        START,
        *(delta(0, reasoningContent={"text": "hm"}), delta(0, reasoningContent={"signature": "c2ln"}), stop(0)),
        *(delta(1, reasoningContent={"redactedContent": "cmVk"}), stop(1)),
        *(delta(2, text="hello"), stop(2), STOP, METADATA),
    )
    done = fold(events)
    [*_, metadata, end] = events
    assert isinstance(end, EndEvent)
    assert [event.text for event in events if isinstance(event, TokenEvent)] == ["hm", "hello"]
    assert done.metadata.input_tokens == 15
    assert done.metadata.cached_tokens == 7
    payload = translate(adapter(), [USER, msgspec.to_builtins(end.message), USER])
    assert payload["messages"][1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "cmVk"}},
        {"text": "hello"},
    ]
    whole = {"output": {"message": {"content": payload["messages"][1]["content"]}}, "stopReason": "end_turn"}
    [*_, again] = adapter().read_response(ResponseHead(200, {}), json.dumps(whole).encode(), INFO)
    assert isinstance(again, EndEvent)
    assert again.message == end.message
    del metadata


def test_what_bedrock_s_own_tools_do_is_no_call_and_goes_back(translate: Callable[..., Any]) -> None:
    use = {"toolUseId": "s", "name": "nova_code_interpreter", "type": "server_tool_use"}
    events = read(
        START,
        *(begin(0, toolUse=use), delta(0, toolUse={"input": '{"snippet": "1"}'}), stop(0)),
        *(
            begin(1, toolResult={"toolUseId": "s", "status": "success"}),
            delta(1, toolResult=[{"json": {"out": 1}}]),
            stop(1),
        ),
        *(begin(2, toolUse={"toolUseId": "c", "name": "f"}), delta(2, toolUse={"input": ""}), stop(2)),
        *(message("messageStop", {"stopReason": "tool_use"}), METADATA),
    )
    end = events[-1]
    assert isinstance(end, EndEvent)
    assert end.message is not None
    assert [made.id for made in end.message.tool_calls] == ["c"]
    prompt = [USER, msgspec.to_builtins(end.message), {"role": "tool_result", "tool_call_id": "c", "content": "7"}]
    content = translate(adapter(), prompt, tools=TOOLS)["messages"][1]["content"]
    assert content[0] == {"toolUse": {**use, "input": {"snippet": "1"}}}
    assert content[1] == {"toolResult": {"toolUseId": "s", "status": "success", "content": [{"json": {"out": 1}}]}}
    assert content[2] == {"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}


BROKEN: dict[str, tuple[tuple[bytes, ...], str]] = {
    "no messageStart": ((delta(0, text="hi"),), "contentBlockDelta in the state 'begun'; messageStart may come here"),
    "a block open at the end": ((START, delta(0, text="hi"), STOP), "messageStop before the block 0 stopped"),
    "an index that was there": ((START, stop(1), delta(0, text="a")), "begins with the index 0, after the index 1"),
    "two kinds in a block": (
        (START, delta(0, text="a"), delta(0, toolUse={"input": ""})),
        "toolUse in a block of text",
    ),
    "a call without its start": (
        (START, delta(0, toolUse={"input": ""}), stop(0)),
        "did not begin with contentBlockStart",
    ),
    "no stopReason": ((START, message("messageStop", {})), "messageStop has no stopReason"),
    "no delta": ((START, message("contentBlockDelta", {"contentBlockIndex": 0})), "contentBlockDelta has no delta"),
    "no index": ((START, message("contentBlockStop", {})), "has no contentBlockIndex"),
    "an early end": ((START, delta(0, text="a"), stop(0)), "it stopped before messageStop"),
    "no metadata": ((START, STOP), "it stopped before metadata"),
    "half a message at the end": ((START, STOP, METADATA, METADATA[:-1]), "it stopped before the end of an event"),
    "a wrong checksum": ((START, STOP[:-1] + b"!"), "the checksum of a message is wrong"),
    "a call that is missing": (
        (START, message("messageStop", {"stopReason": "tool_use"}), METADATA),
        "there are no calls",
    ),
}


@pytest.mark.parametrize(("events", "words"), BROKEN.values(), ids=BROKEN)
def test_a_stream_out_of_order_is_one_clear_error(events: tuple[bytes, ...], words: str) -> None:
    error, end = read(*events)[-2:]
    assert isinstance(error, ErrorEvent)
    assert words in str(error.error)
    assert isinstance(end, EndEvent)


def test_events_and_blocks_that_nobody_knows_are_passed_over() -> None:
    events = read(
        START,
        message("newEvent", {"a": 1}),
        delta(0, text="hi"),
        delta(0, citation={}),
        stop(0),
        stop(3),
        STOP,
        METADATA,
    )
    assert fold(events).message.content == "hi"


@pytest.mark.parametrize(
    ("code", "is_retryable"),
    [
        ("throttlingException", True),
        ("serviceUnavailableException", True),
        ("internalServerException", True),
        ("modelStreamErrorException", True),
        ("validationException", False),
    ],
)
def test_an_exception_in_the_stream_keeps_its_name(code: str, is_retryable: bool) -> None:  # noqa: FBT001 - a row
    events = read(START, delta(0, text="hi"), message(code, {"message": "Too many requests."}, "exception"))
    error = next(event.error for event in events if isinstance(event, ErrorEvent))
    assert isinstance(error, LLMProviderError)
    assert (error.provider_code, error.provider_message) == (code[0].upper() + code[1:], "Too many requests.")
    assert error.is_retryable is is_retryable


@pytest.mark.parametrize(
    ("status", "head", "body", "code", "is_retryable"),
    [
        (
            429,
            {"x-amzn-errortype": "ThrottlingException:http://internal/"},
            {"message": "m"},
            "ThrottlingException",
            True,
        ),
        (
            400,
            {},
            {"__type": "com.amazon.coral.service#ValidationException", "message": "m"},
            "ValidationException",
            False,
        ),
        (424, {"x-amzn-errortype": "ModelErrorException"}, {"message": "m"}, "ModelErrorException", False),
        (408, {"x-amzn-errortype": "ModelTimeoutException"}, {"message": "m"}, "ModelTimeoutException", True),
        (403, {"x-amzn-errortype": "AccessDeniedException"}, {"Message": "m"}, "AccessDeniedException", False),
    ],
)
def test_an_error_answer_has_the_name_of_its_exception(
    status: int,
    head: dict[str, str],
    body: Any,
    code: str,
    is_retryable: bool,  # noqa: FBT001 - a row
) -> None:
    error = adapter().read_error(ResponseHead(status, head), json.dumps(body).encode())
    assert (error.provider_code, error.provider_message, error.is_retryable) == (code, "m", is_retryable)


def test_options_are_checked_once() -> None:
    made = adapter()
    options = CallOptions(thread_id="t")
    assert made.prepare([USER], options).request.body == made.prepare([USER], options).request.body
