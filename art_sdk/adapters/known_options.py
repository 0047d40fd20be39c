"""The part of every adapter that makes what follows from a call's options alone once, if the next call repeats them.

Tools are checked, named and written for every call, and are most often those of the call before. What is kept is that
of the last options; a change of any setting of the adapter forgets it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec
from msgspec import Struct

from art_sdk.adapters.payload import Payload, encode_part
from art_sdk.options import CallOptions, parse_options
from art_sdk.sendable import repeats_much


class KnownOptions(Struct):
    """The options of the last call, and what follows from them, each found when it is first asked for.

    `given` are they in bytes, `source` is the caller's own value, and `options` one that nobody else has.
    """

    given: bytes
    source: CallOptions
    options: CallOptions
    is_checked: bool = False
    plain_names: frozenset[str] = frozenset()
    """Names of tools that are sent as they are."""
    written: Payload | None = None
    """What `write_options` wrote, as bytes."""
    in_history: bytes | None = None
    """The options that change how messages are written."""


class OptionsKeeper:
    """What `BaseAdapter` does to find out about options once."""

    _known: KnownOptions | None = None
    _settings: object = None
    """Another object after each change of a setting."""
    _hides_payload: ClassVar[bool] = False
    """Whether no subclass of the one that writes the options has a method that sees the payload."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        above = _definer(cls, "write_options").__mro__  # not issubclass: of a class in the making, ABCs answer wrongly
        cls._hides_payload = all(_definer(cls, name) in above for name in _SEE_PAYLOADS)

    if not TYPE_CHECKING:  # which would allow any attribute

        def __setattr__(self, name: str, value: object) -> None:
            """Sets an attribute. After a setting, nothing is known."""
            super().__setattr__(name, value)
            if name[0] != "_":
                self._known, self._settings = None, object()

    def rename_tools(self, options: CallOptions) -> CallOptions:
        """The options with the names that are sent, in `tools` and `tool_choice`."""
        return options

    def write_options(self, options: CallOptions) -> Payload:
        """The fields of the payload that follow from the options alone. Its tools have the names that are sent."""
        del options
        return {}

    def written_options(self, options: CallOptions) -> Payload:
        """What `write_options` writes; for options that were sent before, its lists and objects are bytes already."""
        known = self._known
        if known is None or known.options is not options:
            return self.write_options(self.rename_tools(options))
        if known.written is not None:
            return known.written
        renamed = self.rename_tools(options)
        written = self.write_options(renamed)
        if renamed is options:
            known.plain_names = frozenset([tool.name for tool in options.tools])
        if self._hides_payload and _SEE_PAYLOADS.isdisjoint(vars(self)) and not options.provider:
            known.written = {name: _as_bytes(value) for name, value in written.items()}
        return written

    def _parse_options_once(self, options: object) -> CallOptions:
        """The options as a value. Options that are exactly the same as the last ones are parsed once.

        Raises InvalidConfig.
        """
        if type(options) is not CallOptions:
            return parse_options(options)
        known = self._known
        is_source = known is not None and known.source is options
        if not is_source and repeats_much(options.tools, options.response_schema, options.provider):
            return parse_options(options)  # writing it could take very long
        try:
            given = _encode(options)
            # the bytes tell 1 from true, but not NaN from null, nor a date from its text
            is_same = known is not None and known.given == given and known.options == options
        except Exception:  # noqa: BLE001 - whatever a value's own methods raise
            return parse_options(options)
        if known is None or not is_same:
            known = self._known = KnownOptions(given, options, parse_options(options))
        elif not is_source:
            known.source = options
        return known.options


_encode: Final = msgspec.json.Encoder().encode
_SEE_PAYLOADS: Final = frozenset({"translate", "request", "merge_provider_fields"})


def _definer(kind: type[Any], method: str) -> type[Any]:
    """The class that defines the method, or `object` if none does."""
    return next((one for one in kind.__mro__ if method in vars(one)), object)


def _as_bytes(value: object) -> object:
    return msgspec.Raw(encode_part(value)) if isinstance(value, list | dict) else value
