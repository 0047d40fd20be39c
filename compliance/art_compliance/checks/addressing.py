"""Wire: where a request goes, with which method and headers, and that it is the same for every account."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any, Final

from art_compliance.checks.additions import PLAIN_ANSWER
from art_compliance.checks.arriving import wrong_with
from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable, is_json
from art_compliance.checks.streamed import options_for, whole_and_streamed
from art_compliance.checks.translation.laws import first_difference
from art_compliance.checks.translation.pairs import calls_together
from art_compliance.checks.trial import Trial
from art_compliance.checks.ways import Way, ways_of
from art_compliance.comparison.normal_form import same_json
from art_compliance.findings import Problem
from art_compliance.provider import Request, answering_with
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.observations import Sent


@check(
    "wire.request-goes-to-the-right-endpoint",
    clause="A call is one POST to a path that the provider serves, with the headers and the key that it requires.",
    requires=("dialect", "call", "sent"),
    once=True,
)
def request_goes_to_the_right_endpoint(trial: Trial) -> Iterator[Problem]:
    """A perfect body at a wrong path is a 404."""
    earlier = list(trial.subject.other_requests)
    for streamed in whole_and_streamed(can_stream="streaming" in trial.subject.capabilities):
        requests = _requests_of(trial, options_for(trial, streamed=streamed))
        kind = "a streamed call" if streamed else "a call"
        others = [f"{one.method} {one.target}" for one in requests if one.method != "POST"]
        if others:
            text = f"{kind} sends other requests, too: {', '.join(others)}; it must send one POST"
            yield Problem(text, finding_class="contract")
            earlier.clear()
        for request in requests if not others else ():
            yield from (
                Problem(f"{kind} {wrong}") for wrong in wrong_with(trial.dialect, request, trial.subject.base_url)
            )
    if earlier and trial.subject.speaks is None:  # a gateway may ask its provider whether it is there
        text = f"earlier the adapter sent {', '.join(earlier)}; a call is one POST, and nothing is sent besides"
        yield Problem(text, finding_class="contract")
    elif "images" in trial.subject.capabilities and trial.subject.speaks is None:
        yield from _fetched(trial)
    if (key := trial.dialect.service.access.key_of_parts) is not None:
        yield from _part_left_out(trial, key)


def _fetched(trial: Trial) -> Iterator[Problem]:
    """That the adapter fetches an image which the provider is to fetch: it is at the provider itself, to be seen."""
    image = {"type": "image", "mime_type": "image/png", "url": f"{trial.subject.base_url}/{_PICTURE}"}
    before = trial.subject.request_count
    trial.subject.watch([{"role": "user", "content": [image]}], options_for(trial, streamed=False))
    if any(_PICTURE in one.target for one in trial.subject.seen_since(before)):
        text = "the adapter fetches an image that has a URL; a call is one POST: send the URL, or refuse the image"
        yield Problem(text, finding_class="contract")


_PICTURE: Final = "art-compliance-picture.png"


def _part_left_out(trial: Trial, key: str) -> Iterator[Problem]:
    """That a request which is signed with the key's first parts lacks the last one, the token of a session.

    An adapter that does not know such keys sends it whole, or refuses it.
    """
    first, *_, last = key.split(":")
    before = trial.subject.request_count
    with suppress(CannotDo), trial.subject.opening_with({"api_key": key}) as call:
        call("call", trial.scenario.prompt, trial.options, answering_with(PLAIN_ANSWER))
    for request in trial.subject.seen_since(before):
        sent = [*request.headers.values(), request.target]
        if any(first in one for one in sent) and not any(key in one or last in one for one in sent):
            yield Problem("of a key with a session token, the token is not sent, without which the key opens nothing")
            return


def _requests_of(trial: Trial, options: dict[str, Any]) -> list[Request]:
    before = trial.subject.request_count
    trial.subject.watch(trial.scenario.prompt, options)
    return trial.subject.seen_since(before)


@check(
    "wire.internal-ids-are-not-sent",
    clause="No header, URL or body of a request has thread_id, trace_id, session_id or user_id, or depends on them.",
    finding_class="contract",
    requires=("call", "sent"),
    once=True,
)
def internal_ids_are_not_sent(trial: Trial) -> Iterator[Problem]:
    """They are the caller's own, and some of them name a person. By one method, they are as wrong as by all."""
    random = Random(f"{trial.seed} books")
    some, others = ({name: f"{name}{random.randbytes(6).hex()}" for name in _BOOKS} for _ in range(2))
    for way in ways_of(trial):
        requests = _requests_by(trial, way, some)
        found = [text for request in requests for text in _told(request, some)]
        found = found or _depending(trial, way, requests, some, others)
        if found:
            yield from (Problem(text if way == ("call", False) else f"by {way}, {text}") for text in found)
            return


_BOOKS: Final = ("thread_id", "trace_id", "session_id", "user_id")


def _requests_by(trial: Trial, way: Way, ids: dict[str, str]) -> list[Request]:
    """The requests of a call with these ids."""
    before = trial.subject.request_count
    trial.subject.use_method(way.method, trial.scenario.prompt, {**options_for(trial, streamed=way.streamed), **ids})
    return trial.subject.seen_since(before)


def _told(request: Request, ids: dict[str, str]) -> Iterator[str]:
    """Which ids a request has, and where."""
    for name, value in ids.items():
        places = [place for place, found in _places_of(request).items() if value.encode() in found]
        if places:
            yield f"{name} is sent in {', '.join(places)}; leave it out"


def _depending(
    trial: Trial, way: Way, requests: list[Request], some: dict[str, str], others: dict[str, str]
) -> list[str]:
    """What of a call with some ids is other with others, and the same as before with the same ones.

    A date or a number that counts calls is other in one of these, too.
    """
    if not requests:
        return []
    first = _places_of(requests[0])
    suspects = list(first)
    for ids in (others, some, some):
        again = _requests_by(trial, way, ids)
        found = _places_of(again[0]) if again else {}
        suspects = [place for place in suspects if (found.get(place) == first[place]) == (ids is some)]
        if not suspects:
            return []
    return [f"{place} depends on the ids of the call; leave them out" for place in suspects]


def _places_of(request: Request) -> dict[str, bytes]:
    """Every part of a request, by its name in words."""
    headers = {f"the header {name}": value.encode() for name, value in request.headers.items()}
    return {**headers, "the URL": request.target.encode(), "the body": request.body}


_ANY_HOST: Final = "api.example.com"
"""The host of a server that nobody knows."""


@check(
    "translation.same-for-every-account",
    clause="The request does not depend on the key, on base_url, or on the ids of the call.",
    requires=("dialect", "sent"),
    once=True,
)
def same_for_every_account(trial: Trial) -> Iterator[Problem]:
    """What is judged here must be what is sent to the real provider."""
    if not trial.subject.has_translate:
        raise NotApplicable("the adapter has no translate")
    random = Random(f"{trial.seed} account")
    service = trial.dialect.service
    key, address = f"sk-{random.randbytes(16).hex()}", f"https://{(*service.hosts, _ANY_HOST)[0]}{service.base_path}"
    calls = [(trial.scenario.prompt, _SAMPLING), (_CONVERSATION, _SAMPLING), *calls_together(trial, random, 1)]
    usual = trial.subject.translate_in_turn(
        [(prompt, {**options, "thread_id": trial.id_of("usual")}) for prompt, options in calls]
    )
    others = {name: random.randbytes(6).hex() for name in ("thread_id", "user_id")}
    try:
        other = trial.subject.translate_for(
            [(prompt, {**options, **others}) for prompt, options in calls], key=key, base_url=address
        )
    except CannotDo as error:
        raise NotApplicable("the factory creates no adapter for the provider's public address") from error
    if not any(isinstance(one, Sent) for one in (*usual, *other)):
        raise NotApplicable("the adapter refuses these prompts")
    for here, there in zip(usual, other, strict=True):
        if type(here) is not type(there):
            yield Problem(f"with another key, the public address and other ids, {there}", finding_class="contract")
            return  # one such call is enough
        if isinstance(here, Sent) and isinstance(there, Sent) and _differ(here.payload, there.payload):
            pointer = first_difference(here.payload, there.payload)
            yield Problem(
                "with another key, the public address and other ids, the request is different", pointer=pointer
            )
            return


_SAMPLING: Final = {"temperature": 0.5, "max_tokens": 77}
_CONVERSATION: Final[list[dict[str, Any]]] = [
    {"role": "system", "content": "You answer in one word."},
    {"role": "user", "content": "Where is the moon?"},
    {"role": "assistant", "content": "Above."},
    {"role": "user", "content": "And the sun?"},
]


def _differ(one: Any, other: Any) -> bool:
    return is_json(one) and is_json(other) and not same_json(one, other)
