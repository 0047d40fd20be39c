"""Each check asks an adapter the same as before, answers it the same, and says the same of it.

Other tests say what a check must see; this one shows what a change of one check, or of what they share, changes in any
other. Kept by syrupy, as digests. To see what has changed, compare the output of `kept_trials.py` with that of the
commit before. If all of it is intended: `pytest compliance/tests/test_kept_trials.py --snapshot-update`. Mutation
testing names the module that it changes in `KEPT_TRIALS_OF`: if that declares checks, they are tried alone.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs
from syrupy.extensions.json import JSONSnapshotExtension

from art_compliance.checks import CHECKS
from kept_trials import ADAPTERS, trials_of
from test_kept_variations import digest

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # other tests run the same lines

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def test_checks_and_stages_are_declared_as_before(snapshot: SnapshotAssertion):
    own = {
        one.id: {
            "stage": structs.asdict(one.stage),
            "needs": one.needs,
            "families": one.families,
            "requires": one.requires,
            "leaves_to": [other.id for other in one.leaves_to],
            "runs": [name for name in ("once", "on_every_prompt") if getattr(one, name)],
            "class": one.finding_class,
        }
        for one in CHECKS.values()
    }
    assert {name: digest(declared) for name, declared in own.items()} == snapshot(extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_check_asks_answers_and_says_the_same_as_before(adapter: str, snapshot: SnapshotAssertion):
    trials: dict[str, list[Any]] = defaultdict(list)
    wanted = {check for check, one in CHECKS.items() if one.run.__module__ == os.environ.get("KEPT_TRIALS_OF")}
    for check, *trial in trials_of(adapter, wanted or CHECKS):
        trials[check].append(trial)
    kept = {check: digest(found) for check, found in trials.items()}
    if not wanted:
        assert kept == snapshot(extension_class=JSONSnapshotExtension)
    elif not adapter.endswith("each-time"):  # which depends on all checks before
        assert kept == {check: value for check, value in _known(adapter).items() if check in wanted}


def _known(adapter: str) -> dict[str, str]:
    function = test_a_check_asks_answers_and_says_the_same_as_before.__name__
    file = Path(__file__).parent / "__snapshots__" / Path(__file__).stem / f"{function}[{adapter}].json"
    known: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return known
