"""Adapters whose payloads may be right, but which are impure, do not declare, or send something else."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import count
from typing import Any

from art_compliance.miniatures.base import Options, Prompt, Translate, change_payload, miniature, recall, retranslate
from art_compliance.miniatures.isolation import readdress
from art_sdk.json_data import is_object


@miniature("preflight.greeting-translates")
def translates_nothing(adapter: Any) -> None:
    """Translating raises for every prompt."""

    def translate(*_: Any) -> Any:
        raise RuntimeError

    adapter.translate = translate


@miniature("preflight.answer-is-read")
def loses_the_answer(adapter: Any) -> None:
    """The answer arrives, but no event has it."""

    def call(*_: Any) -> Iterator[Any]:
        return iter(())

    adapter.call = call


@miniature("translation.repairs-are-declared")
def hides_its_repairs(adapter: Any) -> None:
    """Repairs are made but not declared."""
    adapter.repairs = frozenset()


@miniature("translation.leaves-its-arguments-alone")
def edits_the_callers_tools(adapter: Any) -> None:
    """The schemas of the caller's tools are changed in place."""
    own = adapter.translate

    def translate(prompt: Any, options: Any) -> Any:
        for schema in _schemas(options):
            schema["additionalProperties"] = False
        return own(prompt, options)

    adapter.translate = translate


@miniature("translation.same-prompt-same-request")
def counts_its_calls(adapter: Any) -> None:
    """Every payload has its own number."""
    numbers = count()
    change_payload(adapter, lambda payload: {**payload, "sequence": next(numbers)})


@miniature("translation.follows-renaming")
def obeys_the_content(adapter: Any) -> None:
    """A text with braces limits the answer."""
    retranslate(adapter, _shorter_for_braces)


@miniature("translation.tool-means-tool-result")
def forgets_the_alias(adapter: Any) -> None:
    """A call drops results with the role `tool`."""
    recall(adapter, lambda prompt: [message for message in prompt if message["role"] != "tool"])


@miniature("translation.sends-what-it-translates")
def sends_something_else(adapter: Any) -> None:
    """A call sends one message more than translate returns."""
    recall(adapter, lambda prompt: [*prompt, {"role": "user", "content": "Go on."}])


@miniature("translation.one-call-one-request")
def asks_twice(adapter: Any) -> None:
    """Every call sends its request twice."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        async def both() -> Any:
            _ = [event async for event in own(prompt, options)]
            async for event in own(prompt, options):
                yield event

        return both()

    adapter.call = call


@miniature("translation.same-prompt-same-request")
def shares_state_between_threads(adapter: Any) -> None:
    """The adapter keeps the current prompt in an attribute, which other threads overwrite."""
    own = adapter.translate

    def translate(prompt: Any, options: Any) -> Any:
        adapter.at_hand = (prompt, options)
        time.sleep(0.002)
        return own(*adapter.at_hand)

    adapter.translate = translate


def _schemas(options: Any) -> list[dict[str, Any]]:
    if is_object(options):
        return [tool["inputSchema"] for tool in options.get("tools", ())]
    return [tool.input_schema for tool in options.tools]


def _shorter_for_braces(translate: Translate, prompt: Prompt, options: Options) -> Any:
    has_braces = any("{{" in str(message["content"]) for message in prompt)
    return translate(prompt, {"max_tokens": 77, **options} if has_braces else options)


@miniature("response.call-methods-send-the-same", around=("openai", "mistral"))
def sends_streams_without_their_schema(adapter: Any) -> None:
    """What is sent for a streamed call lacks the response schema that was translated."""

    def change(request: dict[str, Any], options: Any) -> dict[str, Any]:
        body = json.loads(request["body"])
        if options.stream:
            body.pop("response_format", None)
        return {**request, "body": json.dumps(body).encode()}

    readdress(adapter, change)


@miniature("response.call-methods-send-the-same", around=("gemini",))
def asks_models_in_small_letters(adapter: Any) -> None:
    """The model's name is in small letters in the URL."""
    readdress(adapter, lambda request, _: {**request, "url": request["url"].replace("Another-Model", "another-model")})
