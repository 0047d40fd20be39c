"""The adapter of a new project: derived from a class of art_sdk, or an object of nobody's class."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import Final

import msgspec
from msgspec import Struct

from art_compliance.dialects import DIALECTS, Dialect
from art_compliance.findings import HarnessError
from art_compliance.subject.factories import Factory, find_factory
from art_sdk import BUILT_IN


def derived_adapter(names: Mapping[str, str], dialect: Dialect) -> str:
    """The source of an adapter that inherits what art_sdk knows of the dialect."""
    if dialect.name == "openai-compatible":
        return _FAMILY.substitute(names)
    return _DERIVED.substitute(names, base=_class_for(dialect))


def plain_adapter(names: Mapping[str, str], dialect: Dialect) -> str:
    """The source of an adapter that does not import art_sdk. Raises HarnessError for a dialect without one."""
    form = _form_of(dialect)
    if form is None:
        examples = sorted(name for name, one in DIALECTS.items() if _form_of(one) is not None)
        raise HarnessError(
            f"--plain has no example for {dialect.name}, only for {', '.join(examples)}; "
            f"leave it out to derive from a class of art_sdk"
        )
    return _PLAIN.substitute(names, **msgspec.structs.asdict(form))


def _form_of(dialect: Dialect) -> _Form | None:
    """What an example in this dialect is made of, if there is one."""
    return _FORMS.get(dialect.name) or (_CHAT if dialect.service.endings == ("/chat/completions",) else None)


def _class_for(dialect: Dialect) -> str:
    """The name of the reference adapter that speaks the dialect to its own provider, or of another that speaks it.

    Raises HarnessError if none does.
    """
    speaking = [name for name in BUILT_IN if getattr(find_factory(name), "dialect", None) == dialect.name]
    if not speaking:
        raise HarnessError(f"no class of art_sdk speaks {dialect.name}; use --plain, or the dialect openai-compatible")
    own = (name for name in speaking if _calls(find_factory(name), dialect))
    return BUILT_IN[next(own, speaking[0])].rpartition(":")[2]


def _calls(make: Factory, dialect: Dialect) -> bool:
    """Whether the adapter calls a host of the dialect's provider."""
    url: str = getattr(make, "default_base_url", "")
    return any(host in url for host in dialect.service.hosts)


_FAMILY: Final = Template('''\
"""$title speaks chat completions, as most providers do. This class states as data where it differs from OpenAI."""

from art_sdk import CAPABILITIES, ChatCompletionsAdapter, ChatProvider


class $cls(ChatCompletionsAdapter):
    """Translates to `POST /chat/completions` at $title."""

    provider_name = "$name"
    dialect = "$dialect"
    default_base_url = "https://api.example.com$base_path"  # CHANGE: the provider's URL, version path included
    default_model = "example-model"  # CHANGE: the model to use if a call names none
    capabilities = CAPABILITIES - {"reasoning"}  # CHANGE: remove what the provider cannot do
    image_types = frozenset({"image/png", "image/jpeg"})  # CHANGE: the types that it accepts
    provider = ChatProvider(
        max_tokens_field="max_tokens",  # CHANGE: some providers call it max_completion_tokens
    )
''')

_DERIVED: Final = Template('''\
"""$title speaks $dialect. Override here what it does differently."""

from art_sdk import $base


class $cls($base):
    """Translates to the API of $title."""

    provider_name = "$name"
    default_base_url = "https://api.example.com$base_path"  # CHANGE: the provider's URL, version path included
    default_model = "example-model"  # CHANGE: the model to use if a call names none
''')


class _Form(Struct, frozen=True, kw_only=True):
    """How a dialect says a text, as Python expressions of `prompt`, `model`, `self`, and of the answer's `data`."""

    path: str
    headers: str
    body: str
    text: str
    usage: str
    finish: str
    finishes: str
    into: str
    of: str


_CHAT: Final = _Form(
    path='"/chat/completions"',
    headers='{"authorization": f"Bearer {self.api_key}"}',
    body='{"model": model, "messages": messages}',
    text='data["choices"][0]["message"]["content"]',
    usage='data.get("usage") or {}',
    finish='data["choices"][0]["finish_reason"]',
    finishes='{"stop": "stop", "length": "length", "content_filter": "content_filter"}',
    into="prompt_tokens",
    of="completion_tokens",
)

_FORMS: Final[Mapping[str, _Form]] = {
    "anthropic-messages": _Form(
        path='"/messages"',
        headers='{"x-api-key": self.api_key, "anthropic-version": "2023-06-01"}',
        body='{"model": model, "max_tokens": 1024, "messages": messages}',
        text='"".join(block["text"] for block in data["content"] if block["type"] == "text")',
        usage='data.get("usage") or {}',
        finish='data["stop_reason"]',
        finishes='{"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "refusal": "content_filter"}',
        into="input_tokens",
        of="output_tokens",
    ),
    "cohere-chat-v2": _Form(
        path='"/chat"',
        headers='{"authorization": f"Bearer {self.api_key}"}',
        body='{"model": model, "messages": messages}',
        text='"".join(part["text"] for part in data["message"].get("content") or () if part["type"] == "text")',
        usage='(data.get("usage") or {}).get("tokens") or {}',
        finish='data["finish_reason"]',
        finishes='{"COMPLETE": "stop", "STOP_SEQUENCE": "stop", "MAX_TOKENS": "length"}',
        into="input_tokens",
        of="output_tokens",
    ),
    "ollama-chat": _Form(
        path='"/chat"',
        headers='{"authorization": f"Bearer {self.api_key}"}',
        body='{"model": model, "messages": messages, "stream": False}',
        text='data["message"]["content"]',
        usage="data",
        finish='data.get("done_reason")',
        finishes='{"stop": "stop", "length": "length"}',
        into="prompt_eval_count",
        of="eval_count",
    ),
    "openai-responses": _Form(
        path='"/responses"',
        headers='{"authorization": f"Bearer {self.api_key}"}',
        body='{"model": model, "input": messages}',
        text='"".join(\n'
        '            part["text"] for item in data["output"] if item["type"] == "message" for part in item["content"]\n'
        "        )",
        usage='data.get("usage") or {}',
        finish='(data.get("incomplete_details") or {}).get("reason") or data["status"]',
        finishes='{"completed": "stop", "max_output_tokens": "length", "content_filter": "content_filter"}',
        into="input_tokens",
        of="output_tokens",
    ),
}

_PLAIN: Final = Template('''\
"""An adapter for $title that needs only the standard library: JSON data in, JSON data out."""

import http.client
import json
import urllib.error
import urllib.request
import uuid

FINISHES = $finishes
RETRYABLE = {408, 409, 429, *range(500, 600)}


class Refused(Exception):
    """Raised for a prompt that this adapter does not support. The suite recognises it by its code."""

    code = "PROMPT_TRANSLATION_FAILED"


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the key to another host."""

    def redirect_request(self, *args):
        return None


class $cls:
    """Translates conversations of plain text, and refuses everything else for now."""

    provider_name = "$name"
    dialect = "$dialect"
    capabilities = ()  # NEXT: declare what you support, such as "system", "tools" or "streaming"
    losses = ()  # what you leave out because the provider has no field for it
    repairs = ()  # what you change so that the provider accepts it

    def __init__(self, *, api_key, base_url=None, model=None):
        self.api_key = api_key
        self.base_url = base_url or "https://api.example.com$base_path"  # CHANGE: the provider's URL
        self.model = model or "example-model"  # CHANGE: the model to use if a call names none

    def translate(self, prompt, options):
        """The request body. What it cannot express is refused; nothing is dropped silently."""
        known = {"thread_id", "trace_id", "session_id", "user_id", "call_context", "late_system", "model"}
        for name, value in options.items():
            is_given = value is not None and value != [] and value != {} and (name, value) != ("stream", False)
            if is_given and name not in known:
                raise Refused(f"the option {name} is not supported yet")
        messages = []
        for message in prompt:
            if message["role"] not in ("user", "assistant") or not isinstance(message.get("content"), str):
                raise Refused("only texts of the user and the assistant are supported yet")
            if message.get("tool_calls") or message.get("name"):
                raise Refused("tool calls and names are not supported yet")
            messages.append({"role": message["role"], "content": message["content"]})
        if not messages or messages[-1]["role"] != "user":
            raise Refused("the last message must be the user's")
        model = options.get("model") or self.model
        return $body

    def call(self, prompt, options):
        """The events of one call. A failure of the provider becomes an ERROR event."""
        body = json.dumps(self.translate(prompt, options)).encode()
        headers = {"content-type": "application/json", **$headers}
        request = urllib.request.Request(self.base_url + $path, body, headers)
        return self._events(request, options)

    def _events(self, request, options):
        ids = {name: options.get(name) for name in ("thread_id", "session_id")}
        ids["trace_id"] = options.get("trace_id") or uuid.uuid4().hex
        context = options.get("call_context")
        kind = f"{context}_LLM_RESPONSE" if context in ("AGENT_THOUGHT", "FINAL_SYNTHESIS") else "LLM_RESPONSE"
        try:
            with urllib.request.build_opener(NoRedirects).open(request, timeout=60) as response:
                text, finish, usage = self._read(json.load(response))
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, RecursionError) as error:
            yield {"type": "ERROR", "error": self._fault(error), **ids}
            yield {"type": "END", "message": None, "finish": "error", **ids}
            return
        yield {"type": "TOKEN", "token_type": kind, "text": text, **ids}
        yield {"type": "METADATA", "metadata": {"stop_reason": finish, **usage}, **ids}
        yield {"type": "END", "message": {"role": "assistant", "content": text}, "finish": finish, **ids}

    def _read(self, data):
        text = $text
        used = $usage
        finish = FINISHES.get($finish, "other")
        if not isinstance(text, str):
            raise ValueError("the answer has no text")
        return text, finish, {"input_tokens": used.get("$into"), "output_tokens": used.get("$of")}

    def _fault(self, error):
        is_broken = isinstance(error, (OSError, http.client.HTTPException))
        fault = {"code": "LLM_PROVIDER_ERROR", "message": f"the call failed: {error}", "is_retryable": is_broken}
        if isinstance(error, urllib.error.HTTPError):
            fault |= {"status": error.code, "is_retryable": error.code in RETRYABLE}
            wait = error.headers.get("retry-after") or ""
            fault["retry_after"] = float(wait) if wait.isdecimal() else None  # NEXT: it may be a date, too
            try:
                words = error.read().decode("utf-8", "replace").replace(self.api_key, "[key]")
            except (OSError, http.client.HTTPException):
                words = ""
            fault["provider_message"] = words[:1000]  # NEXT: only the provider's words, out of its JSON
        return fault
''')
