"""Certificate, badge, summaries and `art verify`: what they say, and what they refuse."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from datetime import date

import jsonschema
import msgspec
import pytest
from msgspec.structs import replace

from art_compliance.findings import HarnessError
from art_compliance.publishing.certificate import (
    Certificates,
    as_json,
    certificate_of,
    read_certificates,
    sealed,
)
from art_compliance.publishing.files import JOB_SUMMARY, publish
from art_compliance.publishing.standing import standing_of, standing_of_all
from art_compliance.publishing.verifying import differences, require_same_versions
from art_compliance.resources import data_folder
from art_compliance.run.report import write_reports
from art_compliance.run.results import Known
from art_compliance.run.versions import Version, version_of
from made_reports import HOSTILE, LEVELS, failed, good_report, hostile_report, report_of, result_of

MADE_FOR_WHOLE_RUNS = {"badge.svg", "badge.json"}
ALWAYS_MADE = {"report.json", "index.html", "summary.md", "junit.xml"}
KNOWN = (Known(entry=0, reason="the provider's fault", issue="#7", expires=date(2027, 1, 1)),)


def known_report(name: str = "openai"):
    known = result_of("wire.no-rule-is-broken", "known", findings=failed().findings, known=KNOWN)
    return report_of(*good_report().results, known, name=name)


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    monkeypatch.delenv(JOB_SUMMARY, raising=False)


def names_in(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("report", "made"),
    [
        (good_report(), MADE_FOR_WHOLE_RUNS | {"certificate.json"}),
        (known_report(), MADE_FOR_WHOLE_RUNS | {"certificate.json"}),
        (report_of(failed()), MADE_FOR_WHOLE_RUNS),
        (good_report(is_filtered=True), set()),
        (good_report(stopped="the run's time is up"), set()),
        (report_of(result_of(), result_of("load.memory-stays-flat", "harness error")), set()),
    ],
)
def test_only_a_whole_run_that_is_certified_leaves_a_certificate(report, made, tmp_path):
    for name in (*MADE_FOR_WHOLE_RUNS, "certificate.json"):
        (tmp_path / name).write_text("of an earlier run")
    publish([report], tmp_path)
    assert names_in(tmp_path) == ALWAYS_MADE | made
    assert not any("earlier" in path.read_text(encoding="utf-8") for path in tmp_path.iterdir())


def test_a_run_that_is_cut_short_leaves_no_certificate_even_of_adapters_that_were_done(tmp_path):
    publish([good_report()], tmp_path)
    publish([good_report()], tmp_path, is_cut=True)
    assert names_in(tmp_path) == ALWAYS_MADE
    publish([], tmp_path, is_cut=True)
    assert names_in(tmp_path) == {"report.json"}


@pytest.mark.parametrize(
    ("reports", "words", "colour"),
    [
        ([good_report()], "certified (5 levels)", "brightgreen"),
        ([known_report()], "certified, 1 known failure", "yellow"),
        ([report_of(failed(), failed())], "not certified: 2 findings of loss or corruption", "red"),
        ([good_report(is_filtered=True)], "partial run", "lightgrey"),
        ([good_report(stopped="time is up")], "not certified: the run was not complete", "red"),
        ([report_of(result_of("load.memory-stays-flat", "harness error"))], "no verdict", "lightgrey"),
        ([good_report(), report_of(failed())], "1 of 2 adapters certified", "red"),
        ([good_report(), known_report()], "2 of 2 adapters certified, 1 known failure", "yellow"),
        ([good_report(), good_report("b")], "2 of 2 adapters certified", "brightgreen"),
    ],
)
def test_the_badge_says_how_the_adapters_stand(reports, words, colour, tmp_path):
    assert standing_of_all(reports) == (words, colour)
    publish(reports, tmp_path)
    if (tmp_path / "badge.json").exists():
        badge = json.loads((tmp_path / "badge.json").read_text(encoding="utf-8"))
        assert badge == {"schemaVersion": 1, "label": "ART conformance", "message": words, "color": colour}
        picture = ET.fromstring((tmp_path / "badge.svg").read_text(encoding="utf-8"))  # noqa: S314 - our own
        assert picture.attrib["aria-label"] == f"ART conformance: {words}"


def test_a_certificate_says_what_was_judged_and_how():
    certificate = json.loads(as_json(Certificates(certificates=(certificate_of(known_report()),))))["certificates"][0]
    assert certificate["levels"] == {**dict.fromkeys(LEVELS, "passed"), "replay": "not applicable"}
    assert certificate["known"] == [
        {"check": "wire.no-rule-is-broken", "scenario": "one-question", "reason": "the provider's fault"}
    ]
    assert certificate["rerun"]["seed"] == 7
    assert certificate["adapter"]["losses"] == ["message_name"]
    assert certificate["adapter_version"]["distribution"] == "art-adapter-sdk"
    assert certificate["adapter_version"]["digest"].startswith("sha256:")
    assert len(certificate["not_tested"]) >= 5


def written(tmp_path, *certificates):
    path = tmp_path / "certificate.json"
    path.write_text(as_json(Certificates(certificates=certificates)), encoding="utf-8")
    return path


def test_a_certificate_is_read_as_it_was_written(tmp_path):
    made = certificate_of(good_report("openai"))
    assert read_certificates(written(tmp_path, made)) == (made,)
    assert read_certificates(tmp_path) == (made,)
    require_same_versions(made)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"seed": 7', '"seed": 8', "was edited: the digest of openai does not match what it says"),
        ('"losses": [\n          "message_name"\n        ]', '"losses": []', "was edited: the digest"),
        ('"suite_version"', '"suite"', "was edited: Object"),
        ('"certificate_version": 1', '"certificate_version": 9', "has version 9; this suite reads version 1"),
        ('"certificate_version": 1', '"report_version": 1', "is not a certificate of art certify"),
        ("{", "", "is not a certificate of art certify"),
    ],
)
def test_a_certificate_that_was_edited_is_refused_in_one_sentence(old, new, message, tmp_path):
    path = written(tmp_path, certificate_of(good_report("openai")))
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(HarnessError, match=re.escape(message)) as caught:
        read_certificates(path)
    assert "\n" not in str(caught.value)


def test_a_file_without_certificates_or_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(HarnessError, match="certifies no adapter"):
        read_certificates(written(tmp_path))
    with pytest.raises(HarnessError, match="cannot read"):
        read_certificates(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"suite_version": "0.0.9"}, "was made by suite 0.0.9, and this is .*; verify it with art-adapter-sdk==0.0.9"),
        ({"fixtures_digest": "sha256:0"}, "was made with other data"),
        (
            {"adapter_version": Version(distribution="my-pkg", version="1.2")},
            "is of openai in my-pkg 1.2, and here",
        ),
        ({"adapter_version": replace(version_of("openai"), digest="sha256:0")}, "is not the code that was certified"),
    ],
)
def test_a_certificate_of_another_version_is_refused_in_one_sentence(changes, message):
    other = sealed(replace(certificate_of(good_report("openai")), **changes))
    with pytest.raises(HarnessError, match=message):
        require_same_versions(other)


def test_the_digest_of_an_adapter_is_that_of_its_code(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my_adapter.py").write_text("A = 1\n")
    before = version_of("my_adapter:A")
    assert before.distribution is None
    (tmp_path / "my_adapter.py").write_text("A = 2\n")
    assert version_of("my_adapter:A").digest not in (before.digest, None)
    assert version_of("nowhere_at_all:A") == version_of("..:") == Version()


@pytest.mark.parametrize(
    ("report", "lines"),
    [
        (good_report("openai"), []),
        (report_of(failed(), name="openai"), ["NOT certified: 1 of"]),
        (known_report(), ["wire.no-rule-is-broken fails on one-question, which the certificate does not say"]),
        (report_of(*good_report().results[1:], name="openai"), ["level core: passed then, not in the run now"]),
    ],
)
def test_a_certificate_is_verified_if_the_run_says_the_same(report, lines):
    found = list(differences(certificate_of(good_report("openai")), report))
    assert len(found) == len(lines)
    assert all(one.startswith(line) for one, line in zip(found, lines, strict=True))


def test_a_known_failure_that_passes_and_another_declaration_are_reported():
    certificate = certificate_of(known_report())
    report = good_report("openai")
    other = replace(report, adapter=replace(report.adapter, losses=()))
    assert list(differences(certificate, other)) == [
        "declared losses: message_name then, none now",
        "wire.no-rule-is-broken passes on one-question, where the certificate has a known failure",
    ]


def test_the_summary_goes_to_the_page_of_the_job_too(tmp_path, monkeypatch):
    page = tmp_path / "job.md"
    page.write_text("before\n")
    monkeypatch.setenv(JOB_SUMMARY, str(page))
    publish([good_report(), report_of(failed(), name="b")], tmp_path / "out")
    summary = (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8") == f"before\n{summary}"
    assert "1 of 2 adapters certified" in summary
    assert "--check translation.user-text-survives --scenario one-question" in summary


@pytest.mark.unmeasured
def test_hostile_texts_are_no_markup_in_the_summary_and_in_junit(tmp_path):
    folder = tmp_path / "out"
    report = hostile_report()
    publish([replace(report, results=tuple(map(sendable, report.results)))], folder)
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    outside_code = re.sub(r"`[^`\n]*`", "", summary).replace("| ", "").replace(" |", "")
    assert re.findall(r"(?<!\\)[<[|!]", outside_code) == []
    suite = ET.fromstring((folder / "junit.xml").read_text(encoding="utf-8"))[0]  # noqa: S314 - our own
    assert suite.attrib["name"] == HOSTILE[0]
    assert int(suite.attrib["tests"]) == len(suite) == 11
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure")) == 9
    assert int(suite.attrib["errors"]) == int(suite.attrib["skipped"]) == 1


def sendable(result):
    """Without what no report can have: JSON has no lone surrogates."""
    return msgspec.json.decode(json.dumps(msgspec.to_builtins(result)).replace(r"\ud800", ""), type=type(result))


@pytest.fixture(scope="module")
def by_the_schema():
    text = (data_folder("fixtures") / "schemas" / "report.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


@pytest.mark.parametrize(
    "report", [good_report(), known_report(), report_of(failed()), report_of(failed(), stopped="x", in_process="y")]
)
def test_every_report_is_valid_by_the_published_schema(report, by_the_schema, tmp_path):
    assert list(by_the_schema.iter_errors(written_report(report, tmp_path))) == []


def written_report(report, folder):
    return json.loads(write_reports([report], folder).read_text(encoding="utf-8"))


def objects_of(value, place="$"):
    if isinstance(value, dict):
        yield place, value
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key not in (
            "prompt",
            "options",
            "payload",
            "levels",
            "classes",
            "failed_by_class",
            "recordings",
            "versions",
        ):
            yield from objects_of(item, f"{place}/{key}")


def test_a_report_with_a_renamed_field_is_not_valid(by_the_schema, tmp_path):
    whole = written_report(report_of(failed(), result_of("a.b", "known", known=KNOWN)), tmp_path)
    places = [place for place, _ in objects_of(whole)]
    assert len(places) > 7
    for place in places:
        changed = json.loads(json.dumps(whole))
        one = dict(objects_of(changed))[place]
        name = next(iter(one))
        one[f"{name}_renamed"] = one.pop(name)
        assert not by_the_schema.is_valid(changed), f"{place}/{name}"


def test_a_level_that_is_open_and_an_adapter_that_is_partial_have_words_of_their_own():
    assert standing_of(report_of()).words == "not certified"
