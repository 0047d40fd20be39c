"""Texts that are hard for patterns: long runs of what secrets begin with, are made of, or are surrounded by.

Each is a unit that is repeated, and an end. A pattern that reads such a run again from each of its places needs
quadratic time. It is a table without tests, so that other scripts can use it.
"""

from __future__ import annotations

from collections.abc import Iterator

from secret_kinds import FRAMED, HEADED, kinds

UNITS = {
    "a word": "lorem ", "letters": "a", "digits": "7", "upper case": "A", "hexadecimal": "a0", "blanks": " ",
    "line breaks": "\n", "bearer": "bearer+", "bearer and blanks": "bearer ", "basic": "basic%20", "dots": "a.",
    "at signs": "a@", "at signs alone": "@", "at and dots": "a@b.", "domains": "@a.1.", "percent": "%41",
    "percent twice": "%2541", "percent alone": "%", "plus": "a+", "escapes": "\\u0041", "escaped escapes": "\\\\u0041",
    "backslashes": "\\", "escaped quotes": '\\"', "hexadecimal escapes": "\\x41", "quotes": '"', "UTF-16": "s\0",
    "UTF-16, big end first": "\0s", "NUL": "\0", "base64": "QUFB", "base64 of URLs": "QU-_",
    "base64 in lines": "QUFBQUFBQUFBQUFBQUFBQUFB\n", "short lines": "QUFB\n",
    "dashes": "-",
    "underscores": "_", "slashes": "/", "colons": ":", "equals": "=", "octets": "1.", "addresses": "84.115.23.77.",
    "addresses of version 6": "2a02:", "web tokens": "eyJ", "web tokens and dashes": "eyJaaaaaaa-", "tokens with dots":
    "eyJaaaaaaaa.", "keys in PEM": "-----BEGIN " + "PRIVATE KEY-----", "PEM without its end": "-----BEGIN " + "PRIVATE "
    "KEY-----\nabc-", "the word of PEM": "BEGIN ", "URLs": "://a:", "URLs with users": "://a:b", "names of values":
    "api_key", "values": "api_key=", "values of words": "secret: word ", "cookies": "cookie: a=", "parameters": "&key=",
    "projects": "projects/a", "resources": "/subscriptions/0", "groups": "/resourceGroups/a", "accounts": "account ",
    "UUIDs": "user_id 0000000-", "ARNs": "arn:aws:iam::", "ids of AWS": "AK" + "IA" + "A" * 16 + " ", "webhooks":
    "hooks.slack.com/services/", "events": 'data: {"a":"b"}\n', "events with deltas": 'data: {"delta":"s"}\n\n',
    "lines of JSON": '{"a":"sk"}\n', "broken events": "data: {\n", "objects": '{"a":', "lists": "[", "headers":
    "authorization:", "words of keys": "sk-learn-", "masks": "sk-***",
}  # fmt: skip
"""What is repeated, by a name."""


def hostile_texts(size: int) -> Iterator[tuple[str, str]]:
    """Each text with its name: every unit, every head of a key alone and with letters, every kind again and again."""
    heads = {name: shape[0] for name, shape in HEADED.items()}
    found = UNITS | {f"heads: {name}": head for name, head in heads.items()}
    found |= {f"heads and words: {name}": f"{head}word-" for name, head in heads.items()}
    found |= {f"kinds: {name}": f"{made.text} " for name, made in kinds().items()}
    found |= {f"half of a kind: {name}": made.text[: len(made.text) * 2 // 3] for name, made in kinds().items()}
    for name, unit in found.items():
        yield name, unit * (size // len(unit) + 1)
    assert len(found) > len(UNITS) + 2 * len(HEADED) + 2 * len(FRAMED)
