from __future__ import annotations

import html
import json
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from art_sdk import InvalidConfig
from art_sdk.agents.browser.pages.page import read_page
from art_sdk.agents.browser.pages.texts import shown
from art_sdk.agents.browser.redaction import Redactor


def test_longer_secrets_are_found_before_those_they_contain():
    redactor = Redactor({"short": "hunter", "long": "hunter22"})
    assert redactor.redact("hunter22 hunter") == "<secret>long</secret> <secret>short</secret>"


def test_secrets_of_a_domain_and_all_values_under_one_name_are_redacted_everywhere():
    redactor = Redactor({"shop.example": {"pin": ["1234", "9876"]}, "user": "alice@mail"})
    assert redactor.redact("1234 9876 alice@mail") == "<secret>pin</secret> <secret>pin</secret> <secret>user</secret>"


def test_a_name_that_would_tell_the_secret_is_replaced():
    assert Redactor({"password": "password"}).redact("my password") == "my <secret>secret-1</secret>"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("eyJhbGciOiJI.eyJzdWIiOiIx.abc", "token"),
        ("Bearer abcdefghijklmnopqrst==", "token"),
        ("sk-abcdefghijklmnopqrst", "api_key"),
        ("AKIAABCDEFGHIJKLMNOP", "api_key"),
        ("ghp_012345678901234567890123456789", "api_key"),
        ("4111 1111 1111 1111", "card_number"),
        ("4111111111111111", "card_number"),
        ("3782 822463 10005", "card_number"),
        ("123-45-6789", "social_security_number"),
    ],
)
def test_what_looks_like_a_secret_is_redacted(text: str, name: str):
    assert Redactor().redact(f"a {text}, b") == f"a <secret>{name}</secret>, b"


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1112",
        "0000 0000 0000 0000",
        "1.4111111111111111",
        "666-11-1111",
        "000-12-3456",
        "task-abcdefghijklmnopqrst",
    ],
)
def test_what_only_resembles_a_secret_stays(text: str):
    assert Redactor().redact(text) == text


@pytest.mark.parametrize("value", ["abc", "  ab ", 5, None, ["abcd", 5]])
def test_a_secret_that_cannot_be_redacted_is_refused_without_its_value(value: object):
    with pytest.raises(InvalidConfig, match=r"'shop\.pin'") as caught:
        Redactor({"shop": {"pin": value}})
    assert "abcd" not in str(caught.value)


def test_a_redactor_shows_no_secret():
    assert repr(Redactor({"pin": "hunter22"})) == "Redactor(1 values)"


secrets = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp", "Co", "Mn")), min_size=6, max_size=30
).filter(lambda text: len(shown(text)) >= 6 and shown(text) == " ".join(text.split()) and "secret" not in text)
texts = st.text(max_size=60)


@given(secrets, texts, texts)
@example("000000", "1", "000000")  # together as long as the number of a card
def test_no_form_of_a_secret_is_left_and_redacting_again_changes_nothing(secret: str, before: str, after: str):
    redactor = Redactor({"one": secret})
    for form in (secret, html.escape(secret), quote(secret, safe=""), json.dumps(secret)[1:-1]):
        redacted = redactor.redact(before + form + after)
        assert form.strip() not in redacted
        assert redactor.redact(redacted) == redacted


@given(secrets, st.integers(0, 30))
def test_no_secret_stands_in_a_page_that_was_read(secret: str, at: int):
    hidden = html.escape(secret[:at]) + "\u200b" + html.escape(secret[at:])
    read = read_page(
        f'<title>{hidden}</title><p>{hidden}</p><a href="{hidden}">x{hidden}y</a>',
        limit=10_000,
        scrub=Redactor({"one": secret}).redact_all,
    )
    everything = " ".join([read.title, *(one.text + " ".join(one.values) for one in read.elements)])
    assert shown(secret) not in everything
    assert everything.count("<secret>one</secret>") == 4
