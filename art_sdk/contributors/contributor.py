"""What a contributor is, and the two kinds that most are: a fixed text, and a function of the context."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, Final, Protocol, runtime_checkable

from art_sdk.blueprints.assembly import PromptManager
from art_sdk.contributors.configuration import Stability
from art_sdk.contributors.context import DynamicContributorContext
from art_sdk.contributors.tags import wrap

SourceHandler = Callable[..., Awaitable[str | None] | str | None]
"""Makes the text of a contributor: takes the context, and the options of its source as keyword arguments.

A handler that is not a coroutine function must not wait: nothing else runs meanwhile, and no time limit ends it.
"""

USER_INSTRUCTIONS: Final = "userInstructions"
"""The id of the static contributor with the user's instructions, and the name of the source that gives them."""


@runtime_checkable
class SystemPromptContributor(Protocol):
    """One piece of a system prompt. Lower priorities come first."""

    @property
    def id(self) -> str:
        """Its name, once in a prompt."""
        ...

    @property
    def priority(self) -> int:
        """Its place: lower ones come first."""
        ...

    @property
    def stability(self) -> Stability:
        """How often its text changes. `turn` keeps it out of the part that providers cache."""
        ...

    async def get_content(self, context: DynamicContributorContext) -> str | None:
        """Its text. Nothing if it is empty or None."""
        ...


class StaticContributor:
    """A fixed text. With `is_template`, `{{name}}` in it is filled with `threadId` and the context's `extra`."""

    def __init__(
        self,
        id: str,  # noqa: A002
        priority: int,
        content: str,
        *,
        stability: Stability = "static",
        is_template: bool = False,
    ) -> None:
        self.id = id
        self.priority = priority
        self.stability: Stability = stability
        self.gives = USER_INSTRUCTIONS if id == USER_INSTRUCTIONS else None
        self._content = content
        self._is_template = is_template

    async def get_content(self, context: DynamicContributorContext) -> str:
        """The text. Raises PromptAssemblyFailed for a template with a name that the context does not have."""
        return fill_template(self.id, self._content, context) if self._is_template else self._content

    def __repr__(self) -> str:
        return f"StaticContributor({self.id!r}, {self.priority!r}, {len(self._content):,} characters)"


class DynamicContributor:
    """A text that a source makes of the context. `options` are keyword arguments of the handler.

    Of the contributors that give the same, such as the user's instructions, a prompt has the first only.
    """

    def __init__(
        self,
        id: str,  # noqa: A002
        priority: int,
        handler: SourceHandler,
        *,
        stability: Stability = "turn",
        options: Mapping[str, Any] | None = None,
        gives: str | None = None,
    ) -> None:
        self.id = id
        self.priority = priority
        self.stability: Stability = stability
        self.handler = handler
        self.options = dict(options or {})
        self.gives = gives

    async def get_content(self, context: DynamicContributorContext) -> str | None:
        """What the handler makes of the context. Raises what it raises."""
        made = self.handler(context, **self.options)
        return await made if isawaitable(made) else made

    def __repr__(self) -> str:
        return f"DynamicContributor({self.id!r}, {self.priority!r}, {self.handler!r})"


class TaggedContributor:
    """Another contributor's text in a tag, which the text can neither close nor open again."""

    def __init__(self, inner: SystemPromptContributor, tag: str) -> None:
        self.id = inner.id
        self.priority = inner.priority
        self.stability: Stability = inner.stability
        self.gives: str | None = getattr(inner, "gives", None)
        self.tag = tag
        self._inner = inner

    @property
    def is_wrapped(self) -> bool:
        """Its text is in a tag, so that it cannot be cut."""
        return True

    async def get_content(self, context: DynamicContributorContext) -> str | None:
        """The text in its tag; nothing if there is no text."""
        text = await self._inner.get_content(context)
        return wrap(self.tag, text) if text else text

    def __repr__(self) -> str:
        return f"TaggedContributor({self._inner!r}, {self.tag!r})"


def fill_template(name: str, text: str, context: DynamicContributorContext) -> str:
    """The text with its tags filled. Raises PromptAssemblyFailed, naming the tag, for a missing name."""
    data = {"threadId": context.thread_id} | dict(context.extra)
    return PromptManager({name: text}).get_fragment(name, data)
