"""What an adapter does not send: the base of every refusal, and the limits that many providers share.

A refusal names the adapter, the message, the call where there is one, what stands in the way, and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final, NamedTuple, NoReturn

from art_sdk.adapters.capabilities import Capability, Request, find_undeclared_use
from art_sdk.adapters.images import explain_bad_image
from art_sdk.adapters.tool_schemas import find_root_keyword
from art_sdk.conversation import (
    Conversation,
    ConversationFault,
    FaultKind,
    UserTurn,
    parse_arguments,
    read_conversation,
)
from art_sdk.errors import PromptTranslationFailed
from art_sdk.messages import ArtStandardPrompt, ImagePart, ToolCall, ToolSchema
from art_sdk.options import CallOptions


class NameRule(NamedTuple):
    """The names that a provider takes, and the rule that says so."""

    pattern: re.Pattern[str]
    rule: str


class RangeRule(NamedTuple):
    """The numbers that a provider takes for an option, both ends included."""

    low: float
    high: float
    rule: str


class CountRule(NamedTuple):
    """How many of something a provider takes."""

    most: int
    rule: str


class RootRule(NamedTuple):
    """The keywords that a provider refuses at the root of a tool's input schema."""

    keywords: tuple[str, ...]
    rule: str


class Refusals:
    """What `BaseAdapter` has from here: `refuse`, `check`, and the limits that an adapter states as data."""

    provider_name: ClassVar[str]
    dialect: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    tool_names: ClassVar[NameRule | None] = None
    image_types: ClassVar[frozenset[str]] = frozenset()
    ranges: ClassVar[Mapping[str, RangeRule]] = {}
    counts: ClassVar[Mapping[str, CountRule]] = {}
    schema_roots: ClassVar[RootRule | None] = None
    choice_rule: ClassVar[str | None] = None

    def refuse(
        self, reason: str, *, index: int | None = None, call_id: str | None = None, rule: str | None = None
    ) -> NoReturn:
        """Raises PromptTranslationFailed. `reason` says what stands in the way, and what to do."""
        place = "the prompt" if index is None else f"message $[{index}]"
        call = "" if call_id is None else f" (call {call_id!r})"
        source = "" if rule is None else f" [{rule}]"
        facts = {"adapter": self.provider_name, "index": index, "call_id": call_id, "rule": rule}
        message = f"adapter {self.provider_name!r} cannot translate {place}{call}: {reason}{source}"
        raise PromptTranslationFailed(message, details={k: v for k, v in facts.items() if v is not None})

    def check(self, prompt: ArtStandardPrompt, options: CallOptions) -> Conversation:
        """The prompt as turns, for `translate` to begin with.

        Raises PromptTranslationFailed for broken tool conversations, for what the adapter does not
        declare among its `capabilities`, for names of called tools that are none of its `tool_names`,
        and for what `hold_options` refuses.
        """
        conversation = read_conversation(prompt)
        if conversation.faults:
            self._refuse_faults(conversation.faults)
        use = find_undeclared_use(self.capabilities, Request(conversation, options, self.dialect))
        if use is not None:
            reason = f"the capability {use.capability!r} is not declared, and the prompt needs it for {use.what}"
            self.refuse(reason, index=use.index)
        self._hold_called_names(conversation)
        self._hold_options_once(options)
        return conversation

    def hold_options(self, options: CallOptions) -> None:
        """Refuses what the provider takes in no prompt: bounds, counts, names and schemas of tools."""
        self._hold_bounds(options)
        for tool in options.tools:
            self.hold_tool(tool)
        for name in ("tool_choice", "parallel_tool_calls"):
            if getattr(options, name) is not None and not options.tools:
                self.refuse(f"{name} is only allowed with tools", rule=self.choice_rule)

    def _hold_options_once(self, options: CallOptions) -> None:
        self.hold_options(options)

    def hold_tool(self, tool: ToolSchema) -> None:
        """Refuses a tool that the provider does not take."""
        if self.tool_names is not None and not self.tool_names.pattern.fullmatch(tool.name):
            self._refuse_name(self.tool_names, f"the tool, {tool.name!r}")
        if self.schema_roots is not None:
            found = find_root_keyword(tool.input_schema, self.schema_roots.keywords)
            if found is not None:
                reason = f"the tool {tool.name!r} has {found} at the root of its schema; put it inside a property"
                self.refuse(reason, rule=self.schema_roots.rule)

    def hold_image(self, image: ImagePart, turn: UserTurn) -> None:
        """Refuses an image that is none of `image_types`, or whose data is not base64."""
        reason = explain_bad_image(image, self.image_types)
        if reason is not None:
            self.refuse(reason, index=turn.index)

    def arguments_of(self, call: ToolCall, index: int, rule: str) -> dict[str, Any]:
        """The call's arguments as an object, for a provider that takes nothing else. `index` is its message's."""
        try:
            return parse_arguments(call.function.arguments)
        except ValueError as error:
            self.refuse(str(error), index=index, call_id=call.id, rule=rule)

    def _hold_called_names(self, conversation: Conversation) -> None:
        if self.tool_names is not None:
            for name in dict.fromkeys(conversation.tool_of.values()):  # no set: hashes would choose the first
                if not self.tool_names.pattern.fullmatch(name):
                    self._refuse_name(self.tool_names, f"the called tool, {name!r}", conversation.first_call(name))

    def _refuse_name(self, names: NameRule, whose: str, index: int | None = None) -> NoReturn:
        reason = f"the name of {whose}, must match {names.pattern.pattern}; rename the tool"
        self.refuse(reason, index=index, rule=names.rule)

    def _hold_bounds(self, options: CallOptions) -> None:
        for name, (low, high, rule) in self.ranges.items():
            value = getattr(options, name)
            if value is not None and not low <= value <= high:
                self.refuse(f"{name} is {value}; it goes from {low} to {high}", rule=rule)
        for name, (most, rule) in self.counts.items():
            if len(getattr(options, name)) > most:
                self.refuse(f"{name} has {len(getattr(options, name))} entries; {most} fit", rule=rule)

    def _refuse_faults(self, faults: list[ConversationFault]) -> NoReturn:
        first, more = faults[0], len(faults) - 1
        rest = f" (and {more} more such faults)" if more else ""
        self.refuse(f"{first.message}; {_ADVICE[first.kind]}{rest}", index=first.index, call_id=first.call_id)


_ADVICE: Final[Mapping[FaultKind, str]] = {
    "orphan-result": "add the assistant message that made the call, or leave the result out",
    "double-result": "keep one result a call",
    "duplicate-id": "give every call an id of its own",
    "unanswered-call": "add its tool_result before the next user or assistant message",
    "pending-call": "add its tool_result, or leave the call out",
    "contradicting-name": "name the tool that was called, or leave the name out",
    "empty-request": "give it a call, or leave it out",
    "bad-arguments": "give a JSON object",
}
