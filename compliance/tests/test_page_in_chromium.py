"""The report page in a real Chromium. One browser serves all of these tests."""

from __future__ import annotations

import pytest

from art_compliance.checks import CHECKS
from art_compliance.publishing.board.changes import compare
from art_compliance.publishing.board.history import run_of
from art_compliance.publishing.board.rendering import render_board
from art_compliance.publishing.page.rendering import render_page
from chromium_pages import MISSING, PROGRAM, open_page
from made_reports import HOSTILE, failed, finding_of, good_report, hostile_report, large_report, report_of, result_of

pytestmark = [pytest.mark.once, pytest.mark.unmeasured, pytest.mark.skipif(PROGRAM is None, reason=MISSING)]

REFUSED = finding_of("wire.no-rule-is-broken", finding_class="refused", message="the tool has no name")
BAD = report_of(
    *good_report().results,
    failed(scenario="outer-blanks"),
    result_of("wire.no-rule-is-broken", "fail", findings=(REFUSED,), scenario="nameless-tool"),
    result_of("load.memory-stays-flat", "not applicable", reason="the adapter has no call"),
    name="bad:Adapter",
)
ROW = "#translation\\\\.user-text-survives"

PAINTED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Ends when the page is on the screen."""


@pytest.fixture(scope="module")
def browser():
    with open_page() as page:
        page.resize(1280, 900)
        yield page


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    ten = [large_report(number, is_bad=number == 3) for number in range(10)]
    for name, reports in {"two": [good_report(), BAD], "ten": ten, "hostile": [hostile_report()]}.items():
        (folder / f"{name}.html").write_text(render_page(reports), encoding="utf-8")
    changes = compare(run_of([good_report("bad:Adapter")]), run_of([BAD]))
    (folder / "board.html").write_text(render_board([good_report(), BAD], changes), encoding="utf-8")
    return folder


@pytest.fixture
def page(browser, files):
    """Two adapters, freshly opened. Whatever a test does, nothing is reported and nothing is asked for."""
    browser.open((files / "two.html").as_uri())
    browser.evaluate("localStorage.clear()")
    yield browser
    assert browser.problems == []
    assert [address for address in browser.asked if not address.startswith(("file:", "data:"))] == []


def shown(page):
    return page.evaluate(
        "[...document.querySelectorAll('.row')].filter(r => r.offsetHeight).map(r => r.lastElementChild.id)"
    )


def is_open(page, row=ROW):
    return page.evaluate(f"document.querySelector('{row}').closest('details').open")


def test_the_matrix_has_a_row_for_each_check_and_a_cell_for_each_adapter(page):
    assert shown(page) == ["translation.user-text-survives", "wire.no-rule-is-broken", "load.memory-stays-flat"]
    cells = page.evaluate("[...document.querySelectorAll('.row .c')].map(c => c.getAttribute('aria-label'))")
    assert cells[:2] == ["my_pkg:MyAdapter: 5 passed", "bad:Adapter: 5 passed, 1 failed"]
    left = page.evaluate(
        "[...document.querySelectorAll('.head .col, .row:first-of-type .c')].map(c => {"
        " const box = c.getBoundingClientRect(); return Math.round(box.x + box.width / 2); })"
    )
    assert left[:2] == left[2:4], "cells stand below their adapters"


def test_a_click_opens_what_was_found(page):
    assert not is_open(page)
    page.click(f"details:has({ROW.replace(chr(92) * 2, chr(92))}) > summary")
    assert is_open(page)
    assert page.evaluate("location.hash") == "#translation.user-text-survives"
    marks = page.evaluate(f"[...document.querySelectorAll('{ROW} mark')].map(m => m.textContent)")
    assert marks == ["  ", "\\n", "‸", "‸"]
    assert "art certify bad:Adapter --seed 7" in page.evaluate(f"document.querySelector('{ROW}').innerText")


def test_an_address_with_a_check_opens_it(browser, files):
    browser.open((files / "two.html").as_uri() + "#translation.user-text-survives")
    assert is_open(browser)


@pytest.mark.parametrize(
    ("button", "left"),
    [
        ("button[data-state=fail]", ["translation.user-text-survives", "wire.no-rule-is-broken"]),
        ("button[data-state=pass]", ["translation.user-text-survives"]),
        ("button[data-state=none]", ["load.memory-stays-flat"]),
        ("button[data-class=refused]", ["wire.no-rule-is-broken"]),
    ],
)
def test_filters_leave_what_they_name(page, button, left):
    page.click(button)
    assert shown(page) == left
    assert page.evaluate(f"document.querySelector('{button}').getAttribute('aria-pressed')") == "true"
    assert page.evaluate("document.getElementById('count').textContent") == f"{len(left)} of 3 checks"
    page.press("Escape")
    assert len(shown(page)) == 3


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("outer-blanks", ["translation.user-text-survives"]),
        ("TOOL has no NAME", ["wire.no-rule-is-broken"]),
        ("nothing has these words", []),
    ],
)
def test_the_search_finds_scenarios_and_findings(page, words, left):
    page.press("/")
    page.type(words)
    assert shown(page) == left
    assert page.evaluate("document.getElementById('nothing').hidden") == bool(left)
    page.press("Escape")
    assert len(shown(page)) == 3


def test_the_keyboard_alone_is_enough(page):
    page.press("j")
    page.press("j")
    page.press("k")
    page.press("Enter")
    assert is_open(page)
    page.press("f")
    assert len(shown(page)) == 2
    page.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.press("ArrowDown")
    assert page.evaluate("document.activeElement.localName") == "summary"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize(("dark", "before", "after"), [(False, 240, 40), (True, 40, 240)])
def test_light_and_dark_follow_the_system_until_the_reader_chooses(page, files, dark, before, after):
    page.open((files / "two.html").as_uri(), dark=dark)
    assert abs(brightness(page) - before) < 40
    page.press("t")
    assert abs(brightness(page) - after) < 40
    page.open((files / "two.html").as_uri(), dark=dark)
    assert abs(brightness(page) - after) < 40, "the choice is kept"


def brightness(page):
    return int(page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]"))


def test_without_scripts_everything_can_be_opened_and_read(browser, files):
    browser.run_scripts(allowed=False)
    try:
        browser.open((files / "two.html").as_uri())
        assert browser.evaluate("document.getElementById('tools').offsetHeight") == 0
        browser.click(".row:has(#translation\\.user-text-survives) > summary")
        assert browser.evaluate(f"document.querySelector('{ROW} mark').offsetHeight") > 5
    finally:
        browser.run_scripts(allowed=True)


@pytest.mark.parametrize("allowed", [True, False])
def test_a_red_cell_of_a_board_opens_on_what_was_found_with_scripts_and_without(browser, files, allowed):
    other = "#translation\\\\.user-text-survives\\\\/bad\\\\:Adapter"
    browser.run_scripts(allowed=allowed)
    try:
        browser.open((files / "board.html").as_uri())
        assert not is_open(browser)
        browser.click("a.c.fail")
        browser.picture()  # it is on the screen then
        assert is_open(browser)
        box = browser.evaluate(f"document.querySelector('{other}').getBoundingClientRect().y")
        assert 0 < box < 900
        browser.click(f"{other} .alone summary".replace("\\\\", "\\"))
        assert "from bad import Adapter" in browser.evaluate("document.querySelector('pre').innerText")
        assert browser.problems == []
    finally:
        browser.run_scripts(allowed=True)


def test_the_filter_of_a_board_leaves_what_changed(browser, files):
    browser.open((files / "board.html").as_uri())
    browser.click("button[data-state=changed]")
    assert shown(browser) == ["translation.user-text-survives", "wire.no-rule-is-broken"]


def test_printed_failures_are_open(page):
    page.call("Emulation.setEmulatedMedia", media="print")
    try:
        page.evaluate(PAINTED)
        assert page.evaluate(f"document.querySelector('{ROW} .law').checkVisibility({{contentVisibilityAuto: true}})")
        assert page.evaluate("document.getElementById('tools').offsetHeight") == 0
        assert page.call("Page.printToPDF")["data"]
    finally:
        page.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.parametrize("width", [1280, 700, 380])
def test_the_page_is_never_wider_than_its_window(page, width):
    page.resize(width, 900)
    try:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        page.resize(1280, 900)


def test_hostile_texts_run_nothing_and_load_nothing(browser, files):
    browser.open((files / "hostile.html").as_uri())
    browser.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    browser.evaluate(
        "document.querySelectorAll('.row *').forEach(one => one.dispatchEvent(new MouseEvent('mouseover')))"
    )
    assert browser.evaluate("typeof window.hacked") == "undefined"
    assert (
        browser.evaluate("document.querySelectorAll('img, iframe, object, embed, form, base, script[src]').length") == 0
    )
    assert HOSTILE[0] in browser.evaluate("document.querySelector('h1').textContent")
    assert browser.problems == []
    assert [address for address in browser.asked if not address.startswith(("file:", "data:"))] == []


def test_the_policy_stops_a_script_that_stands_in_the_page(browser, files):
    text = (files / "two.html").read_text(encoding="utf-8")
    extra = "<script>window.hacked = 1</script><img src='https://example.com/x.png'><p style='color: red'>"
    (files / "spoiled.html").write_text(text.replace("<main>", f"<main>{extra}"), encoding="utf-8")
    browser.open((files / "spoiled.html").as_uri())
    assert browser.evaluate("typeof window.hacked") == "undefined"
    assert len([one for one in browser.problems if "Content Security Policy" in one]) == 3


def test_ten_adapters_by_all_checks_are_there_within_a_second(browser, files):
    took = []
    for _ in range(3):  # another process may have the caches
        browser.open((files / "ten.html").as_uri())
        browser.evaluate(PAINTED)
        took.append(browser.busy())
    assert min(took) < 1
    assert len(shown(browser)) == len(CHECKS)
    assert browser.problems == []
    before = browser.busy()
    browser.press("/")
    browser.type("memory")
    assert 0 < len(shown(browser)) < 20
    assert browser.busy() - before < 1
