"""The JSON text that a blueprint renders to: which commas are dropped, and that nothing else is forgiven."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from art_sdk.blueprints.json_text import without_needless_commas


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("[1, 2]", [1, 2]),
        ("[1, 2, ]", [1, 2]),
        ("[, 1]", [1]),
        ("[1,, ,\n, 2]", [1, 2]),
        ("[,,]", []),
        ('{,"a": [1,],,"b": {,},}', {"a": [1], "b": {}}),
        ('[",,]", "\\",]",]', [",,]", '",]']),
        ("[[],[],,]", [[], []]),
    ],
)
def test_needless_commas_become_blanks(text: str, kept: Any):
    found = without_needless_commas(text)
    assert json.loads(found) == kept
    assert len(found) == len(text)


@pytest.mark.parametrize(
    "text", ["[1 2]", "[1],", ",[1]", '{"a",: 1}', '{"a":, 1}', "[1\u00a0,]", '["a" "b"]', "[1;2]"]
)
def test_other_syntax_errors_stay_errors(text: str):
    with pytest.raises(json.JSONDecodeError):
        json.loads(without_needless_commas(text))


@pytest.mark.parametrize("part", [",", " ", ", ", "[", ",[", '"', '\\"', '"\\', '"",', "a"])
def test_commas_are_found_in_one_pass(part: str):
    def seconds(times: int) -> float:
        start = time.process_time()
        without_needless_commas('["' + part * times)
        without_needless_commas("[," + part * times + "x")
        return time.process_time() - start

    assert seconds(100_000) < 2
