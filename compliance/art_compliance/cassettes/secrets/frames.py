"""Secrets that are known by what is around them or by their whole form: headers, URLs, addresses, account ids.

Every pattern is linear: what may fail is bounded or never given back, and the rest comes after it. `accept` looks at
the match again where a pattern alone would find words, too.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from art_compliance.cassettes.secrets.addresses import is_foreign_address, is_private_mail, is_real_password
from art_compliance.cassettes.secrets.changes import REDACTED, Change
from art_compliance.cassettes.secrets.randomness import LOOKED_AT, looks_random


class Frame(NamedTuple):
    """Texts of one kind. The pattern is only tried where one of `needs` is in the text, in lower case.

    The groups `before` and `after` stay; what is between them is replaced. `accept` gets the match. What comes first is
    looked for before the keys that begin with letters of their own, as it needs them.
    """

    kind: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    accept: Callable[[re.Match[str]], bool] = bool
    put: str = REDACTED
    comes_first: bool = False


_UUID: Final = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_NO_WORD_BEFORE: Final = r"(?<![A-Za-z0-9])"
_NO_WORD_AFTER: Final = r"(?![A-Za-z0-9])"
_EQUALS: Final = r"(?:\\{0,3}[\"'])?[ \t]{0,4}(?::=|=>|[:=]|%3[ad])[ \t]{0,4}(?:\\{0,3}[\"'])?"
"""What is between a name and its value: in JSON (also as text in JSON), YAML, a header, an assignment."""


def _value_looks_random(match: re.Match[str]) -> bool:
    return looks_random(match["value"])


def _is_credential(match: re.Match[str]) -> bool:
    """Whether what follows `Bearer` or `Basic` is a token and not the next word."""
    value = match["value"][:LOOKED_AT]
    has_both = re.search("[0-9]", value) is not None and re.search("[A-Za-z]", value) is not None
    return value != REDACTED and (has_both or "=" in value or looks_random(value) or _names_a_user(value))


def _names_a_user(value: str) -> bool:
    """Whether it is base64 of a name and a password."""
    try:
        shown = binascii.a2b_base64(value[: len(value) // 4 * 4]).decode("ascii")
    except ValueError:
        return False
    return ":" in shown and shown.isprintable()


def _is_no_placeholder(match: re.Match[str]) -> bool:
    return match["value"] is None or re.fullmatch(r"[A-Z_]+", match["value"]) is None


FRAMES: Final[tuple[Frame, ...]] = (
    Frame(
        "a private key",
        ("private key",),
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,5}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[^\-\"'<>]*+(?:-(?!-)[^\-\"'<>]*+)*+-----END [A-Z0-9 ]{0,60}-----"
            r"|(?:\s|\\[nr]){0,8}[A-Za-z0-9+/=]{60,}+(?:\s|\\[nr]|[A-Za-z0-9+/=])*+)"
        ),
    ),
    Frame(
        "an AWS secret beside its id",
        ("akia", "asia"),
        re.compile(
            r"(?P<before>(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])[\s\S]{1,80}?(?<![A-Za-z0-9/+=]))"
            r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9+])"
        ),
        comes_first=True,
    ),
    Frame(
        "an authorization",
        ("bearer", "basic"),
        re.compile(r"(?i)\b(?P<before>bearer|basic)(?:\s{1,4}|%20|\+)(?P<value>[A-Za-z0-9._~+/=*-]{8,}+)"),
        _is_credential,
        " " + REDACTED,
    ),
    Frame(
        "a JSON web token",
        ("eyj",),
        re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,}+\.[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+)?"),
    ),
    Frame(
        "a value with a secret's name",
        ("key", "secret", "token", "passw", "credential", "authorization", "session"),
        re.compile(
            r"(?i)(?P<before>(?:(?:api|access|secret|private|subscription|account|auth|encryption|signing|service|admin)"
            r"[_ -]?keys?|secret|token|passw(?:or)?d|credentials?|authorization|session[_ -]?(?:id|key)|_session)"
            r"(?:[_-]?(?:id|value|[0-9]))?" + _EQUALS + r"(?:(?:bearer|basic|token|key|apikey)[ \t]{1,4})?)"
            r"(?P<value>[A-Za-z0-9._~+/=*!@#$%^-]{8,}+)"
        ),
        _value_looks_random,
    ),
    Frame(
        "a cookie",
        ("cookie",),
        re.compile(r"(?i)\b(?P<before>(?:set-)?cookie[\"']?:[ \t]{0,4}[\"']?)[\w.-]{1,64}=[^\r\n\"'\\<>]{4,}+"),
    ),
    Frame(
        "a key in a URL",
        ("key=", "token=", "sig=", "signature=", "credential=", "secret="),
        re.compile(
            r"(?i)(?P<before>(?:^|[?&;]|\\u0026|%26)(?:x-goog-|x-amz-)?(?:api[_-]?|access[_-]?|refresh[_-]?|client[_-]?|"
            r"security[_-]?|id[_-]?|auth[_-]?)?(?:key|token|sig|signature|credential|secret)=)"
            r"(?!REDACTED)(?P<value>[^&;\s'\"\\<>{}]{6,}+)",
            re.MULTILINE,
        ),
        _is_no_placeholder,
    ),
    Frame(
        "a password in a URL",
        ("://",),
        re.compile(r"(?P<before>://)[^\s:/@\"'\\<>]{1,100}:(?P<value>[^\s/@\"'\\<>]{1,200})(?P<after>@)"),
        is_real_password,
    ),
    Frame(
        "a key of an Azure account",
        ("accountkey=", "accesskey="),
        re.compile(r"(?i)(?P<before>(?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/=]{20,}+"),
    ),
    Frame(
        "a secret of Microsoft Entra",
        ("q~",),
        re.compile(r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])"),
    ),
    Frame("a Twilio key", ("sk", "ac"), re.compile(_NO_WORD_BEFORE + r"(?:SK|AC)[0-9a-f]{32}" + _NO_WORD_AFTER)),
    Frame(
        "a Telegram token",
        (":a",),
        re.compile(_NO_WORD_BEFORE + r"\d{8,10}:A[A-Za-z0-9_-]{34}(?![A-Za-z0-9_-])"),
    ),
    Frame("a Mailchimp key", ("-us",), re.compile(_NO_WORD_BEFORE + r"[0-9a-f]{32}-us\d{1,2}" + _NO_WORD_AFTER)),
    Frame(
        "a Discord token",
        (".",),
        re.compile(r"(?<![\w.-])[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![\w-])"),
    ),
    Frame(
        "a Terraform token",
        (".atlasv1.",),
        re.compile(_NO_WORD_BEFORE + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}+"),
    ),
    Frame("a Zhipu key", (".",), re.compile(_NO_WORD_BEFORE + r"[0-9a-f]{32}\.[A-Za-z0-9]{16}" + _NO_WORD_AFTER)),
    Frame(
        "a Harness token",
        ("pat.", "sat."),
        re.compile(_NO_WORD_BEFORE + r"(?:pat|sat)\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    ),
    Frame(
        "a Cloudflare key",
        ("v1.0-",),
        re.compile(_NO_WORD_BEFORE + r"v1\.0-[0-9a-f]{24}-[0-9a-f]{40,}+"),
    ),
    Frame(
        "a 1Password key",
        ("a3-",),
        re.compile(_NO_WORD_BEFORE + r"A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5}" + _NO_WORD_AFTER),
    ),
    Frame(
        "the URL of a webhook",
        ("hooks.slack.com/", "/api/webhooks/", ".webhook.office.com/"),
        re.compile(
            r"(?P<before>hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/"
            r"|\.webhook\.office\.com/webhookb2/)[A-Za-z0-9+/_@-]{20,}+"
        ),
    ),
    Frame(
        "a Google OAuth client",
        (".apps.googleusercontent.com",),
        re.compile(_NO_WORD_BEFORE + r"\d{6,20}-[a-z0-9]{16,40}(?P<after>\.apps\.googleusercontent\.com)"),
    ),
    Frame(
        "an AWS account",
        ("arn:aws",),
        re.compile(
            r"(?P<before>\barn:aws[a-z-]{0,12}:[a-z0-9-]{1,40}:[a-z0-9-]{0,30}:)"
            r"\d{12}(?::(?!foundation-model/|inference-profile/)[^\s\"'\\,;<>()\[\]{}]{1,512})?"
        ),
    ),
    Frame(
        "an AWS account",
        ("account",),
        re.compile(r"(?i)(?P<before>account(?:[ _-]?(?:id|no|number))?[\"' .:=#-]{1,6}(?:is )?)(?<!\d)\d{12}(?!\d)"),
    ),
    Frame(
        "an Azure subscription",
        ("/subscriptions/",),
        re.compile(r"(?i)(?P<before>/subscriptions/)(?!REDACTED)[0-9a-f-]{8,64}(?:/[A-Za-z0-9._()-]{1,90}){0,16}"),
    ),
    Frame(
        "an Azure resource group",
        ("/resourcegroups/",),
        re.compile(
            r"(?i)(?P<before>/resourceGroups/)(?!REDACTED)[A-Za-z0-9._()-]{1,90}(?:/[A-Za-z0-9._()-]{1,90}){0,12}"
        ),
    ),
    Frame(
        "an account's UUID",
        (
            "org",
            "proj",
            "workspace",
            "account",
            "tenant",
            "user",
            "team",
            "customer",
            "subscription",
            "session_",
            "client",
        ),
        re.compile(
            r"(?i)(?P<before>(?:organi[sz]ation|org|project|workspace|account|tenant|user|team|customer|subscription|"
            r"directory|principal|owner|member|client|object|_session)s?(?:[ _-]?(?:uuid|id|identifier|number))?"
            r"(?:[\"'\\\s:=/#(`_-]{1,6}|%3[ad]|%2f|\sis\s))" + _UUID + _NO_WORD_AFTER
        ),
    ),
    Frame(
        "a user's id",
        ("user_",),
        re.compile(_NO_WORD_BEFORE + r"(?P<before>user_)[0-9a-f]{32,64}" + _NO_WORD_AFTER),
    ),
    Frame(
        "a Google Cloud project",
        ("projects/",),
        re.compile(
            r"(?P<before>\bprojects/)(?!REDACTED)(?:\d{5,30}\b|[a-z][a-z0-9-]{3,28}-\d{5,10}\b"
            r"|(?P<value>[A-Za-z0-9][A-Za-z0-9_.:-]{1,62})(?=/(?:locations|regions|zones|serviceAccounts|topics|datasets|"
            r"publishers|global/)))"
        ),
        _is_no_placeholder,
    ),
    Frame(
        "a Google Cloud project",
        ("project",),
        re.compile(
            r"(?P<before>(?i:\bproject(?:s|[ _]number|[ _]id)?[ :=\"']{1,4}))\d{5,30}"
            r"|(?P<named>\bresource project )[a-z][a-z0-9-]{4,29}"
        ),
    ),
    Frame(
        "an e-mail address",
        ("@",),
        re.compile(
            r"(?<![A-Za-z0-9._%+-])(?P<local>[A-Za-z0-9._%+-]{1,64}+)@"
            r"(?P<domain>(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24})(?![A-Za-z0-9-])"
        ),
        is_private_mail,
    ),
    Frame(
        "an IP address",
        (".",),
        re.compile(r"(?<![\w.%])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)"),
        is_foreign_address,
    ),
    Frame(
        "an IP address",
        (":",),
        re.compile(r"(?<![\w:.%])[23][0-9a-fA-F]{3}:[0-9a-fA-F:]{2,35}(?![\w:])"),
        is_foreign_address,
    ),
)


def find_frame(frame: Frame, text: str) -> Iterator[Change]:
    """Every text of this kind."""
    for match in frame.pattern.finditer(text):
        if not frame.accept(match):
            continue
        groups = match.groupdict()
        before = groups.get("before") or groups.get("named") or ""
        after = groups.get("after") or ""
        yield Change(match.start() + len(before), match.end() - len(after), frame.put, frame.kind)
