from __future__ import annotations

import copy
import json
import pickle

import pytest

from art_sdk import errors
from art_sdk.agents.browser import errors as browser_errors

PLAIN = {
    errors.PromptValidationFailed: "PROMPT_VALIDATION_FAILED",
    errors.PromptAssemblyFailed: "PROMPT_ASSEMBLY_FAILED",
    errors.PromptTranslationFailed: "PROMPT_TRANSLATION_FAILED",
    errors.InvalidConfig: "INVALID_CONFIG",
}


def _provider_error(**more: object) -> errors.LLMProviderError:
    return errors.LLMProviderError("went wrong", provider="acme", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "code"), PLAIN.items())
def test_each_class_has_its_stable_code(kind: type[errors.ARTError], code: str) -> None:
    error = kind("it broke", details={"index": 3})
    assert error.code == code == errors.ErrorCode(code)
    assert (error.message, str(error), error.details) == ("it broke", f"{code}: it broke", {"index": 3})


def test_no_code_is_without_a_class() -> None:
    kinds = {*errors.ARTError.__subclasses__(), *browser_errors.PromptManagerError.__subclasses__()}
    assert {kind.code for kind in kinds - {browser_errors.PromptManagerError}} == set(errors.ErrorCode)


def test_details_are_an_empty_object_when_there_are_none() -> None:
    assert errors.InvalidConfig("x").details == {}


def test_a_cause_is_kept() -> None:
    cause = KeyError("x")
    assert errors.InvalidConfig("x", cause=cause).__cause__ is cause
    assert _provider_error(cause=cause).__cause__ is cause


def test_the_details_of_a_provider_error_have_only_known_facts() -> None:
    error = _provider_error(status=429, retry_after=0.0, raw_body=b"secret?")
    assert error.details == {"provider": "acme", "status": 429, "retry_after": 0.0, "is_retryable": False}
    assert json.loads(json.dumps(error.details)) == error.details


@pytest.mark.parametrize(
    "length", [0, errors.RAW_BODY_LIMIT - 1, errors.RAW_BODY_LIMIT, errors.RAW_BODY_LIMIT + 1, 10_000_000]
)
def test_the_raw_body_is_capped(length: int) -> None:
    assert len(_provider_error(raw_body=b"x" * length).raw_body) == min(length, 4096)


@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])  # noqa: S301
@pytest.mark.parametrize(
    "error", [_provider_error(status=500, raw_body=b"b"), errors.InvalidConfig("x", details={"a": 1})]
)
def test_an_error_can_be_pickled_and_copied(error: errors.ARTError, again) -> None:
    copied = again(error)
    assert type(copied) is type(error)
    assert (str(copied), vars(copied), copied.args) == (str(error), vars(error), error.args)
