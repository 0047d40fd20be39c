"""The report page: what it shows, and that nothing in it is more than a text, whatever texts a run has."""

from __future__ import annotations

import base64
import hashlib
import re
import time

import pytest

from art_compliance.findings import Example
from art_compliance.publishing.page.json_lines import Limits, Marks, Span, json_lines
from art_compliance.publishing.page.marking import mark
from art_compliance.publishing.page.rendering import LARGEST, render_page
from art_compliance.publishing.page.templates import templates_in
from made_reports import (
    PAYLOAD,
    PROMPT,
    failed,
    finding_of,
    good_report,
    hostile_report,
    large_report,
    report_of,
    result_of,
)
from read_pages import Read

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # a page is the same text on every Python


@pytest.fixture(scope="module")
def bad():
    return Read(render_page([report_of(result_of(), failed(scenario="outer-blanks", purpose="Blanks at both ends."))]))


@pytest.fixture(scope="module")
def hostile():
    return render_page([hostile_report(), good_report()])


def test_a_failure_is_shown_with_its_law_scenario_place_provider_and_command(bad):
    shown = bad.text()
    for part in (
        "Every user text is in the request once, character for character.",
        "outer-blanks Blanks at both ends.",
        "the user text changed",
        "prompt $[1], payload /messages/0",
        "messages: text must be whole",
        "art certify my_pkg:MyAdapter --seed 7 --check translation.user-text-survives --scenario outer-blanks",
        "not certified",
    ):
        assert part in shown
    assert ("a", "https://example.com/docs") in [(tag, attributes.get("href")) for tag, attributes in bad.elements]


def test_what_was_lost_is_marked_in_the_prompt_and_where_it_should_be_in_the_payload():
    page = render_page([report_of(failed())])
    prompt, payload = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    assert re.findall("<mark>(.*?)</mark>", prompt) == ["  ", r"\n"]
    assert re.findall("<mark>(.*?)</mark>", payload) == ["‸", "‸"]
    assert 'class="l d1 at"' in prompt
    assert 'class="l d2 at"' in payload


def test_an_adapter_that_is_certified_is_called_so():
    assert "my_pkg:MyAdapter certified" in Read(render_page([good_report()])).text()
    assert "2 adapters, 1 certified" in Read(render_page([good_report(), report_of(failed(), name="b")])).text()


def test_every_adapter_is_a_column_and_every_check_a_row():
    read = Read(render_page([large_report(1, is_bad=False), large_report(2, is_bad=True)]))
    cells = [one for tag, one in read.elements if tag in {"span", "a"} and (one.get("class") or "").startswith("c ")]
    rows = [one for tag, one in read.elements if tag == "details" and (one.get("class") or "").startswith("row")]
    assert len([one for one in cells if "aria-label" in one]) == 2 * len(rows)
    assert {"package_1.adapters:Adapter1: 11 passed, 1 not applicable", "package_2.adapters:Adapter2: 12 failed"} <= {
        one.get("aria-label") for one in cells
    }


def test_hostile_texts_stay_texts(hostile):
    harmless = report_of(*(failed(scenario=f"s{number}") for number in range(8)), result_of(reason="no"))
    plain = Read(render_page([harmless, good_report()]))
    read = Read(hostile)
    assert read.tags() <= plain.tags() | {"ul", "li"}
    assert not {name for name in read.names() if name.startswith("on")} | read.names() & {"src", "srcdoc", "style"}
    links = {one["href"] for tag, one in read.elements if "href" in one and tag == "a"}
    assert all(link.startswith(("https://", "#")) for link in links if link)
    assert len(read.scripts) == len(plain.scripts) == 2
    assert (read.scripts == plain.scripts) is True  # without a page of differences
    assert "{{ 7 * 7 }}" in read.text()


def test_what_a_reader_cannot_see_is_an_escape_sequence(hostile):
    assert not set(hostile) & set("\x00\x1b\u202e\u2066\u2028\ud800")
    for escape in (r"\u202e", r"\u2066", r"\x00", r"\u0000", r"\x1b", r"\ud800", r"\u2028"):
        assert escape in hostile
    hostile.encode()


def test_names_in_backticks_are_code_and_everything_is_escaped(tmp_path):
    template = templates_in(tmp_path).from_string("{{ text|with_code }}")
    shown = template.render(text="`a<b` is <i>\u202e`c` and a ` alone")
    assert shown == r"<code>a&lt;b</code> is &lt;i&gt;\u202e<code>c</code> and a ` alone"


def test_the_policy_allows_this_script_and_this_style_and_nothing_else(hostile):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', hostile)[1].replace("&#39;", "'")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for name in ("script", "style"):
        inside = re.search(f"<{name}>(.*?)</{name}>", hostile, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules[f"{name}-src"] == f"'sha256-{digest}'"
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    assert rules["img-src"] == "data:"


def test_a_text_of_a_megabyte_is_cut_around_what_was_lost():
    long = "a" * 500_000 + "LOST" + "b" * 500_000
    sent = {"content": long.replace("LOST", "")}
    example = Example(prompt=[{"role": "user", "content": long}], options={}, payload=sent)
    found = finding_of("translation.user-text-survives", path="$[0]", pointer="/content", example=example)
    page = render_page([report_of(failed(findings=(found,)))])
    assert len(page) < 200_000
    assert re.findall("<mark>(.*?)</mark>", page) == ["LOST", "‸"]


@pytest.mark.parametrize("is_bad", [False, True])
def test_ten_adapters_by_every_check_fit_into_the_size(is_bad):
    reports = [large_report(number, is_bad=is_bad) for number in range(10)]
    began = time.process_time()
    render_page(reports[:1])
    of_one = time.process_time() - began
    page = render_page(reports)
    assert len(page.encode()) <= LARGEST
    assert time.process_time() - began - of_one < 20 * of_one
    assert all(report.adapter.name in page for report in reports)


LARGE = [[[[["x"] * 30] * 30] * 30] * 30, {"a": {str(number): number for number in range(9999)}}, "x" * 10**6]


def marks_of(prompt, payload, **fields):
    return mark([finding_of("c", **fields)], Example(prompt=prompt, options={"thread_id": "t"}, payload=payload))


@pytest.mark.parametrize(
    ("fields", "given", "payload"),
    [
        ({}, ((1,),), (("messages", 0),)),
        ({"path": "$[9].content"}, ((),), (("messages", 0),)),
        ({"path": "options.tools[0]"}, ((),), (("messages", 0),)),
        ({"path": None, "pointer": None}, (), ()),
        ({"pointer": ""}, ((1,),), ((),)),
        ({"pointer": "/messages/1/content/text"}, ((1,),), (("messages", 1, "content"),)),
        ({"pointer": "/messages/²"}, ((1,),), (("messages",),)),
    ],
)
def test_places_lead_as_far_as_there_is_something(fields, given, payload):
    both = marks_of(PROMPT, PAYLOAD, **fields)
    assert both.given.places == given
    assert both.payload.places == payload


def test_arguments_that_are_sent_as_a_value_are_not_lost():
    prompt = [{"role": "user", "arguments": '{"to": "Rome", "days": [1, 2]}'}]
    both = marks_of(prompt, {"input": {"days": [1, 2], "to": "Rome"}}, path="$[0]", pointer="/input")
    assert both.given.spans == {}
    assert marks_of(prompt, {"input": {"to": "Rome"}}, path="$[0]", pointer="/input").given.spans != {}


def test_only_findings_of_a_loss_mark_texts():
    assert marks_of(PROMPT, {}, finding_class="refused", path="$[1]").given.spans == {}


@pytest.mark.parametrize("value", LARGE)
def test_a_large_value_takes_few_lines_and_says_what_is_left_out(value):
    lines = json_lines(value, Marks(), Limits(items=6, characters=100, lines=40))
    assert len(lines) <= 41
    assert any(token.kind == "cut" for line in lines for token in line.tokens)


def test_a_value_that_is_nested_deep_is_shown_as_far_as_it_goes():
    value: object = "bottom"
    for _ in range(50_000):
        value = [value]
    assert len(json_lines(value)) < 60


def test_what_is_marked_is_shown_however_long_its_list_is():
    lines = json_lines([f"text {n}" for n in range(1000)], Marks(((500,),), {(500,): [Span(5, 8)]}))
    shown = "\n".join("".join(token.text for token in line.tokens) for line in lines)
    assert '"text 500"' in shown
    assert [token.text for line in lines for token in line.tokens if token.kind == "mark"] == ["500"]
    assert [line.is_marked for line in lines].count(True) == 1
