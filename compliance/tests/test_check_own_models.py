"""An adapter's own model, key and settings: what is right though it looks odd, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from art_sdk import BedrockConverseAdapter, OpenAIAdapter
from art_sdk.adapters.chat_completions.xai import XAIAdapter
from trials import assert_each_has, messages_of

pytestmark = pytest.mark.once

MODELS = "translation.every-model-gets-everything"
KEY = "response.key-is-never-shown"
SETTINGS = "load.settings-hold-for-every-call"


class Declares(XAIAdapter):
    """Declares what its own model can do, and refuses all else."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.capabilities = super().capabilities_of(self.model)

    def capabilities_of(self, model: str) -> Any:
        del model
        return self.capabilities


class KnowsItsModels(XAIAdapter):
    def __init__(self, *, model: str | None = None, **settings: Any) -> None:
        if model is not None and not model.startswith("grok-4.3"):
            raise ValueError(f"{model} is unknown")
        super().__init__(model=model, **settings)

    def capabilities_of(self, model: str) -> Any:
        del model
        return self.capabilities


@pytest.mark.parametrize("make", [Declares, KnowsItsModels])
def test_an_adapter_may_declare_or_take_its_own_model_alone(make: type[XAIAdapter]):
    assert messages_of(MODELS, make) == []


class SendsAnOldLimit(OpenAIAdapter):
    """Adds a field for its own model, whichever the call names."""

    def translate(self, prompt: Any, options: Any) -> Any:
        return {**super().translate(prompt, options), "seed": 4 if self.model == "o3-mini" else 5}


def test_a_request_that_depends_on_the_own_model_where_the_call_names_another_is_found():
    found = messages_of(MODELS, SendsAnOldLimit)
    assert_each_has(found, ["for o3-mini: the call that names the model is sent otherwise"] * 2)


class SendsKeysWhole(BedrockConverseAdapter):
    """Takes every key for an API key."""

    def __init__(self, *, api_key: str, **settings: Any) -> None:
        super().__init__(api_key=api_key.replace(":", "."), **settings)


class TakesNoKeysOfParts(BedrockConverseAdapter):
    def __init__(self, *, api_key: str, **settings: Any) -> None:
        if ":" in api_key:
            raise ValueError("it is not an API key")
        super().__init__(api_key=api_key, **settings)


@pytest.mark.parametrize("make", [SendsKeysWhole, TakesNoKeysOfParts])
def test_an_adapter_need_not_take_a_key_of_several_parts(make: type[BedrockConverseAdapter]):
    assert messages_of(KEY, make) == []


class NamesItsHeaders(OpenAIAdapter):
    """Puts its name into the headers that it is given, but at its first call alone."""

    def __init__(self, *, headers: dict[str, str] | None = None, **settings: Any) -> None:
        self._given = headers
        super().__init__(headers=headers, **settings)

    def request(self, payload: Any, options: Any) -> Any:
        if self._given is not None:
            self._given["user-agent"] = "an adapter"
        return super().request(payload, options)


def test_a_mapping_of_headers_that_changes_with_a_call_is_found():
    assert_each_has(messages_of(SETTINGS, NamesItsHeaders), ["changes the headers that it is made with"])


class MeansOtherHeaders(OpenAIAdapter):
    """Its `headers` are the names of those that it logs, and each call asks for the model of the class."""

    def __init__(self, *, headers: tuple[str, ...] = (), model: str | None = None, **settings: Any) -> None:
        if not isinstance(headers, tuple):
            raise TypeError("headers must be a tuple of names")
        del model
        super().__init__(**settings)


def test_a_setting_of_another_meaning_hides_no_other_setting():
    found = messages_of(SETTINGS, MeansOtherHeaders)
    assert found
    assert all("model" in message for message in found)
