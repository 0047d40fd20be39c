"""Adapters that know nothing of art_sdk, for tests: JSON data in, JSON data out."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any
from uuid import uuid4

BOOKKEEPING = ("thread_id", "trace_id", "session_id", "user_id", "call_context")
KNOWN_OPTIONS = ("temperature", "top_p", "max_tokens", "stop")
FINISHES = {name: name for name in ("stop", "length", "content_filter")}


class Refusal(Exception):
    code = "PROMPT_TRANSLATION_FAILED"


class OwnAdapter:
    """An adapter that does not use art_sdk: JSON data in, JSON data out, urllib for HTTP."""

    dialect = "openai-chat"
    capabilities = ("system", "late_system", "stop", "prefill", "provider_fields")
    losses = ("message_name",)

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.url = api_key, base_url
        self.model = model or "own-model"

    def translate(self, prompt: Any, options: Any) -> Any:
        if any(message["role"] not in {"system", "user", "assistant"} for message in prompt):
            raise Refusal("no tools here")
        given = {name for name, value in options.items() if value}
        if given - {*BOOKKEEPING, *KNOWN_OPTIONS, "model", "provider", "late_system"}:
            raise Refusal("no such options here")
        if any(part["type"] == "image" for m in prompt if isinstance(m["content"], list) for part in m["content"]):
            raise Refusal("no images here")
        messages = [{"role": m["role"], "content": m["content"]} for m in prompt]
        names = {name: options[name] for name in KNOWN_OPTIONS if options.get(name) not in (None, [])}
        own = options.get("provider", {}).get(self.dialect, {})
        if own.keys() & {"model", "messages", *names}:
            raise Refusal("neither may win")
        return {"model": options.get("model", self.model), "messages": messages, **names, **own}

    def call(self, prompt: Any, options: Any) -> Any:
        context = options.get("call_context")
        body = json.dumps(self.translate(prompt, options)).encode()
        limits = options.get("timeouts") or {}
        try:
            events = self.events_of(self.answer(body, limits), f"{context}_LLM_RESPONSE" if context else "LLM_RESPONSE")
        except urllib.error.HTTPError as error:
            with error:
                wait = error.headers.get("retry-after")
                events = self.failed(error.code, self.words(error.read()), wait and float(wait))
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, RecursionError) as error:
            events = self.failed(200, str(error))
        books = {name: options.get(name) for name in ("thread_id", "session_id")}
        books["trace_id"] = options.get("trace_id") or uuid4().hex
        return ({**event, **books} for event in events)

    def words(self, body: bytes) -> str:
        try:
            return json.loads(body)["error"]["message"]
        except ValueError:
            return "no JSON"

    def answer(self, body: bytes, limits: Any) -> Any:
        headers = {"content-type": "application/json", "authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(f"{self.url}/chat/completions", body, headers)
        ends = time.monotonic() + limits.get("whole_call", 60)
        with urllib.request.urlopen(request, timeout=limits.get("first_byte", 60)) as response:
            pieces: list[bytes] = []
            while piece := response.read1():
                pieces.append(piece)
                if time.monotonic() > ends:
                    raise TimeoutError("the whole call takes too long")
        return json.loads(b"".join(pieces))

    def events_of(self, answer: Any, token_type: str) -> list[dict[str, Any]]:
        choice, usage = answer["choices"][0], answer["usage"]
        text, finish = choice["message"]["content"] or choice["message"]["refusal"] or "", choice["finish_reason"]
        if not isinstance(text, str) or not isinstance(finish, str) or "tool_calls" in choice["message"]:
            raise TypeError("this is no answer")
        metadata = {
            "stopReason": FINISHES.get(finish, "other"),
            "inputTokens": usage["prompt_tokens"],
            "outputTokens": usage["completion_tokens"],
            "cachedTokens": usage["prompt_tokens_details"]["cached_tokens"],
            "thinkingTokens": usage["completion_tokens_details"]["reasoning_tokens"],
        }
        return [
            {"type": "TOKEN", "text": text, "token_type": token_type},
            {"type": "METADATA", "metadata": metadata},
            {"type": "END", "message": {"role": "assistant", "content": text}, "finish": metadata["stopReason"]},
        ]

    def failed(self, status: int, words: str, wait: float | None = None) -> list[dict[str, Any]]:
        shown = words.replace(self.key, "***")
        error = {"code": "LLM_PROVIDER_ERROR", "message": shown, "status": status, "provider_message": shown}
        error |= {"retry_after": wait, "is_retryable": status in (408, 429) or status >= 500}
        return [{"type": "ERROR", "error": error}, {"type": "END", "message": None, "finish": "error"}]


class BlackBox:
    """Has only `call`, which is asynchronous."""

    def __init__(self, **settings: Any) -> None:
        self._own = OwnAdapter(**settings)

    dialect = "openai-chat"
    capabilities = OwnAdapter.capabilities
    losses = OwnAdapter.losses

    async def call(self, prompt: Any, options: Any) -> Any:
        for event in await asyncio.to_thread(lambda: list(self._own.call(prompt, options))):
            yield event


class TranslateOnly:
    """Has only `translate`, and a dialect that the suite does not know."""

    dialect = "my-own-format"
    capabilities = OwnAdapter.capabilities
    losses = OwnAdapter.losses

    def __init__(self, **settings: Any) -> None:
        self._own = OwnAdapter(**settings)

    def translate(self, prompt: Any, options: Any) -> Any:
        payload = self._own.translate(prompt, options)
        return {"talk": {"said": payload.pop("messages")}, "settings": payload}
