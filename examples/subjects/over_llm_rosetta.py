"""LLM-Rosetta: `ConversionPipeline` translates chat completions into other formats and back. It sends nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
from answering import Loose, read_chat
from llm_rosetta import ConversionError, ConversionPipeline
from subject import Request, Subject

CERTIFICATES = httpx.create_ssl_context()  # reading the system's certificates takes longer than a call


class Rosetta(Subject):
    """What the three have in common. Chat completions have no field for a result's status."""

    losses, refusals = (*Subject.losses, "result_status"), (ConversionError,)

    async def answer(self, request: Request) -> Any:
        pipeline = ConversionPipeline("openai_chat", self.target)
        asked = {"model": request.model, "messages": request.plain_messages(), **request.chat_settings()}
        body = pipeline.convert_request(asked | {"stream": request.is_streamed})
        sent = {"headers": self.headers(), "json": body, "timeout": 600}
        async with (
            httpx.AsyncClient(verify=CERTIFICATES) as client,
            client.stream("POST", self.url + self.path(request), **sent) as response,
        ):
            if response.is_error:
                raise httpx.HTTPStatusError(
                    (await response.aread()).decode(), request=response.request, response=response
                )
            if request.is_streamed:
                answer = chunks(response, pipeline.create_stream_processor())
            else:
                answer = Loose.of(pipeline.convert_response(json.loads(await response.aread())))
            async for piece in read_chat(answer, is_streamed=request.is_streamed):
                yield piece

    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.key}"}


async def chunks(response: httpx.Response, processor: Any) -> AsyncIterator[Any]:
    async for line in response.aiter_lines():
        if line.startswith("data:") and line.removeprefix("data:").strip() != "[DONE]":
            for chunk in processor.process_chunk(json.loads(line.removeprefix("data:"))):
                yield Loose.of(chunk)


class Responses(Rosetta):
    dialect, target, default = "openai-responses", "openai_responses", "gpt-4.1-mini"
    losses, repairs = (*Rosetta.losses, "message_name"), ("always_hoists_late_system",)

    def path(self, _: Request) -> str:
        return "/responses"


class Anthropic(Rosetta):
    dialect, target, default = "anthropic-messages", "anthropic", "claude-haiku-4-5"
    losses, repairs = (*Rosetta.losses, "message_name"), ("always_hoists_late_system", "joins_turns")

    def path(self, _: Request) -> str:
        return "/messages"

    def headers(self) -> dict[str, str]:
        return {"x-api-key": self.key, "anthropic-version": "2023-06-01"}


class Gemini(Rosetta):
    dialect, target, default = "gemini-generate", "google", "gemini-2.5-flash"
    losses = (*Rosetta.losses, "message_name", "schema_keywords")
    repairs = ("always_hoists_late_system", "joins_turns", "wraps_result")

    def path(self, request: Request) -> str:
        verb = "streamGenerateContent?alt=sse" if request.is_streamed else "generateContent"
        return f"/models/{request.model}:{verb}"

    def headers(self) -> dict[str, str]:
        return {"x-goog-api-key": self.key}
