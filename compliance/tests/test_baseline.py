"""The baseline: known failures do not fail a run, and stay listed only while they fail."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from msgspec import structs

from art_compliance import HarnessError, Report, Selection, certify
from art_compliance.generating.profiles import Profile, Search
from art_compliance.miniatures import find_miniature
from art_compliance.run.baseline import Baseline, BaselineOptions, Entry, is_red_after_writing, read_baseline
from art_compliance.run.baseline.strictness import find_faults
from art_compliance.run.counts import LevelCount
from art_compliance.run.lines import as_text
from art_compliance.run.summary import describe_counts, describe_verdict
from art_sdk import OpenAIAdapter

CHECK = "translation.user-text-survives"
SELECTION = Selection(checks=(CHECK,), scenarios=("outer-blanks", "one-question", "trailing-blanks-in-every-role"))
TRIMS = find_miniature("trims-user-text").of(OpenAIAdapter)
MESSAGE = 'user text $[0] changed: expected "x", found "y", from character 0 on'
QUICK = Search(profile=Profile(name="quick", examples=30, seconds=5.0, shrink_seconds=1.0))


def baseline_in(folder: Path, *entries: Entry) -> Path:
    """A file with these entries, written by hand."""
    lines: list[str] = []
    for entry in entries:
        fields = ((name, value) for name, value in structs.asdict(entry).items() if value)
        lines += ["[[known]]", *(f"{name} = {value if name == 'expires' else f'{value!r}'}" for name, value in fields)]
    path = folder / "art-baseline.toml"
    path.write_text("\n".join(lines))
    return path


def run(baseline: Path | None, selection: Selection = SELECTION, make=TRIMS) -> Report:
    return certify(make, selection=selection, seed=1, isolated=False, baseline=baseline, search=QUICK)


def verdicts(report: Report) -> dict[str, str]:
    return {result.scenario: result.verdict for result in report.results if result.check in SELECTION.checks}


OUTER = Entry(check=CHECK, scenario="outer-blanks", reason="see the issue", issue="https://example.test/1")
OTHER = Entry(check=CHECK, scenario="trailing-blanks-in-every-role")
FINE = Entry(check=CHECK, scenario="one-question")


@pytest.fixture(scope="module")
def failing() -> Report:
    return run(None)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return run(baseline_in(tmp_path_factory.mktemp("known"), OUTER, OTHER))


def test_a_failure_in_the_baseline_is_known_and_fails_no_run(known: Report):
    assert verdicts(known) == {
        "outer-blanks": "known",
        "one-question": "pass",
        "trailing-blanks-in-every-role": "known",
    }
    assert (known.failures, known.is_red, known.baseline_problems) == ([], False, ())
    assert known.levels["core"].known + known.levels["tools"].known == 2
    outer = next(result for result in known.known if result.scenario == "outer-blanks")
    assert [(one.entry, one.reason, one.issue) for one in outer.known] == [(1, OUTER.reason, OUTER.issue)]
    assert outer.findings[0].severity == "reject"


def test_the_summary_names_known_failures_and_the_certificate_says_so(known: Report):
    text = as_text(describe_counts(known))
    assert "known failures: 2 trials of 1 check, in" in text
    assert "nothing failed except known failures; a filtered run never certifies" in text
    levels = {"core": LevelCount(passed=1, failed=0, not_applicable=0, known=2)}
    whole = structs.replace(known, is_filtered=False, levels=levels)
    assert whole.is_certified
    assert describe_verdict(whole).text.startswith("certified with 2 known failures by suite ")


def test_a_level_of_which_nothing_passed_is_not_certified(known: Report):
    levels = {"core": LevelCount(passed=0, failed=0, not_applicable=0, known=2)}
    whole = structs.replace(known, is_filtered=False, levels=levels)
    assert not whole.is_certified
    assert describe_verdict(whole).text == "NOT certified: no check of core passed"


def test_a_failure_that_is_not_in_the_baseline_fails_the_run(tmp_path: Path):
    report = run(baseline_in(tmp_path, OUTER))
    assert verdicts(report)["outer-blanks"] == "known"
    assert verdicts(report)["trailing-blanks-in-every-role"] == "fail"
    assert report.is_red
    assert all(finding.example for result in report.failures for finding in result.findings[:1])  # for repro/


def test_an_entry_for_a_cause_is_about_every_scenario(failing: Report, tmp_path: Path):
    messages = {finding.message for result in failing.failures for finding in result.findings}
    entries = [Entry(check=CHECK, cause=message) for message in sorted(messages)[:1]]
    assert verdicts(run(baseline_in(tmp_path, *entries)))["outer-blanks"] == "known"
    gone = run(baseline_in(tmp_path, Entry(check=CHECK, scenario="outer-blanks", cause="another"), OTHER))
    assert verdicts(gone)["outer-blanks"] == "fail"
    assert gone.baseline_problems[0].endswith(f"{CHECK} on outer-blanks now fails for another cause; remove the entry")


def test_what_is_known_of_a_failure_does_not_hide_the_rest(failing: Report):
    result = next(one for one in failing.failures if one.scenario == "outer-blanks")
    other = structs.replace(result.findings[0], message="something else")
    baseline = Baseline(file=Path("b"), entries={7: structs.replace(OUTER, cause=result.findings[0].message)})
    counted, excused, said = baseline.sort("outer-blanks", [*result.findings, other])
    assert counted == [other]
    assert excused == list(result.findings)
    assert [one.entry for one in said] == [7]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (FINE, f"{CHECK} on one-question passes now; remove the entry"),
        (structs.replace(OUTER, expires=date(2020, 1, 31)), "was to be fixed by 2020-01-31; fix it, or set"),
    ],
    ids=["passes", "past its date"],
)
def test_an_entry_that_does_not_apply_fails_the_run(entry: Entry, problem: str, tmp_path: Path):
    entries = [entry, *(one for one in (OUTER, OTHER) if one.scenario != entry.scenario)]
    report = run(baseline_in(tmp_path, *entries))
    assert (report.failures, report.is_red, report.is_certified) == ([], True, False)
    (text,) = report.baseline_problems
    assert text.startswith(f"{tmp_path / 'art-baseline.toml'}, entry 1: ")
    assert problem in text
    assert describe_verdict(report).text == "NOT certified: the baseline is out of date (see above)"
    assert text in as_text(describe_counts(report))


def faults(report: Report, selection: Selection, *entries: Entry, today: date | None = None) -> list[str]:
    baseline = Baseline(file=Path("b"), entries=dict(enumerate(entries, 1)))
    return [one.text for one in find_faults(baseline, selection, selection.plan(), report.results, today=today)]


def test_the_last_day_of_an_entry_still_counts(known: Report):
    entry = structs.replace(OUTER, expires=date(2026, 11, 23))
    assert faults(known, SELECTION, entry, OTHER, today=date(2026, 11, 23)) == []
    assert len(faults(known, SELECTION, entry, OTHER, today=date(2026, 11, 24))) == 1


def test_a_filtered_run_says_nothing_of_what_it_does_not_judge(known: Report):
    unjudged = (
        Entry(check=CHECK, scenario="unicode-space-only"),
        Entry(check="wire.no-rule-is-broken", scenario="one-question"),
        Entry(check=CHECK, cause="another"),
    )
    assert faults(known, SELECTION, OUTER, OTHER, *unjudged) == []


def test_a_whole_run_says_what_matches_nothing(known: Report):
    """Its other trials are as if the run had been stopped: nothing is said of them."""
    whole = Selection()
    said = faults(
        known,
        whole,
        OUTER,
        OTHER,
        Entry(check=CHECK, scenario="greeting"),
        Entry(check="replay.request-is-the-recorded-one", scenario="greeting"),
        Entry(check=CHECK, scenario="unicode-space-only"),
    )
    assert said == [f"{CHECK} is not run on greeting; remove the entry"]


def test_a_cause_that_is_gone_is_named_once_all_scenarios_are_judged(known: Report):
    check, scenario = SELECTION.plan()[-1]
    result = structs.replace(known.results[0], check=check.id, scenario=scenario.id, verdict="pass")
    baseline = Baseline(file=Path("b"), entries={1: Entry(check=check.id, cause="another")})
    whole, plan = Selection(), [(check, scenario)]
    (fault,) = find_faults(baseline, whole, plan, [result])
    assert fault.text == f"no failure of {check.id} has this cause any more; remove the entry"
    assert list(find_faults(baseline, whole, plan, [])) == []


def test_what_is_not_applicable_any_more_is_no_known_failure(known: Report):
    results = [
        structs.replace(one, verdict="not applicable", known=(), findings=(), reason="not declared: tools")
        if one.scenario == "outer-blanks"
        else one
        for one in known.results
    ]
    report = structs.replace(known, results=tuple(results))
    assert faults(report, SELECTION, OUTER) == [
        f"{CHECK} on outer-blanks is not applicable now (not declared: tools); remove the entry"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[known]\n", "is not valid TOML: "),
        ("[[known]]\ncheck = 1\nscenario = 'one-question'", ": entry 1: expected `str`, got `int` - at `$.check`"),
        ("[[known]]\nscenario = 'one-question'", ": entry 1: it has no 'check'"),
        (f"[[known]]\ncheck = '{CHECK}'", ": entry 1: it needs a scenario, a cause, or both"),
        (f"[[known]]\ncheck = '{CHECK}'\nwhy = ''", ": entry 1: there is no key 'why'"),
        (f"[[known]]\ncheck = '{CHECK}'\ncause = ''\nexpires = 'soon'", ": entry 1: Invalid RFC3339 encoded date"),
        ("[[know]]\n", ": there is no key 'know' here; entries are tables [[known]]"),
        ("known = 1", ": expected entries as tables [[known]], got 1"),
        ("[[known]]\ncheck = 'wire.no-rules'\nscenario = 'x'", ": there is no check 'wire.no-rules'; did you mean"),
        (
            f"[[known]]\ncheck = '{CHECK}'\nscenario = 'one-questions'",
            ": entry 1: there is no scenario 'one-questions'; did you mean one-question?",
        ),
        (
            f"[[known]]\ncheck = '{CHECK}'\nscenario = 'qqqq'",
            ": entry 1: there is no scenario 'qqqq'; art scenarios lists them all",
        ),
        (
            f"[[known]]\ncheck = '{CHECK}'\nscenario = 'one-question'\nrequest = '{{}}'",
            ": entry 1: request is only for the scenarios generated-conversations, ",
        ),
        (
            "[[known]]\ncheck = 'properties.nothing-is-lost'\nscenario = 'generated-conversations'\nrequest = '{}'",
            ": entry 1: request is not JSON with prompt and options: Object missing required field `prompt`",
        ),
    ],
)  # fmt: skip
def test_a_malformed_baseline_is_one_sentence(text: str, message: str, tmp_path: Path):
    path = tmp_path / "art-baseline.toml"
    path.write_text(text)
    with pytest.raises(HarnessError) as raised:
        read_baseline(path, Selection())
    assert message in str(raised.value)
    assert str(raised.value).startswith(str(path))


def test_a_baseline_that_cannot_be_read_is_one_sentence(tmp_path: Path):
    with pytest.raises(HarnessError, match=r"cannot read the baseline .*: Is a directory"):
        read_baseline(tmp_path, Selection())
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(HarnessError, match="is not valid TOML: 'utf-8' codec"):
        read_baseline(path, Selection())


def options(file: Path, **more: bool) -> BaselineOptions:
    return BaselineOptions(requested=None, usual=file, **more)


def test_the_usual_file_is_read_if_it_exists_and_a_named_one_must(tmp_path: Path):
    path = baseline_in(tmp_path, OUTER)
    found = options(path).read(SELECTION)
    assert found is not None
    assert found.entries == {1: OUTER}
    assert options(path, is_ignored=True).read(SELECTION) is None
    assert options(tmp_path / "none.toml").read(SELECTION) is None
    named = BaselineOptions(requested=tmp_path / "none.toml", usual=path)
    with pytest.raises(HarnessError, match=r"cannot read the baseline .*none\.toml: No such file"):
        named.read(SELECTION)
    assert structs.replace(named, is_written=True).read(SELECTION) is None
    with pytest.raises(HarnessError, match="cannot be ignored and named or written at once"):
        structs.replace(named, is_ignored=True).read(SELECTION)


def test_failures_are_written_and_then_known(failing: Report, tmp_path: Path):
    path = tmp_path / "art-baseline.toml"
    line = options(path).write(None, [failing])
    assert line == f"baseline: {path}: 2 added, 0 removed, 0 kept"
    again = run(path)
    assert set(verdicts(again).values()) == {"known", "pass"}
    assert not again.is_red
    assert not is_red_after_writing(failing)


def test_writing_keeps_reasons_and_comments_and_removes_what_is_there_for_no_failure(tmp_path: Path):
    path = baseline_in(tmp_path, FINE, OUTER)
    path.write_text("# ours\n" + path.read_text() + "\n# about the first two\n")
    old = read_baseline(path, SELECTION)
    line = options(path).write(old, [run(path)])
    assert line.endswith("1 added, 1 removed, 1 kept")
    text = path.read_text()
    assert text.startswith("# ours\n")
    assert "# about the first two" in text
    assert list(read_baseline(path, SELECTION).entries.values()) == [OUTER, OTHER]


def test_entries_in_one_array_become_tables_and_ends_of_lines_stay(tmp_path: Path):
    path = tmp_path / "art-baseline.toml"
    inline = "{check = '" + CHECK + "', scenario = '%s', reason = 'r'}"
    path.write_text(f"known = [{inline % 'one-question'}, {inline % 'outer-blanks'}]")
    options(path).write(read_baseline(path, SELECTION), [run(path)])
    assert [one.scenario for one in read_baseline(path, SELECTION).entries.values()] == [OUTER.scenario, OTHER.scenario]
    path.write_bytes(b"# ours\r\n")
    options(path).write(read_baseline(path, SELECTION), [run(path)])
    assert path.read_bytes().startswith(b"# ours\r\n[[known]]")
    assert len(read_baseline(path, SELECTION).entries) == 2


def test_an_entry_past_its_date_is_kept_and_goes_on_failing(tmp_path: Path):
    path = baseline_in(tmp_path, structs.replace(OUTER, expires=date(2020, 1, 31)), OTHER)
    report, before = run(path), path.read_text()
    assert options(path).write(read_baseline(path, SELECTION), [report]).endswith("0 added, 0 removed, 2 kept")
    assert path.read_text() == before
    assert is_red_after_writing(report)


def test_several_adapters_have_entries_of_their_own(failing: Report, tmp_path: Path):
    path = tmp_path / "art-baseline.toml"
    other = structs.replace(failing, adapter=structs.replace(failing.adapter, name="other"))
    options(path).write(None, [failing, other])
    found = read_baseline(path, SELECTION)
    assert [one.adapter for one in found.entries.values()] == [failing.adapter.name] * 2 + ["other"] * 2
    assert list(found.of("other").entries) == [3, 4]


LAW = "properties.nothing-is-lost"
LAW_SELECTION = Selection(checks=(LAW,))


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generated") / "art-baseline.toml"
    options(path).write(None, [run(None, LAW_SELECTION)])
    return path


def test_the_smallest_generated_prompt_is_kept_with_its_cause(generated: Path):
    (entry,) = read_baseline(generated, LAW_SELECTION).entries.values()
    assert (entry.check, entry.scenario) == (LAW, "generated-conversations")
    assert str(entry.cause).startswith(f"{CHECK}: ")
    assert entry.request is not None


def of_law(report: Report) -> str:
    return next(result.verdict for result in report.results if result.check == LAW)


def test_a_kept_prompt_is_judged_whatever_the_search_finds(generated: Path):
    """Another seed, and a search for one prompt alone, which passes."""
    search = Search(profile=Profile(name="tiny", examples=1, seconds=1.0, shrink_seconds=0.1))
    for seed in (2, 3):
        report = certify(TRIMS, selection=LAW_SELECTION, seed=seed, isolated=False, baseline=generated, search=search)
        assert of_law(report) == "known"
        assert not report.is_red
    right = certify(OpenAIAdapter, selection=LAW_SELECTION, seed=2, isolated=False, baseline=generated, search=search)
    assert of_law(right) == "pass"
    assert right.baseline_problems[0].endswith(f"{LAW} on generated-conversations passes now; remove the entry")


def test_a_known_cause_does_not_end_the_search_for_others(generated: Path):
    both = find_miniature("drops-system-messages").of(TRIMS)
    report = run(generated, LAW_SELECTION, both)
    (result,) = [one for one in report.results if one.check == LAW]
    assert result.verdict == "fail"
    counted = [one.message for one in result.findings if one.severity == "reject"]
    assert counted
    assert all("system" in one for one in counted)
    assert any(one.message.startswith(f"known: {CHECK}: ") for one in result.findings)
