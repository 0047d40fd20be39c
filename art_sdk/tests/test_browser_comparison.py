from __future__ import annotations

import re

import pytest

from art_sdk.agents.browser.pages.comparison import ELEMENT_LIMIT, Changes, compare_pages, same_page
from art_sdk.agents.browser.pages.page import read_page
from art_sdk.agents.browser.redaction import Redactor
from browser_pages import PAGES

pytestmark = pytest.mark.unmeasured  # other tests run the same lines


def compare(before: str, after: str) -> Changes:
    scrub = Redactor().redact_all
    return compare_pages(*(read_page(html, limit=2_000_000, scrub=scrub) for html in (before, after)))


def found(before: str, after: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    result = compare(before, after).result
    return result.added_elements, result.removed_elements, result.modified_elements


LIST = "<ul>{}</ul>"
ROWS = "".join(f"<li>row {at}</li>" for at in range(50))


def test_a_row_on_top_of_a_list_is_one_addition():
    added, removed, modified = found(LIST.format(ROWS), LIST.format("<li>new</li>" + ROWS))
    assert (added, removed, modified) == (('body>ul:nth-of-type(1)>li:nth-of-type(1) "new"',), (), ())


def test_an_element_that_moved_is_no_change():
    assert not compare("<h1>a</h1><p>b</p>", "<div class=x><p>b</p></div><h1>a</h1>").result.has_changes


@pytest.mark.parametrize(
    ("before", "after", "item"),
    [
        ('<input name="q" value="a">', '<input name="q" value="b">', 'input[name="q"] "b" (value: "a" -> "b")'),
        ('<button id="x">Go</button>', '<button id="x" disabled>Go</button>', '#x "Go" (disabled: none -> "")'),
        ("<p>a</p>", "<p>b</p>", 'body>p:nth-of-type(1) "b" (text: "a" -> "b")'),
        (
            '<input id="p" type="password" value="one">',
            '<input id="p" type="password" value="two" aria-invalid="true">',
            '#p "[masked]" (aria-invalid: none -> "true")',
        ),
    ],
)
def test_a_modified_element_says_what_is_different(before: str, after: str, item: str):
    assert found(before, after) == ((), (), (item,))


def test_class_style_and_nonce_are_no_change():
    assert not compare('<p class="a" style="color:red">x</p>', '<p class="b" nonce="1">x</p>').result.has_changes


def test_new_messages_stand_in_the_summary():
    changes = compare("<p>x</p>", '<div role="alert"><div><p>Wrong password</p></div></div><p>x</p>')
    assert changes.messages == ("Wrong password",)
    assert changes.result.summary.endswith('; new messages: "Wrong password"')


def test_long_lists_of_changes_are_cut():
    added, _, _ = found("", "".join(f"<p>{at}</p>" for at in range(53)))
    assert len(added) == 51
    assert added[-1] == "… 3 more"


def test_pages_with_too_many_elements_are_compared_by_their_hashes():
    many = "<p>x</p>" * (ELEMENT_LIMIT + 1)
    result = compare(many, many + "<p>y</p>").result
    assert result.has_changes
    assert result.summary == "changed; 30002 elements are too many to compare (at most 30000)"


def test_an_equal_page_has_no_changes():
    page = read_page("<p>x</p>", limit=100, scrub=Redactor().redact_all)
    assert same_page(page).result.summary == "no change in 1 elements"


CHANGES = {
    "shop": ('data-testid="add-3">', 'data-testid="add-3" disabled>', "modified_elements", "add-3"),
    "search": ('aria-selected="true"', 'aria-selected="false"', "modified_elements", "all"),
    "form": ('name="go">Place order', 'name="go" disabled>Sending', "modified_elements", "Sending"),
    "dashboard": ("ORD-000005</a>", "ORD-000005 (paid)</a>", "modified_elements", "paid"),
    "article": ("<h1>", '<div role="status">Saved</div><h1>', "added_elements", "Saved"),
    "app": ('<div id="portal">', '<div id="portal"><div role="alert">Sent</div>', "added_elements", "Sent"),
}


@pytest.mark.parametrize("name", PAGES)
def test_one_change_of_a_real_page_is_found_and_nothing_else(name: str):
    html = PAGES[name](20_000)
    old, new, kind, text = CHANGES[name]
    after = html.replace(old, new, 1)
    assert after != html
    # what a server changes on every request is not a change
    after = re.sub(r'class="([^"]*)"', r'class="\1 x"', after).replace("app.9f31c2", "app.000000")
    result = compare(html, after).result
    lists = {name: getattr(result, name) for name in ("added_elements", "removed_elements", "modified_elements")}
    assert [len(items) for items in lists.values()].count(0) == 2
    assert len(lists[kind]) == 1
    assert text in lists[kind][0]
