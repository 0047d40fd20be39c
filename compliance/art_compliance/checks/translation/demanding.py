"""Translation of what is larger or odder than people write by hand: long conversations, many tools, key order."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from random import Random
from typing import Any, Final

from msgspec import Struct

from art_compliance.checks.additions import PLAIN_ANSWER
from art_compliance.checks.base import check
from art_compliance.checks.limits import (
    CALLS_IN_A_TURN,
    IMAGE_BYTES,
    IMAGES,
    IMAGES_IN_A_TURN,
    PARTS,
    ROUNDS,
    SHOWN_OF_A_PROMPT,
    TOOLS,
    TURNS,
    WORDS,
)
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.streamed import whole_and_streamed
from art_compliance.checks.translation import laws
from art_compliance.checks.translation.conservation import CAUSES
from art_compliance.checks.translation.losses import losses_of
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.pointers import escape
from art_compliance.provider import answering_with
from art_compliance.quoting import show
from art_compliance.subject.observations import Sent
from art_sdk import Capability
from art_sdk.json_data import is_array, is_object

Prompt = list[dict[str, Any]]
Options = dict[str, Any]


class Demand(Struct, frozen=True, kw_only=True):
    """A prompt that asks much of an adapter: what it is, the capabilities that it needs, and how it is made."""

    words: str
    needs: tuple[Capability, ...] = ()
    make: Callable[[Random], tuple[Prompt, Options]]


@check(
    "translation.demanding-prompts-survive",
    clause="Prompts of hundreds of turns, many tools or images or long texts are sent whole, by the rules, or refused.",
    requires=("dialect", "sent"),
    once=True,
    leaves_to=(*CAUSES, laws.same_prompt_same_request),
)
def demanding_prompts_survive(trial: Trial) -> Iterator[Problem]:
    """Agents run for hours, and what they carry grows."""
    for demand in DEMANDS:
        if not trial.subject.capabilities.issuperset(demand.needs):
            continue
        prompt, options = demand.make(Random(f"{trial.seed} {demand.words}"))
        options = {"thread_id": trial.id_of(demand.words), **options}
        for problem in islice(losses_of(trial, prompt, options, ruled=True), SHOWN_OF_A_PROMPT):
            if not trial.is_known(problem.message):
                yield problem.after(f"{demand.words}: ")


def _word(random: Random) -> str:
    return random.randbytes(5).hex()


def _many_turns(random: Random) -> tuple[Prompt, Options]:
    system = {"role": "system", "content": f"Count with {_word(random)}."}
    turns = [{"role": ("user", "assistant")[at % 2], "content": f"{at} {_word(random)}"} for at in range(TURNS)]
    return [system, *turns], {}


def _many_rounds(random: Random) -> tuple[Prompt, Options]:
    prompt: Prompt = [{"role": "user", "content": "Go on until you are done."}]
    for at in range(ROUNDS):
        function = {"name": "look", "arguments": f'{{"at":"{_word(random)}"}}'}
        call = {"id": f"call_{at}", "type": "function", "function": function}
        prompt += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool_result", "tool_call_id": f"call_{at}", "name": "look", "content": _word(random)},
        ]
    return prompt, {"tools": [_tool("look", {"at": {"type": "string"}})]}


def _tool(name: str, properties: dict[str, Any], description: str = "Looks.") -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": {"type": "object", "properties": properties}}


def _many_calls(random: Random) -> tuple[Prompt, Options]:
    calls: list[dict[str, Any]] = []
    results: Prompt = []
    for at in range(CALLS_IN_A_TURN):
        function = {"name": "look", "arguments": f'{{"at":"{_word(random)}"}}'}
        calls.append({"id": f"call_{at}", "type": "function", "function": function})
        results.append({"role": "tool_result", "tool_call_id": f"call_{at}", "content": _word(random)})
    asked: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": calls}
    prompt: Prompt = [{"role": "user", "content": "Look everywhere."}, asked, *results]
    return prompt, {"tools": [_tool("look", {"at": {"type": "string"}})]}


def _many_tools(random: Random) -> tuple[Prompt, Options]:
    described = [_tool(f"tool_{at}", {_word(random): {"type": "string"}}, _word(random)) for at in range(TOOLS)]
    return [{"role": "user", "content": "hello"}], {"tools": described}


def _long_texts(random: Random) -> tuple[Prompt, Options]:
    text = " ".join(_word(random) for _ in range(WORDS))
    result = {"role": "tool_result", "tool_call_id": "call_1", "content": text[::-1]}
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked = {"role": "assistant", "content": text[:9999], "tool_calls": [call]}
    described = _tool("look", {}, description=text[:3000])
    return [{"role": "user", "content": text}, asked, result], {"tools": [described]}


def _line_ends(random: Random) -> tuple[Prompt, Options]:
    arguments = f'{{"{_word(random)}":"a\\r\\nb\\rc\\n","d":"\\u2028\\t","e":-0.0,"f":1.0,"g":1e2}}'
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": arguments}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool_result", "tool_call_id": "call_1", "content": "a\r\nb\rc\n\n"}
    text = {"role": "user", "content": "cafe\u0301 and caf\u00e9\r\nare \ufb01ne\r"}
    return [text, asked, result], {"tools": [_tool("look", {})]}


def _a_model_in_capitals(random: Random) -> tuple[Prompt, Options]:
    return [{"role": "user", "content": "hello"}], {"model": f"Own/Model-{_word(random).upper()}:Latest"}


def _many_parts(random: Random) -> tuple[Prompt, Options]:
    parts = [{"type": "text", "text": f"{at} {_word(random)}"} for at in range(PARTS)]
    return [{"role": "user", "content": parts}], {}


def _texts_like_data(word: str) -> list[str]:
    """Texts that look like something that could be read, tidied up or taken out."""
    return [
        f'[{{"type":"text","text":"{word}"}}]',
        f'{{"role": "system", "content": "{word}"}}',
        f"data:image/png;base64,{word * 20}",
        f"<think>{word}</think> {{{{{word}}}}} ${{{word}}} <|im_start|>{word}<|im_end|>",
        f"\ufeff{word}\u00a0{word}\ttab\t{word}",
        f"<p>{word}</p><script>\n{word}\n</script><style>a {{}}</style><!-- {word} --> &amp; &lt;{word}&gt; &#39;",
        f"4111111111111111 and {word}@example.com, +1 555 010 0199, https://example.com/a%20b?{word}=1&b=2#{word}",
        f"{word}\n\n\n\n{word}\n{word}\n{word}\n    \u201c{word}\u2019s\u201d\u2026 \u2014  {word}\n" + "\n",
        f"# {word}\n\n```json\n{{}}\n```\n**{word}** [{word}](https://example.com) :smile: {word * 3}",
    ]


def _like_data(random: Random) -> tuple[Prompt, Options]:
    texts = _texts_like_data(_word(random))
    turns = [{"role": role, "content": text} for text in texts for role in ("user", "assistant")]
    return [*turns, {"role": "user", "content": "hello"}], {}


def _systems_like_data(random: Random) -> tuple[Prompt, Options]:
    text = "\n".join(_texts_like_data(_word(random)))
    return [{"role": "system", "content": text}, {"role": "user", "content": "hello"}], {}


def _results_like_data(random: Random) -> tuple[Prompt, Options]:
    """Model Context Protocol servers answer with lists of parts, and pages are what browsers' tools return."""
    prompt: Prompt = [{"role": "user", "content": "Look everywhere."}]
    for at, text in enumerate(_texts_like_data(_word(random))):
        arguments = json.dumps({"at": text, "of": None})
        call = {"id": f"call_{at}", "type": "function", "function": {"name": "look", "arguments": arguments}}
        asked = {"role": "assistant", "content": None, "tool_calls": [call]}
        prompt += [asked, {"role": "tool_result", "tool_call_id": f"call_{at}", "name": "look", "content": text}]
    return prompt, {"tools": [_tool("look", {"at": {"type": "string"}}, _texts_like_data(_word(random))[3])]}


def _equal_texts(random: Random) -> tuple[Prompt, Options]:
    """Whoever reads a file again gets the same text again, and people say yes more than once."""
    page = " ".join(_word(random) for _ in range(300))
    prompt: Prompt = []
    for at in range(3):
        call = {"id": f"call_{at}", "type": "function", "function": {"name": "look", "arguments": '{"at":"here"}'}}
        prompt += [
            {"role": "user", "content": page if at else "Yes."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool_result", "tool_call_id": f"call_{at}", "name": "look", "content": page},
            {"role": "assistant", "content": "It says so."},
            {"role": "user", "content": "Yes."},
            {"role": "assistant", "content": "It says so."},
        ]
    return prompt, {"tools": [_tool("look", {"at": {"type": "string"}})]}


def _large_images(random: Random) -> tuple[Prompt, Options]:
    """Two PNG images of almost a megabyte each, one of them in an older turn. They differ in the middle alone."""
    first, last = (random.randbytes(IMAGE_BYTES // 2) for _ in range(2))
    data = [b64encode(_PNG + first + random.randbytes(100) + last).decode() for _ in range(2)]
    images = [{"type": "image", "mime_type": "image/png", "data": one} for one in data]
    turns = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]} for image in images]
    return [turns[0], {"role": "assistant", "content": "A moon."}, turns[1]], {}


def _many_images(random: Random) -> tuple[Prompt, Options]:
    """A limit of the whole request is exceeded by all messages together, and by none of them."""
    prompt: Prompt = []
    for at in range(IMAGES // IMAGES_IN_A_TURN):
        data = [b64encode(_PNG + random.randbytes(20)).decode() for _ in range(IMAGES_IN_A_TURN)]
        images = [{"type": "image", "mime_type": "image/png", "data": one} for one in data]
        prompt += [
            {"role": "user", "content": [{"type": "text", "text": f"{at} {_word(random)}"}, *images]},
            {"role": "assistant", "content": "Moons."},
        ]
    return [*prompt, {"role": "user", "content": "Which is the brightest?"}], {}


def _a_signed_url(random: Random) -> tuple[Prompt, Options]:
    """Whoever quotes it again breaks its signature."""
    image = {"type": "image", "mime_type": "image/png", "url": f"{_SIGNED_URL}{random.randrange(10**6)}"}
    return [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}], {}


_SIGNED_URL: Final = "https://example.org/a%2Fb/moon%20one.png?at=2%3A1&key=A%2BB%3D%26%25&more=+~%7e%C3%A9"
_PNG: Final = b"\x89PNG\r\n\x1a\n"


_TOOLS_NEEDED: Final[tuple[Capability, ...]] = ("tools",)
DEMANDS: Final = (
    Demand(words=f"{TURNS} turns", make=_many_turns),
    Demand(words=f"{ROUNDS} rounds with a tool", needs=_TOOLS_NEEDED, make=_many_rounds),
    Demand(words=f"{CALLS_IN_A_TURN} calls in one turn", needs=("tools", "parallel_tools"), make=_many_calls),
    Demand(words=f"{TOOLS} tools", needs=_TOOLS_NEEDED, make=_many_tools),
    Demand(words=f"texts of {WORDS:,} words", needs=_TOOLS_NEEDED, make=_long_texts),
    Demand(words="line ends and numbers of several kinds", needs=_TOOLS_NEEDED, make=_line_ends),
    Demand(words="a model's name with capitals", make=_a_model_in_capitals),
    Demand(words=f"{PARTS} parts in one message", make=_many_parts),
    Demand(words="texts like data", make=_like_data),
    Demand(words="a system prompt like data", needs=("system",), make=_systems_like_data),
    Demand(words="equal texts and equal results", needs=_TOOLS_NEEDED, make=_equal_texts),
    Demand(words="results like data", needs=_TOOLS_NEEDED, make=_results_like_data),
    Demand(words=f"{IMAGES} images in turns of {IMAGES_IN_A_TURN}", needs=("images",), make=_many_images),
    Demand(words="an image whose URL is signed", needs=("images",), make=_a_signed_url),
    Demand(words="two images of 0.9 MB that differ in the middle", needs=("images",), make=_large_images),
)


@check(
    "translation.keys-keep-their-order",
    clause="The properties of a schema are sent in the caller's order.",
    requires=("dialect", "sent"),
    once=True,
    leaves_to=CAUSES,
)
def keys_keep_their_order(trial: Trial) -> Iterator[Problem]:
    """Models fill in properties in the order of the schema: an answer before its reason is worth less."""
    random = Random(f"{trial.seed} order")
    names, inner = ([f"{letter}{_word(random)}" for letter in letters] for letters in ("zmaqb", "ytckd"))
    schema = _schema_of(names, {names[1]: _schema_of(inner, {})})
    given: list[tuple[str, Options]] = []
    if "response_schema" in trial.subject.capabilities:
        given.append(("response schema", {"response_schema": schema}))
    if "tools" in trial.subject.capabilities:
        given.append(("tool's schema", {"tools": [{"name": "look", "description": "Looks.", "inputSchema": schema}]}))
    if not given:
        raise NotApplicable("not declared: response_schema, tools")
    for what, options in given:
        wrong = (
            (wanted, found, pointer)
            for payload in _made(trial, options)
            for wanted in (names, inner)
            for pointer, found in _orders(payload, set(wanted))
            if found != wanted
        )
        for wanted, found, pointer in islice(wrong, 1):
            text = f"the properties of a {what}, {show(wanted)}, are sent in another order: {show(found)}"
            yield Problem(text, pointer=pointer)


def _schema_of(names: list[str], others: dict[str, Any]) -> dict[str, Any]:
    """A closed schema with these properties, all of them texts but for the others."""
    properties = {name: others.get(name, {"type": "string"}) for name in names}
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def _made(trial: Trial, options: Options) -> Iterator[Any]:
    """The payload that is translated, and the one that a call sends: the order may change where it is written."""
    prompt, options = [{"role": "user", "content": "hello"}], {"thread_id": trial.id_of("order"), **options}
    seen = trial.observe(prompt, options)
    if isinstance(seen, Sent):
        yield seen.payload
    if trial.subject.has_translate and trial.subject.call_methods:
        before = trial.subject.request_count
        for streamed in whole_and_streamed(can_stream="streaming" in trial.subject.capabilities):
            own = {**options, **({"stream": True} if streamed else {})}
            trial.subject.call(prompt, own, answering_with(PLAIN_ANSWER))
        for request in trial.subject.seen_since(before):
            with suppress(ValueError):  # another check reports what is no JSON
                yield json.loads(request.body)


def _orders(value: Any, names: set[str], pointer: str = "") -> Iterator[tuple[str, list[str]]]:
    """The objects of the payload that have just these keys: where they are, and the order of their keys."""
    if is_object(value):
        if set(value) == names:
            yield pointer, list(value)
        for key, item in value.items():
            yield from _orders(item, names, f"{pointer}/{escape(key)}")
    elif is_array(value):
        for at, item in enumerate(value):
            yield from _orders(item, names, f"{pointer}/{at}")
