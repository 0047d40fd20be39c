"""What a recorded answer says, whole or streamed, read without any adapter."""

from __future__ import annotations

from art_compliance.cassettes.bodies import json_of, stream_items
from art_compliance.dialects import Dialect
from art_compliance.dialects.recorded import Recorded
from art_sdk.json_data import is_array, is_object


def read_recorded(dialect: Dialect, body: bytes) -> Recorded:
    """What a body says; nothing where it is not an answer of the dialect."""
    whole = json_of(body)
    items = [*stream_items(body)] if whole is None else [*whole] if is_array(whole) else [whole]
    answers = dialect.answers
    recorded = Recorded(counts=answers.counts.read(items))
    for number, item in enumerate(items):
        if is_object(item):
            answers.read(recorded, number, item)
    return recorded
