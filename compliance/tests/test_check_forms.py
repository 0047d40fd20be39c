"""Other forms of an answer are tried on an adapter without tools, too."""

from __future__ import annotations

import pytest

from art_compliance.miniatures import MINIATURES
from art_sdk import AnthropicAdapter
from trials import messages_of

READ = "response.other-forms-are-read"


class WithoutTools(AnthropicAdapter):
    """Declares no tools."""

    capabilities = AnthropicAdapter.capabilities - {"tools", "tool_choice", "parallel_tools"}


def test_a_form_is_read_wrongly_without_tools():
    (miniature,) = (one for one in MINIATURES if one.id == "reads-the-first-text-alone")
    found = messages_of(READ, miniature.of(WithoutTools))
    assert found
    assert all(message.startswith("given with ") for message in found)


@pytest.mark.parametrize("make", [AnthropicAdapter, WithoutTools])
def test_calls_of_nothing_are_looked_for_where_there_are_tools(make: type[AnthropicAdapter]):
    (miniature,) = (one for one in MINIATURES if one.id == "believes-in-calls-of-nothing")
    found = messages_of("response.failed-finish-is-not-success", miniature.of(make))
    assert any(message.startswith("an answer without calls ") for message in found) is (make is AnthropicAdapter)


def test_every_form_is_read_without_tools():
    assert messages_of(READ, WithoutTools) == []
