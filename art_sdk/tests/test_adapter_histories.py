"""A conversation that goes on is sent as if nothing were known of it, whoever changed what meanwhile."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from art_sdk import (
    ArtStandardPrompt,
    AssistantMessage,
    CallOptions,
    OpenAIAdapter,
    PromptTranslationFailed,
    PromptValidationFailed,
    TextPart,
    UserMessage,
    parse_prompt,
)
from art_sdk.adapters.history import Key, KnownHistories, KnownHistory
from built_in import adapter_of
from known_histories import IMAGE, OPTIONS, Message, keeping, outcome

pytestmark = pytest.mark.once


class Watched(OpenAIAdapter):
    """Counts the messages that it translates."""

    history_field = "messages"
    shortest_history: ClassVar[int] = 3

    def __init__(self, **given: Any) -> None:
        self._seen: list[int] = []
        super().__init__(api_key="k", **given)

    @property
    def seen(self) -> list[int]:
        return self._seen

    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> dict[str, Any]:
        self._seen.append(len(prompt))
        return super().translate(prompt, options)


def _talk(length: int, *, first: str = "q0") -> list[Message]:
    """Questions and answers, and a last question."""
    rounds = [({"role": "user", "content": f"q{n}"}, {"role": "assistant", "content": f"a{n}"}) for n in range(length)]
    talk = [message for one in rounds for message in one]
    return [talk[0] | {"content": first}, *talk[1:-1]]


def _knowing(prompt: Any, kind: type[Watched] = Watched) -> Watched:
    """An adapter to which the conversation has come as it went on, so that the prompt is known."""
    adapter = kind()
    adapter.prepare(prompt[:-2], OPTIONS)
    adapter.prepare(prompt, OPTIONS)
    adapter.seen.clear()
    return adapter


@pytest.mark.parametrize("parse", [list, parse_prompt], ids=["data", "typed"])
def test_only_what_is_new_is_translated(parse: Callable[[list[Message]], Any]) -> None:
    prompt = parse(_talk(10))
    adapter = _knowing(prompt[:-2])
    adapter.prepare(prompt, OPTIONS)
    assert adapter.seen == [3]  # a question in place of 17 messages, an answer, and a question


def test_a_prompt_is_kept_once_its_conversation_goes_on() -> None:
    adapter, prompt = Watched(), _talk(10)
    for length in (15, 15, 17, 17, 19, 17, 19):
        adapter.prepare(prompt[:length], OPTIONS)
    assert adapter.seen == [15, 15, 17, 17, 3, 17, 19]


def test_typed_messages_are_not_validated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    prompt = parse_prompt(_talk(10))
    adapter = _knowing(prompt[:-2])
    lengths: list[int] = []

    def parse(data: Any) -> ArtStandardPrompt:
        lengths.append(len(data))
        return parse_prompt(data)

    monkeypatch.setattr("art_sdk.adapters.history_keeper.parse_prompt_to_encode", parse)
    adapter.prepare(prompt, OPTIONS)
    assert lengths == [2]


def test_a_changed_prompt_or_setting_is_translated_whole() -> None:
    prompt = _talk(10)
    other = [prompt[0], prompt[1] | {"content": "other"}, *prompt[2:]]
    changed, warmer, renamed = (_knowing(prompt[:-2]) for _ in range(3))
    changed.prepare(other, OPTIONS)
    warmer.prepare(prompt, CallOptions(thread_id="t", temperature=1.0))
    renamed.model = "other"
    renamed.prepare(prompt, OPTIONS)
    assert [changed.seen, warmer.seen, renamed.seen] == [[19]] * 3


def test_free_json_is_compared_exactly() -> None:
    def talk(number: object) -> list[Message]:
        request = {"role": "tool_request", "content": {"id": "c", "name": "look", "arguments": {"a": number}}}
        return [*_talk(1)[:1], request, {"role": "tool_result", "tool_call_id": "c", "content": "r"}, *_talk(8)[1:]]

    seen: list[int] = []
    for number in (1, True, 1.0, 0.0, -0.0):
        adapter = _knowing(talk(1)[:-2])
        body = adapter.prepare(talk(number), OPTIONS).request.body
        assert body == OpenAIAdapter(api_key="k").prepare(talk(number), OPTIONS).request.body
        seen += adapter.seen
    assert seen == [3, 17, 17, 17, 17]


def test_a_typed_prompt_of_other_values_is_translated_whole() -> None:
    prompt = parse_prompt(_talk(10))
    adapter = _knowing(prompt[:-2])
    other = (*prompt[:4], UserMessage("other"), *prompt[5:])
    assert outcome(adapter, other, OPTIONS) == outcome(adapter_of("openai"), other, OPTIONS)
    assert adapter.seen == [19]


PARTS: Any = [TextPart("p")]
CALLS: Any = []
EXTENSIONS: Any = {"x": {}}


@pytest.mark.parametrize(
    ("message", "change"),
    [
        (UserMessage(PARTS), lambda: PARTS.append("wrong")),
        (AssistantMessage("a", tool_calls=CALLS), lambda: CALLS.append("wrong")),
        (AssistantMessage("a", extensions=EXTENSIONS), lambda: EXTENSIONS.update(x="wrong")),
    ],
    ids=["parts", "calls", "extensions"],
)
def test_a_typed_message_that_can_be_changed_is_validated_again(message: Any, change: Callable[[], None]) -> None:
    question, answer = UserMessage("q"), AssistantMessage("a")
    prompt = [question, answer, message, answer, question] if type(message) is UserMessage else [question, message] * 2
    sent = [*prompt, question]
    adapter = _knowing(sent)
    change()
    with pytest.raises(PromptValidationFailed):
        adapter.prepare([*sent, answer, question], OPTIONS)


def test_an_error_in_what_is_new_has_its_place_in_the_whole_prompt() -> None:
    prompt = parse_prompt(_talk(10))
    adapter = _knowing(prompt)
    wrong: Any = AssistantMessage(5)  # type: ignore[arg-type] # on purpose
    with pytest.raises(PromptValidationFailed, match=r"^PROMPT_VALIDATION_FAILED: \$\[19\]\.content"):
        adapter.prepare((*prompt, wrong), OPTIONS)


def _compare_as_it_grows(name: str, prompt: list[Message], options: CallOptions = OPTIONS) -> None:
    kept, fresh = keeping(name), adapter_of(name)
    for length in range(1, len(prompt) + 1):
        assert outcome(kept, prompt[:length], options) == outcome(fresh, prompt[:length], options)


@pytest.mark.parametrize("name", ["anthropic", "mistral", "openai"])
def test_late_system_messages_stay_where_they_were_sent(name: str) -> None:
    prompt = [*_talk(3), {"role": "system", "content": "Be brief."}, *_talk(4)[1:]]
    _compare_as_it_grows(name, prompt, CallOptions(thread_id="t", late_system="hoist"))


@pytest.mark.parametrize("name", ["bedrock", "gemini", "mistral"])
def test_an_answer_that_is_continued_is_no_question(name: str) -> None:
    _compare_as_it_grows(name, [*_talk(3), {"role": "assistant", "content": "And"}, *_talk(4)[1:]])


def test_images_are_counted_in_the_whole_prompt() -> None:
    asked = {"role": "user", "content": [IMAGE] * 3}
    prompt = [*_talk(2), {"role": "assistant", "content": "a"}, asked, {"role": "assistant", "content": "a"}, asked]
    with pytest.raises(PromptTranslationFailed, match="6 images"):
        adapter_of("groq").prepare(prompt, OPTIONS)
    _compare_as_it_grows("groq", prompt)


def test_a_call_id_that_is_used_again_is_found() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    lookup = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool_result", "tool_call_id": "c", "content": "found"},
    ]
    prompt = [*_talk(4), *lookup]
    adapter = _knowing(prompt)
    with pytest.raises(PromptTranslationFailed, match=r"\$\[9\].*used twice"):
        adapter.prepare([*prompt, *lookup], OPTIONS)


def test_a_subclass_keeps_histories_if_it_adds_data_alone_or_says_so() -> None:
    class Data(Watched):
        default_model = "other"

    class Numbered(Watched):
        def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> dict[str, Any]:
            payload = super().translate(prompt, options)
            payload["messages"][0]["content"] = f"{len(prompt)} messages"
            return payload

    prompt = _talk(10)
    data, numbered = _knowing(prompt[:-2], Data), _knowing(prompt[:-2], Numbered)
    for adapter in (data, numbered):
        body = json.loads(adapter.prepare(prompt, OPTIONS).request.body)
    assert data.seen == [3]
    assert body["messages"][0]["content"] == "19 messages"


def test_a_closed_adapter_has_forgotten_what_was_sent() -> None:
    prompt = _talk(10)
    adapter = _knowing(prompt[:-2])
    adapter.close()
    adapter.prepare(prompt, OPTIONS)
    assert adapter.seen == [19]


def _history(size: int) -> KnownHistory:
    return KnownHistory((), None, (), b"", frozenset(), bytes(size))


def test_the_oldest_histories_go_when_there_are_too_many_bytes() -> None:
    histories = KnownHistories(1_000)
    keys = [Key("t", f"{number}", b"") for number in range(6)]
    for key in keys[:4]:
        histories.keep(key, _history(250))
    histories.keep(keys[0], _history(250))  # now it is the newest one
    histories.keep(keys[4], _history(300))
    assert [histories.find(key, ()) is not None for key in keys] == [True, False, False, True, True, False]
    histories.keep(keys[5], _history(1_001))
    assert [histories.find(key, ()) for key in keys] == [None] * 6


def test_threads_share_what_is_known() -> None:
    adapter, fresh = Watched(), OpenAIAdapter(api_key="k")
    talks = [_talk(30, first=f"{number % 3}") for number in range(8)]
    expected = {n: fresh.prepare(talks[0][:n], OPTIONS).request.body for n in range(3, 60, 2)}
    wrong: list[str] = []

    def talk(messages: list[Message]) -> None:
        for n, body in expected.items():
            found = adapter.prepare(messages[:n], OPTIONS).request.body
            if found != body.replace(b'"0"', f'"{messages[0]["content"]}"'.encode()):
                wrong.append(f"{n} messages")

    threads = [threading.Thread(target=talk, args=(one,)) for one in talks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
