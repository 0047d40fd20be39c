"""Pages with the structure of real sites, the same for every run: deep wrappers, navigation, forms, noise, scripts."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count

WORDS = [
    "river",
    "copper",
    "lantern",
    "meadow",
    "signal",
    "harbor",
    "velvet",
    "compass",
    "orchard",
    "thunder",
    "marble",
    "saffron",
    "canyon",
    "pepper",
    "willow",
    "anchor",
    "ember",
    "falcon",
    "glacier",
    "hollow",
    "indigo",
    "juniper",
    "kettle",
    "lagoon",
    "mosaic",
    "nectar",
    "opal",
    "prairie",
    "quartz",
    "ripple",
    "summit",
    "timber",
]


def _words(rng: random.Random, many: int) -> str:
    return " ".join(rng.choices(WORDS, k=many))


def _shell(title: str, body: str, *, extra: str = "") -> str:
    """What surrounds the content of a site: head, cookie banner, header with menus, footer, scripts."""
    menus = "".join(
        f'<li class="nav__item has-children"><button class="nav__toggle" aria-expanded="false" aria-controls="m{at}">'
        f'<span class="nav__label">{name}</span><svg viewBox="0 0 8 8"><path d="M0 0h8"/></svg></button>'
        f'<div id="m{at}" hidden><ul>'
        + "".join(f'<li><a href="/{name}/{w}">{w}</a></li>' for w in WORDS[:6])
        + "</ul></div></li>"
        for at, name in enumerate(("products", "solutions", "learn", "company"))
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<link rel="stylesheet" href="/static/app.9f31c2.css"><style>.nav{display:flex}.card{padding:8px}</style>'
        "<script>window.dataLayer=window.dataLayer||[];if(1<2&&'<div>'){dataLayer.push({e:'<a>'})}</script></head>"
        '<body class="page theme-light"><!-- banner --><div id="cookie" role="dialog" aria-label="Cookies"><p>We use '
        '<b>cookies</b>.</p><button class="btn" data-testid="accept">Accept all</button><button>Reject</button></div>'
        '<header class="header"><div class="header__inner"><a class="logo" href="/"><img src="/logo.svg" alt="Acme"></a>'
        f'<nav aria-label="Main"><ul class="nav">{menus}</ul></nav><form role="search" action="/search">'
        '<input type="search" name="q" placeholder="Search" aria-label="Search"><button type="submit">Search</button>'
        f'</form></div></header><main id="main"><div class="container"><div class="row">{body}</div></div></main>{extra}'
        '<footer><div><ul><li><a href="/imprint">Imprint</a><li><a href="/privacy">Privacy</a></ul><p>&copy; Acme</p></div>'
        '</footer><script src="/app.js" defer></script><script type="application/ld+json">{"@type":"WebSite"}</script></body></html>'
    )


def _fill(size: int, seed: int, item: Callable[[random.Random, int], str], rest: Callable[[str], str]) -> str:
    """As many items as make a page of the size, in characters."""
    rng = random.Random(seed)
    room = size - len(rest(""))
    items: list[str] = []
    for at in count():
        text = item(rng, at)
        room -= len(text)
        if room < 0:
            return rest("".join(items))
        items.append(text)
    raise AssertionError


def _product(rng: random.Random, at: int) -> str:
    name = _words(rng, 3).title()
    sold_out = rng.random() < 0.1
    stars = rng.randint(1, 5)
    return (
        f'<article class="card product-card" data-sku="{rng.randrange(10**6)}"><div class="card__media"><a href="/p/{at}-{rng.choice(WORDS)}">'
        f'<picture><source srcset="/i/{at}.webp 1x" type="image/webp"><img loading="lazy" src="/i/{at}.jpg" alt="{name}"></picture></a></div>'
        f'<div class="card__body"><h3 class="card__title"><a href="/p/{at}">{name}</a></h3><div class="rating" role="img" '
        f'aria-label="{stars} of 5 stars"><span style="width:{stars * 20}%"></span></div><div class="price"><span class="price__now">'
        f'€&nbsp;{rng.randint(3, 400)}.<sup>99</sup></span><del>€ 499</del></div><ul class="facts"><li>{_words(rng, 2)}<li>{_words(rng, 2)}</ul>'
        f'<div class="card__actions"><button type="button" data-testid="add-{at}"{" disabled" if sold_out else ""}>'
        f'<span class="icon" aria-hidden="true">+</span><span>{"Sold out" if sold_out else "Add to cart"}</span></button></div></div></article>'
    )


def shop(size: int) -> str:
    """A listing of products with filters and pagination."""
    filters = "".join(
        f"<fieldset><legend>{group}</legend>"
        + "".join(
            f'<label><input type="checkbox" name="{group}" value="{w}"> {w} <em>({len(w)})</em></label>'
            for w in WORDS[:8]
        )
        + "</fieldset>"
        for group in ("color", "material", "size")
    )
    pages = "".join(f'<a href="?page={n}" aria-label="Page {n}">{n}</a>' for n in range(1, 9))
    return _fill(
        size,
        1,
        _product,
        lambda items: _shell(
            "Lanterns | Acme",
            f'<aside><form id="filters">{filters}</form></aside><section><h1>Lanterns</h1><select name="sort" aria-label="Sort by">'
            f'<option value="pop" selected>Popular</option><option value="price">Price</option></select><div class="grid">{items}</div>'
            f'<nav aria-label="Pages">{pages}</nav></section>',
        ),
    )


def _hit(rng: random.Random, at: int) -> str:
    url = f"https://{rng.choice(WORDS)}.example/{_words(rng, 2).replace(' ', '/')}"
    return (
        f'<div class="g"><div class="g__in"><div><a href="{url}?utm={rng.randrange(10**8)}"><cite>{url}</cite><h3>{_words(rng, 6).capitalize()}</h3></a>'
        f'<button aria-label="About this result" aria-expanded="false"><svg><circle r="1"/></svg></button></div><div><span>{rng.randint(1, 28)} May '
        f"— </span><span>{_words(rng, 12)} <em>{rng.choice(WORDS)}</em> {_words(rng, 12)} …</span></div></div></div>"
    )


def search(size: int) -> str:
    """Search results with tabs and related searches."""
    tabs = "".join(
        f'<a role="tab" href="/{t}" aria-selected="{str(t == "all").lower()}">{t}</a>'
        for t in ("all", "images", "news")
    )
    related = "".join(f'<a href="/search?q={w}">{w} <b>lamp</b></a>' for w in WORDS[:8])
    return _fill(
        size,
        2,
        _hit,
        lambda items: _shell(
            "copper lantern - Search",
            f'<div role="tablist">{tabs}</div><div id="stats">About 1,240,000 results</div><div id="results">{items}</div><div>{related}</div>',
        ),
    )


def _field(rng: random.Random, at: int) -> str:
    name = f"{rng.choice(WORDS)}_{at}"
    wrong = at % 3 == 0
    error = f'<p class="error" id="{name}-e" role="alert">Enter a valid {name}</p>' if wrong else ""
    options = "".join(f'<option value="{w}">{w}</option>' for w in WORDS[:12])
    control = (
        f'<select id="{name}" name="{name}">{options}</select>'
        if at % 5 == 4
        else f'<input id="{name}" name="{name}" type="{("text", "email", "tel")[at % 3]}" value="{_words(rng, 1)}" aria-invalid="{str(wrong).lower()}" required>'
    )
    return f'<div class="form-group"><div class="form-row"><label for="{name}">{name} <span class="req">*</span></label><div class="control">{control}</div></div>{error}<small>{_words(rng, 6)}</small></div>'


def form(size: int) -> str:
    """A form that was sent and came back with errors; it has a password and hidden fields."""
    return _fill(
        size,
        3,
        _field,
        lambda items: _shell(
            "Check out",
            '<div role="alert" class="summary"><h2>There is a problem</h2><ul><li>Enter a valid e-mail</ul></div><form method="post" id="checkout">'
            f'<input type="hidden" name="csrf" value="5b3f"><fieldset><legend>Your details</legend>{items}</fieldset><label>Password <input type="password" '
            'name="password" value="correct horse battery"></label><button type="submit" name="go">Place order</button></form>',
        ),
    )


def _row(rng: random.Random, at: int) -> str:
    cells = "".join(
        f'<td class="num"><span title="{rng.random():.6f}">{rng.randint(0, 99999):,}</span></td>' for _ in range(5)
    )
    state = rng.choice(("ok", "late", "failed"))
    return (
        f'<tr data-row-key="{at}"><td><input type="checkbox" aria-label="Select row {at}"></td><td><a href="/orders/{at}">ORD-{at:06d}</a></td><td>'
        f'<div class="cell"><span class="avatar" aria-hidden="true">X</span>{_words(rng, 2).title()}</div></td>{cells}<td><span class="badge badge--{state}">'
        f'{state}</span></td><td><div role="group"><button aria-label="Edit {at}"><svg/></button><button aria-label="Delete {at}"><svg/></button></div></td></tr>'
    )


def dashboard(size: int) -> str:
    """Figures, a chart and a long table with actions in every row."""
    tiles = "".join(
        f'<div class="tile"><div class="tile__in"><h2>{w}</h2><p><strong>{len(w) * 371}</strong> <small>+{len(w)}%</small></p></div></div>'
        for w in WORDS[:8]
    )
    chart = "<svg>" + "".join(f'<rect x="{n}" y="1" width="1" height="{n % 7}"/>' for n in range(60)) + "</svg>"
    head = "".join(f'<th scope="col"><button aria-label="Sort by {w}">{w}</button></th>' for w in WORDS[:9])
    return _fill(
        size,
        4,
        _row,
        lambda items: _shell(
            "Orders", f"{tiles}{chart}<table><thead><tr>{head}</tr></thead><tbody>{items}</tbody></table>"
        ),
    )


def _paragraph(rng: random.Random, at: int) -> str:
    link = f'<a href="/wiki/{rng.choice(WORDS)}" title="{rng.choice(WORDS)}">{rng.choice(WORDS)}</a>'
    head = (
        f'<h2 id="s{at}"><span>{_words(rng, 3).title()}</span><span class="edit">[<a href="?edit={at}">edit</a>]</span></h2>'
        if at % 6 == 0
        else ""
    )
    note = f'<sup id="r{at}"><a href="#n{at}">[{at}]</a></sup>'
    return f"{head}<p>{_words(rng, 25).capitalize()} {link} {_words(rng, 20)} <i>{_words(rng, 2)}</i>{note}. {_words(rng, 18).capitalize()}.</p>"


def article(size: int) -> str:
    """A long text with a table of contents, links, notes and comments."""
    toc = "".join(f'<li><a href="#s{n * 6}">Section {n}</a></li>' for n in range(12))
    return _fill(
        size,
        5,
        _paragraph,
        lambda items: _shell(
            "Copper lantern",
            f'<nav aria-label="Contents"><ol>{toc}</ol></nav><article><h1>Copper lantern</h1>{items}</article>',
        ),
    )


def _message(rng: random.Random, at: int) -> str:
    wrappers = rng.randint(3, 7)
    unread = ' aria-label="Unread"' if at % 4 == 0 else ""
    return (
        "".join(f'<div class="css-{rng.randrange(16**6):06x}">' for _ in range(wrappers))
        + f'<div role="listitem" tabindex="0" data-testid="message-{at}"><div role="button" aria-pressed="{str(at % 4 == 0).lower()}"{unread}>'
        + f"<span>{_words(rng, 2).title()}</span><span><span>{_words(rng, 9)}</span></span></div><time>{at % 24}:00</time></div>"
        + "</div>" * wrappers
    )


def app(size: int) -> str:
    """A single-page app: one root, many wrappers without meaning, roles in place of elements, editable text."""
    side = "".join(
        f'<div role="treeitem" aria-selected="{str(w == "river").lower()}" tabindex="-1"><div><span>{w}</span></div></div>'
        for w in WORDS[:14]
    )
    return _fill(
        size,
        6,
        _message,
        lambda items: (
            '<!doctype html><html><head><title>Inbox (3)</title><script>window.__STATE__={"a":"<b>"}</script></head><body><noscript>You need JavaScript.</noscript>'
            f'<div id="root"><div class="l0"><div class="l1"><div role="tree" aria-label="Folders">{side}</div><div role="main"><div role="toolbar"><div role="button" '
            f'aria-label="Archive" aria-disabled="true"></div><div role="checkbox" aria-checked="false"></div></div><div role="list">{items}</div><div role="textbox" contenteditable="true" '
            'aria-label="Reply"></div><div role="button" data-testid="send">Send</div></div></div></div></div><div id="portal"><div role="status"></div></div><script src="/b.js"></script></body></html>'
        ),
    )


PAGES: dict[str, Callable[[int], str]] = {
    "shop": shop,
    "search": search,
    "form": form,
    "dashboard": dashboard,
    "article": article,
    "app": app,
}
SIZES = {"shop": 200_000, "search": 100_000, "form": 20_000, "dashboard": 500_000, "article": 2_000_000, "app": 100_000}


def real_page(name: str) -> str:
    """A page in the size that such pages have."""
    return PAGES[name](SIZES[name])
