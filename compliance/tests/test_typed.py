"""What `translate` of an adapter is given, which may have one of the SDK's inside: JSON data, or typed values."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.subject.typed import Typing
from art_sdk import OpenAIAdapter, UserMessage

PROMPT, OPTIONS = [{"role": "user", "content": "hello"}], {"thread_id": "t"}


def text_of(prompt: Any, _: Any) -> str:
    """Takes typed values alone."""
    text: str = prompt[0].content
    return text


def test_an_adapter_of_the_sdk_is_given_typed_values():
    [message] = Typing(OpenAIAdapter(api_key="k")).arguments(PROMPT, OPTIONS)[0]
    assert message == UserMessage("hello")


def test_any_other_is_given_json_data():
    assert Typing(object()).translated(lambda *given: given, PROMPT, OPTIONS) == ((PROMPT, OPTIONS), (PROMPT, OPTIONS))


def test_one_that_takes_typed_values_alone_is_given_them_from_then_on():
    typing = Typing(object())
    arguments, payload = typing.translated(text_of, PROMPT, OPTIONS)
    assert (arguments[0], payload) == ((UserMessage("hello"),), "hello")
    assert typing.arguments(PROMPT, OPTIONS)[0] == (UserMessage("hello"),)


def test_only_the_first_translation_tells():
    typing = Typing(object())
    typing.translated(lambda *given: given, PROMPT, OPTIONS)
    with pytest.raises(AttributeError):
        typing.translated(text_of, PROMPT, OPTIONS)
    assert typing.arguments(PROMPT, OPTIONS) == (PROMPT, OPTIONS)


def test_an_adapter_that_takes_neither_raises_what_it_raised_first():
    def translate(prompt: Any, _: Any) -> Any:
        raise TypeError(f"no {type(prompt[0]).__name__}")

    typing = Typing(object())
    with pytest.raises(TypeError, match="no dict"):
        typing.translated(translate, PROMPT, OPTIONS)
    assert typing.arguments(PROMPT, OPTIONS) == (PROMPT, OPTIONS)


def test_other_errors_are_not_about_types():
    def translate(prompt: Any, _: Any) -> Any:
        return {"dict": 1}[type(prompt[0]).__name__] / 0

    with pytest.raises(ZeroDivisionError):
        Typing(object()).translated(translate, PROMPT, OPTIONS)
