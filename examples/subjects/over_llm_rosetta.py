"""LLM-Rosetta: `ConversionPipeline` translates chat completions into other formats and back. It sends nothing."""

import json
from collections.abc import AsyncIterator
from typing import Any, ClassVar

import httpx
from answering import Loose, read_chat
from llm_rosetta import ConversionError, ConversionPipeline
from subject import Request, Subject

CERTIFICATES = httpx.create_ssl_context()  # reading the system's certificates takes longer than a call


class Rosetta(Subject):  # chat completions have no field for a result's status
    losses, refusals = ("result_status",), (ConversionError,)

    async def answer(self, request: Request) -> Any:
        pipeline = ConversionPipeline("openai_chat", self.target)
        asked = {"model": request.model, "messages": request.plain_messages(), **request.chat_settings()}
        body = pipeline.convert_request(asked | {"stream": request.is_streamed})
        url = self.url + (self.streams if request.is_streamed else self.answers).format(model=request.model)
        headers: ClassVar = {name: value.format(key=self.key) for name, value in self.headers.items()}
        async with (
            httpx.AsyncClient(verify=CERTIFICATES, headers=headers, timeout=600) as client,
            client.stream("POST", url, json=body) as response,
        ):
            if response.is_error:
                said = (await response.aread()).decode()
                raise httpx.HTTPStatusError(said, request=response.request, response=response)
            if request.is_streamed:
                answer = chunks(response, pipeline.create_stream_processor())
            else:
                answer = Loose.of(pipeline.convert_response(json.loads(await response.aread())))
            async for piece in read_chat(answer, is_streamed=request.is_streamed):
                yield piece


async def chunks(response: httpx.Response, processor: Any) -> AsyncIterator[Any]:
    async for line in response.aiter_lines():
        if line.startswith("data:") and line.removeprefix("data:").strip() != "[DONE]":
            for chunk in processor.process_chunk(json.loads(line.removeprefix("data:"))):
                yield Loose.of(chunk)


class Responses(Rosetta):
    dialect, target, repairs = "openai-responses", "openai_responses", ("always_hoists_late_system",)
    answers = streams = "/responses"
    headers: ClassVar = {"authorization": "Bearer {key}"}


class Anthropic(Rosetta):
    dialect, target, repairs = "anthropic-messages", "anthropic", ("always_hoists_late_system", "joins_turns")
    answers = streams = "/messages"
    headers: ClassVar = {"x-api-key": "{key}", "anthropic-version": "2023-06-01"}


class Gemini(Rosetta):
    dialect, target, losses = "gemini-generate", "google", (*Rosetta.losses, "schema_keywords")
    repairs = ("always_hoists_late_system", "joins_turns", "wraps_result")
    answers, streams = "/models/{model}:generateContent", "/models/{model}:streamGenerateContent?alt=sse"
    headers: ClassVar = {"x-goog-api-key": "{key}"}
