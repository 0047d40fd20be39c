"""`art board`: subjects by checks on one page, what changed since the run before, and one sentence for bad input."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys

import pytest
from msgspec.structs import replace

from art_compliance import Selection
from art_compliance.findings import HarnessError, WireExchange
from art_compliance.publishing.board.changes import compare, describe
from art_compliance.publishing.board.history import read_history, run_of
from art_compliance.publishing.board.reading import read_subjects
from art_compliance.publishing.board.rendering import render_board, write_board
from art_compliance.publishing.page.rendering import OF_A_SUBJECT
from art_compliance.run.report import write_reports
from art_compliance.run.runner import certify
from art_compliance.run.sharding import ShardOf
from art_compliance.run.versions import versions_around
from made_reports import EXAMPLE, failed, finding_of, good_report, hostile_report, large_report, report_of, result_of
from read_pages import Read

TEXT, RULE = "translation.user-text-survives", "wire.no-rule-is-broken"
REFUSED = finding_of(RULE, finding_class="refused", message="the tool has no name", example=EXAMPLE)


def bad_report(*more, name="over_lib:OpenAI", **fields):
    """A subject that loses a text, around version 1 of a library."""
    made = report_of(failed(), *more, name=name)
    return replace(made, versions={"lib": "1.0"}, **fields)


def programs_of(page):
    """The programs of a page, each with its title."""
    found = re.findall(r"Without this suite: (.*?)</summary>\s*<pre[^>]*>(.*?)</pre>", page, re.DOTALL)
    return {title: html.unescape(text) for title, text in found}


def test_a_subject_is_shown_with_its_versions_and_date_and_every_red_cell_leads_to_what_was_found():
    rule = result_of(RULE, "fail", findings=(REFUSED,))
    page = render_board([good_report(), bad_report(rule), bad_report(name="other:A")])
    assert "lib 1.0" in page
    assert "2026-11-23" in page
    targets = re.findall(r'<a class="c fail[^>]*href="#([^"]+)"', page)
    assert targets == [f"{TEXT}/over_lib:OpenAI", f"{TEXT}/other:A", f"{RULE}/over_lib:OpenAI"]
    assert all(page.count(f'id="{target}"') == 1 for target in targets)


def test_a_long_name_may_be_broken_behind_its_punctuation_and_each_version_has_its_own_line():
    subject = replace(good_report("my_lib.over:<b>Adapter"), versions={"lib": "1.0", "google-lib": "2.1"})
    page = render_board([subject])
    assert "my_<wbr>lib.<wbr>over:&lt;b&gt;Adapter" in page
    assert re.search(r'class="version"><span>lib 1\.0</span> <span>google-lib 2\.1</span>', page)


def test_a_cause_is_shown_on_its_shortest_example():
    long = replace(EXAMPLE, prompt=[*EXAMPLE.prompt, {"role": "user", "content": "a long story " * 50}])
    examples = {"without": None, "long": long, "short": EXAMPLE}
    results = [failed(scenario=name, findings=(finding_of(TEXT, example=one),)) for name, one in examples.items()]
    shown = render_board([report_of(*results, name="a:A")]).partition('class="scenario"')[2]
    assert sorted(examples, key=lambda name: shown.index(f"<b>{name}</b>")) == ["short", "without", "long"]


def test_the_first_cause_of_each_subject_is_shown_before_the_second_of_any():
    many = [
        failed(scenario=f"s{n}", findings=(finding_of(TEXT, message=f"{'abcdefghijklmno'[n]} {'w' * n}"),))
        for n in range(15)
    ]
    page = render_board([report_of(*many, name="a:A"), bad_report(name="b:B")])
    assert f'id="{TEXT}/b:B"' in page


def test_bytes_are_shown_and_a_program_without_the_suite_answers_with_them():
    exchange = WireExchange(
        method="POST",
        url="/v1/chat/completions",
        headers={},
        body='{"a": 1}',
        body_bytes=8,
        status=200,
        content_type="application/json",
        answer='{"choices": []}',
    )
    found = finding_of("response.text-is-whole", example=EXAMPLE, exchange=exchange)
    page = render_board([bad_report(result_of("response.text-is-whole", "fail", findings=(found,)))])
    assert "POST /v1/chat/completions  (8 bytes)" in page
    script = re.findall(r"ANSWERS = (\[.*?\])\n", html.unescape(page), re.DOTALL)
    assert "[(200, 'application/json', '{\"choices\": []}')]" in script


def test_the_request_for_curl_is_what_was_sent_to_the_provider():
    page = render_board([bad_report(result_of(RULE, "fail", findings=(REFUSED,)))])
    first, *_, body, _ = programs_of(page)["curl, to ask the provider"].splitlines()
    assert first == "curl https://api.openai.com/v1/chat/completions \\"
    assert json.loads(body) == EXAMPLE.payload


def test_no_line_of_a_body_ends_the_command_for_curl():
    body = json.dumps({"text": "one\u2028two"}, ensure_ascii=False) + "\nJSON\ndate"
    size = len(body.encode())
    exchange = WireExchange(method="POST", url="/v1/x", headers={}, body=body, body_bytes=size, status=400)
    found = replace(REFUSED, example=None, exchange=exchange)
    page = render_board([bad_report(result_of(RULE, "fail", findings=(found,)))])
    *_, first, second, third, end = programs_of(page)["curl, to ask the provider"].splitlines()
    assert json.loads(first) == {"text": "one\u2028two"}
    assert (second, third, end) == ("JSON", "date", "JSON0")


TRIMMING = """
import json

class Trimming:
    dialect = "openai-chat"
    capabilities = ("system",)

    def __init__(self, *, api_key, base_url=None, model=None):
        self.url = base_url

    def translate(self, prompt, options):
        messages = [{**message, "content": message["content"].strip()} for message in prompt]
        return {"model": "m", "messages": messages}
"""


@pytest.mark.once
def test_the_program_runs_without_the_suite_and_shows_the_loss(tmp_path, monkeypatch):
    (tmp_path / "trimming_subject.py").write_text(TRIMMING)
    monkeypatch.syspath_prepend(tmp_path)
    selection = Selection(checks=(TEXT,), scenarios=("outer-blanks",))
    report = certify("trimming_subject:Trimming", selection=selection, isolated=False, seed=1)
    text = programs_of(render_board([report]))["Python, with the adapter and nothing else"]
    ban = "import sys; sys.modules['art_compliance'] = sys.modules['art_sdk'] = None; exec(sys.stdin.read())"
    ended = subprocess.run(
        [sys.executable, "-c", ban], input=text, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    sent = [message["content"] for message in json.loads(ended.stdout)["messages"]]
    given = report.failures[0].findings[0].example.prompt
    assert sent == [message["content"].strip() for message in given] != [message["content"] for message in given]


def test_what_needs_the_suite_says_why():
    page = render_board([bad_report(failed("faults.become-errors"))])
    assert "Only the suite can show this: the provider misbehaves on purpose" in page


def test_hostile_subjects_stay_texts():
    hostile = hostile_report()
    read = Read(
        render_board([hostile, good_report()], compare(run_of([good_report(hostile.adapter.name)]), run_of([hostile])))
    )
    assert read.tags().isdisjoint({"img", "iframe", "svg/onload", "object", "form"})
    assert not any(name.startswith("on") for name in read.names())
    assert len(read.scripts) == 2, "the style sheet and the script"


@pytest.mark.once
def test_bad_subjects_fit_into_the_size_and_the_page_says_what_is_left_out():
    page = render_board([large_report(number, is_bad=True) for number in range(3)])
    assert len(page.encode()) <= 10 * OF_A_SUBJECT
    assert "To stay small, this page leaves out" in page
    assert "To stay small" not in render_board([bad_report()])


def words_of(before, now):
    return [line.text.strip() for line in describe(compare(run_of(before), run_of(now)))]


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (good_report("over_lib:OpenAI"), bad_report(), f"over_lib:OpenAI  {TEXT}: newly failing"),
        (bad_report(), good_report("over_lib:OpenAI"), f"over_lib:OpenAI  {TEXT}: fixed"),
        (bad_report(), bad_report(failed(scenario="two")), f"over_lib:OpenAI  {TEXT}: failing in 2 trials, 1 before"),
        (bad_report(), bad_report(failed(RULE)), f"over_lib:OpenAI  {RULE}: failing, in a new check"),
        (bad_report(), bad_report(result_of(RULE)), f"new checks: {RULE}"),
        (bad_report(result_of(RULE)), bad_report(), f"checks that are gone: {RULE}"),
        (bad_report(), replace(bad_report(), versions={"lib": "1.1"}), "over_lib:OpenAI: lib 1.0 → 1.1"),
        (
            bad_report(),
            replace(bad_report(), suite_version="9"),
            f"over_lib:OpenAI: suite {bad_report().suite_version} → 9",
        ),
        (
            bad_report(),
            report_of(result_of(TEXT, "not applicable"), name="over_lib:OpenAI"),
            f"over_lib:OpenAI  {TEXT}: failed, and is not judged now",
        ),
        (bad_report(), bad_report(name="new:A"), "new subjects: new:A"),
        (bad_report(), bad_report(name="new:A"), "subjects that are gone: over_lib:OpenAI"),
        (bad_report(), bad_report(), "nothing changed since 2026-11-23"),
    ],
)
def test_what_changed_is_said(before, now, said):
    assert said in words_of([before], [now])


def test_the_history_has_a_line_per_run_and_none_for_the_same_run_again(tmp_path):
    assert write_board([bad_report()], tmp_path) is None
    assert write_board([bad_report()], tmp_path) is None
    later = replace(good_report("over_lib:OpenAI"), started="2026-11-24T12:00:00+00:00")
    for _ in range(2):
        changes = write_board([later], tmp_path)
        assert [one.words for one in changes.fixed] == ["fixed"]
    assert [run.date for run in read_history(tmp_path / "history.jsonl")] == ["2026-11-23", "2026-11-24"]
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "Since 2026-11-23" in page
    assert 'data-state="changed"' in page


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "line 1: this is not a run of a board"),
        ("\n[1", "line 2: this is not a run of a board"),
        ('{"history_version": 9}', "line 1 has version 9; this suite reads version 1"),
        ('{"history_version": 1, "subjects": 3}', "line 1: this is not a run of a board"),
        ("\x00", "line 1: this is not a run of a board"),
    ],
)
def test_a_broken_history_is_one_sentence_and_nothing_is_written(tmp_path, text, said):
    (tmp_path / "history.jsonl").write_text(text)
    with pytest.raises(HarnessError, match=re.escape(said)):
        write_board([bad_report()], tmp_path)
    assert not (tmp_path / "index.html").exists()


def change_file(**changes):
    def change(folder):
        path = write_reports([bad_report()], folder)
        data = json.loads(path.read_text())
        one = data["reports"][0]
        (data if "report_version" in changes else one).update(changes)
        path.write_text(json.dumps(data))
        return [folder]

    return change


def write(folder, *reports):
    write_reports(reports, folder)
    return folder


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (change_file(report_version=1), "is a report of version 1, and this suite reads version"),
        (change_file(is_certified=True), "was edited: its verdict of over_lib:OpenAI is not that of its results"),
        (change_file(results=[]), "was edited: its counts of over_lib:OpenAI are not those of its results"),
        (lambda at: [write(at / "a", bad_report()), write(at / "b", bad_report())], "give one report of each subject"),
        (
            lambda at: [write(at, replace(bad_report(), shard=ShardOf(number=1, count=2, checks=())))],
            "put all of them together with art merge",
        ),
        (lambda at: [at], "nor in the folders in it"),
        (lambda at: [at / "none.json"], "cannot read"),
        (lambda at: [write(at)], "none of the reports has a subject"),
    ],
)
def test_bad_reports_are_one_sentence_each(tmp_path, paths, said):
    with pytest.raises(HarnessError, match=re.escape(said)):
        read_subjects(paths(tmp_path))


def test_a_folder_stands_for_the_reports_in_its_folders(tmp_path):
    write(tmp_path / "a", bad_report())
    write(tmp_path / "b", bad_report(name="b:B"), good_report())
    assert [one.adapter.name for one in read_subjects([tmp_path])] == ["over_lib:OpenAI", "b:B", "my_pkg:MyAdapter"]


def test_a_report_names_the_versions_of_what_its_adapter_imports(tmp_path, monkeypatch):
    folder = tmp_path / "subject_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError('never imported')")
    (folder / "over.py").write_text("import json\nfrom jinja2 import nodes\ndef late():\n    import msgspec.json\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert {name.lower() for name in versions_around("subject_package.over:Any")} == {"jinja2", "msgspec"}
    assert set(versions_around("anthropic")) == {"art-adapter-sdk"}
    for odd in ("no_such_module:A", "a..b:C", ":", "node bridge.mjs", "<script>:x"):
        assert versions_around(odd) == {}
