"""AWS's own client of Bedrock, botocore's, as a black box: see official_clients.py."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import botocore
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.session import Session

from art_compliance import Selection, certify
from art_compliance.checks import CHECKS
from art_sdk import PromptTranslationFailed
from official_wrapping import check_end, check_systems, read_options, texts, write_events
from test_official_clients import SHARED, failures

STOPS = {
    **dict.fromkeys(("end_turn", "stop_sequence"), "stop"),
    **dict.fromkeys(("guardrail_intervened", "content_filtered"), "content_filter"),
    "max_tokens": "length",
}


class BedrockClient:
    """botocore's client of `bedrock-runtime`. It blocks, and sends its own API keys over HTTPS alone."""

    dialect, capabilities, losses = "bedrock-converse", ("system", "streaming"), ("message_name",)
    repairs, tokens, most = ("hoists_late_system", "joins_turns", "drops_blank_text"), "maxTokens", (1, 1)

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        settings = {"retries": {"total_max_attempts": 1}, "read_timeout": 2, "max_pool_connections": 50}
        made = {"config": Config(signature_version=botocore.UNSIGNED, **settings), "region_name": "us-east-1"}
        self.client = Session().create_client("bedrock-runtime", endpoint_url=base_url, **made)
        self.client.meta.events.register("before-send", Bearer(api_key))
        self.key, self.model = api_key, model or "global.anthropic.claude-haiku-4-5-20251001-v1:0"

    def call(self, prompt: Any, options: Any) -> Iterator[Any]:
        given, own = read_options(self, prompt, options)
        if own or options.get("timeouts") or {*given} >= {"temperature", "top_p"}:
            raise PromptTranslationFailed("such options are not accepted")
        turns = [(one["role"], [{"text": text} for text in texts(one["content"]) if text.strip()]) for one in prompt]
        check_systems(turns, options)
        request = {"modelId": options.get("model") or self.model, "messages": joined(turns)}
        request["inferenceConfig"] = {NAMES.get(name, name): value for name, value in given.items()}
        request["system"] = [part for role, parts in turns if role == "system" for part in parts]
        return blocking(write_events(self.pieces(request, streamed=bool(options.get("stream"))), options, self.key))

    async def pieces(self, request: Any, *, streamed: bool) -> Any:
        answer = asked(self.client.converse_stream if streamed else self.client.converse, request)
        stop = usage = None
        with closing(answer["stream"] if streamed else Whole(answer)) as events:
            for event in events:
                # an event that is not JSON is one without fields
                deltas = [event["contentBlockDelta"]["delta"]] if "contentBlockDelta" in event else []
                for part in event["output"]["message"]["content"] if "output" in event else deltas:
                    yield text_of(part)
                stop = event.get("messageStop", event).get("stopReason") or stop
                usage = event.get("metadata", event).get("usage") or usage
        check_end(stop)
        cached, written = usage.get("cacheReadInputTokens"), usage.get("cacheWriteInputTokens")
        known = {"input_tokens": usage["inputTokens"] + (cached or 0) + (written or 0), "cached_tokens": cached}
        yield {**known, "output_tokens": usage["outputTokens"], "stop_reason": STOPS.get(stop, "other")}


NAMES = {"top_p": "topP"}


def text_of(part: Any) -> str:
    """A block's text, which may stand beside its citations, or a delta's."""
    cited = part.get("citationsContent", {}).get("content", ())
    return part.get("text", "") + "".join(one["text"] for one in cited)


class Bearer:
    """Adds the key. Its own `repr` does not show it: botocore logs its handlers."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __call__(self, request: Any, **_: Any) -> None:
        request.headers["Authorization"] = f"Bearer {self.key}"


class Whole(list[Any]):
    """An unstreamed answer as a stream of one event."""

    def __init__(self, answer: Any) -> None:
        super().__init__([answer])

    def close(self) -> None:
        """Has nothing to close."""


def joined(turns: list[tuple[str, list[Any]]]) -> list[dict[str, Any]]:
    """The messages: several of one role in a row are one."""
    messages: list[dict[str, Any]] = []
    for role, parts in turns:
        if role == "system":
            continue
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += parts
        else:
            messages.append({"role": role, "content": [*parts]})
    if messages and messages[0]["role"] == "assistant":
        raise PromptTranslationFailed("the user must begin")
    return messages


class Failed(Exception):
    """The client's error, with its head where the clients of others have it."""

    def __init__(self, error: ClientError) -> None:
        head = error.response["ResponseMetadata"]
        super().__init__(error.response["Error"]["Message"])
        self.status_code = head["HTTPStatusCode"]
        self.response = SimpleNamespace(status_code=self.status_code, headers=head["HTTPHeaders"])


def asked(ask: Any, request: Any) -> Any:
    try:
        return ask(**request)
    except ClientError as error:
        raise Failed(error) from None


def blocking(events: AsyncGenerator[Any]) -> Iterator[Any]:
    """The same events from a plain generator."""
    with asyncio.Runner() as runner:
        try:
            while True:
                try:
                    yield runner.run(anext(events))
                except StopAsyncIteration:
                    return
        finally:
            runner.run(events.aclose())


BUGS = {
    "response.any-refusal-is-an-error": "with bytes that are not UTF-8: the error's status is null",
    "faults.become-errors": "word-in-json-504 (unstreamed): the error's status is null",
}
"""Of botocore 1.44 itself, which loses the status: a refusal whose bytes are not UTF-8 is a UnicodeDecodeError, and one
whose body is a text in JSON an AttributeError (`RestJSONParser`)."""


def test_the_wrapper_has_forty_lines_at_most():
    assert len(inspect.getsource(BedrockClient).splitlines()) <= 40


@pytest.mark.once
@pytest.mark.thorough
@pytest.mark.unmeasured
def test_the_official_client_passes_every_check_of_its_own_code():
    selection = Selection(checks=tuple(name for name, one in CHECKS.items() if one.stage.name not in SHARED))
    report = certify(BedrockClient, selection=selection, isolated=False)
    found = {key.partition(" ")[0]: message for key, message in failures(report).items()}
    assert found.keys() == BUGS.keys(), found
    assert all(message.endswith(BUGS[check]) for check, message in found.items()), found
    stages = {one.check.partition(".")[0] for one in report.results if one.verdict == "pass"}
    assert stages >= {"translation", "wire", "payload", "response", "stream", "faults"}
