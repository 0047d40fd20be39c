from __future__ import annotations

import time

import pytest

from art_sdk.agents.browser.pages.cleaning import ATTRIBUTE_LIMIT, DEPTH_LIMIT, Cleaning
from art_sdk.agents.browser.pages.compression import Marks, outline
from art_sdk.agents.browser.pages.element import MASKED
from art_sdk.agents.browser.pages.page import Page, read_page
from art_sdk.agents.browser.pages.relevant import find_relevant
from art_sdk.agents.browser.pages.selectors import selectors
from art_sdk.agents.browser.redaction import Redactor
from browser_pages import PAGES, real_page

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

LIMIT = 2_000_000


def page(html: str, **secrets: object) -> Page:
    return read_page(html, limit=LIMIT, scrub=Redactor(secrets).redact_all)


def selectors_of(read: Page) -> list[str]:
    return selectors(read.elements, read.elements)


def cleaned_html(cleaning: Cleaning) -> str:
    return "".join(piece.html for piece in cleaning.pieces(LIMIT))


def lines(html: str, limit: int = 100_000, **secrets: object) -> list[str]:
    return outline(page(html, **secrets).elements, limit).text.split("\n")


def test_elements_have_their_text_state_and_depth():
    form = '<form><label for=u>User</label><input id=u value="bob" required></form>'
    html = f"<main id=m>{form}<p>Hi <b>there</b></p></main>"
    assert lines(html) == [
        '<main id="m">',
        '  <label for="u">User',
        '  <input value="bob" required id="u">',
        "  <p>Hi there",
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>x</p>",
        '<p aria-hidden="true">x</p>',
        '<p style="display: none">x</p>',
        '<p style="color:red;VISIBILITY : hidden">x</p>',
        '<p style="opacity:0">x</p>',
        '<p style="font-size:0px">x</p>',
        '<p style="opacity:0.0!important">x</p><p style="opacity:.0;color:red">x</p>',
        '<p style="display/**/:none">x</p><p style="visibility:\\68 idden">x</p><p style="d\\isplay:none">x</p>',
        "<div hidden><div><p>x</p></div></div>",
        '<input type="hidden" value="x">',
        "<dialog>x</dialog>",
        "<script>x</script><style>x</style><template>x</template><noscript>x</noscript><svg><text>x</text></svg>",
        "<iframe>x</iframe><object>x</object><canvas>x</canvas><audio>x</audio><video>x</video><math><mi>x</mi></math>",
        "<!-- x -->",
        "<!--><!-- x -->",
    ],
)
def test_hidden_elements_are_left_out(hidden: str):
    assert lines(f"<h1>Seen</h1>{hidden}") == ["<h1>Seen"]


def test_a_style_that_only_resembles_hiding_is_shown():
    styles = "opacity:0.5", "--bg-opacity:0", "opacity:05", "display:none-such", "/*display:none", "\\110000"
    assert [lines(f'<p style="{style}">x</p>') for style in styles] == [["<p>x"]] * len(styles)
    assert lines("<dialog open>y</dialog>") == ["<dialog open>y"]


def test_a_link_has_all_the_text_inside_it():
    assert lines('<a href="/x"><div><h3>Title</h3><span>of </span>it</div></a>') == ['<a href="/x">Title of it']


def test_passwords_and_codes_are_masked():
    html = '<input type="PassWord" value="a"><input autocomplete="one-time-code" value="b"><input value="c">'
    read = page(html)
    assert [one.attributes["value"] for one in read.elements] == [MASKED, MASKED, "c"]
    assert read.masked == 2


def test_urls_that_carry_data_or_code_are_cut():
    html = '<a href="javascript:alert(1)">x</a><img src="data:image/png;base64,AAAA" alt="y"><a href=" DATA:,z">z</a>'
    assert lines(html) == ['<a href="javascript:…">x', '<img src="data:…" alt="y">', '<a href="data:…">z']


def test_a_selector_is_an_attribute_that_only_this_element_has_or_else_a_path():
    html = '<div id="a"><p>x</p><p>y</p></div><a href="/1">1</a><a href="/1">2</a><input name="q"><b id="5">z</b>'
    read = page(html)
    found = dict(zip([one.text or one.tag for one in read.elements], selectors_of(read), strict=True))
    assert found == {
        "div": "#a",
        "x": "#a>p:nth-of-type(1)",
        "y": "#a>p:nth-of-type(2)",
        "1": "body>a:nth-of-type(1)",
        "2": "body>a:nth-of-type(2)",
        "input": 'input[name="q"]',
        "z": 'b[id="5"]',
    }


@pytest.mark.parametrize("name", PAGES)
def test_every_selector_finds_one_element_or_says_the_same_as_others(name: str):
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - an oracle for this test alone

    html = PAGES[name](20_000)
    read, tree = page(html), LexborHTMLParser(html)
    for element, selector in zip(read.elements, selectors_of(read), strict=True):
        found = tree.css(selector)
        assert len(found) == 1
        assert found[0].tag == element.tag


@pytest.mark.parametrize("name", PAGES)
def test_a_page_keeps_what_can_be_used_and_fits_its_limit(name: str):
    read = page(real_page(name))
    made = outline(read.elements, 100_000)
    usable = [one for one in read.elements if one.is_interactive]
    shown = sum(line.lstrip().startswith(_TAGS) or ' role="' in line for line in made.text.split("\n"))
    assert len(made.text) <= 100_000
    assert shown >= min(len(usable), 600)
    assert (made.stage == "truncated") == (name in {"dashboard", "article"})


_TAGS = tuple(f"<{tag}" for tag in ("a", "button", "input", "select", "textarea", "option", "summary", "label"))


def test_the_outline_of_a_small_limit_is_shortened_then_cut_between_lines():
    html = "".join(f'<li data-testid="t{at}">{"word " * 100}</li>' for at in range(30)) + "<button>Go</button>"
    stages = [outline(page(html).elements, limit) for limit in (100_000, 6_000, 700)]
    assert [one.stage for one in stages] == ["whole", "shortened", "truncated"]
    assert all(len(one.text) <= limit for one, limit in zip(stages, (100_000, 6_000, 700), strict=True))
    assert "… more <li> like these" in stages[1].text
    rows = [line for line in stages[1].text.split("\n") if line.startswith("<li")]
    assert [len(rows), *{len(line.partition(">")[2]) for line in rows}] == [10, 300]
    assert stages[2].text.split("\n")[-2:] == [
        "<button>Go",
        f"[truncated: {stages[2].left_out} of 31 elements left out]",
    ]


def test_long_values_are_cut_also_where_there_is_room():
    made = outline(page(f'<a href="/{"x" * 300}">y</a>').elements, 10_000)
    assert len(made.text.split('"')[1]) == 100


def test_new_and_relevant_elements_are_marked():
    read = page("<p>old</p><button>Buy</button>")
    button = frozenset({id(read.elements[1])})
    assert outline(read.elements, 1_000, Marks(button, button)).text == "<p>old\n*> <button>Buy"


def test_relevant_elements_share_words_with_the_step():
    read = page(
        '<button aria-label="Delete 7">x</button><button disabled>Deleted</button><p>delete</p><a href="/">Home</a>'
    )
    scores = [(one.element.text, one.score) for one in find_relevant(read, "Press the delete button")]
    assert scores == [("x", 0.85), ("Deleted", 0.65), ("delete", 0.6)]


def test_a_changed_element_is_relevant_without_a_word():
    read = page("<p>one</p><p>two</p>")
    [found] = find_relevant(read, "go", frozenset({id(read.elements[1])}))
    assert (found.element.text, found.score) == ("two", 0.15)


def test_the_twenty_most_relevant_elements_are_listed_in_the_order_of_the_page():
    read = page("".join(f"<p>delete {at}</p>" for at in range(25)))
    assert [one.element.text for one in find_relevant(read, "delete")] == [f"delete {at}" for at in range(20)]


@pytest.mark.parametrize(("step", "found"), [("pay", ["pay"]), ("cart", ["cartel"]), ("cartel", ["cartel"])])
def test_words_are_alike_from_four_characters_on(step: str, found: list[str]):
    read = page("<p>pay</p><p>payment</p><p>cartel</p><p>car</p>")
    assert [one.element.text for one in find_relevant(read, step)] == found


@pytest.mark.once
@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 50_000,
        "<b><i><u>" * 10_000,
        "<ul><li>" * 20_000,
        "<div><table><td></div>" * 10_000,
        "<span><div></span>" * 20_000,
        "".join(f"<font color={at}>" for at in range(500)) + "<p>x</p>" * 10_000,
        "<svg><title>" + "<div>" * 50_000,
        "<select>" + "<option>x" * 20_000,
    ],
    ids=range(8),
)
def test_no_page_is_parsed_in_quadratic_time(html: str):
    began = time.process_time()
    page(html)
    assert time.process_time() - began < 8  # bounded, less than one second; unbounded, most take ten or more


def test_depth_and_attributes_are_bounded():
    cleaning = Cleaning("<div>" * 1_000 + "x" + "<p " + " ".join(f"a{at}=1" for at in range(5_000)) + ">y", LIMIT)
    html = cleaned_html(cleaning)
    assert cleaning.is_flattened
    assert html.count("</div>") == 1_000 - DEPTH_LIMIT
    assert html.count("=1") == ATTRIBUTE_LIMIT


def test_a_page_beyond_the_limit_is_cut_between_tags():
    cleaning = Cleaning("<p>one</p><p class='x'>two</p>", 15)
    assert (cleaned_html(cleaning), cleaning.left_out) == ("<p>one</p>", 20)
