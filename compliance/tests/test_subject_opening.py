"""Opening an adapter: its factory, its dialect, what it declares, and closing it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from art_compliance import HarnessError, Selection, certify
from art_compliance.run.summary import summarize
from art_compliance.subject.factories import find_factory
from art_compliance.subject.opening import open_subject
from art_sdk import GeminiAdapter, OpenAIAdapter
from own_adapters import OwnAdapter

ONE_CHECK = Selection(scenarios=("one-question",), checks=("translation.outcome-is-right",))
SIMPLE = Selection(scenarios=("one-question", "multi-turn-history", "unicode", "sampling", "late-system"))


def test_a_name_finds_the_class_of_an_adapter():
    assert find_factory("gemini") is GeminiAdapter
    assert find_factory("art_sdk:OpenAIAdapter") is OpenAIAdapter


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("capabilities", ("flying",), "unknown capabilities flying; known: images, late_system"),
        (
            "losses",
            ("Result-Status", "x"),
            r"unknown losses Result-Status \(did you mean result_status\?\), x; known: ",
        ),
        ("losses", 5, "losses must be a set of names, not an int"),
        ("repairs", ("magic",), "unknown repairs magic"),
    ],
)
def test_an_unknown_declaration_is_an_error(attribute: str, value: Any, message: str):
    make = type("Declares", (OwnAdapter,), {attribute: value})
    with pytest.raises(HarnessError, match=message):
        certify(make, selection=SIMPLE, isolated=False)


@pytest.mark.parametrize("attribute", ["capabilities", "losses"])
def test_a_single_name_is_not_a_set_of_names(attribute: str):
    make = type("OneName", (OwnAdapter,), {attribute: "system"})
    with pytest.raises(HarnessError, match=f"{attribute} must be a set of names, not a str"):
        certify(make, isolated=False)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("openai_chat", "its dialect is 'openai_chat', which the suite does not know; did you mean 'openai-chat'"),
        (5, "its dialect is 5, which the suite does not know"),
    ],
)
def test_a_misspelt_dialect_is_an_error(declared: Any, message: str):
    with pytest.raises(HarnessError, match=message):
        certify(type("Misspelt", (OwnAdapter,), {"dialect": declared}), isolated=False)


def test_an_instance_is_not_a_factory():
    with pytest.raises(HarnessError, match="an OwnAdapter is not a factory; give the adapter's class or a function"):
        certify(OwnAdapter(api_key="k"), isolated=False)  # type: ignore[arg-type]


def test_a_factory_that_exits_has_failed():
    def make(**_: Any) -> Any:
        sys.exit(0)

    report = certify(make, isolated=False)
    (failed,) = report.failures
    assert failed.findings[0].message.endswith(
        "make: the adapter could not be created: it tried to exit the program: SystemExit: 0"
    )
    assert any(line.text.endswith("(not made)") for line in summarize(report))


def test_the_adapter_is_closed_at_the_end():
    closed: list[str] = []

    class Closing(OpenAIAdapter):
        async def aclose(self) -> None:
            closed.append("yes")
            await super().aclose()

    certify(Closing, selection=ONE_CHECK, isolated=False)
    assert closed == ["yes"]


def test_an_adapter_that_cannot_be_closed_or_inspected_is_an_error():
    class Unclosable(OwnAdapter):
        async def aclose(self) -> None:
            raise OSError("busy")

    class Shy(OwnAdapter):
        @property
        def capabilities(self) -> Any:
            raise OSError("no")

    with pytest.raises(HarnessError, match="aclose raised OSError: busy"):
        certify(Unclosable, selection=ONE_CHECK, isolated=False)
    with pytest.raises(HarnessError, match="inspecting the adapter raised OSError: no"):
        certify(Shy, selection=ONE_CHECK, isolated=False)


def test_a_dialect_that_only_instances_know_decides_the_base_url():
    made: list[str | None] = []
    closed: list[int] = []

    class Knowing(OpenAIAdapter):
        dialect = None  # type: ignore[assignment] - only instances know it

        def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
            super().__init__(api_key=api_key, base_url=base_url, model=model)
            self.dialect = "openai-chat"
            made.append(base_url)

        async def aclose(self) -> None:
            closed.append(len(made))
            await super().aclose()

    with open_subject(Knowing, name="knowing") as subject:
        assert subject.dialect is not None
        assert [str(url).partition("/v1")[1] for url in made] == ["", "/v1"]
        assert closed == [1]
    assert closed == [1, 2]


def test_an_adapter_is_closed_when_the_block_fails():
    closed: list[bool] = []

    class Closing(OpenAIAdapter):
        async def aclose(self) -> None:
            closed.append(True)

    with pytest.raises(ZeroDivisionError), open_subject(Closing, name="closing"):
        raise ZeroDivisionError
    assert closed == [True]
