"""Payloads, answers and streams that differ a little from good and from wrong ones are read as before.

Other tests say what is right; this one shows what a change of a judge changes anywhere else. Kept by syrupy, as
digests. To see what has changed, compare the output of `kept_variations.py` with that of the commit before. If all of
it is intended: `pytest compliance/tests/test_kept_variations.py --snapshot-update`.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from art_compliance.dialects import DIALECTS
from kept_variations import KINDS

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # other tests run the same lines

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:8]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_differs_a_little_is_read_as_before(dialect: str, kind: str, snapshot: SnapshotAssertion):
    readings: dict[str, list[Any]] = defaultdict(list)
    for name, words, found in KINDS[kind](DIALECTS[dialect]):
        readings[name].append([words, found])
    kept = {name: digest(found) for name, found in readings.items()}
    assert kept == snapshot(extension_class=JSONSnapshotExtension)
