"""The half of every adapter that checks prompts and options against what the provider accepts.

A refusal names the adapter's class and its provider, the message and its role, the call if there is one, what is
wrong, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, NoReturn

import msgspec

from art_sdk.adapters.capabilities import Capability, Repair, Request, find_undeclared_use
from art_sdk.adapters.images import explain_bad_image
from art_sdk.adapters.known_options import OptionsKeeper
from art_sdk.adapters.refusals import naming_roles, refusal
from art_sdk.adapters.rules import CallIdRule, CountRule, NameRule, RangeRule, RootRule
from art_sdk.arguments import parse_arguments
from art_sdk.conversation import Conversation, ConversationFault, FaultKind, UserTurn, read_conversation
from art_sdk.messages import ArtStandardPrompt, ImagePart, ToolCall, ToolSchema
from art_sdk.options import FREE_CHOICES, CallOptions, LateSystem


class ProviderLimits(OptionsKeeper):
    """The half of `BaseAdapter` that refuses what the provider does not accept. Subclasses state limits as data."""

    provider_name: str
    dialect: ClassVar[str]
    capabilities: frozenset[Capability] = frozenset()
    repairs: ClassVar[frozenset[Repair]] = frozenset()
    tool_names: ClassVar[NameRule | None] = None
    call_ids: ClassVar[CallIdRule | None] = None
    image_types: frozenset[str] = frozenset()
    ranges: ClassVar[Mapping[str, RangeRule]] = {}
    counts: ClassVar[Mapping[str, CountRule]] = {}
    schema_roots: ClassVar[RootRule | None] = None
    choice_rule: ClassVar[str | None] = None
    model: str
    late_system: LateSystem = "refuse"

    def refuse(
        self, reason: str, *, index: int | None = None, call_id: str | None = None, rule: str | None = None
    ) -> NoReturn:
        """Raises PromptTranslationFailed. `reason` says what is wrong, and what to do."""
        whose = {"adapter": type(self).__name__, "provider": self.provider_name}
        raise refusal(**whose, index=index, call_id=call_id, rule=rule, reason=reason)

    def refuse_without_messages(self, prompt: ArtStandardPrompt) -> NoReturn:
        """Refuses a prompt that has nothing but system messages, or nothing at all."""
        lack = "there are only system messages" if prompt else "it is empty"
        self.refuse(f"{lack}; add at least one user message")

    @naming_roles
    def check(self, prompt: ArtStandardPrompt, options: CallOptions) -> Conversation:
        """The prompt as turns; the first thing that `translate` calls. Its calls have the names that are sent.

        Raises PromptTranslationFailed for broken tool conversations, for use of a capability that the
        adapter does not declare, for called tools whose names do not match `tool_names` and cannot be changed,
        and for what `check_options` refuses.
        """
        conversation = read_conversation(prompt)
        if conversation.faults:
            self._refuse_faults(conversation.faults)
        request = Request(conversation, options, self.dialect, self.may_hoist(options))
        use = find_undeclared_use(self.capabilities_of(options.model or self.model), request)
        if use is not None:
            reason = f"the adapter does not declare {use.capability!r}, but the prompt uses {use.what}"
            self.refuse(reason, index=use.index)
        sent_names = self._names_of_calls(conversation, options)
        self._check_options_once(options)
        return conversation.rename_calls(sent_names)

    def rename_tools(self, options: CallOptions) -> CallOptions:
        """The options with the names that are sent, in `tools` and `tool_choice`."""
        names = [tool.name for tool in options.tools]
        choice = options.tool_choice if options.tool_choice not in FREE_CHOICES else None
        sent = self.map_tool_names(names if choice is None else [*names, choice])
        if not sent:
            return options
        tools = [msgspec.structs.replace(tool, name=sent.get(tool.name, tool.name)) for tool in options.tools]
        chosen = options.tool_choice if choice is None else sent.get(choice, choice)
        return msgspec.structs.replace(options, tools=tuple(tools), tool_choice=chosen)

    def check_options(self, options: CallOptions) -> None:
        """Refuses what the provider takes in no prompt: option values, counts, and tools."""
        self._check_bounds(options)
        for tool in options.tools:
            self.check_tool(tool)
        for name in ("tool_choice", "parallel_tool_calls"):
            if getattr(options, name) is not None and not self.has_tools(options):
                self.refuse(f"{name} is only allowed with tools; pass tools, or leave it out", rule=self.choice_rule)

    def capabilities_of(self, model: str) -> frozenset[Capability]:
        """What the provider's model can do: `capabilities`, if not all models are alike."""
        del model
        return self.capabilities

    def may_hoist(self, options: CallOptions) -> bool:
        """Whether system messages may go to the front if the provider has no place for them."""
        return (options.late_system or self.late_system) == "hoist"

    def has_tools(self, options: CallOptions) -> bool:
        """Whether the call offers tools, be it the provider's own alone, which are among its own fields."""
        return bool(options.tools or options.provider.get(self.dialect, {}).get("tools"))

    def check_tool(self, tool: ToolSchema) -> None:
        """Refuses a tool that the provider does not accept."""
        names = self.tool_names
        if names is not None and not names.pattern.fullmatch(tool.name) and not self.map_tool_names([tool.name]):
            self._refuse_name(names, f"the tool {tool.name!r}")
        if self.schema_roots is not None:
            self._check_root(tool, self.schema_roots)

    def _check_root(self, tool: ToolSchema, roots: RootRule) -> None:
        for keyword in roots.keywords:
            if keyword in tool.input_schema:
                reason = f"the tool {tool.name!r} has {keyword} at the root of its schema; put it inside a property"
                self.refuse(reason, rule=roots.rule)
        if roots.needs_type and tool.input_schema.get("type") != "object":
            self.refuse(f'the schema of the tool {tool.name!r} must have "type": "object"', rule=roots.rule)

    def check_image(self, image: ImagePart, turn: UserTurn) -> None:
        """Refuses an image whose type is not in `image_types`, or whose data is not base64."""
        reason = explain_bad_image(image, self.image_types)
        if reason is not None:
            self.refuse(reason, index=turn.index)

    def map_call_ids(self, call_ids: Iterable[str]) -> dict[str, str]:
        """The id that is sent per call id that must be changed."""
        return {} if self.call_ids is None else self.call_ids.map(call_ids)

    def map_tool_names(self, names: Iterable[str]) -> dict[str, str]:
        """The name that is sent per tool that must be renamed; none without the repair `renames_tools`."""
        return self.tool_names.map(names) if self.tool_names and "renames_tools" in self.repairs else {}

    def arguments_of(self, call: ToolCall, index: int, rule: str) -> dict[str, Any]:
        """The call's arguments as an object, for a provider that takes nothing else. `index` is its message's."""
        try:
            return parse_arguments(call.function.arguments)
        except ValueError as error:
            self.refuse(str(error), index=index, call_id=call.id, rule=rule)

    def _check_options_once(self, options: CallOptions) -> None:
        known = self._known
        if known is None or known.options is not options:
            self.check_options(options)
        elif not known.is_checked:
            self.check_options(options)
            known.is_checked = True

    def _names_of_calls(self, conversation: Conversation, options: CallOptions) -> dict[str, str]:
        """The name that is sent per called tool that must be renamed. Refuses one that cannot be sent."""
        if self.tool_names is None:
            return {}
        called = dict.fromkeys(conversation.tool_of.values())  # no set: hashes would choose the first
        known = self._known
        if known is not None and known.options is options and known.plain_names.issuperset(called):
            return {}
        odd = self.tool_names.find_odd(called)
        sent = self.map_tool_names(odd) if odd else {}
        for name in odd:
            if name not in sent and not self.tool_names.pattern.fullmatch(name):
                self._refuse_name(self.tool_names, f"the called tool {name!r}", conversation.first_call(name))
        return sent

    def _refuse_name(self, names: NameRule, whose: str, index: int | None = None) -> NoReturn:
        reason = f"the name of {whose} must match {names.pattern.pattern}; rename the tool"
        self.refuse(reason, index=index, rule=names.rule)

    def _check_bounds(self, options: CallOptions) -> None:
        for name, (low, high, rule) in self.ranges.items():
            value = getattr(options, name)
            if value is not None and not low <= value <= high:
                self.refuse(f"{name} is {value}; it must be between {low} and {high}", rule=rule)
        for name, (most, rule) in self.counts.items():
            if len(getattr(options, name)) > most:
                self.refuse(f"{name} has {len(getattr(options, name))} entries; at most {most} are allowed", rule=rule)

    def _refuse_faults(self, faults: list[ConversationFault]) -> NoReturn:
        first, more = faults[0], len(faults) - 1
        rest = f" (and {more} more)" if more else ""
        self.refuse(f"{first.message}; {_ADVICE[first.kind]}{rest}", index=first.index, call_id=first.call_id)


_ADVICE: Final[Mapping[FaultKind, str]] = {
    "orphan-result": "add the assistant message that made the call, or leave the result out",
    "double-result": "keep one result per call",
    "duplicate-id": "give every call its own id",
    "unanswered-call": "add its tool_result before the next user or assistant message",
    "pending-call": "add its tool_result, or leave the call out",
    "contradicting-name": "use the name of the called tool, or leave the name out",
    "empty-request": "give it a call, or leave it out",
    "bad-arguments": "pass a JSON object",
}
