"""What an assembly error says, and what it keeps to itself."""

from __future__ import annotations

import inspect
import json
import sys
import traceback
from typing import Any

import pytest

from art_sdk import PromptAssemblyFailed, PromptManager, PromptValidationFailed
from art_sdk.agents.pes import PES_PLAN


def failure(blueprint: Any, context: Any, **how: Any) -> PromptAssemblyFailed:
    with pytest.raises(PromptAssemblyFailed) as caught:
        PromptManager().assemble_prompt(blueprint, context, **how)
    return caught.value


def test_an_error_names_blueprint_tag_and_line():
    error = failure(PES_PLAN, {"query": "x"}, name="PES_PLAN")
    expected = "Failed to assemble prompt for 'PES_PLAN': Mustache unresolved tag '{{systemPrompt}}' (line 2)"
    assert error.message == expected
    assert error.details == {"blueprint": "PES_PLAN", "tag": "{{systemPrompt}}", "line": 2}


def test_the_error_of_a_malformed_result_names_message_line_and_every_violation():
    blueprint = '[\n{"role": "user", "content": 5},\n{"role": "user", "content": "a"},\n{"role": "{{q}}"}]'
    error = failure(blueprint, {"q": "boss"}, name="B")
    assert error.message == (
        "Failed to assemble prompt for 'B': $[0].content: Expected `str | array`, got `int` (and 1 more) (line 2)"
    )
    assert (error.details["index"], error.details["line"]) == (0, 2)
    assert [one["path"] for one in error.details["violations"]] == ["$[0].content", "$[2].role"]
    assert isinstance(error.__cause__, PromptValidationFailed)


def test_the_line_of_a_malformed_message_is_that_of_its_loop():
    history = [{"role": "user", "content": "a\nb\n"}] * 9 + [{"role": "nobody", "content": ""}]
    assert failure("[\n\n{{#h}}\n{{.}},\n{{/h}}]", {"h": history}).details == {
        "line": 4,
        "index": 9,
        "violations": [{"path": "$[9].role", "message": ROLE}],
    }


ROLE = "Invalid value 'nobody'; expected one of system, user, assistant, tool_request, tool_result (or tool)"
SECRET = "my password is swordfish and nobody shall ever read it in any of our log files " * 4


@pytest.mark.parametrize(
    ("blueprint", "context"),
    [
        ('[{"role": "user", "content": {{q}} {{q}}}]', {"q": SECRET}),
        ('[{"role": {{q}}, "content": "x"}]', {"q": SECRET}),
        ('[{"role": "user", "content": "x", {{q}}: "x"}]', {"q": SECRET}),
        ('[{"role": "user", {{q}}: "x", {{q}}: "x", "content": "x"}]', {"q": SECRET}),
        ('[{"role": "user", "content": [{"type": {{q}}}]}]', {"q": SECRET}),
        ('[{"role": "tool_result", "content": "x", "tool_call_id": "c", "status": {{q}}}]', {"q": SECRET}),
        ("[{{q}}]", {"q": {"role": "user", "content": "x", SECRET: "x"}}),
        ("{{q}}", {"q": SECRET}),
        ("[{{x}}]", {"q": SECRET}),
        ("[]", {"q": {SECRET: {1}}}),
        ("[]", {SECRET: {SECRET: {SECRET: {1}}}}),
    ],
)
def test_an_error_quotes_at_most_sixty_characters_of_data(blueprint: str, context: Any):
    error = failure(blueprint, context)
    text = "".join(traceback.format_exception(error)) + json.dumps(error.details) + repr(error.__cause__)
    assert longest_common(SECRET, text) <= 60


def longest_common(secret: str, text: str) -> int:
    return max(n for n in range(len(secret)) if any(secret[at : at + n] in text for at in range(100)))


def test_the_error_of_bad_json_does_not_keep_the_text():
    error = failure("[{{q}} {{q}}]", {"q": SECRET})
    assert str(error.__cause__) == "Expecting ',' delimiter"
    assert not [one for one in chain(error) if hasattr(one, "doc")]


def test_the_error_of_a_malformed_result_does_not_keep_its_data():
    error = failure('[{"role": {{q}}, "content": "x"}]', {"q": SECRET})
    assert not [one for one in chain(error) if SECRET in f"{one}{getattr(one, 'details', '')}"]


def chain(error: BaseException | None) -> list[BaseException]:
    return [] if error is None else [error, *chain(error.__cause__), *chain(error.__context__)]


def test_a_number_that_is_too_long_is_an_error():
    assert "a number is too long" in failure('[{"role": "user", "content": ' + "1" * 5_000 + "}]", {}).message


def test_deeply_nested_text_is_an_error():
    assert failure("[" * 100_000 + "]" * 100_000, {}).message.endswith("nested too deeply")


def test_a_deep_stack_of_the_caller_does_not_crash():
    manager = PromptManager()

    def sink(left: int) -> Any:
        return sink(left - 1) if left else manager.assemble_prompt(PES_PLAN, {"systemPrompt": "s", "query": "q"})

    room = sys.getrecursionlimit() - len(inspect.stack())
    for left in range(room - 60, room - 10):
        try:
            sink(left)
        except (PromptAssemblyFailed, RecursionError) as error:
            # where there is no room for our own first steps, the error is the caller's
            assert isinstance(error, PromptAssemblyFailed) or left > room - 25  # noqa: PT017
