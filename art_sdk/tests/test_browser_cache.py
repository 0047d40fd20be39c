from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from art_sdk.agents.browser import (
    ActionPromptRequest,
    AuditEvent,
    GeneratedPrompt,
    JsonlAuditLog,
    ReflectionPromptRequest,
    read_model,
)
from art_sdk.agents.browser.cache import PromptCache
from browser_agent import HOME, LOGIN, Contexts, Executor, Schemas, action, manager, reflection, step


def source(prompt: GeneratedPrompt) -> str | None:
    return (prompt.metadata or {}).get("deduplicatedFrom")


def run_all(made: Any, *requests: Any) -> list[GeneratedPrompt]:
    async def run() -> list[GeneratedPrompt]:
        return [await made.generate_action_prompt(one) for one in requests]

    return asyncio.run(run())


def test_the_same_request_again_gives_the_same_content_under_a_new_id():
    first, again = run_all(manager(), action(), action())
    assert (first.prompt_id, again.prompt_id, source(first), source(again)) == ("p1", "p2", None, "p1")
    assert (first.content, first.sections) == (again.content, again.sections)


@pytest.mark.parametrize(
    "change",
    [
        {"session_id": "s2"},
        {"current_step_content": "Other"},
        {"current_step_index": 1},
        {"prompt_options": {"reasoning_depth": "basic"}},
    ],
)
def test_another_request_is_computed_anew(change: dict[str, Any]):
    _, other = run_all(manager(), action(), action() | change)
    assert source(other) is None


@pytest.mark.parametrize("part", ["current", "previous", "steps", "session", "schema version", "template", "error"])
def test_another_context_is_computed_anew(part: str):
    contexts, schemas, executor = Contexts(HOME, LOGIN), Schemas(), Executor()
    contexts.steps = [step(0)]
    made = manager(contexts, schemas, executor=executor)

    def change() -> None:
        template = made.get_prompt_templates().schema_template
        changes: dict[str, Any] = {
            "current": lambda: setattr(contexts, "current", LOGIN),
            "previous": lambda: setattr(contexts, "previous", HOME),
            "steps": lambda: contexts.steps.append(step(0)),
            "session": lambda: setattr(contexts, "session", {"totalSteps": 9}),
            "schema version": lambda: setattr(schemas, "version", "8"),
            "template": lambda: made.update_prompt_template("schema", template.__class__(**_with_version(template))),
            "error": lambda: setattr(executor, "error", "broken"),
        }
        changes[part]()

    async def run() -> GeneratedPrompt:
        await made.generate_action_prompt(action(1))
        change()
        return await made.generate_action_prompt(action(1))

    assert source(asyncio.run(run())) is None


def _with_version(template: Any) -> dict[str, Any]:
    return {name: getattr(template, name) for name in template.__struct_fields__} | {"version": "1.0.1"}


def test_a_hundred_equal_requests_at_once_are_computed_once():
    contexts, schemas = Contexts(), Schemas()
    contexts.delay = 0.001
    made = manager(contexts, schemas)

    async def run() -> list[GeneratedPrompt]:
        sessions = [f"s{at % 4}" for at in range(100)]
        return await asyncio.gather(*(made.generate_action_prompt(action(session_id=one)) for one in sessions))

    prompts = asyncio.run(run())
    assert len({one.prompt_id for one in prompts}) == 100
    assert schemas.calls.count("get_response_schema") == 4
    assert sum(source(one) is None for one in prompts) == 4
    assert all(one.session_id == f"s{at % 4}" for at, one in enumerate(prompts))


def test_a_prompt_shares_nothing_with_the_cache():
    made = manager()
    (first,) = run_all(made, action())
    first.schema.json_schema["properties"].clear()
    (first.metadata or {}).clear()
    (again,) = run_all(made, action())
    assert again.schema.json_schema["properties"]
    assert "stages" in (again.metadata or {})


def test_prompts_grow_old_are_bounded_in_number_and_can_be_forgotten():
    now = 0.0
    config = {"performance": {"cacheTTLMs": 1_000, "maxCacheSize": 2}}
    made = manager(config=config, timer=lambda: now)

    def is_known(**change: Any) -> bool:
        return source(run_all(made, action(**change))[0]) is not None

    assert [is_known(), is_known(), is_known(session_id="s2"), is_known(session_id="s2")] == [False, True, False, True]
    assert [is_known(session_id="s3"), is_known()] == [False, False]
    now = 2.0
    assert [is_known(), is_known()] == [False, True]
    made.clear("s2")
    assert is_known()
    made.clear("s1")
    assert not is_known()
    made.clear()
    assert repr(made) == "AIPromptManager(0 cached prompts)"


def test_the_cache_can_be_switched_off():
    made = manager(config={"performance": {"promptCacheEnabled": False}})
    assert [source(one) for one in run_all(made, action(), action())] == [None, None]


def test_a_failure_reaches_all_who_wait_and_is_not_kept():
    cache = PromptCache[int](5, 60, lambda: 0.0)
    calls: list[int] = []

    async def compute() -> int:
        calls.append(1)
        await asyncio.sleep(0)
        if len(calls) == 1:
            raise KeyError("x")
        return 5

    async def run() -> list[Any]:
        waiting = [cache.get("s", "k", compute) for _ in range(3)]
        failed = await asyncio.gather(*waiting, return_exceptions=True)
        return [*failed, await cache.get("s", "k", compute)]

    *failed, value = asyncio.run(run())
    assert [type(one) for one in failed] == [KeyError] * 3
    assert (value, len(calls)) == ((5, True), 2)


def test_who_waits_for_a_cancelled_computation_computes_anew():
    cache = PromptCache[int](5, 60, lambda: 0.0)

    async def run() -> tuple[int, bool]:
        began = asyncio.Event()

        async def never() -> int:
            began.set()
            await asyncio.Event().wait()
            return 0

        async def five() -> int:
            return 5

        first = asyncio.ensure_future(cache.get("s", "k", never))
        await began.wait()
        second = asyncio.ensure_future(cache.get("s", "k", five))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(run()) == (5, True)


@pytest.mark.parametrize(
    "request_",
    [read_model(action(), ActionPromptRequest), read_model(reflection(), ReflectionPromptRequest)],
    ids=["action", "reflection"],
)
def test_sections_come_in_order_and_make_the_whole_prompt(request_: Any):
    contexts = Contexts(HOME, LOGIN)
    contexts.steps = [step(0)]
    made = manager(contexts)

    async def run() -> tuple[list[Any], GeneratedPrompt, list[Any]]:
        streamed = [one async for one in made.iter_prompt_sections(request_)]
        is_action = isinstance(request_, ActionPromptRequest)
        whole = await (made.generate_action_prompt if is_action else made.generate_reflection_prompt)(request_)
        return streamed, whole, [one async for one in made.iter_prompt_sections(request_)]

    streamed, whole, again = asyncio.run(run())
    assert tuple(streamed) == whole.sections == tuple(again)


def test_the_first_section_comes_before_the_schema_is_known():
    class Slow(Schemas):
        async def get_response_schema(self, options: Any = None) -> Any:
            await asyncio.Event().wait()

    async def run() -> str:
        sections = manager(schemas=Slow()).iter_prompt_sections(read_model(action(), ActionPromptRequest))
        async for section in sections:
            await sections.aclose()
            return section.name
        raise AssertionError

    assert asyncio.run(run()) == "system_message"


def test_the_audit_log_has_hashes_and_sizes_and_no_text(tmp_path: Path):
    log = JsonlAuditLog(tmp_path / "audit.jsonl")
    made = manager(Contexts("<p>hunter22 visible</p>"), audit=log, secrets={"pin": "hunter22"})
    first, _ = asyncio.run(_twice(made))
    made.update_prompt_template("schema", _with_version(made.get_prompt_templates().schema_template), principal="root")
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text("utf-8").splitlines()]
    assert [one["action"] for one in lines] == ["generate", "generate", "update_template"]
    text = "\n\n".join(one.text for one in first.sections)
    assert lines[0]["contentSha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert (lines[0]["actor"], lines[0]["promptId"], lines[1]["deduplicatedFrom"]) == ("alice", "p1", "p1")
    assert lines[0]["redactions"] == 1
    assert lines[2]["templateVersions"] == {"schema": "1.0.1"}
    assert not any(word in str(lines) for word in ("hunter22", "visible", "Sign in"))


async def _twice(made: Any) -> tuple[GeneratedPrompt, GeneratedPrompt]:
    return await made.generate_action_prompt(action(), principal="alice"), await made.generate_action_prompt(action())


def test_a_log_that_fails_is_not_overlooked():
    def broken(event: AuditEvent) -> None:
        raise OSError(event.action)

    with pytest.raises(OSError, match="generate"):
        run_all(manager(audit=broken), action())


def test_prompts_are_logged_only_if_that_is_asked_for_on_its_level(
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level("DEBUG")
    run_all(manager(), action())
    assert "Sign in as Bob" not in caplog.text
    for given, level in (({}, "INFO"), ({"level": "DEBUG"}, "DEBUG")):
        caplog.clear()
        run_all(manager(config={"logging": {"logPrompts": True} | given}), action())
        (record,) = (one for one in caplog.records if one.name == "art_sdk.agents.browser.manager")
        assert ("Sign in as Bob" in record.getMessage(), record.levelname) == (True, level)
