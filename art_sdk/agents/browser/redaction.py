"""Takes secrets out of everything that goes into a prompt: known values, and what looks like a key or a card.

A secret becomes `<secret>name</secret>`, which the agent may use in a command and the executor replaces. All texts
are redacted before anything is cut, so that no half of a secret is left.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast
from urllib.parse import quote, quote_plus

from art_sdk.agents.browser.pages.texts import shown
from art_sdk.errors import InvalidConfig
from art_sdk.json_data import is_array, is_object

SECRET_MINIMUM: Final = 4
"""The fewest characters of a known secret: shorter ones would be found everywhere."""

Secrets = Mapping[str, object]
"""Values by name, or by domain and name. A name may have several values: `{"pin": ["1234", "9876"]}`."""

_SEPARATOR: Final = "\0"


def _has_luhn(text: str) -> bool:
    """Whether a number has the check digit of a card."""
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [digit if at % 2 == 0 else sum(divmod(2 * digit, 10)) for at, digit in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and sum(doubled) % 10 == 0 and len(set(digits)) > 1


def _always(_: str) -> bool:
    return True


_PATTERNS: Final[tuple[tuple[str, str, str, Callable[[str], bool]], ...]] = (
    ("token", "e", r"yJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*", _always),
    ("token", "Bb", r"(?<!\w[Bb])[Ee][Aa][Rr][Ee][Rr]\s+[\w.~+/-]{16,}=*", _always),
    (
        "api_key",
        "srgxAhn",
        (
            r"(?<![\w-].)(?:(?<=s)k-[\w-]{16,}|(?<=[sr])k_(?:live|test)_\w{16,}|(?<=g)h[pousr]_\w{30,}"
            r"|(?<=g)ithub_pat_\w{22,}|(?<=g)lpat-[\w-]{20,}|(?<=x)ox[abposr]-[\w-]{10,}|(?<=A)[KS]IA[0-9A-Z]{16}"
            r"|(?<=A)Iza[\w-]{35}|(?<=h)f_\w{30,}|(?<=n)pm_\w{36}|(?<=g)sk_\w{20,})"
        ),
        _always,
    ),
    (
        "card_number",
        "0-9",
        r"(?<![\d.,-]\d)(?:\d{12,18}|\d{3}(?:-\d{4}){3}|\d{3}(?: \d{4}){3}|\d{3}[ -]\d{6}[ -]\d{5})(?![\d.]?\d)",
        _has_luhn,
    ),
    (
        "social_security_number",
        "0-8",
        r"(?<![\d-]\d)(?<!000)\d{2}(?<!000)(?<!666)-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])",
        _always,
    ),
)
"""What is a secret wherever it stands: its name, its first character, the rest, and what else must be true of it.

The forms of keys are those that the services document: GitHub, GitLab, Slack, AWS, Google, Stripe, Hugging Face, npm.
"""


class Redactor:
    """Redacts texts. `secrets` are the known values.

    Raises InvalidConfig, which names the entry and not its value, for a value that is not text or is too short.
    """

    def __init__(self, secrets: Secrets | None = None) -> None:
        self._names = _names_by_value(secrets or {})
        known = sorted(self._names, key=len, reverse=True)
        names = "|".join(map(re.escape, sorted({*self._names.values(), *(name for name, *_ in _PATTERNS)})))
        rest = [f"(?P<done>(?<=<)secret>(?:{names})</secret>)"]
        self._known = re.compile("|".join(map(re.escape, known))) if known else None
        if known:
            rest.append(f"(?P<known>{'|'.join(f'(?<={re.escape(one[0])}){re.escape(one[1:])}' for one in known)})")
        rest += [f"(?P<p{at}>(?<=[{first}]){form})" for at, (_, first, form, _) in enumerate(_PATTERNS)]
        begins = "<" + "".join(re.escape(one[0]) for one in known) + "".join(first for _, first, _, _ in _PATTERNS)
        # one set of first characters in front: re skips all others quickly
        self._pattern = re.compile(f"[{begins}](?:{'|'.join(rest)})")

    def redact(self, text: str) -> str:
        """The text without secrets. Redacting it again changes nothing."""
        return self.count_redacted(text)[0]

    def count_redacted(self, text: str) -> tuple[str, int]:
        """The text without secrets, and how many there were."""
        found = 0

        def replace(match: re.Match[str]) -> str:
            nonlocal found
            replaced = self._replace(match)
            found += replaced != match[0]
            return replaced

        return self._pattern.sub(replace, text), found

    def redact_all(self, texts: Sequence[str]) -> list[str]:
        """Many texts at once. A secret must stand in one of them, not across two."""
        joined = _SEPARATOR.join(text.replace(_SEPARATOR, "") for text in texts)
        return self.redact(joined).split(_SEPARATOR) if texts else []

    def redact_data(self, data: Any) -> Any:
        """JSON data with all its texts and keys redacted."""
        if isinstance(data, str):
            return self.redact(data)
        if is_object(data):
            return {self.redact_data(key): self.redact_data(value) for key, value in data.items()}
        return [self.redact_data(item) for item in data] if is_array(data) else data

    def _replace(self, match: re.Match[str]) -> str:
        kind = match.lastgroup or "done"
        if kind == "done":
            return match[0]
        if kind == "known":
            return _placeholder(self._names[match[0]])
        name, _, _, is_secret = _PATTERNS[int(kind[1:])]
        if is_secret(match[0]):
            return _placeholder(name)
        if self._known is None:
            return match[0]
        return self._known.sub(lambda known: _placeholder(self._names[known[0]]), match[0])  # such as a PIN in a number

    def __repr__(self) -> str:
        return f"Redactor({len(self._names)} values)"


def _placeholder(name: str) -> str:
    return f"<secret>{name}</secret>"


def _names_by_value(secrets: Secrets) -> dict[str, str]:
    """The safe name of every form of every value."""
    found: dict[str, str] = {}
    given = list(_read_secrets(secrets))
    for at, (name, value) in enumerate(given, 1):
        is_safe = _NAME.fullmatch(name) and not any(secret in name for _, secret in given)
        for form in _forms(value):
            found.setdefault(form, name if is_safe else f"secret-{at}")
    return found


_NAME: Final = re.compile(r"[\w.@ -]{1,64}")


def _read_secrets(secrets: Secrets) -> Iterable[tuple[str, str]]:
    for name, value in secrets.items():
        if is_object(value):
            for inner, one in value.items():
                yield from _read_values(f"{name}.{inner}", str(inner), one)
        else:
            yield from _read_values(name, name, value)


def _read_values(place: str, name: str, values: object) -> Iterable[tuple[str, str]]:
    for value in cast("Sequence[object]", values) if is_array(values) else (values,):
        if not isinstance(value, str):
            raise InvalidConfig(f"the secret '{place}' must be text, or a list of texts")
        if len(value.strip()) < SECRET_MINIMUM:
            raise InvalidConfig(f"a secret of '{place}' has fewer than {SECRET_MINIMUM} characters")
        yield name, value


def _forms(value: str) -> set[str]:
    """The value as texts, pages, URLs and JSON write it."""
    plain = value.strip()
    collapsed = " ".join(plain.split())
    forms = {plain, collapsed, shown(plain), html.escape(plain), quote(plain, safe=""), quote_plus(plain)}
    forms |= {json.dumps(plain)[1:-1], json.dumps(plain, ensure_ascii=False)[1:-1]}
    return {form for form in forms if len(form) >= SECRET_MINIMUM}
