"""Contributors are added, removed and replaced while an agent runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio
import pytest

from art_sdk import InvalidConfig
from art_sdk.contributors import DynamicContributorContext, PromptContributors, StaticContributor

T = TypeVar("T")


def static(id_: str, text: str | None = None) -> StaticContributor:
    return StaticContributor(id_, 1, id_.upper() if text is None else text)


def text_of(contributors: PromptContributors, thread_id: str | None = None) -> str:
    async def main() -> str:
        return (await contributors.build(DynamicContributorContext(thread_id=thread_id))).text

    return anyio.run(main)


@pytest.fixture
def contributors() -> PromptContributors:
    return PromptContributors([static("base")])


def test_those_of_an_agent_are_in_every_prompt_and_those_of_a_thread_in_its_own(contributors: PromptContributors):
    contributors.add(static("mine"))
    contributors.add(static("thine"), "thread", thread_id="t1")
    assert text_of(contributors) == "BASE\n\nMINE"
    assert text_of(contributors, "t1") == "BASE\n\nMINE\n\nTHINE"
    assert text_of(contributors, "t2") == "BASE\n\nMINE"


def test_a_level_can_be_moved_before_the_wider_ones(contributors: PromptContributors):
    contributors.add(static("first"), "thread", thread_id="t1")
    contributors.place("prepend", "thread", thread_id="t1")
    contributors.add(static("second"), "thread", thread_id="t1")
    assert text_of(contributors, "t1") == "FIRST\n\nSECOND\n\nBASE"


def test_one_is_removed_and_replaced_in_its_place(contributors: PromptContributors):
    for id_ in "abc":
        contributors.add(static(id_))
    contributors.remove("a")
    contributors.replace(static("b", "new"))
    assert text_of(contributors) == "BASE\n\nnew\n\nC"
    assert [one.id for one in contributors.contributors()] == ["b", "c"]


def test_the_base_changes_by_its_owner_alone(contributors: PromptContributors):
    contributors.add(static("base", "another"), "thread", thread_id="t1")
    with pytest.raises(InvalidConfig, match="the level 'thread' must not replace contributors of the base: base"):
        text_of(contributors, "t1")
    contributors.replace(static("base", "new"), "base")
    assert text_of(contributors) == "new"
    contributors.remove("base", "base")
    assert text_of(contributors) == ""


def test_a_thread_that_has_ended_is_forgotten(contributors: PromptContributors):
    contributors.add(static("x"), "thread", thread_id="t1")
    contributors.forget_thread("t1")
    contributors.forget_thread("t2")
    assert text_of(contributors, "t1") == "BASE"
    assert repr(contributors) == "PromptContributors(base; 0 threads)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda known: known.add(static("base"), "base"), "the level 'base' has the contributor 'base' already"),
        (lambda known: known.remove("x"), "the level 'instance' has no contributor 'x'; it has: none"),
        (lambda known: known.replace(static("x"), "base"), "the level 'base' has no contributor 'x'; it has: base"),
        (lambda known: known.add(static("x"), "thread"), "the level 'thread' needs a thread_id"),
    ],
)
def test_a_change_that_cannot_be_made_is_refused(
    contributors: PromptContributors, change: Callable[[PromptContributors], None], message: str
):
    with pytest.raises(InvalidConfig, match=message):
        change(contributors)
    assert text_of(contributors) == "BASE"


def test_a_configuration_brings_its_own_build_options():
    config = {
        "contributors": [
            {"id": "dateTime", "enabled": False},
            {"id": "files", "type": "file", "priority": 1, "files": ["gone.md"]},
            {"id": "tone", "type": "static", "priority": 2, "content": "Be kind. " * 9},
        ],
        "onError": "skip",
        "maxChars": 30,
    }
    assert text_of(PromptContributors.load(config)) == "Be kind. Be kind. \n[truncated]"
    assert text_of(PromptContributors.load("Be kind.")) == "Be kind."


def test_a_change_during_a_build_applies_to_the_next(contributors: PromptContributors):
    async def main() -> list[str]:
        begun, change = anyio.Event(), anyio.Event()

        class Waiting(StaticContributor):
            async def get_content(self, context: DynamicContributorContext) -> str:
                begun.set()
                await change.wait()
                return await super().get_content(context)

        contributors.add(Waiting("waiting", 1, "waited"))
        texts: list[str] = []

        async def build() -> None:
            texts.append((await contributors.build()).text)

        async with anyio.create_task_group() as group:
            group.start_soon(build)
            await begun.wait()
            contributors.remove("waiting")
            change.set()
        return [*texts, (await contributors.build()).text]

    assert anyio.run(main) == ["BASE\n\nwaited", "BASE"]
