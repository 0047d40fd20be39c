"""The documentation site, as far as Zensical does not check it: moved links, the reference, the navigation."""

import re
from types import ModuleType

import pytest

import art_sdk
import make_site
import reference
from art_compliance.checks import CHECKS
from art_sdk import CallOptions, messages
from links import moved
from payloads import filled

PLACES = {"docs/rules.md": "rules.md", "compliance/README.md": "guide.md", "docs/api.md": "api/api.md"}


@pytest.mark.parametrize(
    ("source", "text", "there"),
    [
        ("docs/rules.md", "[the guide](../compliance/README.md#laws)", "[the guide](guide.md#laws)"),
        ("compliance/README.md", "[rules](../docs/rules.md)", "[rules](rules.md)"),
        ("docs/api.md", "[rules](rules.md)", "[rules](../rules.md)"),
        ("docs/rules.md", "[fixtures](../fixtures/rules)", "fixtures (`fixtures/rules`)"),
        ("docs/rules.md", "[fixtures/rules](../fixtures/rules)", "fixtures/rules"),
        ("docs/rules.md", "[here](#below) [there](https://example.com/x.md)", None),
        ("docs/rules.md", "`[a](b.md)`", None),
        ("docs/rules.md", "`a` [`[b]`](../compliance/README.md) `c`", "`a` [`[b]`](guide.md) `c`"),
        ("docs/rules.md", "```python\ncalls[0](x.md)\n```", None),
    ],
)
def test_a_link_leads_to_the_page_in_the_site(source, text, there):
    assert moved(text, source, PLACES) == (text if there is None else there)


def test_public_names_without_a_docstring_are_listed():
    module = ModuleType("module", "It has one.")

    class Silent:
        """Only itself has a docstring."""

        def method(self):
            pass

        def _private(self):
            pass

    module.Silent, module.function, module.__all__ = Silent, lambda: None, ["Silent", "function"]
    assert list(reference.undocumented(module)) == ["Silent.method", "function"]


@pytest.mark.parametrize(
    ("pages", "named", "wrong"),
    [({"a.md", "b.md"}, {"a.md"}, "has no place for b.md"), ({"a.md"}, {"a.md", "b.md"}, "do not exist: b.md")],
)
def test_every_page_is_in_the_navigation(pages, named, wrong):
    with pytest.raises(make_site.IncompleteNavigation, match=wrong):
        make_site.check_navigation(pages, named)


def test_payloads_of_an_unknown_scenario_are_an_error(tmp_path):
    with pytest.raises(LookupError, match="'nothing'"):
        filled("<!-- payloads: nothing -->", tmp_path)


def test_the_pages_are_whole(tmp_path):
    make_site.write_pages(tmp_path)
    laws = (tmp_path / "laws.md").read_text(encoding="utf-8")
    assert all(f"### `{check.id}`\n\n{check.clause}\n\n" in laws for check in CHECKS.values())
    assert "Caught: .*" not in laws
    api = (tmp_path / "api" / "art_sdk.md").read_text(encoding="utf-8")
    assert all(f"::: art_sdk.{name}\n" in api for name in art_sdk.__all__)
    payloads = (tmp_path / "format.md").read_text(encoding="utf-8")
    assert "<summary>gemini-generate</summary>" in payloads
    assert "15°C" in payloads


def test_the_page_of_the_format_has_every_option():
    page = (make_site.ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    rows = page.partition("## The options of a call")[2]
    assert set(CallOptions.__struct_encode_fields__) == set(
        re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in rows.splitlines() if line.startswith("| `")))
    )


@pytest.mark.parametrize(
    "struct",
    [
        *(messages.SystemMessage, messages.UserMessage, messages.AssistantMessage, messages.ToolResultMessage),
        *(messages.ToolRequestMessage, messages.ToolCall, messages.FunctionCall, messages.ToolRequest),
        *(messages.TextPart, messages.ImagePart, messages.ToolSchema, messages.ToolResult, messages.ParsedToolCall),
    ],
)
def test_the_page_of_the_format_has_every_field(struct):
    rows = (make_site.ROOT / "docs" / "format.md").read_text(encoding="utf-8").splitlines()
    row = next(row for row in rows if f"`{struct.__name__}`" in row.rpartition("|")[0].rpartition("|")[2])
    assert set(struct.__struct_encode_fields__) - {"content"} <= set(re.findall(r"\w+", row))
