"""Every kind of adapter can be judged: ours, any object with `translate`, and a black box with `call` alone."""

from __future__ import annotations

import asyncio
import http.client
import json
import sys
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

from art_compliance import HarnessError, Report, Selection, certify
from art_compliance.generating.profiles import PROFILES, Search
from art_compliance.provider import Asked, Response
from art_compliance.run.summary import as_text, summarize
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject import deadlines as bounded
from art_compliance.subject.events import Answered
from art_compliance.subject.factories import find_factory
from art_compliance.subject.observations import Crashed, Refused, Sent
from art_compliance.subject.opening import open_subject
from art_sdk import GeminiAdapter, OpenAIAdapter, PromptTranslationFailed, parse_options, parse_prompt

QUICK = Search(profile=PROFILES["quick"])
SIMPLE = Selection(scenarios=("one-question", "multi-turn-history", "unicode", "sampling", "late-system"))
HELLO = [{"role": "user", "content": "hello"}]
OPTIONS = {"thread_id": "t"}


OWN_BOOKS = ("thread_id", "trace_id", "session_id", "user_id", "call_context")
KNOWN_OPTIONS = ("temperature", "top_p", "max_tokens", "stop")


FINISHES = {name: name for name in ("stop", "length", "content_filter")}


class Refusal(Exception):
    code = "PROMPT_TRANSLATION_FAILED"


class OwnAdapter:
    """An adapter that knows nothing of art_sdk: JSON data in, JSON data out, urllib on the wire."""

    dialect = "openai-chat"
    capabilities = ("system", "late_system", "stop", "prefill")
    losses = ("message_name",)

    def __init__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> None:
        self.key, self.url = api_key, base_url
        self.model = model or "own-model"

    def translate(self, prompt: Any, options: Any) -> Any:
        if any(message["role"] not in {"system", "user", "assistant"} for message in prompt):
            raise Refusal("no tools here")
        given = {name for name, value in options.items() if value}
        if given - {*OWN_BOOKS, *KNOWN_OPTIONS, "model", "provider", "late_system"}:
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
            events = self.told(self.answer(body, limits), f"{context}_LLM_RESPONSE" if context else "LLM_RESPONSE")
        except urllib.error.HTTPError as error:
            with error:
                wait = error.headers.get("retry-after")
                events = self.failed(error.code, self.words(error.read()), wait and float(wait))
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, RecursionError) as error:
            events = self.failed(200, str(error))
        books = {"thread_id": options["thread_id"], "session_id": options.get("session_id")}
        return ({**event, **books, "trace_id": options.get("trace_id") or "own"} for event in events)

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

    def told(self, answer: Any, token_type: str) -> list[dict[str, Any]]:
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
    """Only `call`, and that asynchronous."""

    def __init__(self, **settings: Any) -> None:
        self._own = OwnAdapter(**settings)

    dialect = "openai-chat"
    capabilities = OwnAdapter.capabilities
    losses = OwnAdapter.losses

    async def call(self, prompt: Any, options: Any) -> Any:
        for event in await asyncio.to_thread(lambda: list(self._own.call(prompt, options))):
            yield event


class TranslateOnly:
    """Only `translate`; no dialect that the suite knows."""

    dialect = "my-own-format"
    capabilities = OwnAdapter.capabilities
    losses = OwnAdapter.losses

    def __init__(self, **settings: Any) -> None:
        self._own = OwnAdapter(**settings)

    def translate(self, prompt: Any, options: Any) -> Any:
        payload = self._own.translate(prompt, options)
        return {"talk": {"said": payload.pop("messages")}, "settings": payload}


ONE_CHECK = Selection(scenarios=("one-question",), checks=("translation.outcome-is-right",))


def failed(report: Report) -> set[str]:
    assert not report.harness_errors
    return {result.check for result in report.failures}


@pytest.mark.parametrize(
    ("make", "kind", "dialect"),
    [
        (OwnAdapter, "white box", "openai-chat"),
        (BlackBox, "black box", "openai-chat"),
        (TranslateOnly, "translate only", None),
        (OpenAIAdapter, "white box", "openai-chat"),
    ],
)
def test_a_good_adapter_passes_however_it_is_reached(make: Any, kind: str, dialect: str | None):
    report = certify(make, selection=SIMPLE)
    assert (report.adapter.kind, report.adapter.dialect) == (kind, dialect)
    assert failed(report) == set()
    assert report.levels["core"].passed > 20


class Toolless(OpenAIAdapter):
    capabilities = OpenAIAdapter.capabilities - {"tools", "parallel_tools", "tool_choice"}


@pytest.mark.once
def test_a_whole_run_of_an_adapter_without_tools_passes_what_it_declares():
    report = certify(Toolless, search=QUICK)
    assert failed(report) == set()
    assert {name for name, count in report.levels.items() if count.is_applicable} == {
        "core",
        "streaming",
        "resilience",
        "properties",
    }
    assert report.is_certified


class Lossy(BlackBox):
    async def call(self, prompt: Any, options: Any) -> Any:
        async for event in super().call([m for m in prompt if m["role"] != "system"] or prompt, options):
            yield event


class Shouting(TranslateOnly):
    def translate(self, prompt: Any, options: Any) -> Any:
        return super().translate([{**m, "content": m["content"].upper()} for m in prompt], options)


def test_a_black_box_that_loses_the_system_message_is_found_by_its_traffic():
    selection = Selection(scenarios=SIMPLE.scenarios, checks=("translation.system-text-survives",))
    assert failed(certify(Lossy, selection=selection)) == {"translation.system-text-survives"}


def test_a_change_in_a_format_that_nobody_knows_is_found_by_the_canaries():
    assert failed(certify(Shouting, selection=SIMPLE)) == {"translation.canary-texts-stand-whole"}


def test_what_happens_is_told_apart():
    class Moody(OwnAdapter):
        def translate(self, prompt: Any, options: Any) -> Any:
            text = prompt[0]["content"]
            if text == "refuse":
                raise Refusal("not this")
            if text == "crash":
                raise KeyError("content")
            return super().translate(prompt, options)

    with open_subject(Moody, name="moody") as subject:
        assert isinstance(subject.translate(HELLO, OPTIONS), Sent)
        refused = subject.translate([{"role": "user", "content": "refuse"}], OPTIONS)
        assert refused == Refused("PROMPT_TRANSLATION_FAILED", "not this")
        crashed = subject.send([{"role": "user", "content": "crash"}], OPTIONS)
        assert isinstance(crashed, Crashed)
        assert crashed.error == "KeyError: 'content'"
        assert "in translate" in crashed.where
        answered = subject.call(HELLO, OPTIONS)
        assert isinstance(answered, Answered)
        assert answered.kinds == ("TOKEN", "METADATA", "END")


def test_a_call_that_sends_nothing_is_no_success():
    class Silent(OwnAdapter):
        def call(self, prompt: Any, options: Any) -> Any:
            return iter(())

    with open_subject(Silent, name="silent") as subject:
        assert subject.send(HELLO, OPTIONS) == Crashed("call ended without a POST to base_url")


def test_a_body_that_is_not_json_is_no_success():
    class Wrong(OwnAdapter):
        def call(self, prompt: Any, options: Any) -> Any:
            with urllib.request.urlopen(f"{self.url}/chat/completions", b"hello=1"):
                return iter(())

    with open_subject(Wrong, name="wrong") as subject:
        seen = subject.send(HELLO, OPTIONS)
    assert isinstance(seen, Crashed)
    assert seen.error.startswith("the request's body is not JSON")


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("capabilities", ("flying",), "unknown capabilities flying; known: images, late_system"),
        ("losses", 5, "losses must be a set of names, is an int"),
        ("repairs", ("magic",), "unknown repairs magic"),
    ],
)
def test_a_declaration_that_means_nothing_is_told(attribute: str, value: Any, told: str):
    make = type("Declares", (OwnAdapter,), {attribute: value})
    with pytest.raises(HarnessError, match=told):
        certify(make, selection=SIMPLE)


def test_an_adapter_by_name_is_its_class():
    assert find_factory("gemini") is GeminiAdapter
    assert find_factory("art_sdk:OpenAIAdapter") is OpenAIAdapter


def test_an_undeclared_adapter_is_judged_on_everything():
    class Bare:
        def __init__(self, **_: Any) -> None:
            pass

        def translate(self, prompt: Any, options: Any) -> Any:
            return OpenAIAdapter(api_key="k").translate(parse_prompt(prompt), parse_options(options))

    asked = ("translation.repairs-are-declared", "translation.result-status-survives")
    report = certify(Bare, dialect="openai-chat", selection=Selection(checks=asked))
    assert failed(report) == {*asked}
    assert report.adapter.losses == ()


def test_the_adapter_is_closed_in_the_end():
    closed: list[str] = []

    class Closing(OpenAIAdapter):
        async def aclose(self) -> None:
            closed.append("yes")
            await super().aclose()

    certify(Closing, selection=ONE_CHECK)
    assert closed == ["yes"]


def test_a_refusal_in_the_sdks_own_words_is_a_refusal():
    class Refusing(OpenAIAdapter):
        def translate(self, prompt: Any, options: Any) -> Any:
            raise PromptTranslationFailed("no")

    with open_subject(Refusing, name="refusing") as subject:
        assert subject.translate(HELLO, OPTIONS) == Refused("PROMPT_TRANSLATION_FAILED", "no")


class Endless(OwnAdapter):
    def translate(self, prompt: Any, options: Any) -> Any:
        time.sleep(60)


class EndlessCall(BlackBox):
    async def call(self, prompt: Any, options: Any) -> Any:
        await asyncio.sleep(60)
        yield {}


def greet(asked: Asked) -> Response:
    return asked.answer(WrittenAnswer(content="hello"))


def test_calls_that_hang_together_are_given_up_together():
    with open_subject(EndlessCall, name="endless") as subject:
        began = time.monotonic()
        heard = subject.call_together([(HELLO, OPTIONS)] * 5, greet, seconds=0.3)
        took = time.monotonic() - began
    assert {str(one) for one in heard} == {"it did not return within 0.3 s"}
    assert took < 1.4  # one after the other would take 1.5 s at least


class Quitting(OwnAdapter):
    def translate(self, prompt: Any, options: Any) -> Any:
        sys.exit("enough")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (Endless, "it did not return within 0.2 s"),
        (EndlessCall, "it did not return within 0.2 s"),
        (Quitting, "it tried to exit the program: SystemExit: enough"),
    ],
)
def test_an_adapter_that_hangs_or_exits_is_told_so(monkeypatch: pytest.MonkeyPatch, make: Any, told: str):
    monkeypatch.setattr(bounded, "LIMIT", 0.2)
    report = certify(make)
    assert not report.is_certified
    assert told in report.harness_errors[0].findings[0].message


def test_an_asynchronous_translate_is_told_at_once():
    class Asynchronous(TranslateOnly):
        async def translate(self, prompt: Any, options: Any) -> Any:
            return {}

    report = certify(Asynchronous)
    assert "translate must return JSON data and returned a coroutine" in report.harness_errors[0].findings[0].message


def test_a_factory_that_exits_is_told():
    def make(**_: Any) -> Any:
        sys.exit(0)

    with pytest.raises(HarnessError, match="the factory raised Stopped: it tried to exit the program: SystemExit: 0"):
        certify(make)


class Forging(OwnAdapter):
    """Changes the prompt in place, so that a judge who looks at the same list sees nothing missing."""

    def translate(self, prompt: Any, options: Any) -> Any:
        prompt[:] = [message for message in prompt if message["role"] != "system"] or prompt
        return super().translate(prompt, options)


def test_an_adapter_cannot_change_what_it_is_judged_by():
    seen = ("translation.system-text-survives", "translation.leaves-its-arguments-alone")
    selection = Selection(scenarios=("one-question", "two-leading-systems"), checks=seen)
    assert failed(certify(Forging, selection=selection)) == {*seen}
    assert failed(certify(OwnAdapter, selection=selection)) == set()


def test_an_adapter_that_refuses_almost_everything_has_no_level_of_tools_or_streams():
    class Refuser(OwnAdapter):
        capabilities = ()

        def translate(self, prompt: Any, options: Any) -> Any:
            if len(prompt) > 1 or options.keys() - {"thread_id"}:
                raise Refusal("not this")
            return super().translate(prompt, options)

    levels = certify(Refuser, search=QUICK).levels
    assert {name for name, count in levels.items() if count.is_applicable} == {"core", "resilience", "properties"}


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("openai_chat", "its dialect is 'openai_chat', which the suite does not know; did you mean 'openai-chat'"),
        (5, "its dialect is 5, which the suite does not know"),
    ],
)
def test_a_dialect_that_is_misspelt_is_told(declared: Any, told: str):
    with pytest.raises(HarnessError, match=told):
        certify(type("Misspelt", (OwnAdapter,), {"dialect": declared}))


def test_a_run_without_a_known_dialect_says_so():
    assert "format-free checks" in as_text(summarize(certify(TranslateOnly, selection=SIMPLE)))


def test_declared_repairs_are_right_wherever_exact_is():
    class Mapping(OpenAIAdapter):
        def map_call_ids(self, call_ids: Any) -> Any:
            return {call_id: f"m{number:08}" for number, call_id in enumerate(call_ids)}

    assert failed(certify(Mapping, selection=Selection(checks=("translation.outcome-is-right",)))) == set()


@pytest.mark.parametrize("attribute", ["capabilities", "losses"])
def test_one_name_is_no_set_of_names(attribute: str):
    make = type("OneName", (OwnAdapter,), {attribute: "system"})
    with pytest.raises(HarnessError, match=f"{attribute} must be a set of names, is a str"):
        certify(make)


def test_an_instance_is_no_factory():
    with pytest.raises(HarnessError, match="an OwnAdapter is not a factory; give the adapter's class or a function"):
        certify(OwnAdapter(api_key="k"))  # type: ignore[arg-type]


def test_an_adapter_that_cannot_be_closed_or_looked_at_is_told():
    class Unclosable(OwnAdapter):
        async def aclose(self) -> None:
            raise OSError("busy")

    class Shy(OwnAdapter):
        @property
        def capabilities(self) -> Any:
            raise OSError("no")

    with pytest.raises(HarnessError, match="aclose raised OSError: busy"):
        certify(Unclosable, selection=ONE_CHECK)
    with pytest.raises(HarnessError, match="inspecting the adapter raised OSError: no"):
        certify(Shy, selection=ONE_CHECK)


class Naive:
    """What one writes in five minutes: the messages as they are, in any dialect's list."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def translate(self, prompt: Any, options: Any) -> Any:
        return {"model": "m", self.history: prompt, **{k: v for k, v in options.items() if k != "thread_id"}}


@pytest.mark.parametrize(
    ("dialect", "history"),
    [("openai-chat", "messages"), ("anthropic-messages", "messages"), ("gemini-generate", "contents")],
)
def test_what_a_naive_adapter_sends_is_judged_and_never_breaks_the_judge(dialect: str, history: str):
    report = certify(type("Mine", (Naive,), {"dialect": dialect, "history": history}), search=QUICK)
    assert report.harness_errors == []
    assert len({result.check for result in report.failures}) > 5
