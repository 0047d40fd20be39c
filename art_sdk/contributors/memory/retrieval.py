"""The strategies: which texts of a memory go into a prompt."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from operator import mul
from typing import Any, Final, Protocol

from art_sdk.contributors.memory.tokens import TokenCounter, cut, how_many_fit, last_within

Summarizer = Callable[[Sequence[str]], Awaitable[str] | str]
"""Makes one text of those of a thread, oldest first."""

Embedder = Callable[[Sequence[str]], Awaitable[Sequence[Sequence[float]]] | Sequence[Sequence[float]]]
"""Makes one vector of each text, all of one length."""

_SUMMARIES: Final = 256
_VECTORS: Final = 4_096
_CLOSEST: Final = 5
"""Texts that `semantic` gives without a limit of tokens."""


class Retrieval(Protocol):
    """Turns the texts of a thread, oldest first, into the text for its prompt."""

    async def __call__(self, thread_id: str | None, texts: Sequence[str], query: str) -> str:
        """The text for the prompt. `texts` are not empty."""
        ...


class Recent:
    """The newest texts, a line each."""

    def __init__(self, most: int | None, count: TokenCounter) -> None:
        self._most = most
        self._count = count

    async def __call__(self, thread_id: str | None, texts: Sequence[str], query: str) -> str:
        """The newest texts within the limit."""
        del thread_id, query
        return "\n".join(last_within(texts, self._most, self._count))


class Summary:
    """A summary, made once for the same texts and kept for the threads used last."""

    def __init__(self, most: int | None, count: TokenCounter, summarize: Summarizer) -> None:
        self._most = most
        self._count = count
        self._summarize = summarize
        self._known: OrderedDict[str | None, tuple[tuple[str, ...], str]] = OrderedDict()

    async def __call__(self, thread_id: str | None, texts: Sequence[str], query: str) -> str:
        """The summary, cut to the limit. Raises what the summarizer raises, TypeError if it gives no text."""
        del query
        texts = tuple(texts)
        known = self._known.get(thread_id)
        if known is None or known[0] != texts:
            known = (texts, await self._make(texts))
        self._known[thread_id] = known
        self._known.move_to_end(thread_id)
        if len(self._known) > _SUMMARIES:
            self._known.popitem(last=False)
        return cut(known[1], self._most, self._count)

    async def _make(self, texts: tuple[str, ...]) -> str:
        made: Any = self._summarize(texts)
        summary: Any = await made if isawaitable(made) else made
        if not isinstance(summary, str):
            raise TypeError(f"the summarizer must return text, not a value of type {type(summary).__name__}")
        return summary


class Semantic:
    """The texts whose vectors are closest to that of the query, a line each, oldest first."""

    def __init__(self, most: int | None, count: TokenCounter, embed: Embedder) -> None:
        self._most = most
        self._count = count
        self._embed = embed
        self._known: OrderedDict[str, tuple[float, ...]] = OrderedDict()

    async def __call__(self, thread_id: str | None, texts: Sequence[str], query: str) -> str:
        """The closest texts within the limit; without a query the newest. Raises what the embedder raises.

        Raises ValueError if the embedder does not give one vector of numbers, all of one length, for each text.
        """
        del thread_id
        if not query.strip():
            return "\n".join(last_within(texts, self._most, self._count))
        vectors = await self._vectors([query, *texts])
        wanted = vectors[query]
        closeness = [sum(map(mul, wanted, vectors[text])) for text in texts]
        ranked = sorted(range(len(texts)), key=lambda index: (closeness[index], index))
        ranked = ranked if self._most is not None else ranked[-_CLOSEST:]
        fitting = how_many_fit([texts[index] for index in ranked], self._most, self._count)
        if not fitting:
            return cut(texts[ranked[-1]], self._most, self._count)
        return "\n".join(texts[index] for index in sorted(ranked[-fitting:]))

    async def _vectors(self, texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        found = dict(zip(new, await self._make(new), strict=True)) if new else {}
        found |= {text: self._known[text] for text in texts if text in self._known}
        if len({len(vector) for vector in found.values()}) > 1:
            raise ValueError("the embedder returned vectors of different lengths")
        for text, vector in found.items():
            self._known[text] = vector
            self._known.move_to_end(text)
        while len(self._known) > _VECTORS:
            self._known.popitem(last=False)
        return found

    async def _make(self, texts: list[str]) -> list[tuple[float, ...]]:
        made: Any = self._embed(texts)
        vectors: Any = await made if isawaitable(made) else made
        if len(vectors) != len(texts):
            raise ValueError(f"the embedder returned {len(vectors)} vectors for {len(texts)} texts")
        return [_unit(vector) for vector in vectors]


def _unit(vector: Sequence[float]) -> tuple[float, ...]:
    numbers = tuple(map(float, vector))
    if not all(map(math.isfinite, numbers)):
        raise ValueError("the embedder returned a vector with a number that is not finite")
    length = math.hypot(*numbers)
    return tuple(number / length for number in numbers) if length else numbers
