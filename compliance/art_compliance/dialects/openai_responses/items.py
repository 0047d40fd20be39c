"""A request of the Responses API as its rules read it."""

from __future__ import annotations

from functools import cached_property

from art_compliance.dialects.ruling import JudgedRequest, Place, objects


class Item(Place, frozen=True, gc=False, kw_only=True):
    """An item of the input. `kind` is its type (`message` where it has none), `role` a message's own.

    They and `call_id` are None where they are not strings.
    """

    kind: str | None
    role: str | None
    call_id: str | None


class Items(JudgedRequest):
    """The raw body, with items and tools found once."""

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Every item."""
        return tuple(map(_read, objects(self.root, "input")))

    @cached_property
    def calls(self) -> tuple[Item, ...]:
        """The calls of functions."""
        return tuple([item for item in self.items if item.kind == "function_call" and item.call_id is not None])

    @cached_property
    def outputs(self) -> tuple[Item, ...]:
        """The results of functions."""
        return tuple([item for item in self.items if item.kind == "function_call_output" and item.call_id is not None])

    @cached_property
    def tools(self) -> tuple[Place, ...]:
        """The functions that are offered."""
        return tuple([tool for tool in objects(self.root, "tools") if tool.value.get("type") == "function"])

    @property
    def is_whole(self) -> bool:
        """Whether the conversation is in the request alone, and not also at the provider."""
        return not (self.body.get("previous_response_id") or self.body.get("conversation"))


def _read(place: Place) -> Item:
    value = place.value
    kind = _text(value.get("type", "message"))
    return Item(
        value,
        place.above,
        place.under,
        place.at,
        kind=kind,
        role=_text(value.get("role")) if kind == "message" else None,
        call_id=_text(value.get("call_id")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
