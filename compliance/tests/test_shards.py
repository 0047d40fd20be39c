"""Shards of a run, merged, against the whole run."""

from __future__ import annotations

import re

import msgspec
import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from art_compliance.checks import CHECKS
from art_compliance.commands import app
from art_compliance.findings import HarnessError
from art_compliance.generating.profiles import PROFILES, Search
from art_compliance.miniatures import MINIATURES
from art_compliance.run.merging import merge
from art_compliance.run.reading import read_reports
from art_compliance.run.runner import certify
from art_compliance.run.selection import Selection
from art_compliance.run.sharding import Shard, ShardOf, part_of, read_shard
from art_sdk import AnthropicAdapter, OpenAIAdapter
from made_reports import good_report
from trials import suite_scenario

SEARCH = Search(profile=replace(PROFILES["quick"], seconds=60.0))
"""Slow machines must not judge fewer prompts in one run than in the other."""
SELECTED = Selection(
    scenarios=("one-question", "parallel-calls", "outer-blanks", "text-beside-call", "generated-conversations"),
)
CHOSEN = replace(
    SELECTED,
    checks=tuple(
        check.id
        for check in CHECKS.values()
        if check.stage.name in ("translation", "wire", "response", "properties") and not check.once
    ),
)
TRIMMED = next(one for one in MINIATURES if one.id == "trims-user-text").of(OpenAIAdapter)


def without_times(report):
    data = msgspec.to_builtins(replace(report, started="", seconds=0.0, shard=None))
    for result in data["results"]:
        result.pop("seconds", None)
    return data


def run(make, shard=None):
    return certify(make, selection=replace(CHOSEN, shard=shard), seed=11, isolated=False, search=SEARCH)


@pytest.fixture(scope="module", params=[AnthropicAdapter, TRIMMED], ids=["good", "bad"])
def shards(request):
    return request.param, [run(request.param, Shard(number, 3)) for number in (1, 2, 3)]


@pytest.mark.once
@pytest.mark.unmeasured
def test_three_shards_are_one_run(shards):
    make, parts = shards
    whole, (merged,) = run(make), merge(reversed(parts))
    assert [(one.check, one.scenario) for one in merged.results] == [(one.check, one.scenario) for one in whole.results]
    ours, theirs = without_times(merged), without_times(whole)
    for one, other in zip(ours.pop("results"), theirs.pop("results"), strict=True):
        assert one == other
    assert ours == theirs
    assert merged.shard is None


def test_a_shard_certifies_nothing_and_says_which_it_is(shards):
    for number, part in enumerate(shards[1], 1):
        assert str(part.shard) == f"{number}/3"
        assert not part.is_certified
        assert not replace(good_report(), shard=part.shard).is_certified


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda parts: parts[:2], "shard 3/3 of NAME is missing"),
        (lambda parts: [*parts, parts[0]], "shard 1/3 of NAME is given more than once"),
        (lambda parts: [replace(parts[0], shard=None), *parts[1:]], "is of a whole run, not of a shard"),
        (
            lambda parts: [*parts[:2], of(parts[2], count=4)],
            "the shards of NAME are not of one run: 1/3",
        ),
        (
            lambda parts: [*parts[:2], replace(parts[2], seed=12)],
            "shard 3/3 of NAME is of another run than shard 1/3: another seed (12, not 11)",
        ),
        (lambda parts: [*parts[:2], replace(parts[2], suite_version="9")], "another version of the suite (9, not"),
        (lambda parts: [*parts[:2], replace(parts[2], fixtures_digest="sha256:0")], "another data of the suite"),
        (lambda parts: [*parts[:2], of(parts[2], code="sha256:0")], "another version of the adapter"),
        (lambda parts: [*parts[:2], of(parts[2], checks=())], "another checks"),
        (
            lambda parts: [*parts[:2], replace(parts[2], adapter=replace(parts[2].adapter, losses=("call_ids",)))],
            "another adapter",
        ),
    ],
)
def test_shards_that_do_not_fit_are_one_sentence(shards, change, message):
    parts = shards[1]
    with pytest.raises(HarnessError, match=re.escape(message.replace("NAME", parts[0].adapter.name))) as caught:
        merge(change(parts))
    assert "\n" not in str(caught.value)


def of(part, **changes):
    return replace(part, shard=replace(part.shard, **changes))


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "1/0", "a/b", "1/3/3", "", "-1/3", "٣/٣", "1/99999"])
def test_a_shard_that_does_not_exist_is_an_error(text):
    with pytest.raises(HarnessError, match="write the second of three as 2/3"):
        read_shard(text)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 500])
def test_every_check_is_in_one_shard_whole_and_preflight_in_all(count):
    plan = [(check, suite_scenario("one-question")) for check in CHECKS.values()]
    parts = [part_of(plan, Shard(number, count)) for number in range(1, count + 1)]
    found = [check.id for part in parts for check, _ in part if not check.stage.stops_the_run]
    assert sorted(found) == sorted(check.id for check, _ in plan if not check.stage.stops_the_run)
    assert all(sum(check.stage.stops_the_run for check, _ in part) == 2 for part in parts)
    assert (
        len({shard_number for shard_number, part in enumerate(parts) if any("properties" in c.id for c, _ in part)})
        == 1
    )


def test_the_form_of_a_shard():
    assert read_shard(" 2/3 ") == Shard(2, 3)
    assert read_shard(None) is None
    assert str(ShardOf(number=2, count=3, checks=())) == str(Shard(2, 3)) == "2/3"


def test_the_commands_split_a_run_and_put_it_together(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = ("--in-process", "--seed", "7", "--scenario", "one-question", "--profile", "quick")
    for number in ("1", "2"):
        shard = ("--shard", f"{number}/2", "--report", number)
        done = CliRunner().invoke(app, ["certify", "openai", "gemini", *few, *shard])
        assert done.exit_code == 0, done.output
        assert f"nothing failed in shard {number}/2; art merge puts the shards together" in done.output
    merged = CliRunner().invoke(app, ["merge", "1", "2/report.json", "--report", "whole"])
    assert merged.exit_code == 0, merged.output
    assert [*read_reports(tmp_path / "whole")] == ["openai", "gemini"]
    missing = CliRunner().invoke(app, ["merge", "1"])
    assert missing.exit_code == 2
    assert "shard 2/2 of openai is missing" in missing.output
