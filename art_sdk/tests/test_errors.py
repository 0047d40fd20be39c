from __future__ import annotations

import copy
import json
import pickle

import pytest

from art_sdk import (
    ARTError,
    ErrorCode,
    InvalidConfig,
    LLMProviderError,
    PromptAssemblyFailed,
    PromptTranslationFailed,
    PromptValidationFailed,
)
from art_sdk.errors import RAW_BODY_LIMIT

PLAIN = {
    PromptValidationFailed: "PROMPT_VALIDATION_FAILED",
    PromptAssemblyFailed: "PROMPT_ASSEMBLY_FAILED",
    PromptTranslationFailed: "PROMPT_TRANSLATION_FAILED",
    InvalidConfig: "INVALID_CONFIG",
}


def _provider_error(**more: object) -> LLMProviderError:
    return LLMProviderError("went wrong", provider="acme", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "code"), PLAIN.items())
def test_each_class_has_its_stable_code(kind: type[ARTError], code: str) -> None:
    error = kind("it broke", details={"index": 3})
    assert error.code == code == ErrorCode(code)
    assert (error.message, str(error), error.details) == ("it broke", f"{code}: it broke", {"index": 3})


def test_no_code_is_without_a_class() -> None:
    assert {kind.code for kind in ARTError.__subclasses__()} == set(ErrorCode)


def test_details_are_an_empty_object_when_there_are_none() -> None:
    assert InvalidConfig("x").details == {}


def test_a_cause_is_kept() -> None:
    cause = KeyError("x")
    assert InvalidConfig("x", cause=cause).__cause__ is cause
    assert _provider_error(cause=cause).__cause__ is cause


def test_a_provider_error_tells_programs_what_it_knows_and_nothing_else() -> None:
    error = _provider_error(status=429, retry_after=0.0, raw_body=b"secret?")
    assert error.details == {"provider": "acme", "status": 429, "retry_after": 0.0, "is_retryable": False}
    assert json.loads(json.dumps(error.details)) == error.details


@pytest.mark.parametrize("length", [0, RAW_BODY_LIMIT - 1, RAW_BODY_LIMIT, RAW_BODY_LIMIT + 1, 10_000_000])
def test_the_raw_body_is_capped(length: int) -> None:
    assert len(_provider_error(raw_body=b"x" * length).raw_body) == min(length, 4096)


@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])  # noqa: S301
@pytest.mark.parametrize("error", [_provider_error(status=500, raw_body=b"b"), InvalidConfig("x", details={"a": 1})])
def test_an_error_survives_a_trip_to_another_process(error: ARTError, again) -> None:
    copied = again(error)
    assert type(copied) is type(error)
    assert (str(copied), vars(copied), copied.args) == (str(error), vars(error), error.args)
