"""A hostile cassette is refused in plain words, within seconds and megabytes, whatever it holds."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from art_compliance.cassettes import BadCassette, load_cassette
from hostile_cassettes import HOSTILE, MEGABYTES, SECONDS, measure


@pytest.fixture(scope="module", params=HOSTILE)
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("hostile") / "openai" / "one-question.yaml"
    path.parent.mkdir()
    path.write_bytes(HOSTILE[request.param].make())
    yield path, HOSTILE[request.param].message
    path.unlink()


def test_a_hostile_cassette_is_refused_at_once(hostile: tuple[Path, str]):
    path, message = hostile
    start = time.process_time()
    with pytest.raises(BadCassette) as caught:
        load_cassette(path)
    assert time.process_time() - start < SECONDS
    assert message in str(caught.value)
    assert len(str(caught.value)) < 500 + len(str(path))


@pytest.mark.once
@pytest.mark.unmeasured
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in a forked process, in Linux's units")
def test_a_hostile_cassette_takes_little_memory(hostile: tuple[Path, str]):
    path, message = hostile
    cost = measure(path)
    assert message in cost.outcome
    assert cost.megabytes < MEGABYTES
