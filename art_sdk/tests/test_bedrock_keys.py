"""Bedrock's adapter: API keys, AWS keys and their signatures, and settings that are wrong."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from art_sdk import (
    BedrockConverseAdapter,
    InvalidConfig,
    ResponseHead,
)
from bedrock import KEYS, USER, adapter, headers_of

pytestmark = pytest.mark.usefixtures("no_aws")


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
    "no keys": ({"api_key": None}, "no AWS credentials; pass api_key, or set AWS_BEARER_TOKEN_BEDROCK"),
    "half a pair": ({"api_key": "AKIA:"}, "KEY_ID:SECRET or KEY_ID:SECRET:SESSION_TOKEN"),
    "too many parts": ({"api_key": "a:b:c:d"}, "KEY_ID:SECRET or KEY_ID:SECRET:SESSION_TOKEN"),
    "an unknown profile": ({"api_key": None, "profile": "nobody"}, r"The config profile \(nobody\) could not be found"),
    "a profile that is no name": ({"api_key": None, "profile": 5}, "must be the name of an AWS profile"),
    "no region's name": ({"region": "Frankfurt"}, "must be the name of an AWS region, such as us-east-1"),
    "a region that is no text": ({"region": 5}, "must be the name of an AWS region"),
    "another region than the URL's": (
        {"region": "us-east-1", "base_url": "https://bedrock-runtime.us-west-2.amazonaws.com"},
        "region is us-east-1, but base_url is in us-west-2",
    ),
    "a request's path": (
        {"base_url": "https://bedrock-runtime.us-west-2.amazonaws.com/model/m/converse"},
        r"pass https://bedrock-runtime\.us-west-2\.amazonaws\.com$",
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
    words = json.dumps({"message": f"... x-amz-security-token:a-session-token {KEYS.split(':')[1]} ..."}).encode()
    error = made.read_error(ResponseHead(403, {}), words)
    shown = f"{made!r} {vars(made)!r} {prepared!r} {error!r} {error.details} {error.raw_body!r}"
    assert "EXAMPLEKEY" not in shown
    assert "a-session-token" not in shown
    assert str(error).count("[api key]") == 2
