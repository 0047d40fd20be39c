"""Makes a recorded call again, and answers it from its cassette."""

from __future__ import annotations

from msgspec import Struct

from art_compliance.cassettes import BadCassette, Cassette
from art_compliance.cassettes.matching import ScrubbedRequest
from art_compliance.cassettes.playing import Player
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import Trial
from art_compliance.subject.observations import Reply


class Replayed(Struct, frozen=True, kw_only=True):
    """A call that a cassette answered: its reply, its requests, and the numbers of unplayed interactions."""

    cassette: Cassette
    reply: Reply
    requests: tuple[ScrubbedRequest, ...]
    unplayed: tuple[int, ...]


def play(trial: Trial) -> Replayed:
    """The scenario's call, answered from its cassette. Raises NotApplicable and BadCassette."""
    cassette = trial.recording.cassette
    trial.require("call")
    player = Player(cassette, trial.dialect, trial.subject.secrets)
    first = trial.subject.request_count
    reply = trial.subject.call(trial.scenario.prompt, trial.recorded_options, player.answer)
    tape = player.tape(tuple(trial.subject.seen_since(first)))
    return Replayed(cassette=cassette, reply=reply, requests=tuple(tape.requests), unplayed=tuple(tape.unplayed))


def replayed(trial: Trial) -> Replayed:
    """As `play`, once per trial. Raises NotApplicable where the cassette cannot be used: another check reports that."""
    try:
        return trial.once(play)
    except BadCassette as error:
        raise NotApplicable("the cassette cannot be used: see replay.cassette-is-sound") from error


def answered_replay(trial: Trial) -> Replayed:
    """As `replayed`. Raises NotApplicable if no answer was played."""
    found = replayed(trial)
    if len(found.unplayed) == len(found.cassette.exchanges):
        raise NotApplicable("no answer was played: see replay.request-is-the-recorded-one")
    return found
