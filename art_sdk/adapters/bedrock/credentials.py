"""What a request to Bedrock is signed with: an API key as a bearer token, or AWS keys (signature version 4).

`api_key` is a Bedrock API key, or AWS keys as `KEY_ID:SECRET` or `KEY_ID:SECRET:SESSION_TOKEN`: neither has a colon in
it. Without `api_key`, the environment variable AWS_BEARER_TOKEN_BEDROCK is read, as AWS's own clients do, then what
they find elsewhere: the AWS_* variables, a profile, a role. botocore signs, and finds and renews keys.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final, NamedTuple

from art_sdk.adapters.settings import is_given, require_key
from art_sdk.errors import InvalidConfig
from art_sdk.http.secret import Secret, without_frames

BEARER_VARIABLE: Final = "AWS_BEARER_TOKEN_BEDROCK"
DEFAULT_REGION: Final = "us-east-1"  # as anthropic 2.12 for Bedrock, `_infer_region`

_SERVICE: Final = "bedrock"  # `signingName` of bedrock-runtime in botocore 1.44
_HOST: Final = re.compile(r"^https?://bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com")
_REGION: Final = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+")
_SIGNED: Final = ("content-type",)
"""Headers that are signed besides `host` and those of the signature. A proxy may change others."""


class AwsKeys(NamedTuple):
    """AWS keys at one moment."""

    key_id: str
    secret: str
    token: str | None = None


class Signer:
    """Signs requests with AWS keys, which botocore may renew."""

    def __init__(self, credentials: Any, region: str) -> None:
        self._credentials = credentials
        self._region = region

    def __repr__(self) -> str:
        return f"Signer(region={self._region!r})"

    @property
    def keys(self) -> AwsKeys:
        """The keys as they are now."""
        frozen = self._credentials.get_frozen_credentials()
        return AwsKeys(Secret(frozen.access_key), Secret(frozen.secret_key), frozen.token and Secret(frozen.token))

    def sign(self, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        """The headers that carry the signature of a POST request. Raises InvalidConfig if there are no keys now."""
        try:
            return self._sign(url, headers, body)
        except Exception as error:  # noqa: BLE001 - whatever a source of keys raises
            without_frames(error)  # which have the keys as local variables
            fault = InvalidConfig(f"bedrock: no usable AWS credentials ({type(error).__name__}: {error})")
        raise fault

    def _sign(self, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        signed = {name: value for name, value in headers.items() if name in _SIGNED}
        request = _botocore("awsrequest").AWSRequest("POST", url, headers=signed, data=body)
        frozen = self._credentials.get_frozen_credentials()
        _botocore("auth").SigV4Auth(frozen, _SERVICE, self._region).add_auth(request)
        return {name.lower(): Secret(value) for name, value in request.headers.items() if name not in signed}


def find_access(api_key: object, profile: object, region: str) -> Secret | Signer:
    """The API key, or what signs with AWS keys. Raises InvalidConfig if there is neither."""
    if is_given(api_key):
        given = require_key(api_key, "bedrock")
        return _signer_of(given, region) if ":" in given else given
    token = os.environ.get(BEARER_VARIABLE)
    if token and not is_given(profile):
        return require_key(token, "bedrock")
    found = _ask_session(profile, lambda session: session.get_credentials())
    if found is None:
        raise InvalidConfig(
            f"bedrock: no AWS credentials; pass api_key, or set {BEARER_VARIABLE}, or AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or give a profile"
        )
    return Signer(found, region)


def _signer_of(given: str, region: str) -> Signer:
    parts = [Secret(part) for part in given.split(":")]
    if len(parts) > len(AwsKeys._fields) or not all(parts):
        raise InvalidConfig(
            "bedrock: AWS keys as api_key must be KEY_ID:SECRET or KEY_ID:SECRET:SESSION_TOKEN, with no part empty"
        )
    return Signer(_botocore("credentials").Credentials(*parts), region)


def find_region(region: object, base_url: object, profile: object) -> str:
    """The region: the given one, else that of `base_url`, of the environment or of the profile.

    Raises InvalidConfig if `region` is not the name of a region, or differs from the region of `base_url`.
    """
    at_host = _HOST.match(base_url) if isinstance(base_url, str) else None
    if not is_given(region):
        return at_host[1] if at_host else _usual_region(profile)
    if not isinstance(region, str) or not _REGION.fullmatch(region):
        raise InvalidConfig(f"bedrock: region must be the name of an AWS region, such as {DEFAULT_REGION}")
    if at_host and at_host[1] != region:
        raise InvalidConfig(f"bedrock: region is {region}, but base_url is in {at_host[1]}; pass only one of them")
    return region


def _usual_region(profile: object) -> str:
    found = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not found and is_given(profile):
        found = _ask_session(profile, lambda session: session.get_config_variable("region"))
    return found or DEFAULT_REGION


def _ask_session(profile: object, ask: Callable[[Any], Any]) -> Any:
    """What botocore knows of the profile, or of the usual one. Raises InvalidConfig with its own words."""
    if is_given(profile) and not isinstance(profile, str):
        raise InvalidConfig("bedrock: profile must be the name of an AWS profile")
    session = _botocore("session")
    try:
        return ask(session.Session(profile=profile or None))
    except Exception as error:  # noqa: BLE001 - botocore's errors of profiles and of files
        raise InvalidConfig(f"bedrock: {error}") from None


def _botocore(module: str) -> Any:
    """A module of botocore, imported when it is needed. Raises InvalidConfig if it is not installed."""
    try:
        return import_module(f"botocore.{module}")
    except ImportError:
        raise InvalidConfig(
            "bedrock: AWS keys need botocore to sign requests: pip install 'art-adapter-sdk[bedrock]'"
        ) from None
