"""Bedrock's keys and signatures, and its answers to requests without them."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple
from urllib.parse import quote, unquote_plus

from art_compliance.dialects.access import find_aws_key
from art_compliance.dialects.base import Access, Denial

KEY_ID: Final = "AKIAIOSFODNN7EXAMPLE"
SECRET: Final = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"  # noqa: S105 - AWS's documentation has it, for examples
"""The only AWS keys that are known here: those of AWS's documentation."""
_SESSION_TOKEN: Final = "art-compliance-session-token-0123456789abcdef"  # noqa: S105 - it opens nothing

_SERVICE: Final = "bedrock"
_SKEW: Final = 5 * 60
"""Seconds that a client's clock may differ: the errors' own text."""

_REGION: Final = re.compile(
    r"(us|us-gov|us-iso[bf]?|eu|eu-isoe|eusc-de|ap|sa|ca|me|af|il|mx|cn)-"
    r"(north|south|east|west|central|northeast|northwest|southeast|southwest)-\d{1,2}"
)
"""The form of a region's name: `regions` of each partition in botocore 1.44, data/partitions.json."""

NO_KEY: Final = Denial(403, "Authorization header is missing")  # https://github.com/karthink/gptel/issues/1397
WRONG_KEY: Final = Denial(403, "Authentication failed: Please make sure your API Key is valid.")
# https://github.com/anomalyco/opencode/issues/47073
UNKNOWN_ID: Final = Denial(403, "The security token included in the request is invalid.")  # recorded
WRONG_SIGNATURE: Final = Denial(  # https://github.com/BerriAI/litellm/issues/14763, without the canonical string
    403,
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details.",
)
WRONG_REGION: Final = Denial(403, "Credential should be scoped to a valid region.")
# https://github.com/earendil-works/pi/issues/3487
WRONG_SERVICE: Final = Denial(403, f"Credential should be scoped to correct service: '{_SERVICE}'.")
# https://github.com/boto/boto3/issues/4103 and others; of Bedrock inferred
EXPIRED: Final = "Signature expired: {at} is now earlier than {limit} ({now} - 5 min.)"
# https://github.com/anthropics/anthropic-sdk-go/issues/122
EARLY: Final = "Signature not yet current: {at} is still later than {limit} ({now} + 5 min.)"  # inferred: the twin


class _Signature(NamedTuple):
    """A header `authorization: AWS4-HMAC-SHA256 ...`, taken apart."""

    key_id: str
    date: str
    region: str
    service: str
    headers: str
    signature: str


_FORM: Final = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/,\s]+)/(\d{8})/([^/,\s]*)/([^/,\s]*)/aws4_request,\s*"
    r"SignedHeaders=([a-z0-9;-]+),\s*Signature=([0-9a-f]{64})"
)


def verify(
    method: str, target: str, headers: Mapping[str, str], body: bytes, *, clock: Callable[[], float] = time.time
) -> Denial | None:
    """The answer to a request whose signature is wrong; None for a good one, and for one with an API key."""
    given = headers.get("authorization", "")
    if not given.startswith("AWS4-"):
        return None
    form = _FORM.fullmatch(given)
    if form is None:
        return WRONG_SIGNATURE
    signature = _Signature(*form.groups())
    if signature.key_id != KEY_ID:
        return UNKNOWN_ID
    if signature.service != _SERVICE:
        return WRONG_SERVICE
    if not _REGION.fullmatch(signature.region):
        return WRONG_REGION
    at = headers.get("x-amz-date", "")
    late = _wrong_time(at, clock())
    if late is not None:
        return late
    wanted = _sign(signature, at, _canonical(method, target, headers, body, signature.headers))
    return None if hmac.compare_digest(wanted, signature.signature) else WRONG_SIGNATURE


def _wrong_time(at: str, now: float) -> Denial | None:
    if not re.fullmatch(r"\d{8}T\d{6}Z", at):
        return WRONG_SIGNATURE
    for text, limit, is_out in (
        (EXPIRED, now - _SKEW, at < _stamp(now - _SKEW)),
        (EARLY, now + _SKEW, at > _stamp(now + _SKEW)),
    ):
        if is_out:
            return Denial(403, text.format(at=at, limit=_stamp(limit), now=_stamp(now)))
    return None


def _stamp(moment: float) -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(moment))


def _canonical(method: str, target: str, headers: Mapping[str, str], body: bytes, signed: str) -> str:
    """The request as its client has signed it.

    Source: docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
    """
    path, _, query = target.partition("?")
    parameters = sorted(
        f"{quote(unquote_plus(name), safe='-_.~')}={quote(unquote_plus(value), safe='-_.~')}"
        for name, _, value in (pair.partition("=") for pair in query.split("&") if pair)
    )
    lines = [f"{name}:{' '.join(headers.get(name, '').split())}\n" for name in signed.split(";")]
    digest = headers.get("x-amz-content-sha256") or hashlib.sha256(body).hexdigest()
    return "\n".join((method, quote(path, safe="/-_.~"), "&".join(parameters), "".join(lines), signed, digest))


def _sign(signature: _Signature, at: str, canonical: str) -> str:
    scope = (signature.date, signature.region, signature.service, "aws4_request")
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(("AWS4-HMAC-SHA256", at, "/".join(scope), digest))
    key = f"AWS4{SECRET}".encode()
    for step in scope:
        key = hmac.digest(key, step.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


ACCESS: Final = Access(
    find_key=find_aws_key,
    advice=f"send the key as the header authorization: Bearer KEY, or sign the request with the keys of {KEY_ID}",
    no_key=NO_KEY,
    wrong_key=WRONG_KEY,
    verify=verify,
    key_of_parts=f"{KEY_ID}:{SECRET}:{_SESSION_TOKEN}",
)

NOT_JSON: Final = Denial(400, "Unable to parse request body as JSON")  # inferred: no text is quoted

NAMES: Final[Mapping[str, str]] = {
    NO_KEY.text: "AccessDeniedException",  # with that header: https://github.com/karthink/gptel/issues/1397
    WRONG_KEY.text: "AccessDeniedException",
    UNKNOWN_ID.text: "UnrecognizedClientException",  # https://github.com/vercel/ai/issues/4163
    WRONG_SIGNATURE.text: "InvalidSignatureException",  # boto/botocore#3587 and others
    WRONG_REGION.text: "InvalidSignatureException",
    WRONG_SERVICE.text: "InvalidSignatureException",
}
"""The names of the exceptions behind these texts."""
