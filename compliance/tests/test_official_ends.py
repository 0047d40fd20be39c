"""The reasons why an answer ends: the official clients' types have none that the suite's tables lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

import pytest

from art_compliance.dialects import find_dialect

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.once  # the tables do not depend on the Python


def _of_openai() -> tuple[str, ...]:
    choice: Any = pytest.importorskip("openai.types.chat.chat_completion").Choice
    return get_args(choice.model_fields["finish_reason"].annotation)


def _of_anthropic() -> tuple[str, ...]:
    return get_args(pytest.importorskip("anthropic.types").StopReason)


def _of_google() -> tuple[str, ...]:
    reasons: Any = pytest.importorskip("google.genai.types").FinishReason
    return tuple(one.value for one in reasons)


_CLIENTS: Final[dict[str, tuple[Callable[[], tuple[str, ...]], frozenset[str]]]] = {
    "openai-chat": (_of_openai, frozenset({"stop", "tool_calls", "function_call"})),
    "anthropic-messages": (_of_anthropic, frozenset({"end_turn", "tool_use"})),
    "gemini-generate": (_of_google, frozenset({"STOP", "FINISH_REASON_UNSPECIFIED"})),
}
"""By dialect, the reasons that the official client knows, and those that need no row.

The suite's own answers end with the usual ones; `function_call` is that of calls before there were tools.
"""


@pytest.mark.parametrize("name", _CLIENTS)
def test_no_reason_of_the_official_client_is_missing(name: str):
    read, usual = _CLIENTS[name]
    answers = find_dialect(name).answers
    assert set(read()) - usual - {*answers.bad_ends, *answers.good_ends} == set()


def test_no_block_reason_of_google_is_missing():
    reasons: Any = pytest.importorskip("google.genai.types").BlockedReason
    known = {one.value for one in reasons} - {"BLOCKED_REASON_UNSPECIFIED"}
    assert known == set(find_dialect("gemini-generate").answers.blocked_ends)
