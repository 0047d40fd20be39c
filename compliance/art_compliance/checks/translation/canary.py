"""Translation, without knowing the format: plants a canary in every slot and looks for it in the JSON payload.

This judges adapters of formats that the suite does not know, and is a second opinion on the suite's own decoders: it
speaks where they have seen nothing. Canaries are random in every run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.translation import conservation, laws
from art_compliance.checks.trial import Trial
from art_compliance.comparison import expected_options
from art_compliance.comparison.normal_form import Entry, keeps_json, normal_form, walk_texts
from art_compliance.dialects import DecodeFailed
from art_compliance.findings import Problem
from art_compliance.generating.rewriting import Rewriting
from art_compliance.pointers import escape, leaves
from art_compliance.quoting import describe_change, show
from art_compliance.subject.observations import Sent
from art_sdk import parse_prompt
from art_sdk.json_data import is_array, is_object

_SEEN: Final = (*conservation.CAUSES, laws.follows_renaming)
"""The checks that see the same in formats that the suite knows."""


class Leaf(NamedTuple):
    """A scalar of the payload: its JSON pointer, and those of the objects around it."""

    pointer: str
    value: Any
    around: tuple[str, ...]


class Planted(NamedTuple):
    """A scenario with canaries in every slot, and the payload that the adapter made of it."""

    prompt: list[dict[str, Any]]
    options: dict[str, Any]
    payload: Any
    entries: list[Entry]
    leaves: list[Leaf]


def plant(trial: Trial) -> Planted:
    """Plants, translates and walks. Raises NotApplicable if the planted prompt is not sent.

    So it does if the planted prompt loses what other scenarios lost already, as the suite's decoder sees it.
    """
    rewriting = _canaries(Random(f"{trial.seed} canary {trial.scenario.id}"))
    prompt = _without_tail(rewriting.prompt(trial.scenario.prompt))
    options = rewriting.options(trial.options)
    sent = trial.observe_sent(prompt, options)
    if any(trial.is_known(problem.message) for problem in _decoded_losses(trial, prompt, options, sent)):
        raise NotApplicable("the cause is reported on other scenarios: see the checks of what survives")
    payload = sent.payload
    return Planted(prompt, options, payload, normal_form(parse_prompt(prompt)), list(walk(payload)))


def _decoded_losses(
    trial: Trial, prompt: list[dict[str, Any]], options: dict[str, Any], sent: Sent
) -> Iterator[Problem]:
    if trial.subject.dialect is None:
        return
    try:
        found = trial.compare(trial.decode(sent), prompt, options, sent).differences
    except DecodeFailed:
        return
    yield from map(conservation.as_problem, found)


_LEAD: Final = " \t"
_HOSTILE: Final = (
    '  two  spaces <b>&amp;"q"</b> \u4f60\u597d e\u0301 \U0001f9ea\n\ttab {{m}} {% x %} \\n \\u0041 ```system: '
    "\r\n\n\n\n \x00\x07\x1b \ufeff\u200b\u00a0\u2028 <|im_end|> <think>hm</think> %% $$ \u201cquoted\u201d \ufb01 "
)
_TAIL: Final = " \n"


def _canaries(random: Random) -> Rewriting:
    """A token, hostile characters and outer whitespace in every text; safe ids; plain tokens in arguments."""
    ids: dict[str, str] = {}

    def token() -> str:
        return f"canary{random.randbytes(6).hex()}"

    def text(own: str) -> str:
        return f"{_LEAD}{token()}{_HOSTILE}{own}{_TAIL}"

    return Rewriting(
        system=text,
        user=text,
        assistant=text,
        result=text,
        call_id=lambda own: ids.setdefault(own, f"call_{random.randbytes(6).hex()}"),
        description=lambda own: f"{token()} {own}"[:1000],
        argument=lambda own: f"{token()} {own}",
    )


def _without_tail(prompt: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The prompt; where an assistant's text is last, it ends as the scenario's own.

    Whitespace there is what some adapters trim, which the scenarios that have it report.
    """
    last = prompt[-1] if prompt else {}
    content: Any = last.get("content")
    if last.get("role") != "assistant" or not content:
        return prompt
    if is_array(content):
        *before, part = content
        content = [*before, {**part, "text": part["text"].removesuffix(_TAIL)}] if "text" in part else content
    else:
        content = content.removesuffix(_TAIL)
    return [*prompt[:-1], {**last, "content": content}]


def walk(value: Any, pointer: str = "", around: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Every scalar of a payload, in order. Text that is a JSON object is decoded, once."""
    if is_object(value):
        for key, item in value.items():
            yield from walk(item, f"{pointer}/{escape(key)}", (*around, pointer))
    elif is_array(value):
        for index, item in enumerate(value):
            yield from walk(item, f"{pointer}/{index}", around)
    else:
        yield Leaf(pointer, value, around)
        inner = _decoded_once(value)
        if inner is not None:
            for place, leaf in leaves(inner, pointer):  # text in it stays text: it is decoded once, never twice
                yield Leaf(place, leaf, (*around, pointer))


def _decoded_once(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return found if is_object(found) else None


@check(
    "translation.canary-texts-are-whole",
    clause="Every text of the prompt is in the payload once, character for character, whatever its content.",
    requires=("sendable", "sent"),
    leaves_to=_SEEN,
)
def canary_texts_are_whole(trial: Trial) -> Iterator[Problem]:
    """Not trimmed, escaped, normalised, expanded, repeated or lost."""
    planted = trial.once(plant)
    may_trim = "trims_prefill" in trial.subject.repairs
    for text in walk_texts(_without_end(planted.entries) if may_trim else planted.entries):
        if not text.strip():
            continue
        whole = [leaf for leaf in planted.leaves if isinstance(leaf.value, str) and text in leaf.value]
        if len(whole) > 1:
            where = whole[1].pointer
            yield Problem(f"the text with {_token(text)} is in the payload {len(whole)} times", pointer=where)
        elif not whole:
            traces = [leaf for leaf in planted.leaves if isinstance(leaf.value, str) and _token(text) in leaf.value]
            place = traces[0].pointer if traces else None
            what = f"changed: {describe_change(text, traces[0].value)}" if traces else "is lost"
            yield Problem(f"the text with {_token(text)} {what}", pointer=place)


def _without_end(entries: list[Entry]) -> list[Entry]:
    """The entries; where an assistant's text is last, without the whitespace at its end."""
    last = entries[-1] if entries else None
    if last is None or last.role != "assistant" or last.calls:
        return entries
    return [*entries[:-1], Entry("assistant", tuple(text.rstrip() for text in last.texts), last.path)]


@check(
    "translation.canary-order-is-kept",
    clause="The texts are in the payload in the order of the conversation.",
    requires=("sendable", "sent"),
    leaves_to=(canary_texts_are_whole,),
)
def canary_order_is_kept(trial: Trial) -> Iterator[Problem]:
    """System texts may be elsewhere. The results of one turn may come in any order."""
    planted = trial.once(plant)
    texts = [(number, leaf.value) for number, leaf in enumerate(planted.leaves) if isinstance(leaf.value, str)]
    last, last_text = (-1, 0), ""
    for group in _groups(planted.entries):
        found = [((number, value.find(text)), text) for text in group for number, value in texts if text in value]
        if not found:
            continue
        first, text = min(found)
        if first < last:
            message = f"{_token(text)} comes before {_token(last_text)}, which comes first in the prompt"
            pointer = planted.leaves[first[0]].pointer
            yield Problem(message, pointer=pointer)
            return
        last, last_text = max(found)


def _groups(entries: list[Entry]) -> Iterator[list[str]]:
    """Groups of texts, in order; within a group any order is right. System texts are left out."""
    for entry in entries:
        if entry.role != "system":
            yield [text for text in entry.texts if text.strip()]
            yield [call.result.text for call in entry.calls if call.result is not None and call.result.text.strip()]


@check(
    "translation.canary-results-are-linked",
    clause="A call's id, or the id it was mapped to, is sent with the call and with its result.",
    requires=("sendable", "sent"),
    needs=("tools",),
    leaves_to=(canary_texts_are_whole,),
)
def canary_results_are_linked(trial: Trial) -> Iterator[Problem]:
    """The result of one call must not answer another."""
    planted = trial.once(plant)
    ids = {call.id for entry in planted.entries for call in entry.calls}
    id_leaves = [leaf for leaf in planted.leaves if isinstance(leaf.value, str) and leaf.value in ids]
    may_change = {"maps_call_ids", "call_ids"} & {*trial.subject.repairs, *trial.subject.losses}
    if not id_leaves and (may_change or _sends_no_ids(trial)):
        return
    for entry in planted.entries:
        for call in entry.calls:
            count = sum(leaf.value == call.id for leaf in id_leaves)
            wanted = 1 if call.result is None else 2
            if count != wanted:
                text = f"the id {show(call.id)} is in the payload {count} times; expected {wanted} (call and result)"
                yield Problem(text, path=call.path)
            elif call.result is not None and call.result.text.strip():
                yield from _link(planted, id_leaves, call.id, call.result.text)


def _sends_no_ids(trial: Trial) -> bool:
    """Whether calls are sent without ids, which translation.call-ids-survive reports."""
    return trial.subject.dialect is not None and not trial.decoded.has_ids


def _link(planted: Planted, id_leaves: list[Leaf], call_id: str, text: str) -> Iterator[Problem]:
    """Compares the id nearest to the result's text, from object to object outwards, with its call's."""
    for leaf in planted.leaves:
        if isinstance(leaf.value, str) and text in leaf.value:
            for around in reversed(leaf.around):
                near = [other.value for other in id_leaves if other.around[-1:] == (around,)]
                if near and call_id not in near:
                    message = f"the result of {show(call_id)} is next to the id {show(near[0])}"
                    yield Problem(message, pointer=leaf.pointer)
                if near:
                    return


@check(
    "translation.canary-arguments-decode-once",
    clause="A call's arguments are in the payload as an object, or as its JSON text, encoded once.",
    requires=("sendable", "sent"),
    needs=("tools",),
    leaves_to=(canary_texts_are_whole, canary_results_are_linked),
)
def canary_arguments_decode_once(trial: Trial) -> Iterator[Problem]:
    """Not encoded twice, not cut off, with integers still integers.

    Where a format has a place for no arguments at all, translation.arguments-survive reads it.
    """
    planted = trial.once(plant)
    objects = list(_objects(planted.payload))
    is_read = trial.subject.dialect is not None
    for call in (call for entry in planted.entries for call in entry.calls):
        wanted = call.arguments
        if is_object(wanted) and (wanted or not is_read) and not any(keeps_json(wanted, one) for one in objects):
            yield Problem(f"the arguments of {show(call.name)} are missing: {show(wanted)}", path=call.path)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if is_object(value):
        yield value
        for item in value.values():
            yield from _objects(item)
    elif is_array(value):
        for item in value:
            yield from _objects(item)
    elif isinstance(value, str) and not value.strip():  # blank arguments say what absent ones say
        yield {}
    elif (inner := _decoded_once(value)) is not None:
        yield inner


@check(
    "translation.canary-tools-arrive",
    clause="A tool's name, its description and the names of its parameters are in the payload.",
    requires=("sendable", "sent"),
    needs=("tools",),
    leaves_to=_SEEN,
)
def canary_tools_are_sent(trial: Trial) -> Iterator[Problem]:
    """The model can only call tools that it knows."""
    planted = trial.once(plant)
    texts = [leaf.value for leaf in planted.leaves if isinstance(leaf.value, str)]
    keys = {key for one in _objects(planted.payload) for key in one}
    may_rename = "renames_tools" in trial.subject.repairs
    for number, tool in enumerate(planted.options.get("tools", ())):
        missing = [
            what
            for what, is_there in (
                (f"its name {show(tool['name'])}", may_rename or tool["name"] in texts),
                ("its description", not tool["description"].strip() or tool["description"] in texts),
                *((f"its parameter {show(key)}", key in keys) for key in tool["inputSchema"].get("properties", {})),
            )
            if not is_there
        ]
        for what in missing:
            yield Problem(f"{what} is missing", path=f"options.tools[{number}]")


@check(
    "translation.canary-options-arrive",
    clause="The value of every sampling option is in the payload, or its loss is declared.",
    finding_class="contract",
    requires=("sendable", "sent"),
    leaves_to=_SEEN,
)
def canary_options_are_sent(trial: Trial) -> Iterator[Problem]:
    """Dropping an option silently changes the answer."""
    planted = trial.once(plant)
    values = [leaf.value for leaf in planted.leaves]
    for name, value in expected_options(planted.options).items():
        wanted: Sequence[Any] = value if is_array(value) else (value,)
        is_lost = f"sampling_option:{name}" in trial.subject.losses
        if name in _SAMPLING and not is_lost and not all(one in values for one in wanted):
            text = f"{name} = {show(value)} is missing"
            yield Problem(text, path=f"options.{name}")


_SAMPLING: Final = frozenset({"temperature", "top_p", "max_tokens", "stop"})


def _token(text: str) -> str:
    start = text.index("canary")
    return text[start : start + 18]
