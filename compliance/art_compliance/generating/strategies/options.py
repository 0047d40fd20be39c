"""Call options as JSON data, and whole requests: a prompt with matching options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from art_compliance.generating.requests import Request
from art_compliance.generating.strategies.broken import broken_prompts
from art_compliance.generating.strategies.prompts import prompts
from art_compliance.generating.strategies.schemas import tool_lists, tool_schemas
from art_compliance.generating.strategies.texts import texts

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

_BOOKS: Final = ("thread_id", "trace_id", "session_id", "user_id", "call_context")
_HUNDREDTHS: Final = st.integers(0, 100).map(lambda number: number / 100)

_OPTIONAL: Final[dict[str, SearchStrategy[Any]]] = {
    "temperature": _HUNDREDTHS,
    "top_p": _HUNDREDTHS,
    "max_tokens": st.integers(1, 4096),
    "stop": st.lists(st.sampled_from(("END", "\n\nHuman:", "}}", "\u3002")), min_size=1, max_size=3, unique=True),
    "late_system": st.sampled_from(("refuse", "hoist")),
    "model": st.sampled_from(("a-model", "org/model-2.5:free")),
    "timeouts": st.just({"connect": 5.0}),
    "provider": st.just({"a-dialect-of-nobody": {"text": "not for you"}}),
    "response_schema": tool_schemas(depth=1),
    "stream": st.booleans(),
    **{name: texts() for name in _BOOKS[1:]},
}

_A_FEW: Final = st.lists(st.sampled_from(sorted(_OPTIONAL)), max_size=4, unique=True)
_ONE_AT_A_TIME: Final = st.sampled_from((None, None, None, None, True, False))
_ONE_IN_EIGHT: Final = st.sampled_from((False,) * 7 + (True,))


@st.composite
def options(draw: DrawFn, *, given: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Call options as JSON data: all that exist, a few at a time. `given` are the tools."""
    drawn: dict[str, Any] = {"thread_id": "thread-1", **{name: draw(_OPTIONAL[name]) for name in draw(_A_FEW)}}
    if given:
        drawn["tools"] = list(given)
        choice = draw(st.sampled_from((None, None, "auto", "none", "required", *(tool["name"] for tool in given))))
        drawn |= {} if choice is None else {"tool_choice": choice}
        is_parallel = draw(_ONE_AT_A_TIME)
        drawn |= {} if is_parallel is None else {"parallel_tool_calls": is_parallel}
    return drawn


@st.composite
def requests(draw: DrawFn, *, broken: bool = False) -> Request:
    """A prompt with matching options: its tools, with schemas that fit its calls.

    `broken`: the prompt breaks a rule of a conversation, in one of `BREAKS`.
    """
    given = draw(tool_lists(1 if broken else 0, 3, odd=draw(_ONE_IN_EIGHT)))
    prompt = draw(broken_prompts(given=given) if broken else prompts(given=given))
    return Request(prompt, draw(options(given=given)))
