"""Response and stream: answers in every form that the provider may give them, and of every size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from msgspec import structs

from art_compliance.checks.additions import PLAIN_ANSWER, with_reason
from art_compliance.checks.kinds import (
    Kind,
    call_as,
    differing,
    events_in,
    meets,
    of_both_stages,
    options_with_tool,
)
from art_compliance.checks.limits import ARGUMENT_PIECES, TEXT_PIECES
from art_compliance.checks.replies import unread
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.returning import kept_back, left_over
from art_compliance.checks.trial import Trial
from art_compliance.dialects import CannotWrite
from art_compliance.dialects.framing import letter_by_letter, pieces
from art_compliance.dialects.variations import Variation
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.provider import Answerer, Asked, Response, Send, answering_with, in_one_write
from art_compliance.quoting import describe_change, show, show_both
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply
from art_sdk import FunctionCall, ToolCall
from art_sdk.json_data import is_array, is_object


def _look(at: str) -> ToolCall:
    return ToolCall(f"call_{at[:8]}", FunctionCall("look", json.dumps({"at": at}, ensure_ascii=False)))


_TEXT: Final = "This answer \U0001f4dd was written, and a provider may send it in more than one way."
"""With a character that has two units in UTF-16, in which some programs count the places of texts."""
_ANSWERS: Final = (
    WrittenAnswer(content=_TEXT),
    WrittenAnswer(
        content=_TEXT,
        tool_calls=(_look("one side"), ToolCall("call_around", FunctionCall("look", "{}")), _look("all sides")),
        finish="tool_calls",
    ),
)
_CACHED: Final = WrittenAnswer(content=_TEXT, input_tokens=71, output_tokens=9, cached_tokens=30)


def _other_forms_are_read(trial: Trial, kind: Kind) -> Iterator[Problem]:
    """Where an answer is cut into blocks, parts and chunks is the provider's choice, and changes."""
    met = (one for one in trial.dialect.answers.variations if meets(trial, one))
    variations = [one for one in met if kind == "stream" or one.whole is not None]
    if not variations:
        raise NotApplicable(f"a whole answer of {trial.dialect.name} has only one form")
    answers = (*(_ANSWERS if "tools" in trial.subject.capabilities else _ANSWERS[:1]), _CACHED)
    usual = [_usual(trial, kind, one) for one in answers]
    for variation in variations:
        if (variation.goes_back or variation.goes_back_in) and not variation.needs <= trial.subject.capabilities:
            continue
        for answer, (read, known) in zip(answers, usual, strict=True):
            if answer is _CACHED and not variation.counts:
                continue
            reply = call_as(trial, kind, _varying(variation, answer))
            if variation.may_fail and isinstance(reply, Answered) and reply.error is not None:
                continue
            counted = _counts_of(read) if variation.counts else trial.once(_COUNTED[kind])
            found = [*differing(trial, reply, _as_given(answer, variation))] or [*_uncounted(reply, counted)]
            faults = [one for one in found if one.message not in known]
            if isinstance(reply, Answered) and not found:
                faults += [*kept_back(trial, reply, variation, answer), *_unthought(trial, reply, variation)]
                faults += _renumbered(reply, read, answer)
                faults += left_over(reply, variation, variations)
            yield from (fault.after(f"given with {variation.words}, ") for fault in faults)
            if faults:
                break


def _usual(trial: Trial, kind: Kind, answer: WrittenAnswer) -> tuple[Reply, frozenset[str]]:
    """The reply to the answer in its usual form, and what is wrong with it: no form is the cause of that."""
    reply = call_as(trial, kind, answering_with(answer))
    return reply, frozenset(problem.message for problem in differing(trial, reply, answer))


def _renumbered(reply: Answered, usual: Reply, answer: WrittenAnswer) -> Iterator[Problem]:
    """Other ids of calls than the provider's, which the adapter keeps in the usual form."""
    given = [call.id for call in answer.tool_calls]
    found = [call.get("id") for call in reply.calls]
    if isinstance(usual, Answered) and [call.get("id") for call in usual.calls] == given != found:
        yield Problem(
            f"its calls have the ids {show(found)} instead of {show(given)}, which they have in the usual form"
        )


def _as_given(answer: WrittenAnswer, variation: Variation) -> WrittenAnswer:
    """The answer as the form gives it."""
    if not variation.empties:
        return answer
    calls = [
        structs.replace(call, function=structs.replace(call.function, arguments=""))
        if call.function.arguments == "{}"
        else call
        for call in answer.tool_calls
    ]
    return structs.replace(answer, tool_calls=tuple(calls))


def _uncounted(reply: Reply, counted: frozenset[str]) -> Iterator[Problem]:
    """Counts that are in the answer and not in the reply, although the usual form's are read."""
    for name in sorted(counted):
        if isinstance(reply, Answered) and reply.metadata.get(name) is None:
            text = f"{name} is missing, although it is read from an answer in its usual form"
            yield Problem(text, finding_class="contract")


def _counted(trial: Trial, kind: Kind) -> frozenset[str]:
    """What the adapter counts of an answer in its usual form."""
    return _counts_of(call_as(trial, kind, answering_with(_ANSWERS[0]))) - {"cached_tokens"}


def _counts_of(reply: Reply) -> frozenset[str]:
    metadata = reply.metadata if isinstance(reply, Answered) else {}
    names = ("input_tokens", "output_tokens", "cached_tokens")
    return frozenset(name for name in names if metadata.get(name) is not None)


_COUNTED: Final[Mapping[Kind, Callable[[Trial], frozenset[str]]]] = {
    "response": lambda trial: _counted(trial, "response"),
    "stream": lambda trial: _counted(trial, "stream"),
}


def _varying(variation: Variation, answer: WrittenAnswer) -> Answerer:
    return lambda asked: _varied(asked, variation, answer)


def _varied(asked: Asked, variation: Variation, answer: WrittenAnswer) -> Response:
    """The answer in this form, streamed if the request asks for it."""
    if not asked.wants_stream:
        body = json.loads(asked.dialect.answers.write(asked.named(answer)))
        return Response(200, json.dumps(body if variation.whole is None else variation.whole(body)).encode())
    data = b"".join(events_in(variation, asked, answer))
    return Response(200, content_type=asked.dialect.streams.content_type, steps=(Send(data),))


def _unthought(trial: Trial, reply: Answered, variation: Variation) -> Iterator[Problem]:
    """Reasoning of the answer that did not come as such, or came more than once.

    An adapter that does not declare it may leave it out; what it gives nevertheless is judged.
    """
    if not reply.thinking_text and "reasoning" not in trial.subject.capabilities:
        return
    for text in variation.thoughts:
        count = reply.thinking_text.count(text)
        if not count:
            wanted, found = show_both(text, reply.thinking_text)
            yield Problem(f"the reasoning {wanted} is not among the thinking tokens, which are {found}")
        elif count > 1:
            yield Problem(f"the reasoning {show(text)} comes {count} times in the thinking tokens")


OTHER_FORMS_CHECKS: Final = of_both_stages(
    "other-forms-are-read",
    "Text, calls and what must be sent back are read in every form that the provider may use.",
    _other_forms_are_read,
)


def _unusual_answers_are_read(trial: Trial, kind: Kind) -> Iterator[Problem]:
    """Models answer with what nobody tried."""
    for words, answer in _UNUSUAL.items():
        if answer.tool_calls and "tools" not in trial.subject.capabilities:
            continue
        try:
            trial.dialect.answers.write(answer)
        except CannotWrite:
            continue
        reply = call_as(trial, kind, answering_with(answer))
        if words in _MAY_FAIL and isinstance(reply, Answered) and reply.error is not None:
            continue
        faults = [*differing(trial, reply, answer), *_rethought(trial, reply, answer)]
        yield from (fault.after(f"{words}: ") for fault in faults)
    if kind == "stream":
        answer = _growing_answer(trial)
        reply = call_as(trial, kind, answering_with(answer, _with_growing_pieces))
        faults = [*differing(trial, reply, answer), *_rethought(trial, reply, answer)]
        yield from (fault.after("pieces that begin with all that came before: ") for fault in faults)
        yield from _in_many_pieces(trial)


def _in_many_pieces(trial: Trial) -> Iterator[Problem]:
    """Long answers come in thousands of pieces, as each token is one."""
    for words, answer in _MANY_PIECES.items():
        if not answer.tool_calls or "tools" in trial.subject.capabilities:
            reply = call_as(trial, "stream", partial(_spelled, answer))
            yield from (fault.after(f"{words}: ") for fault in differing(trial, reply, answer))


def _spelled(answer: WrittenAnswer, asked: Asked) -> Response:
    with letter_by_letter():
        return in_one_write(asked.answer(answer))


_GROWING: Final = ("one ", "one two, ", "one one two, three, ", "four, five.")
"""Each but the last begins with those before it, as if it had the text so far once more."""

_CUT_AGAIN: Final = dict(zip(pieces("".join(_GROWING)), _GROWING, strict=True))
"""The pieces that the text is usually cut into, and those that it has instead."""


def _growing_answer(trial: Trial) -> WrittenAnswer:
    """An answer with this text, and, where the dialect can write that, with the same text as its reasoning."""
    text = "".join(_GROWING)
    thinking = WrittenAnswer(thinking=text, content=text)
    try:
        trial.dialect.answers.write(thinking)
    except CannotWrite:
        return WrittenAnswer(content=text)
    return thinking


def _with_growing_pieces(value: Any) -> Any:
    """The data of an event with the other piece of the text."""
    if is_object(value):
        return {name: _with_growing_pieces(item) for name, item in value.items()}
    if is_array(value):
        return [_with_growing_pieces(item) for item in value]
    return _CUT_AGAIN.get(value, value) if isinstance(value, str) else value


def _rethought(trial: Trial, reply: Reply, answer: WrittenAnswer) -> Iterator[Problem]:
    """Other reasoning than the answer's."""
    if answer.thinking and isinstance(reply, Answered) and "reasoning" in trial.subject.capabilities:
        found = reply.thinking_text
        if found != answer.thinking:
            yield Problem(f"the reasoning differs: {describe_change(answer.thinking, found)}")


def _deep(depth: int) -> str:
    return f'{{"at":{"[" * depth}"the bottom"{"]" * depth}}}'


def _called(*arguments: str) -> WrittenAnswer:
    calls = (ToolCall(f"call_u{number}", FunctionCall("look", text)) for number, text in enumerate(arguments))
    return WrittenAnswer(tool_calls=tuple(calls), finish="tool_calls")


_OTHER_FORMS: Final = (
    "e\u0301 \u212b \ufb01 \uff21 \u2460 \u00a0\u202f\u3000 a\u200bb\u200d\u2060c \ufeffd\u00ad \u202ee\u202c "
    "\u2018f\u2019 \u2026 \u2013 \u0130\u00df \U0001f469\u200d\U0001f52c\ufe0f"
)
"""Composed, compatible, narrow, wide, invisible and typographic characters, which tidy programs replace."""

_NO_OBJECT: Final = "arguments that are a text with an object in it"
"""Models write them: https://github.com/livekit/agents/issues/5411. What to make of them is for the caller to say."""

_MAY_FAIL: Final = frozenset({_NO_OBJECT})
"""What a reader may not be able to read, but must not change."""

_MANY_PIECES: Final[Mapping[str, WrittenAnswer]] = {
    f"a text in {TEXT_PIECES:,} pieces": WrittenAnswer(content="a word, " * (TEXT_PIECES // 8) + "end."),
    f"arguments in {ARGUMENT_PIECES:,} pieces": _called(json.dumps({"at": "a word, " * (ARGUMENT_PIECES // 8)})),
}

_UNUSUAL: Final[Mapping[str, WrittenAnswer]] = {
    "twelve calls": _called(*(f'{{"at":{number}}}' for number in range(12))),
    "arguments of 200,000 characters": _called(json.dumps({"at": "a long word " * 16_667})),
    "arguments 60 levels deep": _called(_deep(60)),
    "numbers of several kinds": _called('{"a":1.0,"b":-0.0,"c":1e2,"d":1180591620717411303424,"e":0.1,"f":-7}'),
    "escapes in arguments": _called(
        '{"a":"\\u2028\\u0000\\"\\\\n","b\\n":"\\ud83e\\uddea","":null,"c":"data: [DONE]"}'
    ),
    "a text of 60,000 characters": WrittenAnswer(content="\u00e9\u00e8 and more words\n\n" * 3000),
    "a text of blanks and line ends": WrittenAnswer(content="\n\n    \t\n        indented\r\n      \n"),
    "a text with other line ends than those of streams": WrittenAnswer(
        content="one\u0085two\u2028three\u2029four\u000bfive\u000csix\u001cseven"
    ),
    "characters that have other forms": WrittenAnswer(
        content=_OTHER_FORMS,
        tool_calls=(
            ToolCall("call_forms", FunctionCall("look", json.dumps({"at": _OTHER_FORMS}, ensure_ascii=False))),
        ),
        finish="tool_calls",
    ),
    "a text between fences": WrittenAnswer(content='```json\n{"at": "here"}\n```'),
    "a text that looks like a call": WrittenAnswer(content='{"name": "look", "arguments": {"at": "here"}}'),
    "a text about the tags of reasoning": WrittenAnswer(content="Write <think> before it, and </think> after it."),
    "a text that repeats one word": WrittenAnswer(content="again again " * 128),
    "reasoning that repeats one word": WrittenAnswer(thinking="again again " * 12, content="It is noon."),
    "a text about the end of streams": WrittenAnswer(
        content="A stream ends with data: [DONE] at OpenAI.\n\ndata: [DONE]\n\n"
    ),
    "a text that looks like an error": WrittenAnswer(
        content='{"error": {"message": "it broke", "code": 503}, "type": "error"}'
    ),
    "a text with escapes of several languages": WrittenAnswer(
        content=r"C:\new\table \u00e9 \"\\\" &amp;&#39; 100%25 {{name}} ${name} \x1b[1m \[x\] =3D <br> **b** `c`"
    ),
    "arguments that look like other things": _called(
        r'{"a":"{\"b\": [1]}","c":"[]","d":"null","e":"7","f":"true","g":"\\n&amp;%41"}', '{"input":{"at":"here"}}'
    ),
    _NO_OBJECT: _called('"{\\"at\\": \\"here\\"}"'),
    "a call of an offered tool in other letters, which is another tool": WrittenAnswer(
        tool_calls=(ToolCall("call_letters", FunctionCall("Look", '{"at":"here"}')),), finish="tool_calls"
    ),
    "a call of a tool that is not offered": WrittenAnswer(
        tool_calls=(ToolCall("call_not_offered", FunctionCall("overlook", '{"at":"here"}')),), finish="tool_calls"
    ),
}
"""Libraries take texts apart that look like something else: fences (https://github.com/vectorize-io/hindsight/issues/2542),
calls (https://github.com/BerriAI/litellm/issues/6353), tags (https://github.com/vercel/ai/issues/4920). After 100
equal pieces, a text is taken for a model in a loop (https://github.com/BerriAI/litellm/issues/6549), and one with the
end mark in it for the end of the stream (https://github.com/BerriAI/litellm/issues/31562). A piece that begins with
the text so far is taken for all of it (https://github.com/d-kuro/kirocc/issues/112)."""


UNUSUAL_CHECKS: Final = of_both_stages(
    "unusual-answers-are-read",
    "Many calls, large and deep arguments, numbers of every kind, long texts and markup-like texts are read whole.",
    _unusual_answers_are_read,
)


_CALLED: Final = WrittenAnswer(tool_calls=(_look("here"),), finish="tool_calls")


def _failed_finish_is_not_success(trial: Trial, kind: Kind) -> Iterator[Problem]:
    """A pause, a refusal or a malformed call that looks like an answer is acted upon."""
    yield from _bad_ends(trial, kind)
    yield from _blocked_ends(trial, kind)
    yield from _good_ends(trial, kind)
    yield from _calls_of_nothing(trial, kind)


def _bad_ends(trial: Trial, kind: Kind) -> Iterator[Problem]:
    for value in trial.dialect.answers.bad_ends:
        change = with_reason(trial.dialect.streams.finish_fields, value)
        for answer in (PLAIN_ANSWER, _CALLED) if "tools" in trial.subject.capabilities else (PLAIN_ANSWER,):
            reply = call_as(trial, kind, answering_with(answer, change))
            if good := _good_end(reply):
                what = "an answer with a call" if answer.tool_calls else "an answer"
                yield Problem(f"{what} that ends with {show(value)} is reported as successful: {good}")
                break
        if kind == "response" and "complete" in trial.subject.methods:
            options = options_with_tool(trial, kind)
            folded = trial.subject.call_by(
                "complete", trial.scenario.prompt, options, answering_with(PLAIN_ANSWER, change)
            )
            if good := _good_end(folded):
                yield Problem(f"by complete, an answer that ends with {show(value)} is reported as successful: {good}")


def _blocked_ends(trial: Trial, kind: Kind) -> Iterator[Problem]:
    for value in trial.dialect.answers.blocked_ends:
        change = with_reason(trial.dialect.streams.finish_fields, value)
        if good := _good_end(call_as(trial, kind, answering_with(_BLOCKED, change))):
            yield Problem(f"a prompt that was blocked with {show(value)} is reported as answered: {good}")


def _good_ends(trial: Trial, kind: Kind) -> Iterator[Problem]:
    for value in trial.dialect.answers.good_ends:
        change = with_reason(trial.dialect.streams.finish_fields, value)
        reply = call_as(trial, kind, answering_with(PLAIN_ANSWER, change))
        if not isinstance(reply, Answered):
            continue
        if reply.finish != "stop":
            text = f"an answer that ends with {show(value)} is a good one, but is reported as {show(reply.finish)}"
            yield Problem(text, finding_class="contract")
        raw = reply.metadata.get("raw_stop_reason")
        if raw not in (None, value) and not trial.subject.is_translated:
            text = f"raw_stop_reason is {show(raw)}; it must be the provider's own word, {show(value)}"
            yield Problem(text, finding_class="contract")


_BLOCKED: Final = WrittenAnswer(finish="content_filter")


def _good_end(reply: Reply) -> str | None:
    """How a reply says that the answer ended well, if it does: in END, or in METADATA, which others read."""
    if not isinstance(reply, Answered) or reply.error is not None:
        return None
    if reply.finish in _GOOD_ENDS:
        return show(reply.finish)
    said = reply.metadata.get("stop_reason")
    return f"stop_reason is {show(said)} in METADATA" if said in _GOOD_ENDS else None


_GOOD_ENDS: Final = ("stop", "tool_calls")


def _calls_of_nothing(trial: Trial, kind: Kind) -> Iterator[Problem]:
    """That an answer without calls, whose end says that there are some, asks the caller to run them."""
    fields = trial.dialect.streams.finish_fields
    value = _end_of(json.loads(trial.dialect.answers.write(_CALLED)), fields)
    if "tools" not in trial.subject.capabilities or value is None:
        return
    if value == _end_of(json.loads(trial.dialect.answers.write(PLAIN_ANSWER)), fields):
        return
    reply = call_as(trial, kind, answering_with(PLAIN_ANSWER, with_reason(fields, value)))
    if isinstance(reply, Answered) and reply.error is None and reply.finish == "tool_calls" and not reply.calls:
        text = f"an answer without calls that ends with {show(value)} is reported with the finish 'tool_calls'"
        yield Problem(text, finding_class="contract")


def _end_of(value: Any, fields: tuple[str, ...]) -> str | None:
    """The reason why an answer ended, as the provider says it."""
    found = (one for pointer, one in leaves(value) if pointer.rpartition("/")[2] in fields)
    return next((one for one in found if isinstance(one, str)), None)


BAD_END_CHECKS: Final = of_both_stages(
    "failed-finish-is-not-success",
    "An answer ends with `stop` where the provider ended it with a good reason, and nowhere else.",
    _failed_finish_is_not_success,
)


def _usage_is_what_was_counted(trial: Trial, kind: Kind) -> Iterator[Problem]:
    """Compatible servers and streams that did not ask for it leave it out. A count may be 0, but null is none."""
    call_as(trial, kind, answering_with(_COUNTED_ANSWER))
    yield from _zeros(trial, call_as(trial, kind, answering_with(_NO_OUTPUT)))
    if names := trial.dialect.answers.optional_usage:
        reply = call_as(trial, kind, answering_with(PLAIN_ANSWER, lambda body: _without(body, names)))
        yield from (fault.after("without token counts, ") for fault in _made_up(trial, reply))


def _zeros(trial: Trial, reply: Reply) -> Iterator[Problem]:
    """A count that is 0 in the answer and something else in the reply. Some servers leave it out when it is 0."""
    if not isinstance(reply, Answered) or reply.error is not None:
        yield from (fault.after("with an output of 0 tokens, ") for fault in unread(reply))
        return
    found = reply.metadata.get("output_tokens")
    write = trial.dialect.answers.write
    if _places(write(_NO_OUTPUT)) == _places(write(_COUNTED_ANSWER)) and (found != 0 or type(found) is not int):
        text = f"output_tokens is {show(found)}, but the answer says 0"
        yield Problem(text, finding_class="contract")


def _places(body: bytes) -> list[str]:
    return [pointer for pointer, _ in leaves(json.loads(body))]


def _made_up(trial: Trial, reply: Reply) -> Iterator[Problem]:
    """What is wrong with an answer that was given without counts."""
    if not isinstance(reply, Answered) or reply.error is not None:
        yield from unread(reply)
        return
    yield from differing(trial, reply, PLAIN_ANSWER)
    for count in ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens"):
        found = reply.metadata.get(count)
        if found or (found is not None and count in ("input_tokens", "output_tokens")):
            text = f"{count} is {show(found)}, which is not in the answer"
            yield Problem(text, finding_class="contract")


def _without(value: Any, names: tuple[str, ...]) -> Any:
    if is_object(value):
        return {key: _without(item, names) for key, item in value.items() if key not in names}
    return [_without(item, names) for item in value] if is_array(value) else value


_COUNTED_ANSWER: Final = WrittenAnswer(
    content=PLAIN_ANSWER.content, input_tokens=901, output_tokens=902, cached_tokens=94
)
_NO_OUTPUT: Final = structs.replace(_COUNTED_ANSWER, output_tokens=0)


USAGE_CHECKS: Final = of_both_stages(
    "usage-may-be-missing",
    "An answer without token counts is read, and none are made up; a count of 0 is reported as 0.",
    _usage_is_what_was_counted,
)
