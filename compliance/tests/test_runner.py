from __future__ import annotations

import importlib
import json
import pkgutil
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec import structs

import art_compliance.checks
from art_compliance import HarnessError, Selection, certify, resources
from art_compliance.checks import CHECKS, STAGES, NotApplicable, Trial
from art_compliance.checks.base import Check, check, checks_of, in_order
from art_compliance.dialects import find_by_url
from art_compliance.findings import Finding, Problem
from art_compliance.provider import LoopbackProvider
from art_compliance.resources import data_folder
from art_compliance.run.counts import LevelCount
from art_compliance.run.identity import fixtures_digest
from art_compliance.run.lines import as_text
from art_compliance.run.report import write_reports
from art_compliance.run.results import Result
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.run.session import Session
from art_compliance.run.summary import summarize
from art_compliance.subject.access import Access
from art_compliance.subject.opening import open_subject
from art_sdk import OpenAIAdapter, PromptTranslationFailed

FEW = Selection(scenarios=("one-question",))


def test_results_are_reported_as_they_come():
    seen: list[tuple[int, int]] = []
    report = certify(
        "openai", selection=FEW, on_result=lambda result, number, total: seen.append((number, total)), isolated=False
    )
    assert [number for number, _ in seen] == list(range(1, len(report.results) + 1))
    assert {total for _, total in seen} == {len(report.results)}


def test_the_same_seed_plants_the_same_canaries_and_another_seed_others():
    def payloads(seed: int) -> list[Any]:
        sent: list[Any] = []

        class Watched(OpenAIAdapter):
            def translate(self, prompt: Any, options: Any) -> Any:
                payload = super().translate(prompt, options)
                sent.append(json.dumps(payload))
                return payload

        certify(Watched, selection=FEW, seed=seed, isolated=False)
        return sorted(sent)

    assert payloads(1) == payloads(1)
    assert payloads(1) != payloads(2)


def test_where_preflight_fails_nothing_else_is_run():
    class Broken(OpenAIAdapter):
        def translate(self, prompt: Any, options: Any) -> Any:
            raise OSError("no")

    report = certify(Broken, isolated=False)
    assert {result.check for result in report.results} == {"preflight.greeting-translates", "preflight.answer-is-read"}
    assert [result.verdict for result in report.harness_errors] == ["harness error"]
    assert report.results[1].reason == "the prompt is not translated: see preflight.greeting-translates"
    assert not report.is_certified


def test_a_bug_of_the_suite_is_not_taken_for_the_adapters():
    @check("translation.that-is-broken", clause="It raises.")
    def broken(trial: Any) -> Any:
        raise ZeroDivisionError
        yield

    @check("translation.that-says-nothing", clause="It does not apply.")
    def silent(trial: Any) -> Any:
        raise NotApplicable("why not")
        yield

    with open_subject(OpenAIAdapter, name="openai") as subject:
        session = Session(subject, 1)
        result = session.run(broken, GREETING_SCENARIO)
        assert (result.verdict, "ZeroDivisionError" in (result.reason or "")) == ("harness error", True)
        result = session.run(silent, GREETING_SCENARIO)
        assert (result.verdict, result.reason) == ("not applicable", "why not")


def test_a_finding_that_is_no_rejection_does_not_fail():
    @check("translation.that-remarks", clause="It remarks.")
    def remarks(trial: Any) -> Any:
        yield Problem("by the way", "note")

    with open_subject(OpenAIAdapter, name="openai") as subject:
        assert Session(subject, 1).run(remarks, GREETING_SCENARIO).verdict == "pass"


def test_a_check_returns_how_many_generated_requests_it_judged():
    @check("properties.that-counts", clause="It counts.")
    def counting(trial: Any) -> Any:
        yield Problem("by the way", "note")
        return 3

    @check("properties.that-counts-in-vain", clause="It counts, and does not apply.")
    def vain(trial: Any) -> Any:
        raise NotApplicable("none of 60", judged=0)
        yield

    with open_subject(OpenAIAdapter, name="openai") as subject:
        session = Session(subject, 1)
        assert [session.run(one, GREETING_SCENARIO).judged for one in (counting, vain)] == [3, 0]


def test_a_check_finds_under_its_own_id():
    @check("translation.that-finds", clause="It finds.")
    def finds(trial: Any) -> Any:
        yield Problem("no", path="$[0]", provider_text="No.")

    with open_subject(OpenAIAdapter, name="openai") as subject:
        outcome = finds(Trial(subject, GREETING_SCENARIO, 1))
    assert outcome.findings == (
        Finding(check="translation.that-finds", finding_class="loss", message="no", path="$[0]", provider_text="No."),
    )


@pytest.mark.parametrize(
    ("requires", "reason"),
    [
        ("call", "the adapter has no call"),
        ("streaming", "not declared: streaming"),
        ("declared", "not declared: tools, images"),
        ("answer", "the scenario has no answer"),
        ("sent", "refused: PROMPT_TRANSLATION_FAILED"),
        ("dialect", "the dialect is unknown"),
        (("answer", "call"), "the scenario has no answer"),
        (("call", "answer"), "the adapter has no call"),
    ],
)
def test_a_check_is_not_applicable_where_what_it_requires_is_missing(requires: Any, reason: str):
    class Poor:
        capabilities = frozenset({"system"})

        def __init__(self, **settings: Any) -> None:
            pass

        def translate(self, prompt: Any, options: Any) -> Any:
            raise PromptTranslationFailed("no")

    @check("translation.that-requires", clause="It requires something.", requires=requires)
    def requiring(trial: Any) -> Any:
        pytest.fail("it was run")

    needy = structs.replace(GREETING_SCENARIO, needs=("tools", "images"))
    with open_subject(Poor, name="poor") as subject:
        result = Session(subject, 1).run(requiring, needy)
    assert (result.verdict, result.reason) == ("not applicable", reason)


def test_two_checks_of_one_id_are_an_error_that_names_both_places():
    def declared() -> Check:
        @check("translation.that-is-there-twice", clause="It is there twice.")
        def twice(trial: Any) -> Any:
            yield from ()

        return twice

    def declared_again() -> Check:
        @check("translation.that-is-there-twice", clause="It is there once more.")
        def again(trial: Any) -> Any:
            yield from ()

        return again

    first, second = declared(), declared_again()
    with pytest.raises(ValueError, match=r"'translation\.that-is-there-twice' is declared twice") as failed:
        in_order((first, second))
    assert first.place != second.place
    assert f"at {first.place} and at {second.place}" in str(failed.value)
    assert first.place.startswith(f"{__name__}:")


def test_every_module_that_declares_a_check_is_registered():
    names = [one.name for one in pkgutil.walk_packages(art_compliance.checks.__path__, "art_compliance.checks.")]
    declared = {one.id for name in names for one in checks_of(importlib.import_module(name))}
    assert declared == set(CHECKS)


def test_checks_are_in_the_order_of_their_stages():
    *others, last = CHECKS.values()
    stages = [one.stage.name for one in others]
    assert list(dict.fromkeys(stages)) == list(STAGES)
    assert stages == sorted(stages, key=list(STAGES).index)
    assert [one.id for one in (*others, last) if one.last] == ["load.nothing-stays-behind"] == [last.id]


def test_a_check_of_no_stage_is_refused():
    with pytest.raises(ValueError, match=r"'poetry\.rhymes' begins with no stage"):
        check("poetry.rhymes", clause="It rhymes.")


def test_zero_of_zero_is_never_a_pass():
    assert not LevelCount(passed=0, failed=0, not_applicable=9).is_passed
    assert LevelCount(passed=1, failed=0, not_applicable=9).is_passed


def test_a_filtered_run_never_certifies():
    report = certify("openai", selection=FEW, isolated=False)
    assert not report.failures
    assert not report.is_certified
    assert "a filtered run never certifies" in as_text(summarize(report))


def test_every_check_is_run_on_some_scenario():
    planned = {check.id for check, _ in Selection(cassettes=data_folder("cassettes"), live=Access(key="unused")).plan()}
    assert planned == set(CHECKS)


def test_the_report_names_what_was_judged_and_by_what(tmp_path: Path):
    path = write_reports([certify("gemini", selection=FEW, seed=5, isolated=False)], tmp_path / "new" / "folder")
    report = json.loads(path.read_text(encoding="utf-8"))["reports"][0]
    assert report["seed"] == 5
    assert report["is_certified"] is False
    assert report["fixtures_digest"] == fixtures_digest()
    assert report["adapter"]["dialect"] == "gemini-generate"
    assert all(result["purpose"] for result in report["results"])


def test_many_findings_are_shortened_and_the_rest_is_in_the_report():
    findings = tuple(
        Finding(
            check="translation.is-total",
            finding_class="contract",
            message=f"fault {n}",
            provider_text="No.",
            source="a page",
        )
        for n in range(5)
    )
    report = certify("openai", selection=FEW, isolated=False)
    failed = [
        Result(
            check="translation.is-total",
            scenario=f"s{n}",
            purpose="For a test.",
            level="core",
            verdict="fail",
            findings=findings,
        )
        for n in range(9)
    ]
    text = as_text(summarize(type(report)(**{**_fields(report), "results": tuple(failed)})))
    assert "2 more findings; report.json has all of them" in text
    assert "also    s1, s2, s3, s4, s5, s6 and 2 more" in text
    assert "says    No. (a page)" in text


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}


def test_the_loopback_provider_answers_every_dialect_and_keeps_what_came():
    with LoopbackProvider() as server:
        for path in ("/v1/chat/completions", "/v1beta/models/gemini-x:generateContent?key=1"):
            assert httpx2.post(server.url + path, json={"a": 1}, timeout=60).status_code == 200
        missing = httpx2.post(server.url + "/poems", json={}, timeout=60)
        assert missing.status_code == 404
        assert "unknown path '/poems'" in missing.json()["error"]["message"]
        assert [request.target for request in server.seen()][2] == "/poems"
        assert json.loads(server.seen()[0].body) == {"a": 1}
        assert server.seen()[0].headers["content-type"] == "application/json"


def test_the_loopback_provider_survives_a_client_that_speaks_no_http():
    with LoopbackProvider() as server:
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"hello\r\n\r\n")
            client.recv(100)
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"POST / HTTP/1.1\r\ncontent-length: 100\r\nhost: x\r\n\r\nhalf")
        assert httpx2.post(server.url + "/v1/chat/completions", json={}, timeout=60).status_code == 200


def test_a_path_belongs_to_one_dialect():
    found = find_by_url("/openai/deployments/gpt-5/chat/completions?api-version=1")
    assert found is not None
    assert found.name == "openai-chat"
    assert find_by_url("/v1/embeddings") is None
    assert find_by_url("no URL") is None


def test_missing_data_is_reported_with_the_places_that_were_searched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "package")
    monkeypatch.setattr(resources, "CHECKOUT", tmp_path)
    with pytest.raises(HarnessError, match=r"the folder 'poems' is missing: neither .*_data/poems nor .*poems exists"):
        resources.data_folder.__wrapped__("poems")
    (tmp_path / "package" / "_data" / "poems").mkdir(parents=True)
    assert resources.data_folder.__wrapped__("poems").name == "poems"


def test_a_check_says_what_it_is():
    assert all(isinstance(one, Check) and one.clause.endswith(".") for one in CHECKS.values())


@pytest.mark.parametrize(
    ("needs", "scenario_needs", "applies"),
    [((), (), True), (("tools",), (), False), (("tools",), ("tools",), True), (("tools",), ("system", "tools"), True)],
)
def test_a_check_applies_where_its_subject_is_used(needs: Any, scenario_needs: Any, applies: bool):  # noqa: FBT001
    one = check("translation.one", clause="It is.", needs=needs)(lambda _: iter(()))
    assert one.applies_to(structs.replace(GREETING_SCENARIO, needs=scenario_needs)) is applies


@pytest.mark.parametrize(
    ("name", "needs", "level"),
    [
        ("translation.one", (), "core"),
        ("translation.one", ("tools",), "tools"),
        ("response.one", ("system",), "core"),
        ("stream.one", ("tools",), "streaming"),
        ("faults.one", (), "resilience"),
        ("properties.one", ("tools",), "properties"),
    ],
)
def test_a_check_counts_for_the_level_of_its_stage_or_of_the_tools_that_are_used(name: str, needs: Any, level: str):
    one = check(name, clause="It is.")(lambda _: iter(()))
    assert one.level(structs.replace(GREETING_SCENARIO, needs=needs)) == level
